//! Errors of the index, in sentences for the operator.

use std::path::PathBuf;

use crate::query::Invalid;

/// Why the index was not opened, or an operation failed. Contains nothing of a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// The directory or the file in it cannot be used.
    #[error("the data directory {} cannot be used: {reason}", dir.display())]
    Unusable {
        /// The directory.
        dir: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A newer program wrote it.
    #[error(
        "the data directory {} has format {found}, but this program knows formats up to {supported}: \
         use a newer program or another directory",
        dir.display()
    )]
    NewerFormat {
        /// The directory.
        dir: PathBuf,
        /// The format found.
        found: i32,
        /// The newest format known here.
        supported: i32,
    },
    /// Another process writes to this index: this one only reads.
    #[error(
        "another process writes to the index in {}: this one only reads. What the other brings in is seen here too",
        dir.display()
    )]
    ReadOnly {
        /// The directory.
        dir: PathBuf,
    },
    /// The disk is full; nothing has changed.
    #[error("the disk is full: nothing of the batch was kept")]
    Full,
    /// It is closed, or the disk or the database failed.
    #[error("the index is not available: it was closed, or its disk or database failed")]
    Unavailable,
    /// A batch has too many events or too many bytes, or there are too many sources; nothing has changed.
    #[error("{0}")]
    TooLarge(String),
    /// The query is invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}
