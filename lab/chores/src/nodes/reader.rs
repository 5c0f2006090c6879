//! Readers of feeds. Each follows one universe from server to server, and must see every event once and in order.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::Value;

use super::NODES;
use super::network::Side;
use super::request::get;
use super::world::{Outage, Seen, World};
use crate::siege::wire;
use xtask::Result;

/// How long a reader waits for a connection and the head of an answer.
const PATIENCE: Duration = Duration::from_secs(6);
const PAUSE: Duration = Duration::from_millis(50);
/// How long a reader stays at one server, in milliseconds.
const STAY: std::ops::Range<u64> = 1_000..10_000;
/// The maximum length of a chunk, in bytes.
const MAX_CHUNK: usize = 16 << 20;

/// An event of a feed.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) id: u64,
    pub(super) data: String,
}

/// The events of a universe after a revision, from one server.
pub(super) struct Feed<R>(BufReader<Chunked<R>>);

/// Opens a feed, which ends after `stay` at the latest.
///
/// # Errors
/// When the server does not answer with a feed.
pub(super) fn open(
    at: SocketAddr,
    universe: &str,
    after: u64,
    stay: Duration,
) -> Result<Feed<impl BufRead + use<>>> {
    let last = format!("last-event-id: {after}\r\naccept: text/event-stream\r\n");
    let request = get(at, &format!("/universes/{universe}/events"), &last);
    let body = wire::open_stream(Side::Clients.host(), at, &request, PATIENCE, stay)?;
    let chunked = Chunked { inner: body, left: 0 };
    Ok(Feed(BufReader::new(chunked)))
}

impl<R: BufRead> Feed<R> {
    /// The next event. `None` when the feed has ended for any reason.
    pub(super) fn next(&mut self) -> Option<Event> {
        let (mut id, mut data) = (None, String::new());
        let mut line = String::new();
        loop {
            line.clear();
            if self.0.read_line(&mut line).ok()? == 0 || !line.ends_with('\n') {
                return None;
            }
            let text = line.trim_end_matches('\n');
            if let Some(value) = text.strip_prefix("id: ") {
                id = value.parse().ok();
            } else if let Some(value) = text.strip_prefix("data: ") {
                data.push_str(value);
            } else if text.is_empty()
                && let Some(id) = id.take()
            {
                return Some(Event { id, data });
            }
        }
    }
}

/// Follows a universe until the load has ended and every event was seen.
pub(super) fn follow(world: &World, universe: usize, mut random: Rng) {
    let _running = world.enter();
    let Some(name) = world.universes.get(universe) else {
        return;
    };
    let (mut head, mut digest) = (0, DefaultHasher::new());
    let mut latest = Instant::now();
    let mut node = random.usize(..NODES);
    while !world.is_over() {
        if world.head(universe) == Some(head) {
            let digest = digest.finish();
            return world.saw(Seen { universe, head, digest });
        }
        node = (node + random.usize(1..NODES)) % NODES;
        let stay = Duration::from_millis(random.u64(STAY));
        let at = world.addresses.get(node).copied();
        let feed = at.ok_or_else(|| "there is no such server".into());
        let mut feed = match feed.and_then(|at| open(at, name, head, stay)) {
            Ok(feed) => feed,
            Err(problem) => {
                world.complain(format!("Feed: {problem}"));
                thread::sleep(PAUSE);
                continue;
            }
        };
        while let Some(event) = feed.next() {
            if event.id != head + 1 {
                world.wrong(format!("a feed has {} after {head}", event.id));
                return;
            }
            head = event.id;
            event.data.hash(&mut digest);
            let feeds = latest.elapsed();
            world.outage(world.fault(), Outage { feeds, ..Outage::default() });
            latest = Instant::now();
            if world.head(universe) == Some(head) {
                break;
            }
        }
    }
    world.wrong(format!("a reader of universe {universe} came only to {head}"));
}

/// The whole history of a universe from one server: the commands, and what a reader of all events would have seen.
///
/// # Errors
/// When the history is not complete in time, or not in order.
pub(super) fn history(
    at: SocketAddr,
    universe: (usize, &str),
    head: u64,
    deadline: Duration,
) -> Result<(Vec<Value>, Seen)> {
    let (mut commands, mut digest) = (Vec::new(), DefaultHasher::new());
    let mut feed = open(at, universe.1, 0, deadline)?;
    for revision in 1..=head {
        let event = feed.next();
        let event = event.ok_or_else(|| format!("the history of {at} ends before {revision}"))?;
        if event.id != revision {
            return Err(format!("the history of {at} has {} at {revision}", event.id).into());
        }
        event.data.hash(&mut digest);
        commands.push(serde_json::from_str(&event.data)?);
    }
    let seen = Seen { universe: universe.0, head, digest: digest.finish() };
    Ok((commands, seen))
}

/// The content of the chunks of an answer.
struct Chunked<R> {
    inner: R,
    /// The number of bytes left in the current chunk.
    left: usize,
}

impl<R: BufRead> Read for Chunked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            let mut line = String::new();
            // The line end of the previous chunk, if there was one.
            while line.trim().is_empty() {
                line.clear();
                if self.inner.by_ref().take(32).read_line(&mut line)? == 0 {
                    return Ok(0);
                }
            }
            let size = usize::from_str_radix(line.trim(), 16).ok();
            self.left = size.filter(|size| *size <= MAX_CHUNK).ok_or(io::ErrorKind::InvalidData)?;
            if self.left == 0 {
                return Ok(0);
            }
        }
        let wanted = buffer.len().min(self.left);
        let room = buffer.get_mut(..wanted).unwrap_or_default();
        let read = self.inner.read(room)?;
        self.left -= read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_wherever_the_chunks_of_an_answer_end() {
        let text = ":connected\n\nretry: 2000\n\nevent: command\nid: 7\ndata: {}\n\nid: 8\ndata: []\n\nid: 9\nda";
        for size in 1..text.len() {
            let chunks = text.as_bytes().chunks(size);
            let mut body = Vec::new();
            for chunk in chunks {
                body.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
                body.extend(chunk);
                body.extend(b"\r\n");
            }
            let chunked = Chunked { inner: body.as_slice(), left: 0 };
            let mut feed = Feed(BufReader::new(chunked));
            for (id, data) in [(7, "{}"), (8, "[]")] {
                let event = feed.next().expect("an event");
                assert_eq!((event.id, event.data.as_str()), (id, data));
            }
            assert!(feed.next().is_none(), "half an event is none");
        }
    }
}
