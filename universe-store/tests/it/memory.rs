//! Records of clients in memory: the port in its plainest form, so that its rules are tested where no engine is
//! installed. A node ends when it is dropped.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use uuid::Uuid;

use universe_store::adapter::keys::{Key, hash, session_key};
use universe_store::adapter::lease::{LEASE, millis};
use universe_store::adapter::table::{self, Room, Table, path, path_of};
use universe_store::adapter::watched::Watched;
use universe_store::clients::nodes::Nodes;
use universe_store::clients::records::{
    Answer, Change, Event, Events, Fate, Found, Id, Kind, LOOK, New, PAGE, Put, Records, Stream,
    Write,
};

use crate::engines::{Engine, Kind as Kinds, Mortal, Node};

/// Memory, as an engine of the tests.
pub(crate) struct Memory;

/// The records by their URLs.
static ALL: Mutex<Vec<Arc<MemoryRecords>>> = Mutex::new(Vec::new());

/// Some node with the records that a URL names.
fn records(url: &str) -> Arc<MemoryRecords> {
    let number: usize = url.strip_prefix("memory:").unwrap().parse().unwrap();
    Arc::clone(&ALL.lock().unwrap()[number])
}

impl Engine for Memory {
    fn scheme(&self) -> &'static str {
        "memory"
    }

    fn has_universes(&self) -> bool {
        false
    }

    fn url(&self) -> Option<String> {
        let mut all = ALL.lock().unwrap();
        all.push(MemoryRecords::new());
        Some(format!("memory:{}", all.len() - 1))
    }

    fn open<'a>(&'a self, url: &'a str, _lease: Duration) -> BoxFuture<'a, Node> {
        panic!("{url} has no universes")
    }

    fn records<'a>(&'a self, url: &'a str, _lease: Duration) -> BoxFuture<'a, Arc<dyn Records>> {
        Box::pin(async { records(url).node() as Arc<dyn Records> })
    }

    fn start(&self) -> Option<(Box<dyn Mortal>, String)> {
        None
    }

    fn age<'a>(
        &'a self,
        url: &'a str,
        kind: Kinds,
        seconds: u32,
        owner: Option<&'a str>,
    ) -> BoxFuture<'a, ()> {
        records(url).visit(kind, |_, share, ends| {
            if owner.is_none() || owner == share {
                *ends -= i64::from(seconds) * 1_000;
            }
        });
        Box::pin(async {})
    }

    fn dump<'a>(&'a self, url: &'a str, kind: Kinds) -> BoxFuture<'a, Vec<String>> {
        let mut all = Vec::new();
        records(url).visit(kind, |text, _, _| all.push(text));
        Box::pin(async { all })
    }
}

/// The records as one node sees them.
pub(crate) struct MemoryRecords {
    id: Uuid,
    watched: Arc<Watched>,
    shared: Arc<Mutex<Shared>>,
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
    fn new() -> Arc<Self> {
        let (table, nodes, begun) = (Table::default(), HashMap::new(), Instant::now());
        let shared = Shared { table, nodes, newest: 0, begun, swept: 0 };
        Self::on(Arc::new(Mutex::new(shared)))
    }

    /// Another node with the same records.
    fn node(&self) -> Arc<Self> {
        Self::on(Arc::clone(&self.shared))
    }

    fn on(shared: Arc<Mutex<Shared>>) -> Arc<Self> {
        let (id, watched) = (Uuid::new_v4(), Arc::default());
        let node = Self { id, watched, shared };
        node.shared().nodes.insert(id, Arc::clone(&node.watched));
        node.sweep(&mut node.shared());
        Arc::new(node)
    }

    /// Shows each record, stream and event of a kind: its text, its share and the time when it ends.
    fn visit(&self, kind: Kinds, mut see: impl FnMut(String, Option<&str>, &mut i64)) {
        let prefix = match kind {
            Kinds::Sessions => "session.",
            Kinds::Letters => "letter.",
            Kinds::Streams | Kinds::Events => "stream.",
            Kinds::Tasks => "task.",
            Kinds::Nodes => panic!("nodes have no records"),
        };
        let mut shared = self.shared();
        for (path, row) in shared.table.rows_mut().filter(|(path, _)| path.starts_with(prefix)) {
            if kind != Kinds::Events {
                see(format!("{path} {row:?}"), row.share.as_deref(), &mut row.ends);
                continue;
            }
            for number in row.events.keys() {
                see(format!("{path} {number}"), None, &mut row.ends);
            }
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap()
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
            let is_over = !row.is_open || !shared.nodes.contains_key(&row.found.node);
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
    fn found(&self, row: &Row) -> Found {
        let left = row.ends.saturating_sub(self.now());
        Found {
            ttl: Duration::from_millis(u64::try_from(left).unwrap_or(0)),
            is_orphaned: !self.nodes.contains_key(&row.found.node),
            ..row.found.clone()
        }
    }

    /// The first of these records with numbers greater than `after`.
    fn page<'t>(
        &self,
        rows: impl Iterator<Item = (&'t Arc<str>, &'t Row)>,
        after: u64,
        max: usize,
    ) -> Vec<Found> {
        let now = self.now();
        let rows = rows.filter(|(_, row)| row.ends > now && row.found.number > after);
        let mut rows: Vec<_> = rows.map(|(_, row)| row).collect();
        rows.sort_unstable_by_key(|row| row.found.number);
        rows.into_iter().take(max).map(|row| self.found(row)).collect()
    }

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
        LEASE
    }

    fn alive<'a>(&'a self, nodes: &'a [Uuid]) -> Answer<'a, Vec<Uuid>> {
        let shared = self.shared();
        let alive = nodes.iter().filter(|node| shared.nodes.contains_key(node));
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
        done(shared.living(id).map(|row| shared.found(row)))
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
        done(shared.page(shared.table.group(&table::owner(owner)), after, max))
    }

    fn below(&self, session: Key, after: u64) -> Answer<'_, Option<Vec<Found>>> {
        let shared = self.shared();
        let letters = format!("{}.", path(Kind::Letter.id(session)));
        let page = || shared.page(shared.table.below(&letters), after, usize::MAX);
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
