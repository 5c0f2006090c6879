//! Copies the streams of calls to the event store, for clients that reconnect to another process.
//!
//! Events are not queued one by one. A stream is queued once when it has something to write, and its ring provides the
//! events when its turn comes. So a slow store delays nothing and takes no memory. Events that the ring has forgotten
//! by then are not written, as they could not be resumed here either.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;

use super::stream::Stream;
use super::unwritten::Unwritten;
use crate::legacy::event_store::{EventStore, EventStoreError, StreamFate, StreamWrite, within};
use crate::legacy::session::SessionId;
use crate::locked::Locked as _;

/// The most streams that are written at once.
const STREAMS: usize = 64;

/// Beyond this many bytes no further stream is added to a write.
const BYTES: usize = 4 * 1024 * 1024;

/// If this many streams wait, the removal of a stream is not queued: the store drops it by its age.
const MAX_WAITING: usize = 8_192;

/// The pause after the store has failed: the first and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// Writes streams in the background, while there is something to write.
#[derive(Debug)]
pub(super) struct Mirror {
    store: Arc<dyn EventStore>,
    timeout: Duration,
    queue: Mutex<Queue>,
    /// Whether nothing is left to write.
    rests: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Queue {
    /// Each stream at most once.
    noted: VecDeque<Noted>,
    /// Whether a task is writing.
    writes: bool,
    /// Closed: streams stay in the store for the time configured.
    closed: bool,
}

/// A stream with something to write, and its session.
type Noted = (SessionId, Arc<Stream>);

impl Mirror {
    pub(super) fn new(store: Arc<dyn EventStore>, timeout: Duration) -> Self {
        Self { store, timeout, queue: Mutex::default(), rests: watch::Sender::new(true) }
    }

    /// A stream has a new event or has ended.
    pub(super) fn note(self: &Arc<Self>, session: &SessionId, stream: &Arc<Stream>) {
        if stream.unwritten(|it, _| it.note()) {
            self.put((session.clone(), Arc::clone(stream)), usize::MAX);
        }
    }

    /// A stream is not kept here any more.
    pub(super) fn forget(self: &Arc<Self>, session: &SessionId, stream: &Arc<Stream>) {
        if !self.queue.locked().closed && stream.unwritten(|it, _| it.give_up()) {
            stream.empty();
            self.put((session.clone(), Arc::clone(stream)), MAX_WAITING);
        }
    }

    /// Leaves the streams in the store to clients that reconnect to other processes.
    pub(super) fn close(&self) {
        self.queue.locked().closed = true;
    }

    /// Waits until everything is written, but not for long.
    pub(super) async fn written(&self) {
        let mut rests = self.rests.subscribe();
        let written = rests.wait_for(|rests| *rests);
        if tokio::time::timeout(self.timeout, written).await.is_err() {
            tracing::warn!("not all events of calls were written to the event store in time");
        }
    }

    fn put(self: &Arc<Self>, noted: Noted, max: usize) {
        let mut queue = self.queue.locked();
        if queue.noted.len() >= max {
            return;
        }
        queue.noted.push_back(noted);
        if queue.writes {
            return;
        }
        // Absent while a runtime shuts down and drops its tasks.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        queue.writes = true;
        self.rests.send_replace(false);
        drop(queue);
        runtime.spawn(Arc::clone(self).write());
    }

    /// Writes until nothing is left.
    async fn write(self: Arc<Self>) {
        let (mut pause, mut failed) = (PAUSES[0], false);
        while let Some(mut batch) = self.next() {
            while !batch.is_empty() {
                match self.try_write(&batch).await {
                    Ok(done) => {
                        batch.drain(..done);
                        (pause, failed) = (PAUSES[0], false);
                    }
                    Err(problem) => {
                        // Logged once: the write is tried many times.
                        if !std::mem::replace(&mut failed, true) {
                            tracing::warn!(
                                %problem,
                                "streams of calls cannot be resumed at other servers for now"
                            );
                        }
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(PAUSES[1]);
                    }
                }
            }
        }
    }

    /// The streams to write next; the task ends with `None`.
    fn next(&self) -> Option<Vec<Noted>> {
        let mut queue = self.queue.locked();
        if queue.noted.is_empty() {
            queue.writes = false;
            self.rests.send_replace(true);
            return None;
        }
        let many = queue.noted.len().min(STREAMS);
        Some(queue.noted.drain(..many).collect())
    }

    /// Writes the first of these streams in their current state. Returns how many.
    async fn try_write(self: &Arc<Self>, streams: &[Noted]) -> Result<usize, EventStoreError> {
        let (mut writes, mut written) = (Vec::new(), Vec::new());
        let mut bytes = 0_usize;
        for (session, stream) in streams {
            if bytes > BYTES {
                break;
            }
            let mut write = StreamWrite::forgotten(session, stream.name().to_string());
            if let Some(news) = stream.unwritten(Unwritten::news) {
                let texts = news.events.iter().map(|event| event.text.len());
                bytes = texts.fold(bytes, usize::saturating_add);
                write.fate = if news.ended { StreamFate::Ended } else { StreamFate::Open };
                (write.about, write.first) = (news.about, news.first);
                write.events = news.events;
                written.push((session, stream, news.next, news.more));
            }
            writes.push(write);
        }
        match within(self.timeout, self.store.write(&writes)).await {
            Err(EventStoreError::Full) => {
                tracing::warn!(
                    "streams of calls cannot be resumed at other servers: the event store takes no more of them"
                );
                written.iter().for_each(|(_, stream, ..)| {
                    stream.unwritten(|it, _| it.give_up());
                });
            }
            outcome => outcome?,
        }
        for (session, stream, next, more) in written {
            stream.unwritten(|it, _| it.written(next));
            if more {
                self.note(session, stream);
            }
        }
        Ok(writes.len())
    }
}
