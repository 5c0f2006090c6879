//! Many HTTP/1.1 connections at once that all misbehave in the same way.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::attacker::Field;
use super::wire;
use xtask::Result;

/// The maximum number of connections opened in a turn, and the pause of the attacker between turns.
const OPENED: usize = 200;
const REST: Duration = Duration::from_millis(5);
/// The maximum number of bytes read from one connection in a turn.
const READ: usize = 1 << 20;
/// How often a connection that reads nothing checks whether it is still open, and sends its drip.
const LOOK: Duration = Duration::from_secs(1);

/// The behavior of all connections.
pub(super) struct Plan<'a> {
    pub(super) connections: usize,
    /// The payload for the connection with this number. An error if there is nothing to send yet.
    pub(super) payload: &'a mut dyn FnMut(usize) -> Result<Arc<[u8]>>,
    /// The bytes sent once a second after the payload.
    pub(super) drip: &'static [u8],
    /// Whether the payload is sent again once it is complete.
    pub(super) repeat: bool,
    pub(super) reads: Reads,
}

/// How much the connections read of the answers. The kernel buffers at most [`WINDOW`] bytes of the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    All,
    /// This number of bytes per second.
    Sips(usize),
    Nothing,
}

/// The receive buffer of connections that do not read everything, in bytes.
const WINDOW: usize = 4_096;

struct Member {
    stream: TcpStream,
    payload: Arc<[u8]>,
    sent: usize,
    looked: Instant,
    answered: bool,
}

/// Keeps the connections open until the attack is over. Connections that the server closes are opened again.
pub(super) fn run(field: &Field, plan: &mut Plan<'_>) {
    let mut members: Vec<Member> = Vec::new();
    let mut number = 0;
    let mut buffer = vec![0; 64 << 10];
    while !field.over() {
        for _ in 0..OPENED {
            if members.len() >= plan.connections {
                break;
            }
            // No descriptor is left, or the payload is not available. Open connections stay open.
            let Ok(member) = open(field, plan, number) else {
                break;
            };
            number += 1;
            members.push(member);
        }
        members.retain_mut(|member| {
            let stays = turn(field, plan, member, &mut buffer);
            if !stays {
                field.tally.closed.fetch_add(1, Ordering::Relaxed);
            }
            stays
        });
        thread::sleep(REST);
    }
}

/// Keeps connections open that send the same payload and drip, and read nothing.
pub(super) fn hold(field: &Field, connections: usize, payload: &Arc<[u8]>, drip: &'static [u8]) {
    run(
        field,
        &mut Plan {
            connections,
            payload: &mut |_| Ok(Arc::clone(payload)),
            drip,
            repeat: false,
            reads: Reads::Nothing,
        },
    );
}

fn open(field: &Field, plan: &mut Plan<'_>, number: usize) -> Result<Member> {
    let payload = (plan.payload)(number)?;
    let window = (plan.reads != Reads::All).then_some(WINDOW);
    let stream = wire::begin(field.target.from, field.target.address, window)?;
    field.tally.opened.fetch_add(1, Ordering::Relaxed);
    Ok(Member { stream, payload, sent: 0, looked: Instant::now(), answered: false })
}

/// Sends and reads as much as possible. Returns whether the connection is still open.
fn turn(field: &Field, plan: &Plan<'_>, member: &mut Member, buffer: &mut [u8]) -> bool {
    let look = member.looked.elapsed() >= LOOK;
    if look {
        member.looked = Instant::now();
    }
    let stays = match plan.reads {
        Reads::All => read(field, member, buffer),
        Reads::Nothing => !look || peek(field, member),
        Reads::Sips(bytes) => {
            let sip = buffer.get_mut(..bytes).unwrap_or_default();
            !look || (peek(field, member) && sipped(field, member, sip))
        }
    };
    stays && send(field, plan, member, look)
}

fn send(field: &Field, plan: &Plan<'_>, member: &mut Member, drips: bool) -> bool {
    let mut rest = known_range::items(&member.payload, member.sent..);
    if rest.is_empty() && plan.repeat {
        member.sent = 0;
        rest = &member.payload;
    }
    let dripping = rest.is_empty();
    if dripping {
        rest = plan.drip;
    }
    if rest.is_empty() || (dripping && !drips) {
        return true;
    }
    match member.stream.write(rest) {
        Ok(sent) => {
            if !dripping {
                member.sent += sent;
            }
            field.tally.sent.fetch_add(sent as u64, Ordering::Relaxed);
            true
        }
        Err(error) => waits(error.kind()),
    }
}

fn read(field: &Field, member: &mut Member, buffer: &mut [u8]) -> bool {
    let mut total = 0;
    while total < READ {
        match member.stream.read(buffer) {
            Ok(0) => return false,
            Ok(count) => {
                note(field, known_range::items(buffer, ..count));
                total += count;
                field.tally.received.fetch_add(count as u64, Ordering::Relaxed);
            }
            Err(error) => return waits(error.kind()),
        }
    }
    true
}

/// Reads once. Returns whether the connection is still open.
fn sipped(field: &Field, member: &mut Member, sip: &mut [u8]) -> bool {
    match member.stream.read(sip) {
        Ok(count) => {
            let received = &field.tally.received;
            received.fetch_add(count as u64, Ordering::Relaxed);
            count > 0
        }
        Err(error) => waits(error.kind()),
    }
}

/// Looks at received bytes without consuming them.
fn peek(field: &Field, member: &mut Member) -> bool {
    let mut start = [0; 16];
    match member.stream.peek(&mut start) {
        Ok(0) => false,
        Ok(_) => {
            if !member.answered {
                note(field, &start);
                member.answered = true;
            }
            !matches!(member.stream.take_error(), Ok(Some(_)) | Err(_))
        }
        Err(error) => waits(error.kind()),
    }
}

/// Counts the answer at the start of `bytes`.
fn note(field: &Field, bytes: &[u8]) {
    let status = bytes
        .strip_prefix(b"HTTP/1.1 ")
        .and_then(|rest| rest.get(..3))
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse().ok());
    if let Some(status) = status {
        field.tally.answer(status);
    }
}

/// Whether a failed read or write may succeed later. This includes connections that are not established yet.
fn waits(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
