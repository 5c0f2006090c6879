//! How calls of the client fail.

use std::error::Error;
use std::process::ExitStatus;
use std::time::Duration;

use mcp_proto::jsonrpc::ErrorObject;

pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// Why a call of the client failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server answered with an error.
    #[error("the server answered {}: {}", .0.code, .0.message)]
    Rpc(ErrorObject),
    /// A configured callback refused input that the server needs to continue.
    #[error("the server's question was refused: {}", .0.message)]
    Refused(ErrorObject),
    /// The server requires authorization, or refuses this caller: why, and what is missing.
    #[error("the server refused the caller: {0}")]
    Unauthorized(String),
    /// The HTTP response has no JSON-RPC answer.
    #[error("the server answered HTTP {status}: {body}")]
    Http {
        /// Its status code.
        status: u16,
        /// The beginning of its body.
        body: String,
    },
    /// The operation exceeded this time limit.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The connection ended before the answer arrived.
    #[error("the connection ended before the answer")]
    Closed,
    /// The server's process has ended, or did not answer when it was started.
    #[error("{problem}{}", told(.stderr))]
    Process {
        /// What happened.
        problem: String,
        /// How it ended; `None` while it runs, or if the system does not say.
        status: Option<ExitStatus>,
        /// The last lines that it wrote to its stderr, at most 10 and 2,000 bytes. Empty as well with
        /// [`Stderr::AsCommanded`](super::Stderr::AsCommanded), with which they are not read.
        stderr: String,
    },
    /// The connection failed or could not be opened, with the reason.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// A message of the server violates the protocol, with the details.
    #[error("the server broke the protocol: {0}")]
    Protocol(String),
    /// The task was cancelled.
    #[error("the task was cancelled")]
    Cancelled,
    /// The server shares no protocol version with the client, or lacks the requested feature. Holds what it supports.
    #[error("the server cannot do this: {0}")]
    Unsupported(String),
}

/// What a client answers with.
pub(super) type Result<T, E = ClientError> = std::result::Result<T, E>;

impl ClientError {
    /// The code of the server's own error.
    pub fn code(&self) -> Option<i64> {
        match self {
            Self::Rpc(error) => Some(error.code),
            _ => None,
        }
    }
}

fn told(stderr: &str) -> String {
    match stderr {
        "" => String::new(),
        lines => format!("; the last lines of its stderr: {lines}"),
    }
}

/// An error with its causes: those of HTTP clients hide what happened in the last one.
pub(super) fn describe(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
