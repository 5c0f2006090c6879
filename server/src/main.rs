//! The binary `universe-server`: arguments, logging to stderr, exit code.

use std::process::ExitCode;

use service_host::{LogFormat, block_on, log_to_stderr_as};
use universe_server::config;

fn main() -> ExitCode {
    let read = config::read(std::env::args_os());
    let (filter, format) = match &read {
        Ok((arguments, _)) if arguments.verb.is_none() => ("info", arguments.log),
        // What somebody does by hand is told by the verb itself.
        Ok((arguments, _)) => ("warn,audit=off", arguments.log),
        Err(_) => ("warn", LogFormat::Text),
    };
    log_to_stderr_as(filter, format);
    block_on("universe-server", async {
        let (arguments, settings) = read?;
        universe_server::run::run(arguments, settings).await
    })
}
