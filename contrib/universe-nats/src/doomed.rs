//! The deleted universes whose last messages are still in the stream.
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use universe_store::UniverseId;

/// How long the last message of a deleted universe is kept.
const GRACE: Duration = Duration::from_secs(60 * 60);

/// The last messages of deleted universes that are still in the stream, by sequence.
#[derive(Default)]
pub(super) struct Doomed(Mutex<BTreeMap<u64, (UniverseId, i64, Instant)>>);

impl Doomed {
    pub(super) fn note(&self, sequence: u64, id: &UniverseId, uni: i64) {
        let mut doomed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        doomed.entry(sequence).or_insert_with(|| (id.clone(), uni, Instant::now()));
    }

    /// The oldest of them, once it has been kept long enough.
    pub(super) fn due(&self) -> Option<(u64, UniverseId, i64)> {
        let doomed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (sequence, (id, uni, since)) = doomed.first_key_value()?;
        (since.elapsed() >= GRACE).then(|| (*sequence, id.clone(), *uni))
    }

    pub(super) fn forget(&self, sequence: u64) {
        let mut doomed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        doomed.remove(&sequence);
    }
}
