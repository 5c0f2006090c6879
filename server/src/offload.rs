//! Work that would delay other requests: done on separate threads, a few at a time.

pub(crate) use service_host::NotDone;
use service_host::run_blocking;
use tokio::sync::Semaphore;
use universe_core::State;

/// The most bytes of JSON that are parsed or written on the caller's thread. Larger texts are offloaded.
pub(crate) const INLINE_BYTES: usize = 64 * 1024;

/// Whether a state is small enough to be written or traversed on the caller's thread.
pub(crate) fn is_small(state: &State) -> bool {
    state.is_within(INLINE_BYTES)
}

/// The number of offloaded pieces of work that run at once. Further ones wait for their turn.
static TURNS: Semaphore = Semaphore::const_new(4);

/// Runs `work` on this thread if it is small, or else on a blocking thread.
///
/// Dropping the future does not stop work that has begun: it keeps its turn until it is done. Anything else that must
/// be held that long, such as the client's turn, must be moved into `work`.
pub(crate) async fn run<T: Send + 'static>(
    small: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    if small {
        return Ok(work());
    }
    let turn = TURNS.acquire().await.map_err(|_| NotDone)?;
    run_blocking(move || {
        let _turn = turn;
        work()
    })
    .await
}
