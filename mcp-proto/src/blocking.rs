//! Blocking or long work, done on a thread where it delays no other request.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;

/// The work ended without a result: it panicked, or the runtime is ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the work was not done")]
pub struct NotDone;

/// Runs `work` on a blocking thread of the runtime, or in place if there is no runtime. Work that has begun continues
/// when the future is dropped.
///
/// # Errors
/// It panicked, which is logged, or the runtime is ending.
pub async fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    let Ok(runtime) = Handle::try_current() else {
        return Ok(work());
    };
    let (done, result) = oneshot::channel();
    // Boxed, so that the runtime's part of a task is compiled once and not for each kind of work.
    let work: Box<dyn FnOnce() + Send> = Box::new(move || drop(done.send(work())));
    if let Err(error) = runtime.spawn_blocking(work).await {
        tracing::error!(%error, "work on a blocking thread was not done");
    }
    result.await.map_err(|_| NotDone)
}

/// As [`run`], once one of these permits is free; it is held until the work ends. If there is no runtime, none is
/// waited for.
///
/// The wait is in a task of its own, which ends with this future: a caller that is not polled, such as a call whose
/// client does not read, would keep its permit from all others.
pub(crate) async fn run_with_permit<T: Send + 'static>(
    permits: Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    let Ok(runtime) = Handle::try_current() else {
        return run(work).await;
    };
    let permitted = async move {
        let permit = permits.acquire_owned().await;
        run(move || {
            let _permit = permit;
            work()
        })
        .await
    };
    let mut task = JoinSet::new();
    task.spawn_on(permitted, &runtime);
    task.join_next().await.and_then(Result::ok).unwrap_or(Err(NotDone))
}
