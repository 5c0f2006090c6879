//! The binary `universe-server`: arguments, logging to stderr, exit code.

use std::process::ExitCode;

use clap::Parser as _;
use universe_server::config::Arguments;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    service_host::log_to_stderr_as("info", arguments.log);
    service_host::block_on("universe-server", async {
        universe_server::run::run(arguments).await
    })
}
