//! Events with ids, from which a lost stream can be resumed (2025-03-26 to 2025-11-25, Streamable HTTP).

use std::time::Duration;

use bytes::Bytes;

use super::event_id::EventId;

/// The comment line that opens a stream, so that its headers reach the client at once.
pub(super) const CONNECTED: Bytes = Bytes::from_static(b": connected\n\n");

/// An event that carries only its id, so that a stream can be resumed before its first message (2025-11-25, Streamable
/// HTTP).
pub(super) fn priming(id: EventId) -> Vec<u8> {
    format!("id: {id}\ndata: \n\n").into()
}

/// An event with the time that the client should wait before it reconnects.
pub(super) fn retry(id: EventId, retry: Duration) -> Vec<u8> {
    format!("id: {id}\nretry: {}\ndata: \n\n", retry.as_millis()).into()
}

/// The line with an id, which comes before the rest of an event.
pub(super) fn id_line(id: EventId) -> Vec<u8> {
    format!("id: {id}\n").into_bytes()
}
