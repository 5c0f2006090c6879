//! Connections of a GET stream that another one came beside.
//!
//! A client may have several, and each message is sent on only one of them (2025-11-25, "Multiple Connections"). If the
//! older one were closed, a client that keeps two of them would open one for the other without end. So it stays open,
//! with comments alone, and is read from again when the newer one leaves.

use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use crate::http::sse::KEEP_ALIVE;

/// The most of them. For one more, the oldest is closed.
const MAX_ASIDE: usize = 3;

/// The connections, oldest first.
#[derive(Debug, Default)]
pub(super) struct Aside(Vec<Connection>);

#[derive(Debug)]
struct Connection {
    /// The key of its reader.
    key: u64,
    waiting: Option<Waker>,
    /// A comment is due.
    is_quiet: bool,
}

impl Aside {
    /// Adds the connection that has read until now. Returns what wakes the one that is closed for it.
    pub(super) fn add(&mut self, key: u64, waiting: Option<Waker>) -> Option<Waker> {
        let closed = if self.0.len() < MAX_ASIDE { None } else { self.0.remove(0).waiting };
        self.0.push(Connection { key, waiting, is_quiet: false });
        closed
    }

    /// The next item for the reader of this key: a comment, or the end if it is not one of these.
    pub(super) fn poll_next(&mut self, key: u64, context: &Context<'_>) -> Poll<Option<Bytes>> {
        let Some(connection) = self.0.iter_mut().find(|connection| connection.key == key) else {
            return Poll::Ready(None);
        };
        if std::mem::take(&mut connection.is_quiet) {
            return Poll::Ready(Some(KEEP_ALIVE));
        }
        connection.waiting = Some(context.waker().clone());
        Poll::Pending
    }

    /// A comment is due on each.
    pub(super) fn keep_alive(&mut self) {
        self.0.iter_mut().for_each(|connection| connection.is_quiet = true);
    }

    /// The reader of this key has left.
    pub(super) fn remove(&mut self, key: u64) {
        self.0.retain(|connection| connection.key != key);
    }

    /// Takes the newest out, to be read from again: its key, and what wakes it.
    pub(super) fn take_newest(&mut self) -> Option<(u64, Option<Waker>)> {
        self.0.pop().map(|connection| (connection.key, connection.waiting))
    }

    /// What wakes them.
    pub(super) fn wakers(&mut self) -> impl Iterator<Item = Waker> {
        self.0.iter_mut().filter_map(|connection| connection.waiting.take())
    }
}
