//! The binary `mcp-conformance`: arguments in, report and exit code out.

mod cli;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Parser as _;

use self::cli::Verdict;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let stdout = std::io::stdout();
    let color =
        stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let verdict = match cli::run(cli::Cli::parse(), stdout, color).await {
        Ok(verdict) => verdict,
        Err(error) => {
            // Nothing is left to be done if standard error is closed too.
            let _ = writeln!(std::io::stderr(), "mcp-conformance: {error}");
            Verdict::Unusable
        }
    };
    ExitCode::from(verdict as u8)
}
