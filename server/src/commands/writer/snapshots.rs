//! Snapshots, which are written in the background, and what they show about a universe's size.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;
use universe_core::State;

use super::Writer;
use crate::commands::ServiceError;
use crate::offload;
use crate::store::{Revision, Snapshot, UniverseId, UniverseLog};

/// The fewest entries after which a snapshot is worth its writing.
const SNAPSHOT_ENTRIES: u64 = 64;
/// The bytes of entries after which a snapshot is due however large the universe is.
const SNAPSHOT_BYTES: usize = 8 << 20;

impl Writer {
    /// `max` if the universe, which is loaded by this, is larger than that in bytes of JSON.
    pub(super) async fn full(&mut self, max: usize) -> Result<Option<usize>, ServiceError> {
        if self.loaded().await?.bytes() <= max {
            return Ok(None);
        }
        // It may be no larger: a snapshot shows it, or else what is in it.
        self.settle_snapshot().await;
        let loaded = self.loaded().await?;
        let is_larger = match (loaded.bytes() > max, loaded.entry_bytes) {
            (false, _) => false,
            (true, 0) => true,
            (true, _) => {
                let state = loaded.universe.state.clone();
                let within = offload::run(false, move || state.is_within(max)).await;
                !within.unwrap_or(false)
            }
        };
        Ok(is_larger.then_some(max))
    }

    /// Keeps a snapshot in the background once the log since the last one outweighs the state.
    pub(super) fn keep_snapshot(&mut self) {
        let Some(loaded) = &mut self.loaded else {
            return;
        };
        match self.snapshot.as_mut().map(oneshot::Receiver::try_recv) {
            Some(Err(TryRecvError::Empty)) => return,
            Some(Ok(bytes)) => loaded.base_bytes = bytes,
            // There was none, or it was not kept.
            Some(Err(TryRecvError::Closed)) | None => {}
        }
        self.snapshot = None;
        let due = loaded.entries >= SNAPSHOT_ENTRIES && loaded.entry_bytes > loaded.base_bytes;
        // Large changes are measured soon: only a snapshot shows how large the universe is by now.
        if !due && loaded.entry_bytes <= SNAPSHOT_BYTES {
            return;
        }
        let expected = loaded.bytes();
        // Counted as kept already: should it fail, the next one is due after as much log again. Until it is kept, the
        // universe counts as large as it may be.
        loaded.base_bytes = expected;
        (loaded.entries, loaded.entry_bytes) = (0, 0);
        let (revision, state) = (loaded.universe.revision, loaded.universe.state.clone());
        let (store, id) = (Arc::clone(&self.service.0.store), self.id.clone());
        let (kept, snapshot) = oneshot::channel();
        self.snapshot = Some(snapshot);
        tokio::spawn(async move {
            if let Some(bytes) = keep(store, id, revision, state, expected).await {
                // A writer that is gone does not need to know.
                let _untold = kept.send(bytes);
            }
        });
    }

    /// Waits for a snapshot that is being kept, and counts what it shows of the universe's size.
    pub(super) async fn settle_snapshot(&mut self) {
        if let Some(running) = self.snapshot.take() {
            let kept = running.await.ok();
            if let (Some(loaded), Some(bytes)) = (&mut self.loaded, kept) {
                loaded.base_bytes = bytes;
            }
        }
    }
}

/// Keeps a snapshot, which has hardly more bytes than expected, and gives how many.
async fn keep(
    store: Arc<dyn UniverseLog>,
    id: UniverseId,
    revision: Revision,
    state: State,
    expected: usize,
) -> Option<usize> {
    let write = move || {
        // A text that grows while it is written is in memory twice at times.
        let mut body = Vec::with_capacity(expected);
        state.write_json(&mut body).map(|()| body)
    };
    let body = offload::run(expected <= offload::INLINE_BYTES, write).await;
    let body = body.ok()?.ok()?;
    let bytes = body.len();
    match store
        .put_snapshot(
            &id,
            Snapshot {
                revision,
                body: Bytes::from(body),
            },
        )
        .await
    {
        Ok(()) => Some(bytes),
        Err(error) => {
            tracing::warn!(universe = %id, %error, "a snapshot was not kept; loading will take longer");
            None
        }
    }
}
