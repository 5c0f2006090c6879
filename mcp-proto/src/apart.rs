//! Runs long synchronous work on a blocking thread, where it does not delay other requests.

use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Runs `work` on a blocking thread, or in place if there is no runtime. Work that has begun continues when the future
/// is dropped. `None` if it panicked or the runtime ends.
pub(crate) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let Ok(runtime) = Handle::try_current() else {
        return Some(work());
    };
    let (done, result) = oneshot::channel();
    // Boxed, so that the runtime's part of a task is compiled once and not for each kind of work.
    let work: Box<dyn FnOnce() + Send> = Box::new(move || drop(done.send(work())));
    if let Err(error) = runtime.spawn_blocking(work).await {
        tracing::error!(%error, "work on a blocking thread was not done");
    }
    result.await.ok()
}
