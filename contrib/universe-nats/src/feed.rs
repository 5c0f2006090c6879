//! From a stream to what this node knows of it: one consumer, which has the headers alone.
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::jetstream;
use async_nats::jetstream::consumer::{DeliverPolicy, push};
use futures_util::StreamExt as _;
use tokio::sync::watch;
use universe_store::{Revision, UniverseId};

use super::card::{self, Card};
use super::engine::Engine;
use super::error::Away;
use super::index::Known;
use super::link::Link;

/// How often the follower checks whether its consumer has caught up with the stream.
const LOOK: Duration = Duration::from_secs(1);

/// The pause before a new consumer is created.
const PAUSE: Duration = Duration::from_millis(50);

/// The data that a node derives from the last message of each subject of a stream.
pub(super) trait Follower: Send + Sync {
    /// The key of the data that a subject is about.
    type Key: Hash + Eq + Send;

    fn link(&self) -> &Link;

    /// The name of the stream, and its subjects.
    fn source(&self) -> (String, String);

    /// The sequence of the stream up to which the data is complete.
    fn known(&self) -> &watch::Sender<u64>;

    /// Processes a message and returns the key of its data.
    fn take(&self, message: &jetstream::Message, sequence: u64) -> Option<Self::Key>;

    /// Removes the data whose key is not in the set, unless it is newer than a sequence.
    fn retain(&self, there: &HashSet<Self::Key>, sequence: u64);
}

/// Waits until all data that was acknowledged before this call is known.
pub(super) async fn catch_up(follower: &impl Follower) -> Result<(), Away> {
    let last = last_sequence(follower).await?;
    let mut known = follower.known().subscribe();
    let reached = known.wait_for(|known| *known >= last);
    match tokio::time::timeout(follower.link().patience(), reached).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(Away),
    }
}

async fn last_sequence(follower: &impl Follower) -> Result<u64, Away> {
    let stream = follower.link().stream(&follower.source().0).await?;
    let info = follower.link().ask(|| stream.get_info()).await?;
    Ok(info.state.last_sequence)
}

/// Follows a stream until the future is dropped. Begins again with the last message of each subject when the connection
/// was lost or the consumer receives nothing.
pub(super) async fn run<F: Follower>(follower: Arc<F>) {
    let received = AtomicU64::new(0);
    loop {
        let mut state = follower.link().state();
        let problem = tokio::select! {
            problem = follow(&*follower, &received) => problem,
            _ = state.changed() => "the connection has changed".to_owned(),
            () = silence(&*follower, &received) => "it has fallen silent".to_owned(),
        };
        tracing::debug!(problem, "a consumer begins again");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Processes messages until there is an error. Returns a description of the error.
async fn follow(follower: &impl Follower, received: &AtomicU64) -> String {
    match consume(follower, received).await {
        Ok(()) => "it has ended".to_owned(),
        Err(problem) => problem.to_string(),
    }
}

async fn consume(follower: &impl Follower, received: &AtomicU64) -> Result<(), async_nats::Error> {
    let (link, (stream, subjects)) = (follower.link(), follower.source());
    let stream = link.context().get_stream_no_info(stream).await?;
    let before = stream.get_info().await?.state.last_sequence;
    let config = push::OrderedConfig {
        deliver_subject: link.client().new_inbox(),
        description: Some("a node of universe-server".to_owned()),
        filter_subject: subjects,
        headers_only: true,
        deliver_policy: DeliverPolicy::LastPerSubject,
        ..push::OrderedConfig::default()
    };
    let consumer = stream.create_consumer(config).await?;
    let pending = consumer.cached_info().num_pending;
    let mut messages = consumer.messages().await?;
    // The last message of each subject comes first. Missing data is only known after all of them.
    let mut there = HashSet::new();
    let mut left = pending;
    if left == 0 {
        fill(follower, &there, before, before);
    }
    while let Some(message) = messages.next().await {
        let message = message?;
        let info = message.info()?;
        let (sequence, is_last) = (info.stream_sequence, info.pending == 0);
        let key = follower.take(&message, sequence);
        received.fetch_add(1, Ordering::Relaxed);
        if left == 0 {
            follower.known().send_replace(sequence);
            continue;
        }
        there.extend(key);
        left = if is_last { 0 } else { left.saturating_sub(1) };
        if left == 0 {
            fill(follower, &there, before, sequence.max(before));
            there = HashSet::new();
        }
    }
    Ok(())
}

/// All messages that existed when the consumer was created have arrived. The stream was then at `before`.
fn fill<F: Follower>(follower: &F, there: &HashSet<F::Key>, before: u64, sequence: u64) {
    follower.retain(there, before);
    follower.known().send_replace(sequence);
}

impl Follower for Engine {
    type Key = UniverseId;

    fn link(&self) -> &Link {
        &self.link
    }

    fn source(&self) -> (String, String) {
        (self.names.log(), self.names.every_log())
    }

    fn known(&self) -> &watch::Sender<u64> {
        &self.known
    }

    fn take(&self, message: &jetstream::Message, sequence: u64) -> Option<UniverseId> {
        let id = self.names.id_in(&message.subject);
        if let Some((id, (uni, revision))) =
            id.as_ref().and_then(|id| Some((id, self.index.reached(id, sequence)?)))
        {
            // Usually written by this node itself.
            self.live.channels().reached(uni, revision);
            return Some(id.clone());
        }
        let card: Option<Card> = message.headers.as_ref().and_then(card::read);
        let (Some(id), Some(card)) = (id, card) else {
            tracing::error!(sequence, subject = %message.subject, "a message of a log cannot be read");
            return None;
        };
        let (uni, revision, deleted) = (card.uni, Revision(card.revision), card.deleted);
        self.index.take(&id, &Known { card, sequence });
        let mut channels = self.live.channels();
        if deleted {
            channels.deleted(uni);
            self.doomed.note(sequence, &id, uni);
        } else {
            channels.reached(uni, revision)
        }
        Some(id)
    }

    fn retain(&self, there: &HashSet<UniverseId>, sequence: u64) {
        let gone = self.index.retain(there, sequence);
        let mut channels = self.live.channels();
        for uni in gone {
            channels.deleted(uni);
        }
    }
}

/// Resolves when no message has arrived for a while although there are some.
async fn silence(follower: &impl Follower, received: &AtomicU64) {
    let mut before = None;
    loop {
        tokio::time::sleep(LOOK).await;
        let Ok(last) = last_sequence(follower).await else {
            before = None;
            continue;
        };
        let known = *follower.known().borrow();
        let count = received.load(Ordering::Relaxed);
        if before.is_some_and(|(last, counted)| known < last && counted == count) {
            return;
        }
        before = Some((last, count));
    }
}
