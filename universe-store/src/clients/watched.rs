//! What this node watches of what other nodes do: records of one kind or another, by the hash of their names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream::{self, BoxStream};
use tokio::sync::watch;

use super::Key;

/// The records that are watched here: as many as there are streams that do it.
#[derive(Default)]
pub(crate) struct Watched(Mutex<HashMap<Key, watch::Sender<()>>>);

/// One that watches, and leaves no trace when it is dropped.
struct Watcher {
    watched: Arc<Watched>,
    key: Key,
    changes: Option<watch::Receiver<()>>,
}

impl Watched {
    /// Reports whenever a notification names the record.
    pub(crate) fn hints(watched: &Arc<Self>, key: Key) -> BoxStream<'static, ()> {
        let changes = match watched.table().entry(key) {
            Entry::Occupied(entry) => entry.get().subscribe(),
            Entry::Vacant(entry) => entry.insert(watch::Sender::new(())).subscribe(),
        };
        let watcher = Watcher {
            watched: Arc::clone(watched),
            key,
            changes: Some(changes),
        };
        Box::pin(stream::unfold(watcher, |mut watcher| async move {
            watcher.changes.as_mut()?.changed().await.ok()?;
            Some(((), watcher))
        }))
    }

    /// Another node has changed the record.
    pub(crate) fn notify(&self, key: &Key) {
        if let Some(sender) = self.table().get(key) {
            sender.send_replace(());
        }
    }

    /// Some may have been missed.
    pub(crate) fn notify_all(&self) {
        for sender in self.table().values() {
            sender.send_replace(());
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Key, watch::Sender<()>>> {
        // Nothing panics while it holds the table.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.changes = None;
        let mut table = self.watched.table();
        if table
            .get(&self.key)
            .is_some_and(|sender| sender.receiver_count() == 0)
        {
            table.remove(&self.key);
        }
    }
}
