//! Blocking or long work, done on a separate thread where it delays no other task.

use std::any::Any;

use tokio::task::JoinHandle;

/// The work ended without a result: it panicked, or the runtime is ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the work was not done")]
pub struct NotDone;

/// Runs `work` on a blocking thread. Work that has begun continues when the future is dropped.
///
/// # Errors
/// It panicked, which is logged, or the runtime is ending.
pub async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    match begin(Box::new(move || Box::new(work()))).await {
        Ok(done) => done.downcast().map(|done| *done).map_err(|_| NotDone),
        Err(error) => {
            tracing::error!(%error, "work on a blocking thread failed");
            Err(NotDone)
        }
    }
}

/// Work without its type, so that the runtime's part of it is compiled once and not for each kind of work.
type Work = Box<dyn FnOnce() -> Done + Send>;
type Done = Box<dyn Any + Send>;

fn begin(work: Work) -> JoinHandle<Done> {
    tokio::task::spawn_blocking(work)
}
