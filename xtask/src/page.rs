//! The live page of the universe server. Checks that the committed files match a build of its source, and tests every
//! user action in a browser.
//!
//! The tests are in `server/page/tests/`. They start the server themselves, because they also kill it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use xtask::install::{self, Installed, Toolbox};
use xtask::{Result, apt, is_ci, process, programs, root, say};

/// The folder of the page.
pub(crate) const SOURCE: &str = "server/page";
/// The name of its folder below `target`.
pub(crate) const NAME: &str = "page";

/// How long a compiler or bundler may take.
const BUILD_DEADLINE: Duration = Duration::from_secs(120);

#[derive(Debug, Default, Args)]
pub(crate) struct Arguments {
    /// The universe server to test; by default it is built.
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// The browser; by default the Chromium of this machine.
    #[arg(long, value_name = "PATH")]
    chromium: Option<PathBuf>,
    /// Keep the pictures that the tests take in this folder.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// The one part to run: positions, apart, door, actions, others, access, look or figures; by default all.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// Compares the committed files with a build of their source, then tests them in a browser. `true` when nothing failed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let source = root().join(SOURCE);
    let installed = install::install_from(Toolbox::Node, &source, NAME);
    let Some(installed) = install::or_report("the page", installed)? else {
        return Ok(!is_ci());
    };
    let folder = installed.folder();
    for part in ["src", "tests"] {
        install::mirror(&source.join(part), &folder.join(part))?;
    }
    let checked = check(&installed, &source)?;
    let found = arguments.chromium.clone().map_or_else(apt::chromium, Ok);
    let Some(chromium) = install::or_report("the page in a browser", found)? else {
        return Ok(!is_ci() && checked);
    };
    let server = programs::given_or_judged(arguments.server.as_ref(), "universe-server")?;
    let results = match &arguments.keep {
        Some(keep) => std::path::absolute(keep)?,
        None => folder.join("results"),
    };
    let mut tests = installed.command("tests/run.mjs");
    tests
        .current_dir(folder)
        .arg("--server")
        .arg(server)
        .arg("--chromium")
        .arg(chromium)
        .arg("--results")
        .arg(results)
        .arg("--vectors")
        .arg(root().join("universe-core/tests/vectors/reducer.jsonl"))
        .arg("--view")
        .arg(root().join("server/src/mcp/view/view.html"));
    if let Some(only) = &arguments.only {
        tests.args(["--only", only]);
    }
    Ok(tests.status()?.success() && checked)
}

/// Whether the source type-checks, and its build matches the committed files byte for byte.
fn check(installed: &Installed, source: &Path) -> Result<bool> {
    let mut types = installed.command("node_modules/typescript/bin/tsc");
    types.args(["--noEmit", "-p"]).arg(installed.folder());
    let mut build = installed.command("build.mjs");
    build.arg("--check").env("PAGE_OUT", source);
    let mut passed = true;
    for mut step in [types, build] {
        let finished = process::run(&mut step, BUILD_DEADLINE)?;
        for line in finished.stdout.lines().chain(finished.stderr.lines()) {
            say(&format!("  {line}"))?;
        }
        passed &= finished.success;
    }
    Ok(passed)
}
