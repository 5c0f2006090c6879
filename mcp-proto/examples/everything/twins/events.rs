//! An event store in memory that several services of one process share. It treats each of them as a process. A test
//! sets which ones have ended.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use mcp_proto::session::{
    EventStore, EventStoreError, SessionId, StreamEvent, StreamFate, StreamWrite, Tailed,
};
use tokio::sync::watch;

/// How long a test waits for an expected state.
const PATIENCE: Duration = Duration::from_secs(20);

type Answer<'a, T> = BoxFuture<'a, Result<T, EventStoreError>>;

/// The state that all processes share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Logs(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    tables: Mutex<Tables>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Tables {
    /// The letters of each session, with the process that sent each.
    letters: HashMap<String, Vec<(usize, Bytes)>>,
    streams: HashMap<(String, String), Stream>,
    removed: HashSet<String>,
    /// Processes that have ended, or are cut off.
    dead: HashSet<usize>,
    /// How often anything was read or written.
    asked: usize,
}

#[derive(Debug, Clone)]
struct Stream {
    writer: usize,
    ended: bool,
    about: Bytes,
    events: BTreeMap<u64, Bytes>,
}

/// One process.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    logs: Logs,
    number: usize,
}

impl Logs {
    pub(crate) fn process(&self, number: usize) -> Process {
        Process { logs: self.clone(), number }
    }

    pub(crate) fn kill(&self, number: usize) {
        self.change(|tables| tables.dead.insert(number));
    }

    /// Reconnects a process that was cut off.
    pub(crate) fn heal(&self, number: usize) {
        self.change(|tables| tables.dead.remove(&number));
    }

    pub(crate) fn asked(&self) -> usize {
        self.tables().asked
    }

    /// How many streams there are, and how many events in them.
    pub(crate) fn kept(&self) -> (usize, usize) {
        let tables = self.tables();
        let events = tables.streams.values().map(|stream| stream.events.len());
        (tables.streams.len(), events.sum())
    }

    /// Waits until the kept streams and events are as `wanted`.
    pub(crate) async fn until(&self, wanted: impl Fn((usize, usize)) -> bool) {
        let mut changes = self.0.changed.subscribe();
        let reached = async {
            while !wanted(self.kept()) {
                changes.changed().await.unwrap();
            }
        };
        let reached = tokio::time::timeout(PATIENCE, reached).await;
        reached.unwrap_or_else(|_| panic!("it stays at {:?}", self.kept()));
    }

    fn change<T>(&self, change: impl FnOnce(&mut Tables) -> T) -> T {
        let changed = change(&mut self.tables());
        self.0.changed.send_replace(());
        changed
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.tables.lock().unwrap()
    }
}

impl Process {
    fn change<T>(&self, change: impl FnOnce(&mut Tables) -> T) -> Result<T, EventStoreError> {
        let dead = self.logs.tables().dead.contains(&self.number);
        if dead {
            return Err(EventStoreError::Unavailable("cut off".to_owned()));
        }
        Ok(self.logs.change(|tables| {
            tables.asked += 1;
            change(tables)
        }))
    }
}

impl EventStore for Process {
    fn send<'a>(&'a self, session: &'a SessionId, message: Bytes) -> Answer<'a, ()> {
        Box::pin(async move {
            self.change(|tables| {
                let letters = tables.letters.entry(session.as_str().to_owned());
                letters.or_default().push((self.number, message));
            })
        })
    }

    fn inbox(&self, session: &SessionId) -> BoxStream<'static, Bytes> {
        let (logs, number, name) = (self.logs.clone(), self.number, session.as_str().to_owned());
        let at = logs.tables().letters.get(&name).map_or(0, Vec::len);
        let changes = logs.0.changed.subscribe();
        let state = (logs, changes, at);
        Box::pin(stream::unfold(state, move |(logs, mut changes, mut at)| {
            let name = name.clone();
            async move {
                loop {
                    let found = {
                        let tables = logs.tables();
                        if tables.removed.contains(&name) {
                            return None;
                        }
                        let letters = tables.letters.get(&name);
                        letters.and_then(|letters| letters.get(at).cloned())
                    };
                    match found {
                        Some((sender, letter)) => {
                            at += 1;
                            if sender != number {
                                return Some((letter, (logs, changes, at)));
                            }
                        }
                        None => changes.changed().await.unwrap(),
                    }
                }
            }
        }))
    }

    fn write<'a>(&'a self, writes: &'a [StreamWrite]) -> Answer<'a, ()> {
        Box::pin(async move {
            self.change(|tables| {
                for write in writes {
                    let session = write.session.as_str().to_owned();
                    if tables.removed.contains(&session) {
                        continue;
                    }
                    let key = (session, write.stream.clone());
                    if write.fate == StreamFate::Forgotten {
                        tables.streams.remove(&key);
                        continue;
                    }
                    let stream = tables.streams.entry(key).or_insert_with(|| Stream {
                        writer: self.number,
                        ended: false,
                        about: Bytes::new(),
                        events: BTreeMap::new(),
                    });
                    stream.ended = write.fate == StreamFate::Ended;
                    stream.about = write.about.clone();
                    for event in &write.events {
                        let next = stream.events.last_key_value().map_or(1, |(last, _)| last + 1);
                        assert!(event.number <= next, "{} after {next}", event.number);
                        stream.events.entry(event.number).or_insert(event.text.clone());
                    }
                    stream.events.retain(|number, _| *number >= write.first);
                }
            })
        })
    }

    fn tail<'a>(
        &'a self,
        session: &'a SessionId,
        stream: &'a str,
        after: u64,
    ) -> Answer<'a, Option<BoxStream<'static, Tailed>>> {
        Box::pin(async move {
            let key = (session.as_str().to_owned(), stream.to_owned());
            let known = self.change(|tables| tables.streams.contains_key(&key))?;
            let logs = self.logs.clone();
            let changes = logs.0.changed.subscribe();
            let state = (logs, changes, Some(after));
            let tail = stream::unfold(state, move |(logs, mut changes, after)| {
                let key = key.clone();
                async move {
                    let after = after?;
                    loop {
                        let (found, dead) = {
                            let tables = logs.tables();
                            let found = tables.streams.get(&key).cloned()?;
                            let dead = tables.dead.contains(&found.writer);
                            (found, dead)
                        };
                        let mut next = found.events.range(after + 1..);
                        if let Some((number, text)) = next.next() {
                            let (number, text) = (*number, text.clone());
                            let events = vec![StreamEvent { number, text }];
                            return Some((Tailed::Events(events), (logs, changes, Some(number))));
                        }
                        if found.ended {
                            return None;
                        }
                        if dead {
                            return Some((Tailed::Abandoned(found.about), (logs, changes, None)));
                        }
                        changes.changed().await.unwrap();
                    }
                }
            });
            Ok(known.then(|| -> BoxStream<'static, Tailed> { Box::pin(tail) }))
        })
    }

    fn remove<'a>(&'a self, session: &'a SessionId) -> Answer<'a, ()> {
        Box::pin(async move {
            self.change(|tables| {
                let name = session.as_str();
                tables.streams.retain(|(of, _), _| of != name);
                tables.letters.remove(name);
                tables.removed.insert(name.to_owned());
            })
        })
    }
}
