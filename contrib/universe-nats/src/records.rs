//! What nodes share of their clients, as messages of one stream: the last one of a subject is a record, and its header
//! has all of it but its body.
//!
//! Each node receives the headers of all by one consumer, and keeps them: so it counts shares, finds what is old, and
//! reports what others change. What one record has is read from the leader of the stream, and a write names the message
//! that it replaces. A record ends with a message that the servers take away after a minute.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::jetstream;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;
use uuid::Uuid;

use super::bodies::{self, Kind};
use super::card::{self, Body};
use super::engine::Engine;
use super::error::{Away, Refusal};
use super::feed::{self, Follower};
use super::link::Link;
use universe_store::Timestamp;
use universe_store::adapter::keys::hash;
use universe_store::adapter::lease::{Lease, millis};
use universe_store::adapter::table::{self, Table};
use universe_store::adapter::watched::Watched;
use universe_store::clients::nodes::Unavailable;
use universe_store::clients::records as port;

/// The kinds of what is below a session: letters, and the heads of streams.
pub(super) const BELOW: [&str; 2] = ["letter", "head"];

/// How often a write is tried when another write was first, or the server reports that.
pub(super) const TRIES: usize = 16;

/// How long the last message of an ended record is kept, so that each node receives it.
const END: Duration = Duration::from_secs(60);

/// The additional time that pieces are kept after the record that refers to them, besides the longest delay of storing
/// it.
const OVERLAP: Duration = Duration::from_secs(2);

/// How long a session lasts that was stored by a node which did not write it, in milliseconds.
const LIVES: i64 = 30 * 60 * 1_000;

/// The longest round trip of a message whose time is used to set the clock.
const EXACT: Duration = Duration::from_secs(1);

/// The number in place of a universe's number for pieces of large bodies of records.
const RECORDS: i64 = -1;

/// The same for sessions and their data. These pieces do not expire: they are removed with their session.
pub(super) const SESSIONS: i64 = -2;

/// How long a body is needed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Life<'a> {
    /// Until this time. Its pieces are kept a little longer than the record that refers to them and is stored next.
    /// Then the servers remove them.
    Until(i64),
    /// As long as the session with this hash exists.
    Session(&'a str),
}

/// A record without its body. Times are in milliseconds since the epoch, by the clock of the servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Label {
    /// The node that wrote the record.
    pub(super) by: Uuid,
    /// The node that runs the call or task of the record.
    pub(super) node: Uuid,
    /// The client whose share it counts for.
    pub(super) share: Option<String>,
    /// A hash of its owner.
    pub(super) owner: Option<String>,
    pub(super) name: Option<String>,
    /// The time when it was last used or written.
    pub(super) used: i64,
    /// The time when the servers remove it; 0 for never. For a node: the duration of its lease, until the message was
    /// received.
    pub(super) until: i64,
    /// For a session or stream, which the servers do not remove: how long it lasts after its last use.
    pub(super) lives: i64,
    pub(super) bytes: u64,
    pub(super) version: u64,
    /// The sequence of its first message; 0 in the first message itself.
    pub(super) number: u64,
    /// For a stream of events: the numbers of the events that are kept, and whether the stream has ended.
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) ended: bool,
    /// Whether this is the last message of the record.
    pub(super) gone: bool,
    pub(super) body: Body,
    pub(super) result: Option<Body>,
}

/// A record with the sequence of its message.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) label: Label,
    pub(super) sequence: u64,
}

impl Row {
    /// The time when the record ends.
    pub(super) fn ends(&self) -> i64 {
        match (self.label.until, self.label.lives) {
            (0, 0) => self.label.used.saturating_add(LIVES),
            (0, lives) => self.label.used.saturating_add(lives),
            (until, _) => until,
        }
    }

    /// The numbers of the events of a stream.
    pub(super) fn events(&self) -> Range<u64> {
        self.label.first.max(1)..self.label.last.saturating_add(1)
    }

    /// The sequence of the record's first message. Later records have greater numbers.
    pub(super) fn number(&self) -> u64 {
        if self.label.number == 0 { self.sequence } else { self.label.number }
    }
}

impl table::Row for Row {
    fn share(&self) -> Option<&str> {
        self.label.share.as_deref()
    }

    fn owner(&self) -> Option<&str> {
        self.label.owner.as_deref()
    }

    fn ends(&self) -> i64 {
        self.ends()
    }

    fn bytes(&self) -> u64 {
        self.label.bytes
    }
}

/// A record as read from the leader.
pub(super) struct Got {
    pub(super) row: Row,
    pub(super) inline: Bytes,
}

/// The records that one node knows.
pub(super) struct Records {
    pub(super) engine: Arc<Engine>,
    /// The id of this node.
    pub(super) id: Uuid,
    pub(super) lease: Lease,
    table: Mutex<Table<Row>>,
    watched: Arc<Watched>,
    known: watch::Sender<u64>,
    begun: Instant,
    /// The servers' time when this process began, in milliseconds. The time since then is measured with a monotonic
    /// clock: if the clock of this machine were set forward, other nodes would seem to have ended.
    began_at: AtomicI64,
    /// The last message of this node's lease: its number and the time when it was sent.
    sent: Mutex<Option<(u64, Instant)>>,
}

impl Records {
    pub(super) fn new(engine: Arc<Engine>, lease: Duration) -> Self {
        Self {
            engine,
            id: Uuid::new_v4(),
            lease: Lease::new(lease),
            table: Mutex::default(),
            watched: Arc::default(),
            known: watch::Sender::new(0),
            begun: Instant::now(),
            began_at: AtomicI64::new(Timestamp::now().as_millis()),
            sent: Mutex::default(),
        }
    }

    pub(super) fn link(&self) -> &Link {
        &self.engine.link
    }

    /// The present time of the servers.
    pub(super) fn now(&self) -> i64 {
        let began_at = self.began_at.load(Ordering::Relaxed);
        began_at.saturating_add(millis(self.begun.elapsed()))
    }

    /// The table of known records.
    pub(super) fn table(&self) -> MutexGuard<'_, Table<Row>> {
        // No code panics while it holds the lock of the table.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all records that were acknowledged before this call are known.
    pub(super) async fn catch_up(&self) -> Result<(), Unavailable> {
        Ok(feed::catch_up(self).await?)
    }

    /// Yields an item whenever another node may have changed a record at or below a path.
    pub(super) fn hints(&self, path: &str) -> BoxStream<'static, ()> {
        Watched::hints(&self.watched, hash(&[path.as_bytes()]))
    }

    /// Notes that the message with this number, which renews the lease of this node, is about to be sent.
    pub(super) fn sending(&self, number: u64) {
        *self.sent() = Some((number, Instant::now()));
    }

    /// A label written by this node, with the present time.
    pub(super) fn label(&self) -> Label {
        Label { by: self.id, node: self.id, used: self.now(), ..Label::default() }
    }

    /// Lets a record last for this long from now on.
    pub(super) fn lengthen(&self, label: &mut Label, kind: port::Kind, lives: Duration) {
        label.used = self.now();
        match kind {
            port::Kind::Session => label.lives = millis(lives),
            port::Kind::Letter | port::Kind::Task => {
                label.until = label.used.saturating_add(millis(lives));
            }
        }
    }

    /// The record with a path, even if it has ended.
    pub(super) async fn get(&self, path: &str) -> Result<Option<Got>, Unavailable> {
        let names = &self.engine.names;
        let (stream, subject) = (names.records(), names.record(path));
        let Some(message) = self.link().last(&stream, &subject).await? else {
            return Ok(None);
        };
        let label = card::read(&message.headers).ok_or(Unavailable)?;
        let row = Row { label, sequence: message.sequence };
        let inline = message.payload;
        Ok(Some(Got { row, inline }))
    }

    /// The record with a path, unless it has ended.
    pub(super) async fn living(&self, path: &str) -> Result<Option<Got>, Unavailable> {
        let got = self.get(path).await?;
        Ok(got.filter(|got| !got.row.label.gone))
    }

    /// The record with a path and its body, unless it has ended.
    pub(super) async fn read(&self, path: &str) -> Result<Option<(Row, Bytes)>, Unavailable> {
        let mut before = None;
        loop {
            let Some(Got { row, inline }) = self.living(path).await? else {
                return Ok(None);
            };
            match self.load(&row.label.body, inline).await {
                Ok(body) => return Ok(Some((row, body))),
                // The record was replaced meanwhile, and the pieces of its body were removed.
                Err(Unavailable) if before.replace(row.sequence) != Some(row.sequence) => {}
                Err(Unavailable) => return Err(Unavailable),
            }
        }
    }

    /// The sequence of the stream up to which all records are known.
    pub(super) fn known_until(&self) -> u64 {
        *self.known.borrow()
    }

    /// Stores a record and returns its sequence. `None` if the record has changed since the sequence `after`. The
    /// servers remove the record when the time in its label has come.
    pub(super) async fn put(
        &self,
        path: &str,
        label: &Label,
        inline: Bytes,
        after: Option<u64>,
    ) -> Result<Option<u64>, Unavailable> {
        let left = self.left(label.until);
        self.store(path, label, inline, after, left).await
    }

    /// The same for a record that lasts for this number of milliseconds.
    pub(super) async fn store(
        &self,
        path: &str,
        label: &Label,
        inline: Bytes,
        after: Option<u64>,
        left: Option<i64>,
    ) -> Result<Option<u64>, Unavailable> {
        let mut headers = card::write(label);
        card::expire(&mut headers, left);
        let subject = self.engine.names.record(path);
        match self.link().put(&subject, headers, inline, after).await {
            Ok(stored) => Ok(Some(stored.sequence)),
            Err(Refusal::WrongSequence(_)) => Ok(None),
            Err(Refusal::Failed(_)) => Err(Unavailable),
        }
    }

    /// Ends a record if it has not changed. Returns whether it did.
    pub(super) async fn end(&self, path: &str, row: &Row) -> Result<bool, Unavailable> {
        let label = Label { by: self.id, gone: true, ..Label::default() };
        let left = Some(millis(END));
        let ended = self.store(path, &label, Bytes::new(), Some(row.sequence), left);
        if ended.await?.is_none() {
            return Ok(false);
        }
        self.forget(&row.label).await;
        Ok(true)
    }

    /// Removes the pieces of a record's body.
    pub(super) async fn forget(&self, label: &Label) {
        for body in [Some(&label.body), label.result.as_ref()].into_iter().flatten() {
            bodies::drop_body(self.link(), &self.engine.names, whose(body), body).await;
        }
    }

    /// Stores a body in a message, or in pieces if it is too large.
    pub(super) async fn keep(
        &self,
        body: &[u8],
        life: Life<'_>,
    ) -> Result<(Body, Bytes), Unavailable> {
        let (names, body) = (&self.engine.names, Bytes::copy_from_slice(body));
        let kept = bodies::keep(self.link(), names, self.kind(life), body);
        kept.await.map_err(|_| Unavailable)
    }

    /// The same, but always in pieces, so that the body is not read with its record.
    pub(super) async fn keep_apart(
        &self,
        body: &[u8],
        life: Life<'_>,
    ) -> Result<Body, Unavailable> {
        let (names, body) = (&self.engine.names, Bytes::copy_from_slice(body));
        let kept = bodies::keep_apart(self.link(), names, self.kind(life), body);
        kept.await.map_err(|_| Unavailable)
    }

    /// Reads a body that was stored.
    pub(super) async fn load(&self, body: &Body, inline: Bytes) -> Result<Bytes, Unavailable> {
        let loaded = bodies::load(self.link(), &self.engine.names, whose(body), (body, inline));
        loaded.await.map_err(|_| Unavailable)
    }

    /// The number of milliseconds until a time. `None` if the time is 0, which stands for never.
    fn left(&self, until: i64) -> Option<i64> {
        (until != 0).then(|| until.saturating_sub(self.now()))
    }

    /// The number that stands for the owner of a body with this life, and the body's kind.
    fn kind<'a>(&self, life: Life<'a>) -> (i64, Kind<'a>) {
        match life {
            Life::Until(until) => {
                let longer = millis(self.link().latest().saturating_add(OVERLAP));
                let left = until.saturating_sub(self.now());
                (RECORDS, Kind::Record(left.saturating_add(longer)))
            }
            Life::Session(place) => (SESSIONS, Kind::Session(place)),
        }
    }

    /// Notes a record unless a newer one is known for its path.
    fn learn(&self, path: &Arc<str>, row: Row) {
        let mut table = self.table();
        if table.get(path).is_some_and(|known| known.sequence >= row.sequence) {
            return;
        }
        if !row.label.gone {
            return table.insert(path, row);
        }
        table.remove(path);
        // What is below a session is removed with it.
        if let Some(session) = path.strip_prefix("session.") {
            for kind in BELOW {
                table.remove_below(&format!("{kind}.{session}."));
            }
        }
    }

    fn sent(&self) -> MutexGuard<'_, Option<(u64, Instant)>> {
        // No code panics while it holds this lock.
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called when this node has received its own lease message: the lease holds, the known records are up to date, and
    /// the servers' time is known.
    fn refreshed(&self, label: &Label, published: i64) {
        self.lease.refreshed(published);
        let sent = *self.sent();
        if let Some((number, at)) = sent
            && number == label.version
        {
            // The longer the round trip, the less exact the time is. The first time there is no better value.
            let took = at.elapsed();
            if took < EXACT || label.version == 1 {
                let since = at.saturating_duration_since(self.begun) + took / 2;
                let began_at = published.saturating_sub(millis(since));
                self.began_at.store(began_at, Ordering::Relaxed);
            }
        }
    }
}

impl Follower for Records {
    type Key = Arc<str>;

    fn link(&self) -> &Link {
        &self.engine.link
    }

    fn source(&self) -> (String, String) {
        let names = &self.engine.names;
        (names.records(), names.record(">"))
    }

    fn known(&self) -> &watch::Sender<u64> {
        &self.known
    }

    fn take(&self, message: &jetstream::Message, sequence: u64) -> Option<Arc<str>> {
        let path = self.engine.names.path_in(&message.subject);
        let label: Option<Label> = message.headers.as_ref().and_then(card::read);
        let (Some(path), Some(mut label)) = (path, label) else {
            tracing::error!(sequence, subject = %message.subject, "a record cannot be read");
            return None;
        };
        let path: Arc<str> = path.into();
        if path.starts_with("node.") && !label.gone {
            let published = message.info().ok()?.published.unix_timestamp_nanos() / 1_000_000;
            let published = i64::try_from(published).unwrap_or(i64::MAX);
            label.until = label.until.saturating_add(published);
            if label.by == self.id {
                self.refreshed(&label, published);
            }
        }
        let is_anothers = label.by != self.id;
        self.learn(&path, Row { label, sequence });
        if is_anothers {
            self.watched.notify(&hash(&[path.as_bytes()]));
            // A letter is a change of its session's inbox.
            if path.starts_with("letter.")
                && let Some((inbox, _)) = path.rsplit_once('.')
            {
                self.watched.notify(&hash(&[inbox.as_bytes()]));
            }
        }
        Some(path)
    }

    fn retain(&self, there: &HashSet<Arc<str>>, sequence: u64) {
        let mut table = self.table();
        let gone = |path: &Arc<str>, row: &Row| !there.contains(path) && row.sequence <= sequence;
        for path in table.filtered(gone) {
            table.remove(&path);
        }
        drop(table);
        self.watched.notify_all();
    }
}

/// The number that stands for the owner of a body's pieces.
fn whose(body: &Body) -> i64 {
    let name = body.pieces.as_ref().map(|pieces| pieces.name.as_str());
    match name.and_then(Kind::session_in) {
        Some(_) => SESSIONS,
        None => RECORDS,
    }
}

impl From<Away> for Unavailable {
    fn from(_: Away) -> Self {
        Self
    }
}
