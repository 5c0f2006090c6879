//! The view of the universe server (MCP Apps) in Chromium, inside the official host's implementation of the extension.
//!
//! The checks are in `xtask/app/view.mjs`, which also counts the tokens of the tools.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use xtask::install::{self, Toolbox};
use xtask::process::{self, Server};
use xtask::{Result, apt, is_ci, programs, say};

/// The folder below `xtask` with the lock file of the host and of the browser's driver.
pub(crate) const SOURCE: &str = "app";

/// The time limit for the checks, which wait for a few seconds of play.
const DEADLINE: Duration = Duration::from_secs(120);

#[derive(Debug, Default, Args)]
pub(crate) struct Arguments {
    /// The universe server to test; by default it is built.
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// Put pictures of the view into this folder.
    #[arg(long, value_name = "DIR")]
    shots: Option<PathBuf>,
}

/// Runs the checks. `true` when none failed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let found = install::install(Toolbox::Node, SOURCE)
        .and_then(|installed| Ok((installed, apt::chromium()?)));
    let Some((installed, chromium)) = install::or_report("the view", found)? else {
        return Ok(!is_ci());
    };
    let binary = programs::given_or_judged(arguments.server.as_ref(), "universe-server")?;
    let words = ["--demo", "--extra-tools", "--store", "memory", "--listen"];
    let words: Vec<_> = words.into_iter().chain(["127.0.0.1:0"]).map(Into::into).collect();
    let server = Server::start(&binary, &words)?;
    let mut command = installed.command("view.mjs");
    command.args(["--url", server.url()]).arg("--chromium").arg(chromium);
    if let Some(shots) = &arguments.shots {
        std::fs::create_dir_all(shots)?;
        command.arg("--shots").arg(std::path::absolute(shots)?);
    }
    let finished = process::run(&mut command, DEADLINE)?;
    say(finished.stdout.trim_end())?;
    if !finished.success {
        say(finished.stderr.trim_end())?;
    }
    Ok(finished.success)
}
