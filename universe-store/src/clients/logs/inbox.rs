//! Reads the inbox of a session, whenever there may be a letter or the session has changed or ended.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};

use crate::adapter::keys::Key;
use crate::clients::nodes::{Result, Unavailable};
use crate::clients::records::{Kind, PAUSE, Records};

/// How far an inbox looks back before the moment it was opened: about the time a request takes to reach the store.
const SLACK: Duration = Duration::from_millis(500);

pub(super) struct Inbox {
    records: Arc<dyn Records>,
    session: Key,
    /// How long a letter is kept.
    keep: Duration,
    opened: Instant,
    /// Letters with greater numbers are for this reader, however old they seem.
    newest: u64,
    hints: BoxStream<'static, ()>,
    /// The number of the last letter that was read.
    last: u64,
    ready: VecDeque<Bytes>,
}

impl Inbox {
    pub(super) fn open(
        records: Arc<dyn Records>,
        session: Key,
        keep: Duration,
    ) -> BoxStream<'static, Bytes> {
        let hints = [Kind::Letter, Kind::Session].map(|kind| records.hints(kind.id(session)));
        let inbox = Self {
            newest: records.newest(),
            records,
            session,
            keep,
            opened: Instant::now(),
            hints: Box::pin(stream::select_all(hints)),
            last: 0,
            ready: VecDeque::new(),
        };
        Box::pin(stream::unfold(inbox, |mut inbox| async move {
            let letter = inbox.next().await?;
            Some((letter, inbox))
        }))
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(letter) = self.ready.pop_front() {
                return Some(letter);
            }
            self.hints.next().await?;
            loop {
                match self.read().await {
                    Ok(true) => break,
                    Ok(false) => return None,
                    Err(Unavailable) => tokio::time::sleep(PAUSE).await,
                }
            }
        }
    }

    /// Reads what is new. Returns whether the session still exists.
    async fn read(&mut self) -> Result<bool> {
        let found = self.records.below(self.session, self.last).await?;
        let Some(letters) = found else {
            return Ok(false);
        };
        let since = self.opened.elapsed() + SLACK;
        for letter in letters {
            self.last = letter.number;
            let is_new =
                letter.number > self.newest || self.keep.saturating_sub(letter.ttl) < since;
            if is_new && letter.node != self.records.id() {
                self.ready.push_back(letter.body.into());
            }
        }
        Ok(true)
    }
}
