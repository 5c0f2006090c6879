//! New messages as they are committed, for several followers.
//!
//! A follower is notified and reads new messages from the tables, a batch at a time: it holds no more than that, and a
//! slow one costs the writer nothing. One that is too far behind gets a lag notice and continues with the newest.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;

use super::Index;
use super::answer::{Cursor, Sequence, StoredMessage};
use super::cursor::{PageEnd, Secret};
use super::error::IndexError;
use super::messages::{PAGE_BYTES, fetch, weight};
use super::readers::Readers;

/// How many messages are read at a time.
const STRETCH: i64 = 256;

/// How often a follower checks for messages that another process has written.
const LOOK: Duration = Duration::from_millis(250);

/// How long to wait before a failed read is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// An event that a follower receives.
#[derive(Debug, Clone, PartialEq)]
pub enum Followed {
    /// A new message.
    Message(Box<StoredMessage>),
    /// It was too far behind, and does not receive these messages.
    Lagged(Lag),
}

/// The messages of one source that a follower has missed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lag {
    /// The source.
    pub source: String,
    /// How many messages.
    pub missed: u64,
    /// The cursor from which [`messages`](Index::messages) returns them, in their order.
    pub cursor: Cursor,
}

/// A listener. It does not keep the index open.
#[derive(Debug)]
pub struct Follower {
    readers: Arc<Readers>,
    secret: Secret,
    /// Whether this process writes.
    writes: Arc<AtomicBool>,
    commits: watch::Receiver<u64>,
    max_lag: u64,
    offsets: Offsets,
    /// Events that were read and not yet returned.
    ready: VecDeque<Followed>,
}

/// How far a follower has read.
#[derive(Debug, Clone, Default)]
struct Offsets {
    /// The last number received of each source; the sources that are not in it are new.
    received: HashMap<String, Sequence>,
    /// The last message received, over all sources.
    msg: i64,
}

impl Index {
    /// Follows all sources, including future ones, from now on: each new message once, in the order of commits, from
    /// any process.
    ///
    /// # Errors
    /// [`IndexError::Unavailable`].
    pub async fn follow(&self) -> Result<Follower, IndexError> {
        let read = move |view: &Connection| {
            let known = sources(view)?.into_iter().map(|(_, id, last)| (id, last));
            Ok(Offsets { received: known.collect(), msg: last_message(view)? })
        };
        let offsets = self.inner.readers.read(read).await?;
        Ok(self.follower(offsets))
    }

    /// The same, but stored messages come first.
    pub fn follow_from_start(&self) -> Follower {
        self.follower(Offsets::default())
    }

    /// The cursor with which [`messages`](Self::messages) continues after a message of a source, in the order of their
    /// numbers; `None` if the source does not exist.
    ///
    /// # Errors
    /// [`IndexError::Unavailable`].
    pub async fn cursor_after(
        &self,
        source: &str,
        sequence: Sequence,
    ) -> Result<Option<Cursor>, IndexError> {
        let (source, secret) = (source.to_owned(), self.inner.secret.clone());
        let read = move |view: &Connection| {
            let all = sources(view)?;
            let found = all.into_iter().find(|(_, id, _)| *id == source);
            Ok(found.map(|(src, _, _)| secret.seal(PageEnd::After { src, sequence })))
        };
        self.inner.readers.read(read).await
    }

    fn follower(&self, offsets: Offsets) -> Follower {
        Follower {
            readers: Arc::clone(&self.inner.readers),
            secret: self.inner.secret.clone(),
            writes: Arc::clone(&self.inner.writes),
            commits: self.inner.commits.subscribe(),
            max_lag: self.inner.max_lag,
            offsets,
            ready: VecDeque::new(),
        }
    }
}

impl Follower {
    /// The next event; `None` once the index is closed. A failed read is tried again, as while the disk is away.
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Followed> {
        loop {
            if let Some(next) = self.ready.pop_front() {
                return Some(next);
            }
            self.commits.mark_unchanged();
            match self.read().await {
                Ok(()) if self.ready.is_empty() => self.wait().await?,
                Ok(()) => {}
                Err(_closed) if self.readers.is_closed() => return None,
                Err(_failed) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Waits until there may be new messages.
    async fn wait(&mut self) -> Option<()> {
        if self.writes.load(Ordering::Relaxed) {
            return self.commits.changed().await.ok();
        }
        match tokio::time::timeout(LOOK, self.commits.changed()).await {
            Ok(changed) => changed.ok(),
            Err(_elapsed) => Some(()),
        }
    }

    async fn read(&mut self) -> Result<(), IndexError> {
        let (mut offsets, secret, max_lag) =
            (self.offsets.clone(), self.secret.clone(), self.max_lag);
        let read = move |view: &Connection| {
            let ready = offsets.read(view, &secret, max_lag)?;
            Ok((offsets, ready))
        };
        (self.offsets, self.ready) = self.readers.read(read).await?;
        Ok(())
    }
}

impl Offsets {
    fn read(
        &mut self,
        view: &Connection,
        secret: &Secret,
        max_lag: u64,
    ) -> rusqlite::Result<VecDeque<Followed>> {
        let mut behind = Vec::new();
        for (src, id, last) in sources(view)? {
            let received = self.received.get(&id).copied().unwrap_or(0);
            if received < last {
                behind.push((src, id, received, last));
            }
        }
        let missed = behind.iter().map(|(_, _, received, last)| last - received);
        if missed.sum::<u64>() > max_lag {
            self.msg = last_message(view)?;
            let lags = behind.into_iter().map(|(src, source, received, last)| {
                self.received.insert(source.clone(), last);
                let end = PageEnd::After { src, sequence: received };
                Followed::Lagged(Lag { source, missed: last - received, cursor: secret.seal(end) })
            });
            return Ok(lags.collect());
        }
        if behind.is_empty() { Ok(VecDeque::new()) } else { self.stretch(view) }
    }

    fn stretch(&mut self, view: &Connection) -> rusqlite::Result<VecDeque<Followed>> {
        let sql = "SELECT msg, (SELECT hidden FROM chat WHERE chat.chat = message.chat) \
                   FROM message WHERE msg > ?1 ORDER BY msg LIMIT ?2";
        let mut statement = view.prepare_cached(sql)?;
        let mut rows = statement.query([self.msg, STRETCH])?;
        let mut messages = VecDeque::new();
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            if bytes > PAGE_BYTES {
                break;
            }
            let msg = row.get(0)?;
            let message = fetch(view, msg)?;
            bytes += weight(&message);
            self.msg = msg;
            self.received.insert(message.source.clone(), message.sequence);
            if row.get::<_, Option<i64>>(1)?.is_none_or(|hidden| hidden == 0) {
                messages.push_back(Followed::Message(Box::new(message)));
            }
        }
        Ok(messages)
    }
}

/// Number, id and last sequence number of each.
fn sources(view: &Connection) -> rusqlite::Result<Vec<(i64, String, Sequence)>> {
    let mut statement = view.prepare_cached("SELECT src, id, last FROM source")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?.cast_unsigned()))
    })?;
    rows.collect()
}

fn last_message(view: &Connection) -> rusqlite::Result<i64> {
    view.query_row("SELECT coalesce(max(msg), 0) FROM message", [], |row| row.get(0))
}
