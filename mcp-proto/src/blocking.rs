//! Blocking or long work, done on a thread where it delays no other request.

use std::sync::LazyLock;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;

use crate::budget::{Client, processors};

/// How many pieces of long work a process does at once: as many as it has processors, and no fewer than this.
const LEAST_PLACES: usize = 4;
static PLACES: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(processors().max(LEAST_PLACES)));

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

/// As [`run`], for work of a millisecond and more. A process does as many pieces of it at once as it has processors,
/// but at least four, and of them half as many as processors for one client.
///
/// It waits in a task of its own, which ends with this future: a caller that is not polled, such as a call whose client
/// does not read, would keep its place from all others.
///
/// # Errors
/// As [`run`].
pub async fn run_long<T: Send + 'static>(
    client: Option<&Client>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    let Ok(runtime) = Handle::try_current() else {
        return Ok(work());
    };
    let client = client.cloned();
    let done = async move {
        let turn = match &client {
            Some(client) => Some(client.turn().await),
            None => None,
        };
        // Nothing closes the semaphore.
        let place = PLACES.acquire().await;
        run(move || {
            let _held = (turn, place);
            work()
        })
        .await
    };
    let mut task = JoinSet::new();
    task.spawn_on(done, &runtime);
    task.join_next().await.and_then(Result::ok).unwrap_or(Err(NotDone))
}
