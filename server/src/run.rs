//! Running the server: opens the store, puts the parts together, serves until told to stop.

mod join;
mod listen;
mod share;
mod stdio;

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use mcp_proto::BuildError;
use tokio::signal::unix::{SignalKind, signal};
use universe_core::State;

use crate::commands::{CommandService, ServiceError, ServiceLimits};
use crate::config::{Arguments, ConfigError, StoreKind};
use crate::demo;
use crate::store::sqlite::{OpenError, Options};
use crate::store::{MemoryLimits, MemoryStore, SqliteStore, UniverseId, UniverseLog};

pub use share::SOCKET;

/// Why the server did not start or did not go on, in a sentence for whoever started it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The arguments cannot be meant.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The data directory cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The address is taken or not ours.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's word.
        error: io::Error,
    },
    /// Another server uses the data directory and does not take this one in.
    #[error(
        "another server uses the data directory {dir}, and it does not answer at {socket}: {error}"
    )]
    Join {
        /// The directory.
        dir: String,
        /// The socket that was tried.
        socket: String,
        /// The system's word.
        error: io::Error,
    },
    /// The demo universe could not be made.
    #[error("the demo universe cannot be made: {0}")]
    Demo(String),
    /// The MCP server cannot be built: a mistake of this program.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Signals, stdin or stdout failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Serves until SIGINT or SIGTERM or, with `--stdio`, the end of stdin.
///
/// # Errors
/// [`RunError`] when it cannot start or go on.
pub async fn run(arguments: Arguments) -> Result<(), RunError> {
    let config = arguments.config()?;
    if arguments.stdio {
        stdio::run(&arguments, &config).await
    } else {
        listen::run(&arguments, config).await
    }
}

/// Opens the store and holds the demo if that was asked for.
async fn open(arguments: &Arguments) -> Result<CommandService, RunError> {
    let store: Arc<dyn UniverseLog> = match arguments.store {
        StoreKind::Memory => Arc::new(MemoryStore::new(MemoryLimits::default())),
        StoreKind::Embedded => Arc::new(open_embedded(&arguments.data_dir).await?),
    };
    let service = CommandService::new(store, ServiceLimits::default());
    if arguments.demo {
        hold_demo(&service).await?;
    }
    Ok(service)
}

/// Off the runtime's threads: opening may have to recover what a crash left.
async fn open_embedded(dir: &Path) -> Result<SqliteStore, RunError> {
    let dir = dir.to_owned();
    let opened =
        tokio::task::spawn_blocking(move || SqliteStore::open(&dir, Options::default())).await;
    Ok(opened.map_err(io::Error::other)??)
}

async fn hold_demo(service: &CommandService) -> Result<(), RunError> {
    let wrong = |problem: &dyn std::fmt::Display| RunError::Demo(problem.to_string());
    let id = UniverseId::new(demo::ID).map_err(|problem| wrong(&problem))?;
    let state = demo::sol().map_err(|problem| wrong(&problem))?;
    let state = State::from_value(state).map_err(|problem| wrong(&problem))?;
    match service.create(id, demo::NAME.to_owned(), state).await {
        // It is there from an earlier start, with what was done to it since.
        Ok(_) | Err(ServiceError::Exists(_)) => Ok(()),
        Err(error) => Err(wrong(&error)),
    }
}

/// Resolves on SIGINT or SIGTERM.
fn stop_signal() -> Result<impl Future<Output = ()>, io::Error> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("stopping");
    })
}
