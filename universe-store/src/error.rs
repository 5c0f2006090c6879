//! The errors of the store port, one type for each kind of call. Their texts are fragments that can follow
//! "universe sol: ".

use super::{Head, Revision};

/// Why a universe was not created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// The id is taken.
    #[error("a universe with this id exists already")]
    Exists,
    /// Genesis and name together exceed the limit.
    #[error("the universe exceeds the limit of {max} bytes")]
    TooLarge {
        /// The limit in bytes.
        max: usize,
    },
    /// The store is full; nothing was created.
    #[error("the store is full")]
    Full,
    /// The store does not work now; nothing was created.
    #[error("the store is unavailable")]
    Unavailable,
    /// The store failed during the call; the universe may have been created.
    #[error("the store failed; the universe may have been created")]
    Unknown,
}

/// Why a batch was not appended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The head is not where it was expected.
    #[error("the universe is at revision {}, not at the expected one", head.revision)]
    Conflict {
        /// The head that was found.
        head: Head,
    },
    /// No universe has this id.
    #[error("no such universe")]
    NotFound,
    /// The batch exceeds the limit.
    #[error("the entries exceed the limit of {max} bytes")]
    TooLarge {
        /// The limit in bytes.
        max: usize,
    },
    /// The store is full; nothing was appended.
    #[error("the store is full")]
    Full,
    /// The store does not work now; nothing was appended.
    #[error("the store is unavailable")]
    Unavailable,
    /// The store failed during the call; the batch may have been appended.
    #[error("the store failed; the entries may have been appended")]
    Unknown,
}

/// Why a universe was not deleted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeleteError {
    /// The head is not where it was expected.
    #[error("the universe is at revision {}, not at the expected one", head.revision)]
    Conflict {
        /// The head that was found.
        head: Head,
    },
    /// No universe has this id.
    #[error("no such universe")]
    NotFound,
    /// No space to record the deletion; nothing was deleted.
    #[error("the store is full")]
    Full,
    /// The store does not work now; nothing was deleted.
    #[error("the store is unavailable")]
    Unavailable,
    /// The store failed during the call; the universe may have been deleted.
    #[error("the store failed; the universe may have been deleted")]
    Unknown,
}

/// Why a snapshot was not kept. Snapshots are a cache: only time is lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The snapshot is of a revision that the universe has not reached.
    #[error("the universe is at revision {head}, before that of the snapshot")]
    Ahead {
        /// The head's revision.
        head: Revision,
    },
    /// No universe has this id.
    #[error("no such universe")]
    NotFound,
    /// The body exceeds the limit.
    #[error("the snapshot exceeds the limit of {max} bytes")]
    TooLarge {
        /// The limit in bytes.
        max: usize,
    },
    /// The store is full or does not work now.
    #[error("the store is unavailable")]
    Unavailable,
}

/// Why the log was not trimmed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrimError {
    /// The new beginning is not an entry between the current beginning and the head, or records another command.
    #[error("the log has no such entry between its beginning and its head")]
    NotThere,
    /// No universe has this id.
    #[error("no such universe")]
    NotFound,
    /// The body exceeds the limit.
    #[error("the state exceeds the limit of {max} bytes")]
    TooLarge {
        /// The limit in bytes.
        max: usize,
    },
    /// The store is full or does not work now. The log was trimmed completely or not at all.
    #[error("the store is unavailable")]
    Unavailable,
}

/// Why something could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The stored data is not the data that was written.
    #[error("what is stored is damaged")]
    Damaged,
    /// No universe has this id.
    #[error("no such universe")]
    NotFound,
    /// The store does not work now.
    #[error("the store is unavailable")]
    Unavailable,
}

/// Why a tail ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TailError {
    /// No universe has this id.
    #[error("no such universe")]
    NotFound,
    /// The tail was to start beyond the head, so its reader knows a different universe and
    /// must read this one again.
    #[error("the universe is at revision {head}, before the one to continue from")]
    Ahead {
        /// The head's revision.
        head: Revision,
    },
    /// The log was trimmed beyond the next entry, so the reader must read the current state of the universe.
    #[error("the log is kept from revision {oldest} on")]
    Trimmed {
        /// The oldest revision that can be read.
        oldest: Revision,
        /// The head's revision.
        head: Revision,
    },
    /// The next entries cannot be read. A tail can continue after the last of them.
    #[error("the log is damaged at the revisions {first} to {last}")]
    Damaged {
        /// The first of them.
        first: Revision,
        /// The last of them.
        last: Revision,
    },
    /// The universe was deleted.
    #[error("the universe was deleted")]
    Deleted,
    /// The store does not work now; resume after the last entry seen.
    #[error("the store is unavailable")]
    Unavailable,
}
