//! Why a command could not do what it was asked.

use std::io;

use mcp_proto::BuildError;
use service_host::HostError;

use crate::archive::ArchiveError;
use crate::project::{ProjectError, ReadError, nearest_in_words};
use crate::search::SearchError;
use crate::view::Missing;

/// Why a command failed, in a sentence for its user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CliError {
    /// No project was found.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// Something in it is not there or cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There is neither a spec nor a change of that id.
    #[error("neither a spec nor a change is called {id:?}{}", nearest_in_words(.nearest))]
    Unknown {
        /// What was asked for.
        id: String,
        /// At most three ids that are like it.
        nearest: Vec<String>,
    },
    /// A spec has no requirement of that name.
    #[error(transparent)]
    Requirement(#[from] Missing),
    /// What was to be written was not.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The search or its index.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// Arguments that cannot be meant together.
    #[error("{0}")]
    Usage(String),
    /// The answer cannot be written.
    #[error("cannot write the answer: {0}")]
    Write(#[from] io::Error),
    /// The server cannot be made.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The server cannot be served.
    #[error(transparent)]
    Host(#[from] HostError),
}
