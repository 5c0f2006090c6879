//! Accepts connections of any kind, in bounded number, and retries when the system is out of resources.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// How long the loop waits after a failed accept, for example when file descriptors run out.
const BACK_OFF: Duration = Duration::from_millis(100);

/// Runs a task for each connection, at most `max` at once, until `shutdown` resolves. Further connections wait in the
/// kernel's backlog. Returns the tasks that still run then.
pub(crate) async fn accept_until<C, F>(
    max: usize,
    shutdown: impl Future<Output = ()>,
    mut accept: impl FnMut(&mut Context<'_>) -> Poll<io::Result<C>>,
    run: impl Fn(C) -> F,
) -> JoinSet<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    let permits = Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)));
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let next = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            let permit = permit.map_err(io::Error::other)?;
            Ok::<_, io::Error>((poll_fn(&mut accept).await?, permit))
        };
        tokio::select! {
            biased;
            () = &mut shutdown => return connections,
            Some(_ended) = connections.join_next() => {}
            accepted = next => match accepted {
                Ok((connection, permit)) => {
                    let connection = run(connection);
                    connections.spawn(async move {
                        connection.await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(BACK_OFF).await;
                }
            },
        }
    }
}
