//! Large answers, read and not read.

use std::sync::Arc;

use super::super::attacker::Field;
use super::super::crowd::{self, Plan, Reads};
use super::super::swarm;
use super::super::target::{self, Kind, Message};
use xtask::Result;

/// The bytes of a body that are reserved for the JSON around the large text.
const MARGIN: usize = 16 << 10;
/// The number of calls sent in a row on one connection.
const IN_A_ROW: usize = 8;

/// Large answers that are read as fast as they arrive.
pub(super) fn read(field: &Field) -> Result<()> {
    crowd(field, 32, 1, Reads::All)
}

/// Large answers that are never read.
pub(super) fn unread(field: &Field) -> Result<()> {
    crowd(field, 1_000, IN_A_ROW, Reads::Nothing)
}

/// Large answers that are read so slowly that they never end.
pub(super) fn sipped(field: &Field) -> Result<()> {
    crowd(field, 100, 1, Reads::Sips(1_024))
}

/// Answers on one HTTP/2 connection with a closed window.
pub(super) fn unread_one(field: &Field) -> Result<()> {
    closed(field, 1)
}

/// Answers on many HTTP/2 connections with closed windows.
pub(super) fn unread_many(field: &Field) -> Result<()> {
    closed(field, 40)
}

fn crowd(field: &Field, connections: usize, in_a_row: usize, reads: Reads) -> Result<()> {
    let request = field.target.http1(&largest(field)?);
    let payload: Arc<[u8]> = Arc::from(request.repeat(in_a_row));
    crowd::run(
        field,
        &mut Plan {
            connections,
            payload: &mut |_| Ok(Arc::clone(&payload)),
            drip: b"",
            repeat: true,
            reads,
        },
    );
    Ok(())
}

fn closed(field: &Field, connections: usize) -> Result<()> {
    let message = largest(field)?;
    swarm::run(
        field,
        &swarm::Plan {
            connections,
            streams: 100,
            closed: true,
            request: &|_| message.clone(),
            reset: false,
        },
    );
    Ok(())
}

/// A call whose answer is as large as the attacker can make it: the largest universe that one request can create, or an
/// echo.
fn largest(field: &Field) -> Result<Message> {
    let length = field.target.kind.max_body() - MARGIN;
    match field.target.kind {
        Kind::Universe => {
            let universe = field.target.universe(length)?;
            let arguments = format!(r#"{{"universeId":"{universe}"}}"#);
            Ok(target::modern_call("get_universe_state", &arguments))
        }
        Kind::Everything => {
            let arguments = format!(r#"{{"name":"{}"}}"#, "n".repeat(length));
            Ok(target::modern_call("greet", &arguments))
        }
    }
}
