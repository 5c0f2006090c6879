//! A store of tasks that several servers of one process share. The test sets when it is unavailable, and which servers
//! have ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{BoxFuture, ready};
use futures_util::stream::{self, BoxStream, StreamExt as _};
use mcp_proto::task::{NewTaskRecord, TaskRecord, TaskStore, TaskStoreError};
use tokio::sync::broadcast;
use tokio::time::Instant;

type Answer<'a, T> = BoxFuture<'a, Result<T, TaskStoreError>>;

/// The state that all servers see.
#[derive(Debug)]
pub(crate) struct Memory {
    tasks: Mutex<BTreeMap<u64, Kept>>,
    ended: Mutex<BTreeSet<u8>>,
    pub(crate) is_away: AtomicBool,
    /// Whether the next write succeeds without reporting it.
    pub(crate) loses_an_answer: AtomicBool,
    /// The most bytes of one task.
    pub(crate) max: AtomicUsize,
    changed: broadcast::Sender<(u8, Arc<str>)>,
}

#[derive(Debug)]
struct Kept {
    task: NewTaskRecord,
    result: Option<Vec<u8>>,
    version: u64,
    expires: Instant,
    node: u8,
}

/// The store as one server sees it.
#[derive(Debug)]
struct Node {
    memory: Arc<Memory>,
    node: u8,
}

impl Memory {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            tasks: Mutex::default(),
            ended: Mutex::default(),
            is_away: AtomicBool::new(false),
            loses_an_answer: AtomicBool::new(false),
            max: AtomicUsize::new(usize::MAX),
            changed: broadcast::channel(1_000).0,
        })
    }

    /// For the server of that number.
    pub(crate) fn of(self: &Arc<Self>, node: u8) -> Arc<dyn TaskStore> {
        let memory = Arc::clone(self);
        Arc::new(Node { memory, node })
    }

    /// Marks the server of that number as ended for the others.
    pub(crate) fn end(&self, node: u8) {
        self.ended.lock().unwrap().insert(node);
    }

    /// The size of the largest record, in bytes.
    pub(crate) fn largest(&self) -> usize {
        let tasks = self.tasks.lock().unwrap();
        let bytes = tasks.values().map(|kept| kept.task.body.len());
        bytes.max().unwrap_or(0)
    }

    fn record(&self, number: u64, kept: &Kept) -> TaskRecord {
        let ttl = kept.expires.saturating_duration_since(Instant::now());
        let (id, body) = (Arc::clone(&kept.task.id), kept.task.body.clone());
        let record = TaskRecord::new(id, number, kept.version, ttl, body);
        record.orphaned(self.ended.lock().unwrap().contains(&kept.node))
    }
}

impl Node {
    /// Runs an operation on the tasks, unless the store is unavailable.
    fn with<'a, T: Send + 'a>(
        &self,
        work: impl FnOnce(&Memory, &mut BTreeMap<u64, Kept>) -> T,
    ) -> Answer<'a, T> {
        let memory = &self.memory;
        if memory.is_away.load(Ordering::SeqCst) {
            let away = TaskStoreError::Unavailable("away".to_owned());
            return Box::pin(ready(Err(away)));
        }
        let mut tasks = memory.tasks.lock().unwrap();
        let now = Instant::now();
        tasks.retain(|_, kept| kept.expires > now);
        Box::pin(ready(Ok(work(memory, &mut tasks))))
    }
}

impl TaskStore for Node {
    fn insert(&self, task: NewTaskRecord) -> Answer<'_, u64> {
        self.with(|_, tasks| {
            let number = tasks.keys().last().map_or(1, |last| last + 1);
            let expires = Instant::now() + task.ttl;
            let kept = Kept { task, result: None, version: 0, expires, node: self.node };
            tasks.insert(number, kept);
            number
        })
    }

    fn load<'a>(&'a self, id: &'a str, owner: Option<&'a str>) -> Answer<'a, Option<TaskRecord>> {
        self.with(|memory, tasks| {
            let mut tasks = tasks.iter();
            let found = tasks.find(|(_, kept)| *kept.task.id == *id)?;
            let is_own = found.1.task.owner.as_deref() == owner;
            is_own.then(|| memory.record(*found.0, found.1))
        })
    }

    fn list<'a>(&'a self, owner: &'a str, after: u64, max: usize) -> Answer<'a, Vec<TaskRecord>> {
        self.with(|memory, tasks| {
            let later = tasks.range(after + 1..);
            let own = later.filter(|(_, kept)| kept.task.owner.as_deref() == Some(owner));
            let records = own.map(|(number, kept)| memory.record(*number, kept));
            records.take(max).collect()
        })
    }

    fn result<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Vec<u8>>> {
        self.with(|_, tasks| {
            let found = tasks.values().find(|kept| *kept.task.id == *id)?;
            found.result.clone()
        })
    }

    fn replace<'a>(
        &'a self,
        id: &'a str,
        version: u64,
        body: &'a [u8],
        result: Option<&'a [u8]>,
    ) -> Answer<'a, bool> {
        let max = self.memory.max.load(Ordering::SeqCst);
        if body.len() + result.map_or(0, <[u8]>::len) > max {
            return Box::pin(ready(Err(TaskStoreError::TooLarge { max })));
        }
        let done = self.with(|memory, tasks| {
            let mut tasks = tasks.values_mut();
            let found = tasks.find(|kept| *kept.task.id == *id && kept.version == version);
            let Some(kept) = found else {
                return false;
            };
            kept.version += 1;
            kept.task.body = body.to_vec();
            kept.result = result.map(<[u8]>::to_vec);
            let _unheard = memory.changed.send((self.node, Arc::clone(&kept.task.id)));
            true
        });
        if self.memory.loses_an_answer.swap(false, Ordering::SeqCst) {
            let lost = TaskStoreError::Unavailable("the answer was lost".to_owned());
            return Box::pin(ready(Err(lost)));
        }
        done
    }

    fn remove<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
        self.with(|_, tasks| tasks.retain(|_, kept| *kept.task.id != *id))
    }

    fn hints(&self, id: &str) -> BoxStream<'static, ()> {
        let (id, node) = (id.to_owned(), self.node);
        let changed = stream::unfold(self.memory.changed.subscribe(), |mut changed| async {
            Some((changed.recv().await.ok()?, changed))
        });
        let others = changed.filter(move |(by, changed)| ready(*by != node && **changed == *id));
        others.map(|_| ()).boxed()
    }
}

/// Long enough for delayed writes.
pub(crate) const SOON: Duration = Duration::from_millis(1_100);
