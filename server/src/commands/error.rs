//! The errors of the command service.

use universe_core::Refusal;

use crate::store::{AppendError, CreateError, DeleteError, ReadError, Revision, UniverseId};

/// What the service answers with.
pub(super) type Result<T, E = ServiceError> = std::result::Result<T, E>;

/// Why a request was not carried out. Each message names the universe, if there is one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// No universe has this id.
    #[error("universe not found: {0}")]
    NotFound(UniverseId),
    /// The id is taken.
    #[error("a universe with the id {0} exists already")]
    Exists(UniverseId),
    /// The universe does not allow the command.
    #[error("universe {id}: {}{refusal}{hint}", place(*.index))]
    Refused {
        /// The universe.
        id: UniverseId,
        /// Which of several commands was refused, counted from 0. None of the commands had any effect.
        index: Option<usize>,
        /// The reason, with the event that reports it.
        refusal: Refusal,
        /// A suggestion of what was probably meant, to follow the reason. Empty if nothing is close.
        hint: String,
    },
    /// The universe is at a different revision from the one expected.
    #[error("universe {id} is at revision {revision}, not at the expected one")]
    Conflict {
        /// The universe.
        id: UniverseId,
        /// Its present revision.
        revision: Revision,
    },
    /// The universe has not reached this revision.
    #[error("universe {id} is at revision {head}: it has no revision {revision}")]
    NoRevision {
        /// The universe.
        id: UniverseId,
        /// The revision that was asked for.
        revision: Revision,
        /// The present revision.
        head: Revision,
    },
    /// The history was trimmed beyond this revision.
    #[error(
        "universe {id} keeps its history from revision {oldest} on: what was at revision {revision} is no longer kept"
    )]
    Trimmed {
        /// The universe.
        id: UniverseId,
        /// The revision that was asked for.
        revision: Revision,
        /// The oldest revision that can be read.
        oldest: Revision,
    },
    /// An entry of the log cannot be read or replayed, and no snapshot comes after it.
    #[error(
        "universe {id} is damaged at revision {revision}: {problem}. Earlier revisions can be read, and copied into a new \
         universe: POST /universes with {{\"name\", \"fork\": {{\"id\", \"revision\"}}}}. `universe-server check` finds all \
         damage, `universe-server restore` goes back to a backup"
    )]
    Damaged {
        /// The universe.
        id: UniverseId,
        /// The entry's revision.
        revision: Revision,
        /// What is wrong with it.
        problem: String,
    },
    /// What the store knows of the universe does not fit together.
    #[error(
        "universe {0} is damaged: its record, its head, its beginning and its log do not fit together, so that nothing of it is \
         served. `universe-server check` says what is wrong, and `universe-server check --repair` puts right what can be"
    )]
    Unsound(UniverseId),
    /// The idempotency key was used before, for a different request.
    #[error(
        "universe {0}: the idempotency key was used for another request; use a new key for a new request"
    )]
    KeyReused(UniverseId),
    /// The change is larger than one write may be.
    #[error("universe {id}: the change exceeds the limit of {max} bytes")]
    TooLarge {
        /// The universe.
        id: UniverseId,
        /// The limit in bytes.
        max: usize,
    },
    /// The universe has outgrown its limit.
    #[error(
        "universe {id} has outgrown the limit of {max} bytes: it accepts only what makes it smaller, such as removing bodies or \
         records, or putting a smaller state"
    )]
    Grown {
        /// The universe.
        id: UniverseId,
        /// The limit in bytes of JSON.
        max: usize,
    },
    /// The store is full.
    #[error("the store is full: nothing was changed; try again when there is room on its disk")]
    Full,
    /// The store is not available now. Nothing has changed.
    #[error("the store is unavailable; nothing has changed")]
    Unavailable,
    /// The store failed during a write. The change may have been made.
    #[error(
        "the store failed while it wrote; read the universe to see whether the change was made"
    )]
    Uncertain,
    /// An internal error. The log has the details.
    #[error("internal error; the server's log has the details")]
    Internal,
}

fn place(index: Option<usize>) -> String {
    index.map_or_else(String::new, |index| {
        format!("nothing was changed, because of /commands/{index}: ")
    })
}

impl ServiceError {
    pub(super) fn creating(id: &UniverseId, error: &CreateError) -> Self {
        match error {
            CreateError::Exists => Self::Exists(id.clone()),
            CreateError::TooLarge { max } => Self::TooLarge { id: id.clone(), max: *max },
            CreateError::Full => Self::Full,
            CreateError::Unavailable => Self::Unavailable,
            CreateError::Unknown => Self::Uncertain,
        }
    }

    pub(super) fn appending(id: &UniverseId, error: &AppendError) -> Self {
        match error {
            AppendError::Conflict { head } => {
                Self::Conflict { id: id.clone(), revision: head.revision }
            }
            AppendError::NotFound => Self::NotFound(id.clone()),
            AppendError::TooLarge { max } => Self::TooLarge { id: id.clone(), max: *max },
            AppendError::Full => Self::Full,
            AppendError::Unavailable => Self::Unavailable,
            AppendError::Unknown => Self::Uncertain,
        }
    }

    pub(super) fn deleting(id: &UniverseId, error: &DeleteError) -> Self {
        match error {
            DeleteError::Conflict { head } => {
                Self::Conflict { id: id.clone(), revision: head.revision }
            }
            DeleteError::NotFound => Self::NotFound(id.clone()),
            DeleteError::Full => Self::Full,
            DeleteError::Unavailable => Self::Unavailable,
            DeleteError::Unknown => Self::Uncertain,
        }
    }

    pub(crate) fn reading(id: &UniverseId, error: &ReadError) -> Self {
        match error {
            ReadError::NotFound => Self::NotFound(id.clone()),
            ReadError::Damaged => Self::Unsound(id.clone()),
            ReadError::Unavailable => Self::Unavailable,
        }
    }

    /// A stable name in upper snake case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "UNIVERSE_NOT_FOUND",
            Self::Exists(_) => "UNIVERSE_EXISTS",
            Self::Refused { refusal, .. } => refusal.code(),
            Self::Conflict { .. } => "REVISION_CONFLICT",
            Self::NoRevision { .. } => "REVISION_NOT_FOUND",
            Self::Trimmed { .. } => "REVISION_TRIMMED",
            Self::Damaged { .. } => "ENTRY_DAMAGED",
            Self::Unsound(_) => "UNIVERSE_DAMAGED",
            Self::KeyReused(_) => "IDEMPOTENCY_KEY_REUSED",
            Self::TooLarge { .. } => "TOO_LARGE",
            Self::Grown { .. } => "UNIVERSE_TOO_LARGE",
            Self::Full => "STORE_FULL",
            Self::Unavailable => "STORE_UNAVAILABLE",
            Self::Uncertain => "STORE_FAILED",
            Self::Internal => "INTERNAL_ERROR",
        }
    }
}
