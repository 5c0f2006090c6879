//! Long work without a pause: it is done on a blocking thread, where it holds nobody up.

use tokio::runtime::Handle;

/// Does `work` on a blocking thread; in place where there is no runtime. Work that has begun goes on when the future is
/// dropped. `None` when it panicked or the runtime ends.
pub(crate) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let Ok(runtime) = Handle::try_current() else {
        return Some(work());
    };
    let done = runtime.spawn_blocking(work).await;
    done.inspect_err(|error| tracing::error!(%error, "work on a blocking thread was not done"))
        .ok()
}
