//! Random renames and edits of specs under the spec server. Its subscribers must not miss any change.

use std::process::Command;

use clap::Args;
use xtask::install::on_path;
use xtask::{Result, programs, root};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How long, in minutes.
    #[arg(long, default_value_t = 30.0)]
    minutes: f64,
}

/// Runs the script, which needs no package. `true` when nothing was missed.
///
/// # Errors
/// When there is no Python, or the server does not build.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let python = ["python3", "python"].into_iter().find_map(on_path).ok_or("python3 not found")?;
    let server = programs::given_or_judged(None, "spec-server")?;
    let mut command = Command::new(python);
    command.arg(root().join("lab/chores/renames.py")).arg(server);
    Ok(command.arg(arguments.minutes.to_string()).status()?.success())
}
