//! Why a command failed.

use std::io;

use mcp_proto::BuildError;
use service_host::HostError;

use crate::archive::ArchiveError;
use crate::project::{ProjectError, ReadError, nearest_in_words};
use crate::search::SearchError;
use crate::view::Missing;

/// Why a command failed, as a sentence for its user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CliError {
    /// No project was found.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// A part of the project does not exist or cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No spec or change has this id.
    #[error("neither a spec nor a change is called {id:?}{}", nearest_in_words(.nearest))]
    Unknown {
        /// The given id.
        id: String,
        /// At most three similar ids.
        nearest: Vec<String>,
    },
    /// The spec has no requirement, or the workflow no artifact, with this name.
    #[error(transparent)]
    Requirement(#[from] Missing),
    /// Archiving or ticking failed.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A search failed, or its index cannot be used.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// Arguments that do not go together.
    #[error("{0}")]
    Usage(String),
    /// The answer cannot be written.
    #[error("cannot write the answer: {0}")]
    Write(#[from] io::Error),
    /// The server cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The server cannot be served.
    #[error(transparent)]
    Host(#[from] HostError),
}
