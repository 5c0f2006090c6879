//! The store as a server sees it over the network.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use universe_server::store::{
    Append, AppendError, Appended, Base, CommandId, CreateError, DeleteError, Entry, Meta, Page,
    ReadError, Record, Revision, Snapshot, SnapshotError, TailError, TrimError, UniverseId,
    UniverseLog,
};

use super::weather::{Flaw, Link, Lost};

/// A server's side of the store.
pub(crate) struct Wire {
    pub(crate) store: Arc<dyn UniverseLog>,
    pub(crate) link: Arc<Link>,
    /// What the store has said of each universe, for one that says it once more.
    said: Mutex<HashMap<UniverseId, Record>>,
}

impl Wire {
    pub(crate) fn new(store: Arc<dyn UniverseLog>, link: Arc<Link>) -> Self {
        Self { store, link, said: Mutex::default() }
    }

    /// A question and its answer, either of which may be lost: then the store does not work.
    fn ask<'a, T: Send + 'a, E: Send + 'a>(
        &'a self,
        question: BoxFuture<'a, Result<T, E>>,
        lost: E,
    ) -> BoxFuture<'a, Result<T, E>> {
        Box::pin(async move {
            let Ok(()) = self.link.there().await else {
                return Err(lost);
            };
            let answer = question.await;
            match self.link.back().await {
                Ok(()) => answer,
                Err(Lost) => Err(lost),
            }
        })
    }
}

impl UniverseLog for Wire {
    fn is_shared(&self) -> bool {
        true
    }

    /// Some are lost, and they end when the network does not work.
    fn hints(&self, id: &UniverseId) -> BoxStream<'static, Revision> {
        let (store, link, id) = (Arc::clone(&self.store), Arc::clone(&self.link), id.clone());
        let begin = async move {
            link.there().await.ok()?;
            let head = store.record(&id).await.ok()?.head.revision;
            let entries = store.tail(&id, head);
            let hints = entries.filter_map(move |entry| {
                let link = Arc::clone(&link);
                async move {
                    let arrived = link.back().await;
                    let entry = entry.ok()?;
                    arrived.ok().map(|()| entry.revision)
                }
            });
            Some(stream::once(std::future::ready(Revision::MAX)).chain(hints))
        };
        let hints = stream::once(begin).filter_map(std::future::ready);
        Box::pin(hints.flatten())
    }

    fn create_from(&self, meta: Meta, base: Base) -> BoxFuture<'_, Result<(), CreateError>> {
        self.ask(self.store.create_from(meta, base), CreateError::Unknown)
    }

    fn append(
        &self,
        id: &UniverseId,
        append: Append,
    ) -> BoxFuture<'_, Result<Appended, AppendError>> {
        let id = id.clone();
        let is_flawed = self.link.happens(50);
        Box::pin(async move {
            let Ok(()) = self.link.there().await else {
                return Err(AppendError::Unknown);
            };
            let revision = Revision(append.expected.0 + append.entries.len() as u64);
            let answer = match self.link.flaw {
                Flaw::FalseAcknowledgements if is_flawed => Ok(Appended { revision, stored: true }),
                _ => self.store.append(&id, append).await,
            };
            if matches!(answer, Err(AppendError::Conflict { .. })) {
                self.link.conflicts.fetch_add(1, Ordering::SeqCst);
            }
            match self.link.back().await {
                Ok(()) if self.link.flaw == Flaw::FalseRefusals && is_flawed => {
                    Err(AppendError::Unavailable)
                }
                Ok(()) => answer,
                Err(Lost) => Err(AppendError::Unknown),
            }
        })
    }

    fn landed(
        &self,
        id: &UniverseId,
        command: CommandId,
    ) -> BoxFuture<'_, Result<Option<Revision>, ReadError>> {
        if self.link.flaw == Flaw::ForgottenKeys {
            return Box::pin(std::future::ready(Ok(None)));
        }
        self.ask(self.store.landed(id, command), ReadError::Unavailable)
    }

    fn delete(
        &self,
        id: &UniverseId,
        expected: Option<Revision>,
    ) -> BoxFuture<'_, Result<(), DeleteError>> {
        self.ask(self.store.delete(id, expected), DeleteError::Unknown)
    }

    fn record(&self, id: &UniverseId) -> BoxFuture<'_, Result<Record, ReadError>> {
        let id = id.clone();
        Box::pin(async move {
            let question = self.store.record(&id);
            let record = self.ask(question, ReadError::Unavailable).await?;
            let before = self.said.lock().unwrap().insert(id, record.clone());
            match before {
                Some(before) if self.link.flaw == Flaw::StaleRecords => Ok(before),
                _ => Ok(record),
            }
        })
    }

    fn list(&self, page: Page) -> BoxFuture<'_, Result<Vec<Record>, ReadError>> {
        self.ask(self.store.list(page), ReadError::Unavailable)
    }

    fn count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.ask(self.store.count(), ReadError::Unavailable)
    }

    fn base(&self, id: &UniverseId) -> BoxFuture<'_, Result<Base, ReadError>> {
        self.ask(self.store.base(id), ReadError::Unavailable)
    }

    fn trim(
        &self,
        id: &UniverseId,
        last: CommandId,
        base: Base,
    ) -> BoxFuture<'_, Result<(), TrimError>> {
        self.ask(self.store.trim(id, last, base), TrimError::Unavailable)
    }

    fn oldest_keyed(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Revision>, ReadError>> {
        self.ask(self.store.oldest_keyed(id), ReadError::Unavailable)
    }

    fn snapshot(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>> {
        self.ask(self.store.snapshot(id), ReadError::Unavailable)
    }

    fn put_snapshot(
        &self,
        id: &UniverseId,
        snapshot: Snapshot,
    ) -> BoxFuture<'_, Result<(), SnapshotError>> {
        let question = self.store.put_snapshot(id, snapshot);
        self.ask(question, SnapshotError::Unavailable)
    }

    /// It breaks off when the network does not work.
    fn tail(
        &self,
        id: &UniverseId,
        after: Revision,
    ) -> BoxStream<'static, Result<Entry, TailError>> {
        let entries = self.store.tail(id, after);
        let link = Arc::clone(&self.link);
        let over = stream::unfold(Some(entries), move |entries| {
            let link = Arc::clone(&link);
            async move {
                let mut entries = entries?;
                let entry = entries.next().await?;
                match link.back().await {
                    Ok(()) => Some((entry, Some(entries))),
                    Err(Lost) => Some((Err(TailError::Unavailable), None)),
                }
            }
        });
        Box::pin(over)
    }
}
