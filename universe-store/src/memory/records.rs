//! Records of clients in memory, for nodes in one process: the port in its plainest form. A node ends when it is
//! dropped.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use futures_util::stream::BoxStream;
use uuid::Uuid;

use crate::adapter::keys::{Key, hash, session_key};
use crate::adapter::lease::{LEASE, millis};
use crate::adapter::table::{self, Room, Table, path, path_of};
use crate::adapter::watched::Watched;
use crate::clients::nodes::Nodes;
use crate::clients::records::{
    Answer, Change, Event, Events, Fate, Found, Id, Kind, LOOK, New, PAGE, Put, Records, Stream,
    Write,
};

/// The records as one node sees them.
pub(super) struct MemoryRecords {
    id: Uuid,
    watched: Arc<Watched>,
    shared: Arc<Mutex<Shared>>,
    lease: Duration,
    begun: Instant,
}

/// What all nodes have. A stream is a row, too.
struct Shared {
    table: Table<Row>,
    /// The nodes that have not ended, with what they watch.
    nodes: HashMap<Uuid, Arc<Watched>>,
    /// The number of the newest record.
    newest: u64,
    begun: Instant,
    /// When what is over was last deleted.
    swept: i64,
}

#[derive(Debug)]
struct Row {
    share: Option<String>,
    ends: i64,
    found: Found,
    result: Option<Vec<u8>>,
    /// For a stream that has not ended.
    is_open: bool,
    events: BTreeMap<u64, Bytes>,
}

impl MemoryRecords {
    pub(super) fn new() -> Arc<Self> {
        let (table, nodes, begun) = (Table::default(), HashMap::new(), Instant::now());
        let shared = Shared { table, nodes, newest: 0, begun, swept: 0 };
        Self::on(Arc::new(Mutex::new(shared)), LEASE)
    }

    /// Another node with the same records.
    pub(super) fn node(&self, lease: Duration) -> Arc<Self> {
        Self::on(Arc::clone(&self.shared), lease)
    }

    fn on(shared: Arc<Mutex<Shared>>, lease: Duration) -> Arc<Self> {
        let (id, watched, begun) = (Uuid::new_v4(), Arc::default(), Instant::now());
        let node = Self { id, watched, shared, lease, begun };
        node.shared().nodes.insert(id, Arc::clone(&node.watched));
        node.sweep(&mut node.shared());
        Arc::new(node)
    }

    /// Shows each record, stream, event and node, as its kind and its text, with its share and the time when it ends.
    pub(super) fn visit(&self, mut see: impl FnMut(&str, &str, Option<&str>, &mut i64)) {
        let mut shared = self.shared();
        for id in shared.nodes.keys() {
            see("node", &id.to_string(), None, &mut 0);
        }
        for (path, row) in shared.table.rows_mut() {
            let kind = path.split('.').next().unwrap_or_default();
            let text = format!("{path} {row:?}");
            see(kind, &text, row.share.as_deref(), &mut row.ends);
            for number in row.events.keys() {
                see("event", &number.to_string(), None, &mut row.ends);
            }
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // Nothing panics while it holds this.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a node is known to have ended.
    fn has_ended(&self, shared: &Shared, node: Uuid) -> bool {
        self.begun.elapsed() >= self.lease && !shared.nodes.contains_key(&node)
    }

    fn found(&self, shared: &Shared, row: &Row) -> Found {
        let left = row.ends.saturating_sub(shared.now());
        Found {
            ttl: Duration::from_millis(u64::try_from(left).unwrap_or(0)),
            is_orphaned: self.has_ended(shared, row.found.node),
            ..row.found.clone()
        }
    }

    /// The first of these records with numbers greater than `after`.
    fn page<'t>(
        &self,
        shared: &Shared,
        rows: impl Iterator<Item = (&'t Arc<str>, &'t Row)>,
        after: u64,
        max: usize,
    ) -> Vec<Found> {
        let now = shared.now();
        let rows = rows.filter(|(_, row)| row.ends > now && row.found.number > after);
        let mut rows: Vec<_> = rows.map(|(_, row)| row).collect();
        rows.sort_unstable_by_key(|row| row.found.number);
        rows.into_iter().take(max).map(|row| self.found(shared, row)).collect()
    }

    fn put_now(&self, new: &New<'_>) -> Put {
        let mut shared = self.shared();
        let now = shared.now();
        if shared.swept.saturating_add(millis(LOOK)) < now {
            self.sweep(&mut shared);
        }
        let share = loop {
            match shared.table.room(new, now) {
                Room::Free(share) => break share,
                Room::Replaces(path) => {
                    self.remove_now(&mut shared, &path);
                }
                Room::Full { is_share } => return Put::Full { is_share },
                Room::Missing => return Put::Missing,
            }
        };
        shared.newest += 1;
        let number = shared.newest;
        let mut row = self.row(share, new.body);
        (row.ends, row.found.number) = (now.saturating_add(millis(new.lives)), number);
        row.found.name = new.name.map(str::to_owned);
        row.found.owner = new.owner.map(str::to_owned);
        shared.table.insert(&path_of(new).into(), row);
        if let Some(above) = new.above {
            self.notify(&shared, &path(new.id.kind.id(above)));
        }
        Put::Stored(number)
    }

    /// A row of this node.
    fn row(&self, share: Option<String>, body: &[u8]) -> Row {
        let found = Found {
            name: None,
            owner: None,
            number: 0,
            version: 0,
            ttl: Duration::ZERO,
            node: self.id,
            is_orphaned: false,
            body: body.to_vec(),
        };
        Row { share, ends: 0, found, result: None, is_open: false, events: BTreeMap::new() }
    }

    fn replace_now(&self, path: &str, change: Change<'_>) -> bool {
        let mut shared = self.shared();
        let now = shared.now();
        let row = shared.table.get_mut(path).filter(|row| row.ends > now);
        let Some(row) = row.filter(|row| row.found.version == change.version) else {
            return false;
        };
        row.found.version += 1;
        row.found.body = change.body.to_vec();
        row.result = change.result.map(<[u8]>::to_vec);
        row.ends = change.lives.map_or(row.ends, |lives| now.saturating_add(millis(lives)));
        self.notify(&shared, path);
        true
    }

    /// Removes a record with what is below it. Returns whether it existed.
    fn remove_now(&self, shared: &mut Shared, path: &str) -> bool {
        let now = shared.now();
        let existed = shared.table.remove(path).is_some_and(|row| row.ends > now);
        if let Some(session) = path.strip_prefix("session.") {
            for kind in ["letter", "stream"] {
                shared.table.remove_below(&format!("{kind}.{session}."));
            }
        }
        self.notify(shared, path);
        existed
    }

    /// Removes what is over.
    fn sweep(&self, shared: &mut Shared) {
        shared.swept = shared.now();
        let over = shared.table.filtered(|_, row| {
            let is_over = !row.is_open || self.has_ended(shared, row.found.node);
            row.ends < shared.swept && is_over
        });
        for path in over {
            self.remove_now(shared, &path);
        }
    }

    fn write_now(&self, write: &Write<'_>, keep: Duration) {
        let session = session_key(write.session);
        let path: Arc<str> = stream_path(Stream { session, name: write.stream }).into();
        let mut shared = self.shared();
        if write.fate == Fate::Forgotten {
            shared.table.remove(&path);
            return;
        }
        if shared.living(Kind::Session.id(session)).is_none() {
            return;
        }
        let mut events = match shared.table.get_mut(&path) {
            Some(row) if !row.is_open && row.found.node != self.id => return,
            Some(row) => std::mem::take(&mut row.events),
            None => BTreeMap::new(),
        };
        for (number, text) in &write.events {
            events.entry(*number).or_insert_with(|| Bytes::copy_from_slice(text));
        }
        let mut row = self.row(None, write.about);
        row.ends = shared.now().saturating_add(millis(keep));
        row.is_open = write.fate == Fate::Open;
        row.events = events.split_off(&write.first);
        shared.table.insert(&path, row);
        self.notify(&shared, &path);
    }

    fn events_now(&self, stream: Stream<'_>, after: u64) -> Option<Events> {
        let shared = self.shared();
        let row = shared.table.get(&stream_path(stream))?;
        let (mut events, mut size) = (Vec::new(), 0);
        for (number, text) in row.events.range(after.saturating_add(1)..).take(PAGE.0) {
            if size > PAGE.1 {
                break;
            }
            size += text.len();
            events.push(Event { number: *number, text: text.clone() });
        }
        let about = row.found.body.clone().into();
        Some(Events { node: row.found.node, about, ended: !row.is_open, events })
    }

    fn notify(&self, shared: &Shared, path: &str) {
        let key = watched(path);
        for (_, watched) in shared.nodes.iter().filter(|(id, _)| **id != self.id) {
            watched.notify(&key);
        }
    }
}

impl Shared {
    fn now(&self) -> i64 {
        millis(self.begun.elapsed())
    }

    /// A record, if its time is not over.
    fn living(&self, id: Id) -> Option<&Row> {
        let now = self.now();
        self.table.get(&path(id)).filter(|row| row.ends > now)
    }
}

impl table::Row for Row {
    fn share(&self) -> Option<&str> {
        self.share.as_deref()
    }

    fn owner(&self) -> Option<&str> {
        self.found.owner.as_deref()
    }

    fn ends(&self) -> i64 {
        self.ends
    }

    fn bytes(&self) -> u64 {
        let result = self.result.as_ref().map_or(0, Vec::len);
        self.found.body.len().saturating_add(result) as u64
    }
}

impl Nodes for MemoryRecords {
    fn id(&self) -> Uuid {
        self.id
    }

    fn lease(&self) -> Duration {
        self.lease
    }

    fn alive<'a>(&'a self, nodes: &'a [Uuid]) -> Answer<'a, Vec<Uuid>> {
        let shared = self.shared();
        let alive = nodes.iter().filter(|node| !self.has_ended(&shared, **node));
        done(alive.copied().collect())
    }

    fn end(&self) -> Answer<'_, ()> {
        self.shared().nodes.remove(&self.id);
        done(())
    }
}

impl Records for MemoryRecords {
    fn put<'a>(&'a self, new: New<'a>) -> Answer<'a, Put> {
        done(self.put_now(&new))
    }

    fn read(&self, id: Id) -> Answer<'_, Option<Found>> {
        let shared = self.shared();
        done(shared.living(id).map(|row| self.found(&shared, row)))
    }

    fn result(&self, id: Id) -> Answer<'_, Option<Vec<u8>>> {
        done(self.shared().living(id).and_then(|row| row.result.clone()))
    }

    fn replace<'a>(&'a self, id: Id, change: Change<'a>) -> Answer<'a, bool> {
        done(self.replace_now(&path(id), change))
    }

    fn extend(&self, id: Id, lives: Duration) -> Answer<'_, ()> {
        let mut shared = self.shared();
        let ends = shared.now().saturating_add(millis(lives));
        if let Some(row) = shared.table.get_mut(&path(id)) {
            row.ends = ends;
        }
        done(())
    }

    fn remove(&self, id: Id) -> Answer<'_, bool> {
        done(self.remove_now(&mut self.shared(), &path(id)))
    }

    fn owned<'a>(&'a self, owner: &'a str, after: u64, max: usize) -> Answer<'a, Vec<Found>> {
        let shared = self.shared();
        done(self.page(&shared, shared.table.group(&table::owner(owner)), after, max))
    }

    fn below(&self, session: Key, after: u64) -> Answer<'_, Option<Vec<Found>>> {
        let shared = self.shared();
        let letters = format!("{}.", path(Kind::Letter.id(session)));
        let page = || self.page(&shared, shared.table.below(&letters), after, usize::MAX);
        done(shared.living(Kind::Session.id(session)).map(|_| page()))
    }

    fn newest(&self) -> u64 {
        self.shared().newest
    }

    fn count(&self) -> usize {
        self.shared().table.count(Kind::Session.name())
    }

    fn hints(&self, id: Id) -> BoxStream<'static, ()> {
        Watched::hints(&self.watched, watched(&path(id)))
    }

    fn stream_hints(&self, stream: Stream<'_>) -> BoxStream<'static, ()> {
        Watched::hints(&self.watched, watched(&stream_path(stream)))
    }

    fn write<'a>(&'a self, writes: &'a [Write<'a>], keep: Duration) -> Answer<'a, ()> {
        for write in writes {
            self.write_now(write, keep);
        }
        done(())
    }

    fn events<'a>(&'a self, stream: Stream<'a>, after: u64) -> Answer<'a, Option<Events>> {
        done(self.events_now(stream, after))
    }
}

impl fmt::Debug for MemoryRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryRecords").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Drop for MemoryRecords {
    fn drop(&mut self) {
        self.shared().nodes.remove(&self.id);
    }
}

fn done<'a, T: Send + 'a>(value: T) -> Answer<'a, T> {
    Box::pin(ready(Ok(value)))
}

fn stream_path(stream: Stream<'_>) -> String {
    format!("stream.{}.{}", HEXLOWER.encode(&stream.session), stream.name)
}

fn watched(path: &str) -> Key {
    hash(&[path.as_bytes()])
}
