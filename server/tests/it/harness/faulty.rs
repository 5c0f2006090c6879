//! A store that fails on demand, can be held up, and counts what it is asked for.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tokio::sync::RwLock;
use universe_server::store::{
    Append, AppendError, Base, CommandId, CreateError, DeleteError, Entry, MemoryStore, Meta,
    NewEntry, Page, ReadError, Record, Revision, Snapshot, SnapshotError, TailError, Timestamp,
    TrimError, UniverseId, UniverseLog,
};

use super::local::memory;

/// What becomes of an append instead of what should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing, and it says so.
    Unavailable,
    /// Nothing, but it cannot say.
    Lost,
    /// It lands, but the store cannot say.
    Unsaid,
    /// Somebody else's tick of 100 comes before it.
    Overtaken,
    /// It lands, the store cannot say, and somebody else's tick of 100 comes after it.
    UnsaidAndFollowed,
    /// Nothing, for want of room; a delete too.
    Full,
}

/// The store.
pub(crate) struct Faulty {
    pub(crate) inner: Arc<MemoryStore>,
    faults: Mutex<VecDeque<Fault>>,
    /// Writes wait while a test has this for itself.
    pub(crate) gate: RwLock<()>,
    /// Snapshots wait while a test has this for itself.
    pub(crate) snapshot_gate: Arc<RwLock<()>>,
    pub(crate) appends: AtomicUsize,
    pub(crate) loads: AtomicUsize,
    pub(crate) replayed: Arc<AtomicUsize>,
    pub(crate) snapshots: AtomicUsize,
}

impl Faulty {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: memory(),
            faults: Mutex::default(),
            gate: RwLock::default(),
            snapshot_gate: Arc::default(),
            appends: AtomicUsize::default(),
            loads: AtomicUsize::default(),
            replayed: Arc::default(),
            snapshots: AtomicUsize::default(),
        })
    }

    /// The next appends go wrong like this, one after the other.
    pub(crate) fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.faults.lock().unwrap().extend(faults);
    }

    /// Writes a tick past the server.
    pub(crate) async fn intrude(&self, id: &UniverseId) {
        let head = self.inner.record(id).await.unwrap().head.revision;
        let entry = NewEntry {
            command_id: CommandId::random(),
            at: Timestamp::now(),
            body: Bytes::from_static(br#"{"command":{"type":"tick","dt":100.0},"events":[]}"#),
            keyed: false,
        };
        let append = Append {
            expected: head,
            entries: vec![entry],
            name: None,
        };
        self.inner.append(id, append).await.unwrap();
    }
}

impl UniverseLog for Faulty {
    fn create(&self, meta: Meta, genesis: Bytes) -> BoxFuture<'_, Result<(), CreateError>> {
        self.inner.create(meta, genesis)
    }

    fn append(
        &self,
        id: &UniverseId,
        append: Append,
    ) -> BoxFuture<'_, Result<Revision, AppendError>> {
        let id = id.clone();
        Box::pin(async move {
            let _open = self.gate.read().await;
            self.appends.fetch_add(1, Ordering::Relaxed);
            let fault = self.faults.lock().unwrap().pop_front();
            match fault {
                None => self.inner.append(&id, append).await,
                Some(Fault::Unavailable) => Err(AppendError::Unavailable),
                Some(Fault::Full) => Err(AppendError::Full),
                Some(Fault::Lost) => Err(AppendError::Unknown),
                Some(Fault::Unsaid) => {
                    self.inner.append(&id, append).await?;
                    Err(AppendError::Unknown)
                }
                Some(Fault::Overtaken) => {
                    self.intrude(&id).await;
                    self.inner.append(&id, append).await
                }
                Some(Fault::UnsaidAndFollowed) => {
                    self.inner.append(&id, append).await?;
                    self.intrude(&id).await;
                    Err(AppendError::Unknown)
                }
            }
        })
    }

    fn landed(
        &self,
        id: &UniverseId,
        command: CommandId,
    ) -> BoxFuture<'_, Result<Option<Revision>, ReadError>> {
        self.inner.landed(id, command)
    }

    fn delete(
        &self,
        id: &UniverseId,
        expected: Option<Revision>,
    ) -> BoxFuture<'_, Result<(), DeleteError>> {
        let id = id.clone();
        Box::pin(async move {
            let _open = self.gate.read().await;
            let full = |fault: &mut Fault| *fault == Fault::Full;
            if self.faults.lock().unwrap().pop_front_if(full).is_some() {
                return Err(DeleteError::Full);
            }
            self.inner.delete(&id, expected).await
        })
    }

    fn record(&self, id: &UniverseId) -> BoxFuture<'_, Result<Record, ReadError>> {
        self.inner.record(id)
    }

    fn list(&self, page: Page) -> BoxFuture<'_, Result<Vec<Record>, ReadError>> {
        self.inner.list(page)
    }

    fn base(&self, id: &UniverseId) -> BoxFuture<'_, Result<Base, ReadError>> {
        self.inner.base(id)
    }

    fn trim(
        &self,
        id: &UniverseId,
        last: CommandId,
        base: Base,
    ) -> BoxFuture<'_, Result<(), TrimError>> {
        self.inner.trim(id, last, base)
    }

    fn oldest_keyed(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Revision>, ReadError>> {
        self.inner.oldest_keyed(id)
    }

    fn snapshot(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        self.inner.snapshot(id)
    }

    fn put_snapshot(
        &self,
        id: &UniverseId,
        snapshot: Snapshot,
    ) -> BoxFuture<'_, Result<(), SnapshotError>> {
        let id = id.clone();
        Box::pin(async move {
            self.snapshots.fetch_add(1, Ordering::Relaxed);
            let _open = self.snapshot_gate.read().await;
            self.inner.put_snapshot(&id, snapshot).await
        })
    }

    fn tail(
        &self,
        id: &UniverseId,
        after: Revision,
    ) -> BoxStream<'static, Result<Entry, TailError>> {
        use futures_util::StreamExt as _;
        let replayed = Arc::clone(&self.replayed);
        let count = move |_: &_| {
            replayed.fetch_add(1, Ordering::Relaxed);
        };
        Box::pin(self.inner.tail(id, after).inspect(count))
    }
}
