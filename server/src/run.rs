//! Running the server: opens the store, puts the parts together, serves until stopped.
//!
//! A store that fails ends the process with exit code 1, after the requests in progress have been answered: a
//! supervisor can restart it, but not a living server that claims to be well.

mod backend;
mod listen;
mod relay;
mod sessions;
mod share;
mod stdio;
mod verb;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use mcp_proto::BuildError;
use service_host::{LogFormat, block_on, log_to_stderr_as, stop_signal};

use crate::care::CareError;
use crate::cli::Verb;
use crate::client::ClientError;
use crate::config::{self, Arguments, ConfigError, Settings};
use crate::store::sqlite::OpenError;
use crate::traces::Traces;

pub use crate::socket::SOCKET;

/// The longest time to wait for an answer from the holder of the data directory, which may be just starting or ending.
const PATIENCE: Duration = Duration::from_secs(5);
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Why the server did not start or stopped with an error, in a sentence for the operator.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The arguments are invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The data directory cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database cannot be used.
    #[error("{url}: {problem}")]
    Database {
        /// Its URL, without a password.
        url: String,
        /// The reason.
        problem: String,
    },
    /// The address is in use, or this process may not use it.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A command on the stored data failed.
    #[error(transparent)]
    Care(#[from] CareError),
    /// A command on universes failed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Another server uses the data directory and cannot be joined.
    #[error(
        "another server uses the data directory {dir}, and cannot be reached at {socket}: {error}"
    )]
    Join {
        /// The directory.
        dir: String,
        /// The socket that was tried.
        socket: String,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The demo universe could not be created.
    #[error("the demo universe cannot be made: {0}")]
    Demo(String),
    /// The MCP server cannot be built, which is an internal error.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The disk or the database failed, and changes can no longer be stored.
    #[error(
        "the store has failed and accepts no more writes; the log says why: repair it and start the server again"
    )]
    Store,
    /// Signals, stdin or stdout failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl RunError {
    /// Whether the reader of stdout has closed it, such as `head`: it has what it wanted.
    fn is_closed_pipe(&self) -> bool {
        let (Self::Io(error)
        | Self::Care(CareError::Io(error))
        | Self::Client(ClientError::Care(CareError::Io(error)))) = self
        else {
            return false;
        };
        error.kind() == io::ErrorKind::BrokenPipe
    }
}

/// The whole program: arguments, logging to stderr, exit code.
///
/// It is not asynchronous, so that all of it is compiled with this library and not again with the binary.
pub fn main() -> ExitCode {
    let read = config::read(std::env::args_os());
    let (filter, format) = match &read {
        Ok((arguments, _)) if arguments.verb.is_none() => ("info", arguments.log),
        // A command that a person runs reports its own result.
        Ok((arguments, _)) => ("warn,audit=off", arguments.log),
        Err(_) => ("warn", LogFormat::Text),
    };
    log_to_stderr_as(filter, format);
    block_on("universe-server", async {
        let (arguments, settings) = read?;
        // A client on pipes that closes its end ends a server, which is no success.
        let is_verb = arguments.verb.is_some();
        match run(arguments, settings).await {
            Err(error) if is_verb && error.is_closed_pipe() => Ok(ExitCode::SUCCESS),
            ended => ended,
        }
    })
}

/// Serves until SIGINT or SIGTERM or, with `--stdio`, the end of stdin. With a subcommand, runs that instead.
///
/// # Errors
/// [`RunError`], when the server cannot start or continue.
async fn run(arguments: Arguments, settings: Settings) -> Result<ExitCode, RunError> {
    if let Some(verb) = arguments.verb.clone() {
        if let Verb::CheckConfig { .. } = verb {
            settings.warn();
            arguments.config()?;
        }
        return verb::run(verb, &arguments, &settings).await;
    }
    settings.warn();
    let config = arguments.config()?;
    let traces = Traces::begin(arguments.collector()).map_err(ConfigError::Collector)?;
    let served = if arguments.stdio {
        stdio::run(&arguments, &config).await
    } else {
        listen::run(&arguments, config).await
    };
    traces.end().await;
    served.map(|()| ExitCode::SUCCESS)
}
