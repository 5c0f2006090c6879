//! How calls of the client fail.

use std::time::Duration;

use crate::jsonrpc::ErrorObject;

/// Why a call of the client failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server answered with an error.
    #[error("the server answered {}: {}", .0.code, .0.message)]
    Rpc(ErrorObject),
    /// A callback of the configuration refused what the server needs to go on.
    #[error("the server's question was refused: {}", .0.message)]
    Refused(ErrorObject),
    /// The server requires authorization, or refuses this caller: why, and what is missing.
    #[error("the server refused the caller: {0}")]
    Unauthorized(String),
    /// The HTTP response carried no answer.
    #[error("the server answered HTTP {status}: {body}")]
    Http {
        /// Its status code.
        status: u16,
        /// The beginning of its body.
        body: String,
    },
    /// It took longer than this.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The connection ended before the answer came.
    #[error("the connection ended before the answer")]
    Closed,
    /// The connection could not be made or broke: why.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// What the server sent breaks the protocol: how.
    #[error("the server broke the protocol: {0}")]
    Protocol(String),
    /// The task was cancelled.
    #[error("the task was cancelled")]
    Cancelled,
    /// The server shares no protocol version with the client, or lacks what was requested. Holds what it has.
    #[error("the server cannot do this: {0}")]
    Unsupported(String),
}

impl ClientError {
    /// The code of the server's own error.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        match self {
            Self::Rpc(error) => Some(error.code),
            _ => None,
        }
    }
}
