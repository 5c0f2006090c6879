//! Errors: the `error` of a response, its codes, and texts that are not a message.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{MAX_REQUEST_ID_BYTES, RequestId, Response};
use crate::json::quoted;

/// What a request is answered with.
pub(crate) type Result<T, E = ErrorObject> = std::result::Result<T, E>;

/// The `error` of a response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// The code of the error; see [`ErrorObject`]'s constants.
    pub code: i64,
    /// One sentence for the developer of the peer.
    pub message: String,
    /// Data that a program needs to react, such as the supported versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Why a text is not a [`Message`](super::Message); becomes the `error` of a response with the id, if there was one to
/// read.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageError {
    /// The id of the broken request, when it could be read.
    pub id: Option<RequestId>,
    /// Code −32700 or −32600 and what was wrong.
    pub error: ErrorObject,
}

/// Why a text was not read as a [`Message`](super::Message) within an allowance of memory.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReadError {
    /// It is not a message.
    Broken(MessageError),
    /// Its id is longer than [`MAX_REQUEST_ID_BYTES`], so no answer can carry it.
    LongId,
    /// Its id is neither a string nor an integer of 64 bits.
    WrongId,
    /// Its tree would use more memory than allowed.
    TooCostly {
        /// The id, when it could be read.
        id: Option<RequestId>,
        /// The allowance in bytes.
        max: usize,
    },
}

impl ErrorObject {
    /// The text is not JSON.
    pub const PARSE: i64 = -32700;
    /// The text is JSON but not an MCP message.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The method cannot take these params.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The server failed; details are in its log.
    pub const INTERNAL: i64 = -32603;
    /// The resource was not found (up to 2025-11-25; later revisions use [`ErrorObject::INVALID_PARAMS`]).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// The user must open URLs first (2025-11-25; later revisions use an `input_required` result).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// HTTP headers and body disagree (2026-07-28, Streamable HTTP).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a client capability that it did not declare (2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The protocol version is not served (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;

    /// An error of `code` without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same with `data`.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// −32700.
    pub fn parse(message: impl Into<String>) -> Self {
        Self::new(Self::PARSE, message)
    }

    /// −32600.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_REQUEST, message)
    }

    /// −32601, naming the method.
    pub fn method_not_found(method: &str) -> Self {
        let message = format!("unknown method {:?}", quoted(method));
        Self::new(Self::METHOD_NOT_FOUND, message)
    }

    /// −32602.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    /// −32603, without internal details.
    pub fn internal() -> Self {
        Self::new(Self::INTERNAL, "internal error; the server's log has the details")
    }

    /// The error of a result that cannot be written as JSON.
    pub(crate) fn not_serialised(error: &serde_json::Error) -> Self {
        tracing::error!(%error, "a result could not be serialised");
        Self::internal()
    }
}

impl MessageError {
    pub(crate) fn invalid(id: Option<RequestId>, message: impl Into<String>) -> Self {
        Self { id, error: ErrorObject::invalid_request(message) }
    }
}

impl From<MessageError> for ReadError {
    fn from(error: MessageError) -> Self {
        Self::Broken(error)
    }
}

impl From<ReadError> for MessageError {
    /// A message that is too costly also gets −32600.
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Broken(error) => error,
            ReadError::LongId => Self::invalid(
                None,
                format!("the member \"id\" must have at most {MAX_REQUEST_ID_BYTES} bytes"),
            ),
            ReadError::WrongId => {
                Self::invalid(None, "the member \"id\" must be a string or an integer of 64 bits")
            }
            ReadError::TooCostly { id, max } => Self::invalid(
                id,
                format!(
                    "the message takes more than {max} bytes of memory once it is read: send fewer or smaller values"
                ),
            ),
        }
    }
}

impl From<MessageError> for Response {
    fn from(error: MessageError) -> Self {
        Self::error(error.id, error.error)
    }
}
