//! Passes committed entries from the writer to the tails, for universes that have readers.
//!
//! Messages are hints: a tail that misses some reads the log instead. With no readers there are no
//! channels, and a commit looks into an empty map once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast::{self, Receiver, Sender};

use crate::{Entry, NewEntry, Revision};

/// Hints kept for the slowest reader of a universe. With [`MAX_BODY`], it bounds a universe's
/// memory.
const CAPACITY: usize = 64;

/// Bodies larger than this many bytes are not passed on; readers read them from the log.
const MAX_BODY: usize = 16 << 10;

/// What a reader of a universe is notified of.
#[derive(Debug, Clone)]
pub enum Hint {
    /// An entry was appended.
    Entry(Entry),
    /// There is an entry of this revision, too large to be passed on.
    At(Revision),
    /// The universe was deleted.
    Deleted,
}

/// The channels of all universes that are read, by number.
#[derive(Debug, Default)]
pub struct Live(Mutex<Channels>);

/// The channels, locked.
#[derive(Debug, Default)]
pub struct Channels {
    closed: bool,
    senders: HashMap<i64, Sender<Hint>>,
}

impl Live {
    /// Locks the channels. A writer reports through them what it has committed.
    pub fn channels(&self) -> MutexGuard<'_, Channels> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens to a universe; `None` once the writer has gone.
    pub fn subscribe(self: &Arc<Self>, uni: i64) -> Option<Subscription> {
        let mut channels = self.channels();
        if channels.closed {
            return None;
        }
        let sender = channels.senders.entry(uni).or_insert_with(|| Sender::new(CAPACITY));
        Some(Subscription { live: Arc::clone(self), uni, hints: Some(sender.subscribe()) })
    }

    /// Ends every subscription, for good.
    pub fn close(&self) {
        let mut channels = self.channels();
        channels.closed = true;
        channels.senders.clear();
    }
}

impl Channels {
    /// These entries were appended after the revision `before`.
    pub fn appended(&self, uni: i64, before: Revision, entries: &[NewEntry]) {
        let Some(sender) = self.senders.get(&uni) else {
            return;
        };
        let mut revision = before;
        for entry in entries {
            revision = revision.next();
            let hint = if entry.body.len() > MAX_BODY {
                Hint::At(revision)
            } else {
                Hint::Entry(entry.at_revision(revision))
            };
            // Fails only without receivers, who then do not care.
            let _missed = sender.send(hint);
        }
    }

    /// Reports that the universe has reached this revision.
    pub fn reached(&self, uni: i64, revision: Revision) {
        if let Some(sender) = self.senders.get(&uni) {
            // Fails only without receivers, who then do not care.
            let _ = sender.send(Hint::At(revision));
        }
    }

    /// The universes that have readers.
    pub fn followed(&self) -> Vec<i64> {
        self.senders.keys().copied().collect()
    }

    /// The universe was deleted: its readers are notified, and its channel is closed.
    pub fn deleted(&mut self, uni: i64) {
        if let Some(sender) = self.senders.remove(&uni) {
            let _missed = sender.send(Hint::Deleted);
        }
    }
}

/// One reader's hints about one universe. The last to be dropped closes the channel.
#[derive(Debug)]
pub struct Subscription {
    live: Arc<Live>,
    pub(super) uni: i64,
    hints: Option<Receiver<Hint>>,
}

impl Subscription {
    /// The next hint, or the reason why there are no more.
    ///
    /// # Errors
    /// The reader has missed hints, or the universe or the writer has gone.
    pub async fn next(&mut self) -> Result<Hint, broadcast::error::RecvError> {
        match &mut self.hints {
            Some(hints) => hints.recv().await,
            None => Err(broadcast::error::RecvError::Closed),
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut channels = self.live.channels();
        // Under the lock: of two subscriptions dropped at the same time, the second sees that it is the last.
        self.hints = None;
        if channels.senders.get(&self.uni).is_some_and(|sender| sender.receiver_count() == 0) {
            channels.senders.remove(&self.uni);
        }
    }
}
