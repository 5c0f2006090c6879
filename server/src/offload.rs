//! Work that would hold up everybody else: done on threads of its own, a few at a time.

use std::io;

use tokio::sync::Semaphore;
use universe_core::{Family, State};

/// How many bytes of JSON are read or written where they stand; more is offloaded.
pub(crate) const INLINE_BYTES: usize = 64 * 1024;

/// How many bodies a universe has before writing it as JSON is offloaded: about [`INLINE_BYTES`].
const INLINE_BODIES: usize = 150;

/// How many bytes of JSON a universe of few bodies may have all the same: names may be long.
const INLINE_STATE_BYTES: usize = 256 * 1024;

/// Counts what is written, up to a bound.
struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.0.checked_sub(bytes.len());
        self.0 = left.ok_or(io::ErrorKind::WriteZero)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a state is written or walked where it stands.
pub(crate) fn is_small(state: &State) -> bool {
    let entities = Family::ALL.map(|family| state.entities(family).len());
    entities.iter().sum::<usize>() <= INLINE_BODIES
        && serde_json::to_writer(Counted(INLINE_STATE_BYTES), state).is_ok()
}

/// How many such pieces of work run at once; further ones wait for their turn.
static TURNS: Semaphore = Semaphore::const_new(4);

/// The work ended without a result: it panicked, or the runtime is ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the work was not done")]
pub(crate) struct NotDone;

/// Does `work` here if it is small, or else on a blocking thread.
///
/// Dropping the future of work that has begun does not stop it.
pub(crate) async fn run<T: Send + 'static>(
    small: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    if small {
        return Ok(work());
    }
    let _turn = TURNS.acquire().await.map_err(|_| NotDone)?;
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "offloaded work failed");
        NotDone
    })
}
