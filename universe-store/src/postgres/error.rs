//! The errors of opening a database, and the meaning of a server error for a write.

use std::path::PathBuf;

use tokio_postgres::error::SqlState;

use crate::adapter::failure::Failure;

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// The URL is not a PostgreSQL URL.
    #[error(
        "the URL of the database cannot be read ({0}); it must look like postgres://user:password@host:5432/database, with \
         %XX for characters of the password such as @ (%40), / and #; its sslmode is disable, prefer or require, and \
         certificates are verified in any case"
    )]
    Url(String),
    /// The file of certificates cannot be used.
    #[error("{}: the certificates cannot be used: {problem}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// No server that accepts writes was reached.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// The tables were created by a newer program.
    #[error(
        "the tables have format {found}, and this program knows those up to {known}; use a newer one"
    )]
    Newer {
        /// Their format.
        found: i32,
        /// The newest known format.
        known: i32,
    },
    /// The tables could not be created.
    #[error("the tables cannot be made: {0}")]
    Tables(String),
}

/// An error with its causes: those of the driver say the reason in the last one.
pub(super) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// What came of a write that was sent and answered with this error.
pub(super) fn judge(error: &tokio_postgres::Error) -> Failure {
    let Some(code) = error.code() else {
        // The connection was lost on the way.
        return Failure::Unknown;
    };
    match code.code().as_bytes() {
        _ if *code == SqlState::DISK_FULL || *code == SqlState::OUT_OF_MEMORY => Failure::Full,
        // The server is being shut down, maybe while a commit waits for its standby; or it cannot say.
        [b'5', b'7', ..] | [b'0', b'8', ..] | [b'4', b'0', b'0', b'0', b'3'] => Failure::Unknown,
        _ => Failure::Unavailable,
    }
}

/// Whether the same statement may succeed if it is sent again at once: it has lost against another one.
pub(super) fn is_conflict(error: &tokio_postgres::Error) -> bool {
    let code = error.code();
    code.is_some_and(|code| {
        *code == SqlState::T_R_DEADLOCK_DETECTED || *code == SqlState::T_R_SERIALIZATION_FAILURE
    })
}

/// Whether the connection is to a server that cannot be written to any more.
pub(super) fn is_read_only(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
}
