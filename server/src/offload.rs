//! Work that would delay other requests: done on separate threads, a few at a time.

use mcp_proto::budget::Client;
pub(crate) use service_host::NotDone;
use service_host::run_long;
use universe_core::State;

/// The most bytes of JSON that are parsed or written on the caller's thread. Larger texts are offloaded.
pub(crate) const INLINE_BYTES: usize = 64 * 1024;

/// Whether a state is small enough to be written or traversed on the caller's thread.
pub(crate) fn is_small(state: &State) -> bool {
    state.is_within(INLINE_BYTES)
}

/// Runs `work` on this thread if it is small, or else on a blocking thread, for a client in its turn.
///
/// Dropping the future does not stop work that has begun: it keeps its place until it is done.
pub(crate) async fn run<T: Send + 'static>(
    small: bool,
    client: Option<&Client>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    if small { Ok(work()) } else { run_long(client, work).await }
}
