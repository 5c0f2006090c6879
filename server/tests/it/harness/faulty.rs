//! A store that fails on demand, can be held up, and counts what it is asked for.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tokio::sync::RwLock;
use universe_server::store::{
    Append, AppendError, Appended, Base, CommandId, CreateError, DeleteError, Entry, Meta,
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

/// What becomes of everything for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Fine,
    /// Writes find no room.
    Full,
    /// Writes are refused.
    ReadOnly,
    /// Nothing can be read, and of writes it cannot be said what became of them: nothing did.
    Io,
    /// Writes land, and it cannot be said.
    Torn,
}

#[derive(Clone, Copy)]
enum Failing {
    Full,
    Unavailable,
    Unknown,
}

/// The store.
pub(crate) struct Faulty {
    pub(crate) inner: Arc<dyn UniverseLog>,
    mode: Mutex<Mode>,
    faults: Mutex<VecDeque<Fault>>,
    /// Writes wait while a test has this for itself.
    pub(crate) gate: RwLock<()>,
    /// Snapshots wait while a test has this for itself.
    pub(crate) snapshot_gate: Arc<RwLock<()>>,
    /// How many appends have come to the gate.
    pub(crate) waiting: AtomicUsize,
    pub(crate) appends: AtomicUsize,
    pub(crate) loads: AtomicUsize,
    pub(crate) replayed: Arc<AtomicUsize>,
    pub(crate) snapshots: AtomicUsize,
}

impl Faulty {
    pub(crate) fn new() -> Arc<Self> {
        Self::over(memory())
    }

    /// Over any adapter.
    pub(crate) fn over(inner: Arc<dyn UniverseLog>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            mode: Mutex::new(Mode::Fine),
            faults: Mutex::default(),
            gate: RwLock::default(),
            snapshot_gate: Arc::default(),
            waiting: AtomicUsize::default(),
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

    /// From now on everything goes wrong like this.
    pub(crate) fn enter(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }

    fn mode(&self) -> Mode {
        *self.mode.lock().unwrap()
    }

    /// What can be read in this mode.
    fn readable(&self) -> Result<(), ReadError> {
        match self.mode() {
            Mode::Io => Err(ReadError::Unavailable),
            Mode::Fine | Mode::Full | Mode::ReadOnly | Mode::Torn => Ok(()),
        }
    }

    /// What the store answers, if it can be read in this mode.
    fn read<'r, T: Send + 'r>(
        &self,
        answer: BoxFuture<'r, Result<T, ReadError>>,
    ) -> BoxFuture<'r, Result<T, ReadError>> {
        match self.readable() {
            Ok(()) => answer,
            Err(error) => Box::pin(async { Err(error) }),
        }
    }

    /// A write in this mode: how it fails, and whether it lands all the same.
    fn writable(&self) -> Result<(), (Failing, bool)> {
        match self.mode() {
            Mode::Fine => Ok(()),
            Mode::Full => Err((Failing::Full, false)),
            Mode::ReadOnly => Err((Failing::Unavailable, false)),
            Mode::Io => Err((Failing::Unknown, false)),
            Mode::Torn => Err((Failing::Unknown, true)),
        }
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
        let append = Append { expected: head, entries: vec![entry], name: None };
        self.inner.append(id, append).await.unwrap();
    }
}

impl UniverseLog for Faulty {
    fn create_from(&self, meta: Meta, base: Base) -> BoxFuture<'_, Result<(), CreateError>> {
        Box::pin(async move {
            let Err((failing, lands)) = self.writable() else {
                return self.inner.create_from(meta, base).await;
            };
            if lands {
                self.inner.create_from(meta, base).await?;
            }
            Err(match failing {
                Failing::Full => CreateError::Full,
                Failing::Unavailable => CreateError::Unavailable,
                Failing::Unknown => CreateError::Unknown,
            })
        })
    }

    fn append(
        &self,
        id: &UniverseId,
        append: Append,
    ) -> BoxFuture<'_, Result<Appended, AppendError>> {
        let id = id.clone();
        Box::pin(async move {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            let _open = self.gate.read().await;
            self.appends.fetch_add(1, Ordering::Relaxed);
            if let Err((failing, lands)) = self.writable() {
                if lands {
                    self.inner.append(&id, append).await?;
                }
                return Err(match failing {
                    Failing::Full => AppendError::Full,
                    Failing::Unavailable => AppendError::Unavailable,
                    Failing::Unknown => AppendError::Unknown,
                });
            }
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
        self.read(self.inner.landed(id, command))
    }

    fn delete(
        &self,
        id: &UniverseId,
        expected: Option<Revision>,
    ) -> BoxFuture<'_, Result<(), DeleteError>> {
        let id = id.clone();
        Box::pin(async move {
            let _open = self.gate.read().await;
            if let Err((failing, lands)) = self.writable() {
                if lands {
                    self.inner.delete(&id, expected).await?;
                }
                return Err(match failing {
                    Failing::Full => DeleteError::Full,
                    Failing::Unavailable => DeleteError::Unavailable,
                    Failing::Unknown => DeleteError::Unknown,
                });
            }
            let full = |fault: &mut Fault| *fault == Fault::Full;
            if self.faults.lock().unwrap().pop_front_if(full).is_some() {
                return Err(DeleteError::Full);
            }
            self.inner.delete(&id, expected).await
        })
    }

    fn record(&self, id: &UniverseId) -> BoxFuture<'_, Result<Record, ReadError>> {
        self.read(self.inner.record(id))
    }

    fn list(&self, page: Page) -> BoxFuture<'_, Result<Vec<Record>, ReadError>> {
        self.read(self.inner.list(page))
    }

    fn count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.inner.count()
    }

    fn base(&self, id: &UniverseId) -> BoxFuture<'_, Result<Base, ReadError>> {
        self.read(self.inner.base(id))
    }

    fn trim(
        &self,
        id: &UniverseId,
        last: CommandId,
        base: Base,
    ) -> BoxFuture<'_, Result<(), TrimError>> {
        match self.writable() {
            Ok(()) => self.inner.trim(id, last, base),
            Err(_) => Box::pin(async { Err(TrimError::Unavailable) }),
        }
    }

    fn oldest_keyed(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Revision>, ReadError>> {
        self.read(self.inner.oldest_keyed(id))
    }

    fn snapshot(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        self.read(self.inner.snapshot(id))
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
            if self.writable().is_err() {
                return Err(SnapshotError::Unavailable);
            }
            self.inner.put_snapshot(&id, snapshot).await
        })
    }

    fn tail(
        &self,
        id: &UniverseId,
        after: Revision,
    ) -> BoxStream<'static, Result<Entry, TailError>> {
        use futures_util::StreamExt as _;
        if self.readable().is_err() {
            let failed = std::future::ready(Err(TailError::Unavailable));
            return Box::pin(futures_util::stream::once(failed));
        }
        let replayed = Arc::clone(&self.replayed);
        let count = move |_: &_| {
            replayed.fetch_add(1, Ordering::Relaxed);
        };
        Box::pin(self.inner.tail(id, after).inspect(count))
    }
}
