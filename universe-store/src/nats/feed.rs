//! From the stream of all logs to the index and the tails of this node: one consumer, which has the headers alone.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::jetstream;
use async_nats::jetstream::consumer::{DeliverPolicy, push};
use futures_util::StreamExt as _;

use super::card::{self, Card};
use super::engine::Engine;
use super::index::Known;
use crate::{Revision, UniverseId};

/// How often it is looked whether the consumer has come as far as the stream.
const LOOK: Duration = Duration::from_secs(1);

/// How long to wait before there is another consumer.
const PAUSE: Duration = Duration::from_millis(50);

/// Until it is dropped. Begins anew, with the last message of each log, whenever the connection was lost, or the consumer
/// falls silent.
pub(super) async fn run(engine: Arc<Engine>) {
    let received = AtomicU64::new(0);
    loop {
        let mut state = engine.link.state();
        let problem = tokio::select! {
            problem = follow(&engine, &received) => problem,
            _ = state.changed() => "the connection has changed".to_owned(),
            () = silence(&engine, &received) => "it has fallen silent".to_owned(),
        };
        tracing::debug!(problem, "the consumer of the logs begins anew");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Takes what comes until something is wrong, and says what.
async fn follow(engine: &Engine, received: &AtomicU64) -> String {
    match consume(engine, received).await {
        Ok(()) => "it has ended".to_owned(),
        Err(problem) => problem.to_string(),
    }
}

async fn consume(engine: &Engine, received: &AtomicU64) -> Result<(), async_nats::Error> {
    let (link, names) = (&engine.link, &engine.names);
    let stream = link.context().get_stream_no_info(names.log()).await?;
    let before = stream.get_info().await?.state.last_sequence;
    let config = push::OrderedConfig {
        deliver_subject: link.client().new_inbox(),
        description: Some("a node of universe-server".to_owned()),
        filter_subject: names.every_log(),
        headers_only: true,
        deliver_policy: DeliverPolicy::LastPerSubject,
        ..push::OrderedConfig::default()
    };
    let consumer = stream.create_consumer(config).await?;
    let pending = consumer.cached_info().num_pending;
    let mut messages = consumer.messages().await?;
    // What there is of each universe comes first, and only all of it says what there is.
    let mut there = HashSet::new();
    let mut left = pending;
    if left == 0 {
        fill(engine, &there, before, before);
    }
    while let Some(message) = messages.next().await {
        let message = message?;
        let info = message.info()?;
        let (sequence, is_last) = (info.stream_sequence, info.pending == 0);
        let id = take(engine, &message, sequence);
        received.fetch_add(1, Ordering::Relaxed);
        if left == 0 {
            engine.known.send_replace(sequence);
            continue;
        }
        there.extend(id);
        left = if is_last { 0 } else { left.saturating_sub(1) };
        if left == 0 {
            fill(engine, &there, before, sequence.max(before));
            there = HashSet::new();
        }
    }
    Ok(())
}

/// All is there that was there when the consumer was made, when the stream had come to `before`.
fn fill(engine: &Engine, there: &HashSet<UniverseId>, before: u64, sequence: u64) {
    let gone = engine.index.retain(there, before);
    let mut channels = engine.live.channels();
    for uni in gone {
        channels.deleted(uni);
    }
    engine.known.send_replace(sequence);
}

/// Takes one message, and gives the universe that it is of.
fn take(engine: &Engine, message: &jetstream::Message, sequence: u64) -> Option<UniverseId> {
    let id = engine.names.id_in(&message.subject);
    let card: Option<Card> = message.headers.as_ref().and_then(card::read);
    let (Some(id), Some(card)) = (id, card) else {
        tracing::error!(sequence, subject = %message.subject, "a message of a log cannot be read");
        return None;
    };
    let (uni, revision, deleted) = (card.uni, Revision(card.revision), card.deleted);
    engine.index.take(&id, &Known { card, sequence });
    let mut channels = engine.live.channels();
    match deleted {
        false => channels.reached(uni, revision),
        true => {
            channels.deleted(uni);
            engine.doomed.note(sequence, &id, uni);
        }
    }
    Some(id)
}

/// Resolves when nothing has come for a while though there is something.
async fn silence(engine: &Engine, received: &AtomicU64) {
    let mut before = None;
    loop {
        tokio::time::sleep(LOOK).await;
        let Ok(last) = engine.last_sequence().await else {
            before = None;
            continue;
        };
        let (known, count) = (*engine.known.borrow(), received.load(Ordering::Relaxed));
        if before.is_some_and(|(last, counted)| known < last && counted == count) {
            return;
        }
        before = Some((last, count));
    }
}
