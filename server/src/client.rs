//! Verbs for people: what the universes are, what happens to them, and changing them; against a server, by its URL or
//! by the socket in its data directory, or against a data directory that no server uses.

mod connection;
mod diff;
mod entities;
mod feed;
mod get;
mod health;
mod list;
mod places;
mod print;
mod send;
mod target;
mod top;
mod watch;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::care::CareError;
use connection::Connection;

/// The exit code of `diff` when it found differences.
pub const DIFFERENT: u8 = 3;

/// What people do with universes.
#[derive(Debug, Clone, Subcommand)]
#[non_exhaustive]
pub enum Verb {
    /// Lists the universes, the newest first.
    List(list::Arguments),
    /// Shows a universe, or some of its entities, as it is or was.
    Get(get::Arguments),
    /// Shows where bodies are at a date, as seen from one of them.
    Places(places::Arguments),
    /// Sends commands to a universe.
    Send(send::Arguments),
    /// Follows what happens to a universe; continues without a gap after the server was unavailable.
    Watch(watch::Arguments),
    /// Shows what differs between two universes, or between two revisions of one. Exits with 3 if something does.
    Diff(diff::Arguments),
    /// Checks whether a server is ready, which means that its store answers. Exits with 0 if so, else with 1.
    Health(health::Arguments),
    /// Shows what a server does: commands and requests a second, its universes by activity, its listeners and memory.
    Top(top::Arguments),
}

/// Where the universes are, and how they are shown.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// The server, such as `http://127.0.0.1:3001` or `https://universe.example`. By default the one that uses the data
    /// directory, or that directory itself.
    #[arg(long, env = "UNIVERSE_URL", value_name = "URL")]
    url: Option<String>,

    /// A file whose first line is the token that the server at --url requires.
    #[arg(long, value_name = "FILE", requires = "url", conflicts_with = "token_env")]
    token_file: Option<PathBuf>,

    /// The environment variable that has this token.
    #[arg(long, value_name = "NAME", requires = "url")]
    token_env: Option<String>,

    /// A file of certificate authorities (PEM) to trust for https, instead of those of the system.
    #[arg(long, value_name = "FILE", requires = "url")]
    ca: Option<PathBuf>,

    /// Writes JSON instead of text for people.
    #[arg(long)]
    json: bool,
}

impl Common {
    /// Prints a result: as JSON if that was asked for, else as text.
    fn show(&self, json: &impl Serialize, text: impl FnOnce() -> String) -> io::Result<()> {
        if self.json { print::json(json) } else { service_host::print(&text()) }
    }
}

/// What a command to a server results in.
type Result<T, E = ClientError> = std::result::Result<T, E>;

/// The reason for a failure, as a sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The data directory, stdin or stdout cannot be used.
    #[error(transparent)]
    Care(#[from] CareError),
    /// The universes are in a database.
    #[error("the universes are in a database: name a server that uses it with --url")]
    Elsewhere,
    /// A server is needed, but none runs.
    #[error("no server uses the data directory {0}: start one, or name one with --url")]
    NoServer(String),
    /// The server cannot be reached, or the connection was lost.
    #[error("{place}: {problem}")]
    Server {
        /// The address of the server.
        place: String,
        /// What went wrong.
        problem: String,
    },
    /// The server refused the request.
    #[error("{problem}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The server's message.
        problem: String,
    },
    /// The arguments or the input are invalid.
    #[error("{0}")]
    Given(String),
}

impl Verb {
    /// The URL of the server, if one was given.
    pub(crate) fn url(&self) -> Option<&str> {
        let common = match self {
            Self::List(list::Arguments { common, .. })
            | Self::Get(get::Arguments { common, .. })
            | Self::Places(places::Arguments { common, .. })
            | Self::Send(send::Arguments { common, .. })
            | Self::Watch(watch::Arguments { common, .. })
            | Self::Diff(diff::Arguments { common, .. })
            | Self::Health(health::Arguments { common, .. })
            | Self::Top(top::Arguments { common, .. }) => common,
        };
        common.url.as_deref()
    }

    /// Runs the command. `dir` is the data directory that is used when no URL is given.
    ///
    /// # Errors
    /// [`ClientError`], as a sentence for the person who ran the command.
    pub async fn run(self, dir: &Path) -> Result<ExitCode> {
        match self {
            Self::List(arguments) => arguments.run(dir).await,
            Self::Get(arguments) => arguments.run(dir).await,
            Self::Places(arguments) => arguments.run(dir).await,
            Self::Send(arguments) => arguments.run(dir).await,
            Self::Watch(arguments) => arguments.run(dir).await,
            Self::Diff(arguments) => arguments.run(dir).await,
            Self::Health(arguments) => arguments.run(dir).await,
            Self::Top(arguments) => arguments.run(dir).await,
        }
    }
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        Self::Care(error.into())
    }
}
