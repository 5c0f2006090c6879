//! Snapshots, which are written in the background, and what they show about a universe's size.

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;
use universe_core::State;

use super::Writer;
use crate::commands::{CommandService, Result};
use crate::offload;
use crate::store::{Revision, Snapshot, UniverseId};

/// The fewest entries after which a snapshot is worth writing.
const SNAPSHOT_ENTRIES: u64 = 64;
/// The bytes of entries after which a snapshot is due, whatever the size of the universe.
const SNAPSHOT_BYTES: usize = 8 << 20;

impl Writer {
    /// Returns `max` if the universe is larger than that in bytes of JSON. Loads the universe if necessary.
    pub(super) async fn full(&mut self, max: usize) -> Result<Option<usize>> {
        if self.loaded().await?.bytes() <= max {
            return Ok(None);
        }
        // The estimate may be too high: a snapshot gives the exact size, and otherwise the state is measured.
        self.settle_snapshot().await;
        let loaded = self.loaded().await?;
        let is_larger = match (loaded.bytes() > max, loaded.entry_bytes) {
            (false, _) => false,
            (true, 0) => true,
            (true, _) => {
                let state = loaded.universe.state.clone();
                let within = offload::run(false, None, move || state.is_within(max)).await;
                !within.unwrap_or(false)
            }
        };
        Ok(is_larger.then_some(max))
    }

    /// Writes a snapshot in the background once the log since the last one outweighs the state.
    pub(super) fn keep_snapshot(&mut self) {
        let Some(loaded) = &mut self.loaded else {
            return;
        };
        match self.snapshot.as_mut().map(oneshot::Receiver::try_recv) {
            Some(Err(TryRecvError::Empty)) => return,
            Some(Ok(bytes)) => loaded.base_bytes = bytes,
            // There was no snapshot, or it was not stored.
            Some(Err(TryRecvError::Closed)) | None => {}
        }
        self.snapshot = None;
        let due = loaded.entries >= SNAPSHOT_ENTRIES && loaded.entry_bytes > loaded.base_bytes;
        // A large change needs a snapshot soon, because only a snapshot shows the exact size of the universe.
        if !due && loaded.entry_bytes <= SNAPSHOT_BYTES {
            return;
        }
        let expected = loaded.bytes();
        // Counted as stored already: if it fails, the next snapshot is due after as much log again. Until it is stored,
        // the universe counts with its largest possible size.
        loaded.base_bytes = expected;
        (loaded.entries, loaded.entry_bytes) = (0, 0);
        let (revision, state) = (loaded.universe.revision, loaded.universe.state.clone());
        let (service, id) = (self.service.clone(), self.id.clone());
        let (kept, snapshot) = oneshot::channel();
        self.snapshot = Some(snapshot);
        tokio::spawn(async move {
            if let Some(bytes) = keep(service, id, revision, state, expected).await {
                // If the writer has ended, no one needs the size.
                let _ = kept.send(bytes);
            }
        });
    }

    /// Waits for a snapshot that is being written, and takes the size of the universe from it.
    pub(super) async fn settle_snapshot(&mut self) {
        if let Some(running) = self.snapshot.take() {
            let kept = running.await.ok();
            if let (Some(loaded), Some(bytes)) = (&mut self.loaded, kept) {
                loaded.base_bytes = bytes;
            }
        }
    }
}

/// Stores a snapshot, which is hardly larger than expected, and returns its size in bytes.
async fn keep(
    service: CommandService,
    id: UniverseId,
    revision: Revision,
    state: State,
    expected: usize,
) -> Option<usize> {
    let write = move || state.to_stored_json(expected);
    let body = offload::run(expected <= offload::INLINE_BYTES, None, write).await;
    let body = body.ok()?.ok()?;
    let bytes = body.len();
    match service.store().put_snapshot(&id, Snapshot { revision, body: Bytes::from(body) }).await {
        Ok(()) => Some(bytes),
        // A full disk is said otherwise.
        Err(_) if !service.has_room() => None,
        Err(error) => {
            tracing::warn!(universe = %id, %error, "a snapshot was not kept; loading will take longer");
            None
        }
    }
}
