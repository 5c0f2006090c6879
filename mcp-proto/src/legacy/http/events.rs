//! Events with ids, from which a lost stream can be resumed (2025-03-26 to 2025-11-25, Streamable HTTP).

use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;

use super::event_id::EventId;
use crate::http::sse::{answer_after, message_after, text_after};
use crate::jsonrpc::Response;

/// The comment line that opens a stream, so that its headers reach the client at once.
pub(super) const CONNECTED: Bytes = Bytes::from_static(b": connected\n\n");

/// A notification or a request as an event with an id.
pub(super) fn message_with_id(id: EventId, message: &impl Serialize) -> Vec<u8> {
    message_after(id_line(id), message)
}

/// The same for a message that is JSON text already.
pub(super) fn text_with_id(id: EventId, message: &[u8]) -> Vec<u8> {
    text_after(id_line(id), message)
}

/// An answer as an event with an id.
pub(super) fn answer_with_id(id: EventId, answer: &Response) -> Vec<u8> {
    answer_after(id_line(id), answer)
}

/// An event that carries only its id, so that a stream can be resumed before its first message (2025-11-25, Streamable
/// HTTP).
pub(super) fn priming(id: EventId) -> Vec<u8> {
    format!("id: {id}\ndata: \n\n").into()
}

/// An event with the time that the client should wait before it reconnects.
pub(super) fn retry(id: EventId, retry: Duration) -> Vec<u8> {
    format!("id: {id}\nretry: {}\ndata: \n\n", retry.as_millis()).into()
}

/// The line with an id.
fn id_line(id: EventId) -> Vec<u8> {
    format!("id: {id}\n").into_bytes()
}
