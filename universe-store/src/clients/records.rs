//! The port of what nodes share of their clients: records, and the events of streams. An engine implements it, and the
//! rules of [sessions](super::sessions), [tasks](super::tasks) and [logs](super::logs) are written once, over it.
//!
//! A record is bytes with a kind, a key, a version and a time at which it ends. Using a session sets that time again:
//! how long it was idle follows from what is left. Records of one owner are listed, those of one share are counted, and
//! those below a session end with it.
//!
//! The limits of a new record are part of [`put`](Records::put), and so is the record that gives way to it: an engine
//! with statements needs one of them, and one that knows all records looks them up. Two nodes that put at the same
//! moment may exceed a limit by one record each.
//!
//! Events stand apart from records: a stream has thousands, each is written once and read by its number, none is
//! counted, and many streams are written at a time. As records they would need a key and a time each, and a trip each.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use uuid::Uuid;

use super::nodes::{Nodes, Unavailable};
use crate::adapter::keys::Key;

/// The interval at which an engine deletes what is over, and counts the rest.
pub const LOOK: Duration = Duration::from_secs(30);

/// The most events of a stream in one read, and their most bytes; one event is always read, however large.
pub const PAGE: (usize, usize) = (64, 256 * 1024);

/// How long the writer of a stream sends notifications after a reader has recorded that it reads.
pub const WATCHED: Duration = Duration::from_secs(30);

/// The pause before a store that failed is asked again.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// A kind of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A session.
    Session,
    /// A letter to those nodes that run calls of the session above it.
    Letter,
    /// A task.
    Task,
}

/// Which record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Id {
    /// Its kind.
    pub kind: Kind,
    /// Its key.
    pub key: Key,
}

/// Which stream of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream<'a> {
    /// The key of its session.
    pub session: Key,
    /// Its name, unique in the session.
    pub name: &'a str,
}

/// What a method of the port returns.
pub type Answer<'a, T> = crate::Answer<'a, T, Unavailable>;

impl Kind {
    /// The record of this kind with a key.
    pub fn id(self, key: Key) -> Id {
        Id { kind: self, key }
    }

    /// Its name in a store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Letter => "letter",
            Self::Task => "task",
        }
    }
}

/// A record to be stored.
#[derive(Debug, Clone)]
pub struct New<'a> {
    /// Its kind and key, which no record has.
    pub id: Id,
    /// The key of the session that it is below, and whose share it counts for.
    pub above: Option<Key>,
    /// The client whose share it counts for.
    pub share: Option<&'a str>,
    /// Its owner.
    pub owner: Option<&'a str>,
    /// Its name.
    pub name: Option<&'a str>,
    /// When it ends, from now on.
    pub lives: Duration,
    /// Its content.
    pub body: &'a [u8],
    /// The limits of its kind.
    pub limits: Limits,
    /// At a limit, the record within it that ends first gives way if it ends within this time.
    pub replaces: Option<Duration>,
}

impl<'a> New<'a> {
    /// A record that nothing limits and nobody owns.
    pub fn of(id: Id, lives: Duration, body: &'a [u8]) -> Self {
        let (above, share, owner, name, replaces) = (None, None, None, None, None);
        Self { id, above, share, owner, name, lives, body, limits: Limits::default(), replaces }
    }
}

/// The most records that there may be of a kind before another one is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Of its share.
    pub share: Limit,
    /// Below the same session.
    pub above: Limit,
    /// Of all shares: an engine may count them from time to time, and add its own between counts.
    pub all: Limit,
}

/// A limit of [`Limits`]. By default nothing is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// A record is stored if there are fewer.
    pub records: usize,
    /// A record is stored if they do not have more bytes.
    pub bytes: usize,
}

impl Limit {
    /// Whether so many records with so many bytes leave room for none.
    pub fn is_reached(self, records: usize, bytes: usize) -> bool {
        records >= self.records || bytes > self.bytes
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self { records: usize::MAX, bytes: usize::MAX }
    }
}

/// What came of a new record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It is stored. Later records have greater numbers.
    Stored(u64),
    /// A limit is reached: that of its share or of its session, or of all.
    Full {
        /// Whether it is that of its share.
        is_share: bool,
    },
    /// The session that it was to be below does not exist.
    Missing,
}

/// A new content of a record.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// The version that it replaces.
    pub version: u64,
    /// The content.
    pub body: &'a [u8],
    /// Content that is read apart.
    pub result: Option<&'a [u8]>,
    /// When it ends, from now on, if that changes.
    pub lives: Option<Duration>,
}

/// A record as read from the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its name, if it has an owner.
    pub name: Option<String>,
    /// Its owner.
    pub owner: Option<String>,
    /// Later records have greater numbers.
    pub number: u64,
    /// Changes with each change. For a task: how often it was replaced.
    pub version: u64,
    /// The rest of its time.
    pub ttl: Duration,
    /// The node that stored it.
    pub node: Uuid,
    /// Whether that node has ended: of a task. Others do not need it.
    pub is_orphaned: bool,
    /// Its content.
    pub body: Vec<u8>,
}

/// One write to a stream.
#[derive(Debug, Clone)]
pub struct Write<'a> {
    /// The name of its session.
    pub session: &'a str,
    /// Its own name, unique in the session.
    pub stream: &'a str,
    /// Whether the stream continues, ends or is deleted.
    pub fate: Fate,
    /// A description of the stream, for readers that find it abandoned; replaces the previous one.
    pub about: &'a [u8],
    /// Events with lower numbers than this are deleted.
    pub first: u64,
    /// The new events, each with its number. An event that is stored already is not changed.
    pub events: Vec<(u64, &'a [u8])>,
}

/// What happens to a stream after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// More events may follow.
    Open,
    /// No more events follow.
    Ended,
    /// The stream is deleted at once.
    Forgotten,
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its number in the stream.
    pub number: u64,
    /// Its text.
    pub text: Bytes,
}

/// A stream as it was found.
#[derive(Debug)]
pub struct Events {
    /// The node that writes it.
    pub node: Uuid,
    /// Its description.
    pub about: Bytes,
    /// Whether no more events follow.
    pub ended: bool,
    /// Its next events.
    pub events: Vec<Event>,
}

/// The records and streams of all nodes that use one store, and this node among them. Each method answers whatever
/// another node has done before. A record whose time is over is as one that does not exist.
pub trait Records: Nodes {
    /// Stores a new record of this node.
    fn put<'a>(&'a self, new: New<'a>) -> Answer<'a, Put>;

    /// A record, without its result.
    fn read(&self, id: Id) -> Answer<'_, Option<Found>>;

    /// The result of a record, if it has one.
    fn result(&self, id: Id) -> Answer<'_, Option<Vec<u8>>>;

    /// Changes a record if it still has this version, and notifies the other nodes. Returns whether it did.
    fn replace<'a>(&'a self, id: Id, change: Change<'a>) -> Answer<'a, bool>;

    /// Sets when a record ends, from now on. Notifies no node.
    fn extend(&self, id: Id, lives: Duration) -> Answer<'_, ()>;

    /// Deletes a record, and what is below it, and notifies the other nodes. Returns whether it existed.
    fn remove(&self, id: Id) -> Answer<'_, bool>;

    /// At most `max` tasks of an owner with numbers greater than `after`, ordered by number.
    fn owned<'a>(&'a self, owner: &'a str, after: u64, max: usize) -> Answer<'a, Vec<Found>>;

    /// The letters below a session with numbers greater than `after`, ordered by number; `None` if the session does not
    /// exist. An engine may leave out what it has not been notified of.
    fn below(&self, session: Key, after: u64) -> Answer<'_, Option<Vec<Found>>>;

    /// The number of the newest record that this node knows of, or the greatest number if it does not.
    fn newest(&self) -> u64 {
        u64::MAX
    }

    /// The number of sessions, as of the last count.
    fn count(&self) -> usize;

    /// An item whenever another node may have changed or ended a record; for the kind of letters, whenever it may have
    /// put one below the session with the key. It is only a hint, and always comes after this node was disconnected for
    /// a while. Ends with the records.
    fn hints(&self, id: Id) -> BoxStream<'static, ()>;

    /// The same for a stream.
    fn stream_hints(&self, stream: Stream<'_>) -> BoxStream<'static, ()>;

    /// Writes to streams of this node, each of which is kept for the given time after it or its node has ended.
    fn write<'a>(&'a self, writes: &'a [Write<'a>], keep: Duration) -> Answer<'a, ()>;

    /// A stream with its next events, at most one [`PAGE`]; `None` if it does not exist.
    fn events<'a>(&'a self, stream: Stream<'a>, after: u64) -> Answer<'a, Option<Events>>;

    /// Asks the writer of a stream to notify of its writes for [`WATCHED`] from now on. By default it always does.
    fn watch<'a>(&'a self, stream: Stream<'a>) -> Answer<'a, ()> {
        let _every_write_notifies = stream;
        Box::pin(std::future::ready(Ok(())))
    }
}
