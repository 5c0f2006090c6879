//! The records that this node watches for changes by other nodes, by the hash of their names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream::{self, BoxStream};
use tokio::sync::watch;

use super::keys::Key;

/// The records watched here, for as long as there are streams that watch them.
#[derive(Debug, Default)]
pub struct Watched(Mutex<HashMap<Key, watch::Sender<()>>>);

/// A stream that watches a record; removes its entry when it is dropped.
struct Watcher {
    watched: Arc<Watched>,
    key: Key,
    changes: Option<watch::Receiver<()>>,
}

impl Watched {
    /// An item for each notification that names the record.
    pub fn hints(watched: &Arc<Self>, key: Key) -> BoxStream<'static, ()> {
        let changes = match watched.table().entry(key) {
            Entry::Occupied(entry) => entry.get().subscribe(),
            Entry::Vacant(entry) => entry.insert(watch::Sender::new(())).subscribe(),
        };
        let watcher = Watcher { watched: Arc::clone(watched), key, changes: Some(changes) };
        Box::pin(stream::unfold(watcher, |mut watcher| async move {
            watcher.changes.as_mut()?.changed().await.ok()?;
            Some(((), watcher))
        }))
    }

    /// Another node has changed the record.
    pub fn notify(&self, key: &Key) {
        if let Some(sender) = self.table().get(key) {
            sender.send_replace(());
        }
    }

    /// Wakes all watchers, because notifications may have been missed.
    pub fn notify_all(&self) {
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
        if table.get(&self.key).is_some_and(|sender| sender.receiver_count() == 0) {
            table.remove(&self.key);
        }
    }
}
