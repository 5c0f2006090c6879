//! Work that would delay other requests: done on separate threads, a few at a time.

pub(crate) use service_host::NotDone;
use service_host::apart;
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

/// Does `work` here if it is small, or else on a blocking thread.
///
/// Dropping the future of work that has begun does not stop it: it keeps its turn until it is done. What else must be
/// held that long, such as its client's turn, belongs into `work`.
pub(crate) async fn run<T: Send + 'static>(
    small: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    if small {
        return Ok(work());
    }
    let turn = TURNS.acquire().await.map_err(|_| NotDone)?;
    apart(move || {
        let _turn = turn;
        work()
    })
    .await
}
