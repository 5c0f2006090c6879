//! The events of universes as text: each is read and written once for all feeds.
//!
//! The large events that feeds hold have a common bound. The oldest texts are dropped first. A feed that is in the
//! middle of a dropped text ends, so that its reader reconnects for it. Dropped texts are read from the log again.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use futures_util::StreamExt as _;
use serde_json::json;
use tokio::sync::watch;

use crate::commands::{CommandService, LogEntry};
use crate::store::{Entry, Revision, TailError, UniverseId};

/// The most bytes of texts that are kept for all feeds together. The newest text is always kept.
pub(super) const MAX_KEPT: usize = 16 << 20;
/// The largest piece of a text that is given to a feed at once. Memory that a feed was given cannot be reclaimed.
const PIECE: usize = 16 << 10;
/// The approximate number of bytes of events that are read from the log at once.
const READ_AHEAD: usize = 256 << 10;
/// The number of texts below which dropped ones are not removed.
const FEW: usize = 64;
/// The memory that a text takes besides its bytes.
const OVERHEAD: usize = 256;

/// The universes that have feeds.
#[derive(Debug, Default)]
pub(super) struct Channels {
    open: Arc<Mutex<HashMap<UniverseId, Weak<Channel>>>>,
    kept: Arc<Mutex<RecentTexts>>,
}

/// The texts that are kept, the oldest first.
#[derive(Debug, Default)]
struct RecentTexts {
    texts: VecDeque<Arc<EventText>>,
    bytes: usize,
}

/// An event as text, until the text is dropped.
#[derive(Debug)]
pub(super) struct EventText(Mutex<Option<EventParts>>);

/// The text of an event. A text that is sent at once is all in the first part. In the middle of a large one is the
/// command from the log entry, which is shared with other users of the entry.
#[derive(Debug, Default)]
struct EventParts([Bytes; 3]);

/// The events of one universe.
pub(super) struct Channel {
    id: UniverseId,
    service: CommandService,
    texts: Mutex<Texts>,
    kept: Arc<Mutex<RecentTexts>>,
    /// Held by the feed that reads the log for all feeds.
    reading: tokio::sync::Mutex<()>,
    latest: watch::Receiver<Latest>,
}

/// The texts of a universe: those that are kept, and some that were dropped.
#[derive(Debug, Default)]
struct Texts {
    by_revision: BTreeMap<Revision, Arc<EventText>>,
    /// The number of texts at which dropped ones are removed.
    sweep_at: usize,
}

/// The latest state of a universe's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Latest {
    /// At this revision or a later one.
    At(Revision),
    Deleted,
    /// The log cannot be followed further. Readers reconnect.
    Lost,
}

impl Channels {
    /// The channel of a universe, which was just at this revision.
    pub(super) fn open(
        &self,
        service: &CommandService,
        id: &UniverseId,
        head: Revision,
    ) -> Arc<Channel> {
        let mut open = lock(&self.open);
        if let Some(channel) = open.get(id).and_then(Weak::upgrade) {
            return channel;
        }
        open.retain(|_, channel| channel.strong_count() > 0);
        let (sender, latest) = watch::channel(Latest::At(head));
        let channel = Arc::new(Channel {
            id: id.clone(),
            service: service.clone(),
            texts: Mutex::default(),
            kept: Arc::clone(&self.kept),
            reading: tokio::sync::Mutex::default(),
            latest,
        });
        open.insert(id.clone(), Arc::downgrade(&channel));
        let (followed, channels) = (Arc::downgrade(&channel), Arc::clone(&self.open));
        let (service, id) = (service.clone(), id.clone());
        tokio::spawn(async move {
            let last = tokio::select! {
                last = follow(&service, &id, head, &followed, &sender) => last,
                () = sender.closed() => return,
            };
            // Done before readers are notified, so that one that reconnects finds a new channel.
            let mut open = lock(&channels);
            if open.get(&id).is_some_and(|it| it.ptr_eq(&followed)) {
                open.remove(&id);
            }
            drop(open);
            sender.send_replace(last);
        });
        channel
    }
}

/// Publishes the entries that are appended from now on, and the latest revision, until the log cannot be followed
/// further.
async fn follow(
    service: &CommandService,
    id: &UniverseId,
    head: Revision,
    channel: &Weak<Channel>,
    latest: &watch::Sender<Latest>,
) -> Latest {
    let mut entries = service.store().tail(id, head);
    loop {
        let at = match entries.next().await {
            Some(Ok(entry)) => {
                let Some(channel) = channel.upgrade() else {
                    return Latest::Lost;
                };
                channel.keep(&entry);
                entry.revision
            }
            // Feeds find the gap themselves and report it.
            Some(Err(
                TailError::Damaged { last: at, .. }
                | TailError::Trimmed { head: at, .. }
                | TailError::Ahead { head: at },
            )) => {
                entries = service.store().tail(id, at);
                at
            }
            Some(Err(TailError::Deleted | TailError::NotFound)) => return Latest::Deleted,
            Some(Err(TailError::Unavailable)) | None => return Latest::Lost,
        };
        latest.send_replace(Latest::At(at));
    }
}

impl Channel {
    /// The latest state of the log, to wait for changes.
    pub(super) fn latest(&self) -> watch::Receiver<Latest> {
        self.latest.clone()
    }

    /// The event after a revision, which must exist. Also reads some of the following events, up to `latest`.
    ///
    /// # Errors
    /// The errors of the tail of the log.
    pub(super) async fn after(
        &self,
        last: Revision,
        latest: Revision,
    ) -> Result<Arc<EventText>, TailError> {
        let wanted = Revision(last.0 + 1);
        if let Some(text) = self.kept(wanted) {
            return Ok(text);
        }
        let _reading = self.reading.lock().await;
        if let Some(text) = self.kept(wanted) {
            return Ok(text);
        }
        let mut entries = self.service.store().tail(&self.id, last);
        let (mut first, mut read) = (None, 0);
        while let Some(entry) = entries.next().await {
            match entry {
                Ok(entry) => {
                    read += entry.body.len();
                    let text = self.keep(&entry);
                    first.get_or_insert(text);
                    if read >= READ_AHEAD || entry.revision >= latest {
                        break;
                    }
                }
                Err(error) if first.is_none() => return Err(error),
                Err(_later) => break,
            }
        }
        first.ok_or(TailError::Unavailable)
    }

    fn kept(&self, revision: Revision) -> Option<Arc<EventText>> {
        let text = lock(&self.texts).by_revision.get(&revision).map(Arc::clone)?;
        text.is_kept().then_some(text)
    }

    fn keep(&self, entry: &Entry) -> Arc<EventText> {
        let text = event(entry);
        let bytes = text.len();
        let text = Arc::new(EventText(Mutex::new(Some(text))));
        lock(&self.kept).push(Arc::clone(&text), bytes);
        let mut texts = lock(&self.texts);
        if texts.by_revision.len() >= texts.sweep_at {
            texts.by_revision.retain(|_, text| text.is_kept());
            texts.sweep_at = 2 * texts.by_revision.len() + FEW;
        }
        texts.by_revision.insert(entry.revision, Arc::clone(&text));
        text
    }
}

impl RecentTexts {
    fn push(&mut self, text: Arc<EventText>, bytes: usize) {
        self.texts.push_back(text);
        self.bytes += bytes + OVERHEAD;
        while self.bytes > MAX_KEPT
            && self.texts.len() > 1
            && let Some(oldest) = self.texts.pop_front()
        {
            let gone = lock(&oldest.0).take();
            self.bytes -= gone.map_or(0, |text| text.len()) + OVERHEAD;
        }
    }
}

impl EventText {
    /// The part after the first `begin` bytes, at most one piece, and whether it is the last. `None` if the text was
    /// dropped.
    pub(super) fn piece(&self, begin: usize) -> Option<(Bytes, bool)> {
        let text = lock(&self.0);
        let text = text.as_ref()?;
        let EventParts(parts @ [first, ..]) = text;
        if begin == 0 && text.len() <= PIECE {
            return Some((first.clone(), true));
        }
        let rest = text.len().checked_sub(begin)?;
        // A copy, because a slice would keep the whole text in memory.
        let mut piece = Vec::with_capacity(rest.min(PIECE));
        let mut passed = begin;
        for part in parts {
            let left = known_range::items(part, passed.min(part.len())..);
            let end = left.len().min(PIECE - piece.len());
            piece.extend_from_slice(known_range::items(left, ..end));
            passed = passed.saturating_sub(part.len());
        }
        let is_last = piece.len() == rest;
        Some((piece.into(), is_last))
    }

    fn is_kept(&self) -> bool {
        lock(&self.0).is_some()
    }
}

impl EventParts {
    fn len(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }
}

impl From<String> for EventParts {
    fn from(text: String) -> Self {
        Self([text.into(), Bytes::new(), Bytes::new()])
    }
}

/// An entry of the log as an event: `command` with the command, or `replaced` when `PUT` set the name or the state.
fn event(entry: &Entry) -> EventParts {
    let Entry { revision, body, .. } = entry;
    let entry = match LogEntry::read(body) {
        Ok(entry) => entry,
        Err(error) => {
            tracing::error!(%revision, %error, "an entry of the log cannot be read");
            return damaged_text(*revision, *revision).into();
        }
    };
    match entry.command {
        Some(command) => {
            let (head, end) = (format!("event: command\nid: {revision}\ndata: "), "\n\n");
            let command = command.get();
            if command.len() > PIECE {
                let command = body.slice_ref(command.as_bytes());
                EventParts([head.into(), command, Bytes::from_static(end.as_bytes())])
            } else {
                [&head, command, end].concat().into()
            }
        }
        None => {
            let data = json!({ "name": entry.name, "state": entry.state.is_some() });
            format!("event: replaced\nid: {revision}\ndata: {data}\n\n").into()
        }
    }
}

/// The event for entries that cannot be sent. The feed continues after them, and so does a reader that reconnects.
pub(super) fn damaged(first: Revision, last: Revision) -> Bytes {
    damaged_text(first, last).into()
}

fn damaged_text(first: Revision, last: Revision) -> String {
    let error = "these entries of the log are damaged; `universe-server check` says more";
    let data = json!({ "first": first, "last": last, "error": error });
    format!("event: damaged\nid: {last}\ndata: {data}\n\n")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while it holds one of these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
