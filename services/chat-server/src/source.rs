//! The interface of every network: a source sends batches to a [`Sink`], which keeps each as a whole or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::import::{Doubt, Summary};
use crate::lock::lock;
use crate::outgoing::{Outgoing, SendError, Sent};

pub use crate::event::{Change, Event};

/// The most events of one batch.
pub const MAX_BATCH: usize = 8_000;

/// One network or one export, as named in the configuration.
pub trait ChatSource: Send + Sync + std::fmt::Debug {
    /// What it is called, and whether it is connected.
    fn head(&self) -> &Head;

    /// Its id.
    fn id(&self) -> &str {
        &self.head().id
    }

    /// Whether messages that arrive while the program runs are sent at once.
    fn streams(&self) -> bool {
        true
    }

    /// Feeds `sink` with everything that is not yet in the index: once for an export, forever for a live source,
    /// which reconnects itself. Ends when no more data can arrive or `stop` is cancelled.
    ///
    /// # Errors
    /// Why it cannot continue, in words for the person who configured it; earlier batches are kept.
    fn run(
        self: Arc<Self>,
        sink: Arc<dyn Sink>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, Result<(), SourceError>>;

    /// Whether something can be sent into its chats.
    fn sends(&self) -> bool {
        true
    }

    /// Sends something, and gives it as events, which the caller keeps.
    ///
    /// # Errors
    /// [`SendError`]; it says whether it may have been sent.
    fn send(self: Arc<Self>, outgoing: Outgoing) -> BoxFuture<'static, Result<Sent, SendError>>;
}

/// What a source is called, and whether it is connected: set by the task that runs it, read by others.
#[derive(Debug)]
pub struct Head {
    /// Its id, such as `telegram`: lower-case letters, digits and dashes.
    pub id: String,
    /// Its name for people.
    pub name: String,
    connection: Mutex<Connection>,
}

impl Head {
    /// A source of this id and name.
    pub fn new(id: String, name: String, connection: Connection) -> Self {
        Self { id, name, connection: Mutex::new(connection) }
    }

    /// Whether it is connected.
    pub fn connection(&self) -> Connection {
        lock(&self.connection).clone()
    }

    /// It is connected from now on, or not.
    pub fn set(&self, connection: Connection) {
        *lock(&self.connection) = connection;
    }
}

/// Whether a source is connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// It is connected.
    Connected,
    /// It is not connected, and what to do about it, in words.
    Disconnected(String),
}

/// Where the events of one source go: the index.
pub trait Sink: Send + Sync {
    /// Keeps a batch, durably and as a whole, before it returns: at most [`MAX_BATCH`] events. Known messages are not
    /// duplicated: a message is identified by chat and id, and replaces its older version when it arrives again.
    fn keep(&self, batch: Batch) -> BoxFuture<'_, Result<(), SourceError>>;

    /// The mark of the last batch that was kept; `None` before the first.
    fn mark(&self) -> BoxFuture<'_, Result<Option<String>, SourceError>>;

    /// What is known about the source as a whole; empty by default.
    fn report(&self) -> BoxFuture<'_, Result<Report, SourceError>> {
        futures_util::future::ready(Ok(Report::default())).boxed()
    }
}

/// Events of a source, in the order in which they happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// The events.
    pub events: Vec<Event>,
    /// Where the source continues after this batch, kept together with it: an update's number, a file's digest.
    pub mark: Option<String>,
    /// What is now known about the source as a whole; `None` if nothing has changed.
    pub report: Option<Report>,
    /// Whether chats that are new in it are hidden until the source has been read whole: only then is it known which
    /// of them are copies of chats that a list leaves out.
    pub unchecked: bool,
}

/// What is known about a source as a whole: doubts, omissions, and which chats its lists have matched.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Report {
    /// Chats whose dates can be read in two ways.
    pub doubts: Vec<Doubt>,
    /// How many entries the last reading has left out.
    pub left_out: u64,
    /// The entries of `allow` and `deny` that have matched a chat.
    pub matched: BTreeSet<String>,
    /// Pairs of duplicate chats, one of the two in this source. The index finds them at the end of a reading.
    pub twins: Vec<Twin>,
    /// When it was read last, in seconds since 1970.
    pub read_at: Option<i64>,
    /// The files that end too early or are damaged, and where: what follows there is missing.
    pub cut: BTreeMap<String, String>,
    /// The languages of the telephones that wrote it, as far as the names of its files show them.
    pub languages: BTreeSet<String>,
    /// Traces of the chats that the lists leave out, by digests of their ids. They show which other chats are copies.
    pub denied: BTreeMap<String, Vec<Trace>>,
}

/// A message of a chat that is left out: its minute, and a keyed digest of its words.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Trace {
    /// When it was sent, in microseconds since 1970.
    pub at: i64,
    /// The digest of what it said.
    pub said: String,
}

/// A duplicate chat: two devices or two people have exported it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Twin {
    /// The ids of source and chat of both. If both are the same, one chat has its messages twice, under other sender
    /// names.
    pub chats: [(String, String); 2],
    /// How many of the messages that were compared are the same.
    pub same: u32,
    /// How many were compared.
    pub compared: u32,
}

impl Report {
    /// Adds the findings of a reading.
    pub fn take(&mut self, read: &Summary) {
        let news = |doubt: &Doubt| !read.chats_read.contains(&doubt.chat);
        self.doubts.retain(news);
        self.doubts.extend(read.doubts.iter().cloned());
        self.left_out = read.skipped;
        self.read_at = Some(Timestamp::now().as_second());
        self.cut.retain(|unit, _| !read.units_read.contains(unit));
        self.cut.extend(read.cut.clone());
        self.languages.extend(read.languages.iter().cloned());
    }
}

/// Why a source cannot continue, in words that contain nothing of a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);
