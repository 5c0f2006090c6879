//! The binary `mcp-conformance`: arguments in, report and exit code out.

mod cli;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Parser as _;

/// Everything passed, something failed, or nothing could be judged.
const PASSED: u8 = 0;
const FAILED: u8 = 1;
const UNUSABLE: u8 = 2;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let stdout = std::io::stdout();
    let color =
        stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let code = match cli::run(cli::Cli::parse(), stdout.lock(), color).await {
        Ok(summary) if summary.is_success() => PASSED,
        Ok(_) => FAILED,
        Err(error) => {
            // Nothing is left to be done if standard error is closed too.
            let _ = writeln!(std::io::stderr(), "mcp-conformance: {error}");
            UNUSABLE
        }
    };
    ExitCode::from(code)
}
