//! What may be set about a client, and how its calls fail.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::jsonrpc::ErrorObject;
use crate::lifecycle::Implementation;
use crate::version::{Era, ProtocolVersion};

/// Who the client is, what it speaks, and its bounds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The revision to speak; a legacy one is offered in the handshake and may be answered by another. The newest of
    /// its era by default.
    pub version: ProtocolVersion,
    /// Who the client says it is.
    pub info: Implementation,
    /// What it says it can do (schema: `ClientCapabilities`). Nothing by default, and nothing is answered: a request
    /// of the server other than `ping` gets −32601.
    pub capabilities: Map<String, Value>,
    /// How long a request may take to be answered and everything else to be done. 30 s by default.
    pub timeout: Duration,
    /// The largest message that is read, in bytes. 16 MiB by default.
    pub max_message_bytes: usize,
    /// Speak HTTP/2 from the first byte ("prior knowledge") instead of HTTP/1.1. Off by default.
    pub http2: bool,
}

/// Why a call of the client failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server answered with an error.
    #[error("the server answered {}: {}", .0.code, .0.message)]
    Rpc(ErrorObject),
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
}

impl ClientConfig {
    /// Defaults for an era.
    #[must_use]
    pub fn new(era: Era) -> Self {
        Self {
            version: match era {
                Era::Legacy => ProtocolVersion::LATEST_LEGACY,
                Era::Modern => ProtocolVersion::LATEST,
            },
            info: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            capabilities: Map::new(),
            timeout: Duration::from_secs(30),
            max_message_bytes: 16 * 1024 * 1024,
            http2: false,
        }
    }
}
