//! Work that would hold up everybody else: done on threads of its own, a few at a time.

use tokio::sync::Semaphore;
use universe_core::State;

/// How many bytes of JSON are read or written where they stand; more is offloaded.
pub(crate) const INLINE_BYTES: usize = 64 * 1024;

/// Whether a state is written or walked where it stands.
pub(crate) fn is_small(state: &State) -> bool {
    state.is_within(INLINE_BYTES)
}

/// How many such pieces of work run at once; further ones wait for their turn.
static TURNS: Semaphore = Semaphore::const_new(4);

/// The work ended without a result: it panicked, or the runtime is ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the work was not done")]
pub(crate) struct NotDone;

/// Does `work` here if it is small, or else on a blocking thread.
///
/// Dropping the future of work that has begun does not stop it: it keeps its turn until it is done. What else is to be
/// held that long, such as its client's turn, belongs into `work`.
pub(crate) async fn run<T: Send + 'static>(
    small: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    if small {
        return Ok(work());
    }
    let turn = TURNS.acquire().await.map_err(|_| NotDone)?;
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work()
    });
    done.await.map_err(|error| {
        tracing::error!(%error, "offloaded work failed");
        NotDone
    })
}
