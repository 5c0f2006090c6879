//! Reads a stream of events: when it is read again, and when it ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};

use crate::adapter::keys::Key;
use crate::adapter::lease::REFRESHES;
use crate::clients::nodes::Result;
use crate::clients::records::{Event, Events, PAUSE, Records, Stream, WATCHED};

/// An item of a stream that is being read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tailed {
    /// The next events: at most 64, and at most 256 KiB or one larger event.
    Events(Vec<Event>),
    /// The node that wrote the stream ended before the stream did. Has the stream's description, and is the last item.
    Abandoned(Bytes),
}

pub(super) struct Tail {
    records: Arc<dyn Records>,
    session: Key,
    name: String,
    /// The number of the last event that was read.
    after: u64,
    hints: BoxStream<'static, ()>,
    /// How long to wait without events before checking whether the stream's node has ended.
    quiet: Duration,
    /// When this reader last recorded that it reads.
    noted: Option<Instant>,
    over: bool,
}

impl Tail {
    /// Reads a stream after an event, at each hint and a while after the last one; `None` if the stream does not exist.
    pub(super) async fn open(
        records: Arc<dyn Records>,
        stream: Stream<'_>,
        after: u64,
    ) -> Result<Option<BoxStream<'static, Tailed>>> {
        let mut tail = Self {
            hints: records.stream_hints(stream),
            quiet: records.lease() / REFRESHES,
            records,
            session: stream.session,
            name: stream.name.to_owned(),
            after,
            noted: None,
            over: false,
        };
        if tail.read().await?.is_none() {
            return Ok(None);
        }
        Ok(Some(Box::pin(stream::unfold(tail, |mut tail| async move {
            let next = tail.next().await?;
            Some((next, tail))
        }))))
    }

    async fn next(&mut self) -> Option<Tailed> {
        if self.over {
            return None;
        }
        loop {
            // Before the read, so that later writes cause a notification.
            let Ok(found) = self.look().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            if let Some(next) = self.take(found?) {
                return next;
            }
            match tokio::time::timeout(self.quiet, self.hints.next()).await {
                Ok(hint) => hint?,
                Err(_elapsed) => {
                    if let Some(next) = self.look_after_writer().await {
                        return next;
                    }
                }
            }
        }
    }

    /// The item for the reader, if there is one.
    fn take(&mut self, found: Events) -> Option<Option<Tailed>> {
        if let Some(last) = found.events.last() {
            self.after = last.number;
            return Some(Some(Tailed::Events(found.events)));
        }
        self.over = found.ended;
        found.ended.then_some(None)
    }

    /// Checks whether the stream's node has ended, after a while without events.
    async fn look_after_writer(&mut self) -> Option<Option<Tailed>> {
        let Ok(Some(found)) = self.read().await else {
            return None;
        };
        let alive = self.records.alive(&[found.node]).await;
        if !alive.is_ok_and(|alive| alive.is_empty()) {
            return None;
        }
        // The node's last write may have been stored after the first read.
        let Ok(found) = self.read().await else {
            return None;
        };
        let Some(found) = found else {
            return Some(None);
        };
        let about = found.about.clone();
        Some(self.take(found).unwrap_or_else(|| {
            self.over = true;
            Some(Tailed::Abandoned(about))
        }))
    }

    /// Asks the writer for notifications if necessary, and reads the stream.
    async fn look(&mut self) -> Result<Option<Events>> {
        let fresh = |noted: Instant| noted.elapsed() < WATCHED / 2;
        if !self.noted.is_some_and(fresh) {
            let noted = Instant::now();
            let stream = Stream { session: self.session, name: &self.name };
            self.records.watch(stream).await?;
            self.noted = Some(noted);
        }
        self.read().await
    }

    async fn read(&mut self) -> Result<Option<Events>> {
        let stream = Stream { session: self.session, name: &self.name };
        self.records.events(stream, self.after).await
    }
}
