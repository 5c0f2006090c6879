//! Takes away what is left of deleted universes.
//!
//! The end of a universe is a message of its log, which stays for an hour, so that all nodes come to see it. What is
//! before it goes at once, by the node that deleted it; and if that has died over it, then, too.
//!
//! A universe that just disappeared would leave nothing to stop a late writer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::engine::Engine;
use super::error::Away;
use crate::UniverseId;

/// How long the last message of a deleted universe is kept.
const GRACE: Duration = Duration::from_secs(60 * 60);

/// The interval of checks for data that can be removed.
const PAUSE: Duration = Duration::from_secs(60);

/// The last messages of deleted universes that are still in the stream, by sequence.
#[derive(Default)]
pub(super) struct Doomed(Mutex<BTreeMap<u64, (UniverseId, i64, Instant)>>);

impl Doomed {
    pub(super) fn note(&self, sequence: u64, id: &UniverseId, uni: i64) {
        let mut doomed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        doomed.entry(sequence).or_insert_with(|| (id.clone(), uni, Instant::now()));
    }

    fn due(&self) -> Option<(u64, UniverseId, i64)> {
        let doomed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (sequence, (id, uni, since)) = doomed.first_key_value()?;
        (since.elapsed() >= GRACE).then(|| (*sequence, id.clone(), *uni))
    }

    fn forget(&self, sequence: u64) {
        let mut doomed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        doomed.remove(&sequence);
    }
}

/// Runs until the future is dropped.
pub(super) async fn run(engine: Arc<Engine>) {
    loop {
        while let Some((sequence, id, uni)) = engine.doomed.due() {
            if remove(&engine, &id, uni, sequence.saturating_add(1)).await.is_err() {
                break;
            }
            engine.doomed.forget(sequence);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Removes all data of a universe, and the messages before a sequence from the log of its id.
pub(super) async fn remove(
    engine: &Engine,
    id: &UniverseId,
    uni: i64,
    before: u64,
) -> Result<(), Away> {
    let (link, names) = (&engine.link, &engine.names);
    let (log, keys, bodies) = (names.log(), names.keys(), names.bodies());
    let (logged, keyed) = (names.log_of(id), names.keys_in(uni));
    let (pieces, snapshot) = (names.pieces_in(uni), names.snapshot(uni));
    let gone = tokio::join!(
        link.purge(&log, &logged, Some(before)),
        link.purge(&keys, &keyed, None),
        link.purge(&bodies, &pieces, None),
        link.purge(&bodies, &snapshot, None),
    );
    gone.0.and(gone.1).and(gone.2).and(gone.3)
}
