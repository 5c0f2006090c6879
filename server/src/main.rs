//! The binary `universe-server`: arguments, logging to stderr, exit code.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use tracing_subscriber::EnvFilter;
use universe_server::config::Arguments;

/// How long threads that are still blocked, such as one waiting for stdin, may hold up the exit.
const LINGER: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Never stdout: with --stdio it belongs to the protocol.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_env_filter(
            EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info")),
        )
        .init();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    let outcome = runtime.block_on(universe_server::run::run(arguments));
    runtime.shutdown_timeout(LINGER);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// One sentence to the person who started it.
fn fail(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("universe-server: {error}");
    ExitCode::FAILURE
}
