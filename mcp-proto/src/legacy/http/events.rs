//! Events with ids, from which a lost stream can be resumed (2025-03-26 to 2025-11-25, Streamable HTTP).

use std::fmt::Display;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;

use crate::http::sse::{answer_after, message_after, text_after};
use crate::jsonrpc::Response;

/// The comment line that opens a stream, so that its headers reach the client at once.
pub(super) const CONNECTED: Bytes = Bytes::from_static(b": connected\n\n");

/// A notification or a request as an event with an id.
pub(super) fn message_with_id(id: impl Display, message: &impl Serialize) -> Bytes {
    message_after(id_line(id, 256), message)
}

/// The same for a message that is JSON text already.
pub(super) fn text_with_id(id: impl Display, message: &[u8]) -> Bytes {
    text_after(id_line(id, 0), message)
}

/// An answer as an event with an id.
pub(super) fn answer_with_id(id: impl Display, answer: &Response) -> Bytes {
    answer_after(id_line(id, 0), answer)
}

/// An event that carries only its id, so that a stream can be resumed before its first message (2025-11-25, Streamable
/// HTTP).
pub(super) fn priming(id: impl Display) -> Bytes {
    format!("id: {id}\ndata: \n\n").into()
}

/// An event with the time that the client should wait before it reconnects.
pub(super) fn retry(id: impl Display, retry: Duration) -> Bytes {
    format!("id: {id}\nretry: {}\ndata: \n\n", retry.as_millis()).into()
}

fn id_line(id: impl Display, size: usize) -> Vec<u8> {
    let mut line = format!("id: {id}\n").into_bytes();
    line.reserve(size);
    line
}
