//! Takes away what is left of deleted universes.
//!
//! The end of a universe is a message of its log, which stays for an hour, so that all nodes come to see it. What is
//! before it goes at once, by the node that deleted it; and if that has died over it, then, too.
//!
//! A universe that just disappeared would leave nothing to stop a late writer.

use std::sync::Arc;
use std::time::Duration;

use universe_store::UniverseId;

use super::engine::Engine;
use super::error::Away;

/// The interval of checks for data that can be removed.
const PAUSE: Duration = Duration::from_secs(60);

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
