//! The chores of the workspace `lab`, which only maintainers run: arguments and exit code are passed on.

use clap::Args;
use xtask::Result;
use xtask::programs::cargo_line;

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// The arguments of the chore; `--help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Builds the chore and runs it. `true` when nothing failed.
pub(crate) fn run(chore: &str, arguments: &Arguments) -> Result<bool> {
    let mut command = cargo_line("run --quiet --locked --manifest-path lab/Cargo.toml -p lab --");
    Ok(command.arg(chore).args(&arguments.words).status()?.success())
}
