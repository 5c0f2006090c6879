//! Handlers that must stay on one thread: [`Local`] runs them where their state lives.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::{mpsc, oneshot};

/// The most calls of a [`Local`] that may wait, and that may run at once.
const DEFAULT_MAX_CALLS: usize = 256;

type Job<L> = Box<dyn FnOnce(Rc<L>) -> LocalBoxFuture<'static, ()> + Send>;

/// A handle to a state that cannot leave its thread, such as one with `Rc`s or of a single-threaded library. Handlers
/// on any thread reach the state through it. It is `Clone + Send + Sync` for any state, so it can be the state of a
/// server, or part of it.
///
/// ```
/// use std::cell::Cell;
///
/// use mcp_proto::jsonrpc::Request;
/// use mcp_proto::{Context, Json, Local, Server, Tool, ToolError};
/// # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// # struct Step { by: u32 }
/// # #[derive(serde::Serialize, schemars::JsonSchema)]
/// # struct Sum { sum: u32 }
///
/// async fn count(counter: Local<Cell<u32>>, step: Step) -> Result<Json<Sum>, ToolError> {
///     let sum = counter.run(async move |counter| {
///         tokio::task::yield_now().await;
///         counter.set(counter.get() + step.by);
///         counter.get()
///     });
///     Ok(Json(Sum { sum: sum.await? }))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let counter = Local::on_thread("counter", || Cell::new(40))?;
/// let server = Server::builder("counter", "1.0.0", counter)
///     .tool(Tool::new("count", "Counts."), count)
///     .build()?;
/// let call = Request::new(1, "tools/call", serde_json::json!({ "name": "count", "arguments": { "by": 2 } }));
/// let answer = server.handle(call, Context::test()).await.outcome.unwrap();
/// assert_eq!(answer.to_value()["structuredContent"]["sum"], 42);
/// # Ok(())
/// # }
/// ```
///
/// At most 256 calls wait to begin, and at most 256 run side by side; others wait for a permit, as long as their
/// callers wait. A call whose caller is dropped is dropped on the state's thread.
pub struct Local<L>(mpsc::Sender<Job<L>>);

/// Why a call of [`Local::run`] failed. As a failure of a tool or a request it is an internal error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// The state is gone, and its thread or task with it.
    #[error("the thread of the state has ended")]
    Ended,
    /// The call panicked. The state is kept.
    #[error("the call panicked")]
    Panicked,
}

impl<L: 'static> Local<L> {
    /// Creates a state on a new thread of this name. The thread ends after the last handle is dropped and all running
    /// calls are done. It has a tokio runtime with time and I/O.
    ///
    /// # Errors
    /// The system cannot start a thread or a runtime.
    pub fn on_thread(
        name: impl Into<String>,
        make: impl FnOnce() -> L + Send + 'static,
    ) -> std::io::Result<Self> {
        let (sender, jobs) = mpsc::channel(DEFAULT_MAX_CALLS);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new().name(name.into());
        thread.spawn(move || runtime.block_on(drive(jobs, Rc::new(make()))))?;
        Ok(Self(sender))
    }

    /// A state on this thread, and the future that runs the calls: for programs of one thread. The future is for
    /// `tokio::task::spawn_local`, or to be awaited beside what serves; it ends after the last handle is dropped and
    /// all running calls are done.
    pub fn here(state: L) -> (Self, impl Future<Output = ()>) {
        let (sender, jobs) = mpsc::channel(DEFAULT_MAX_CALLS);
        (Self(sender), drive(jobs, Rc::new(state)))
    }

    /// Runs a call on the state's thread and waits for its result. Dropping the future drops the call.
    ///
    /// # Errors
    /// [`LocalError`]
    pub async fn run<T, F, R>(&self, call: F) -> Result<T, LocalError>
    where
        T: Send + 'static,
        F: FnOnce(Rc<L>) -> R + Send + 'static,
        R: Future<Output = T> + 'static,
    {
        let (mut answer, answered) = oneshot::channel();
        let job: Job<L> = Box::new(move |state| {
            Box::pin(async move {
                let mut call = pin!(AssertUnwindSafe(async { call(state).await }).catch_unwind());
                let outcome = poll_fn(|context| match answer.poll_closed(context) {
                    // The caller no longer waits.
                    Poll::Ready(()) => Poll::Ready(None),
                    Poll::Pending => call.as_mut().poll(context).map(Some),
                });
                if let Some(outcome) = outcome.await {
                    // Fails when the caller went away just now, which is as good.
                    drop(answer.send(outcome));
                }
            })
        });
        self.0.send(job).await.map_err(|_| LocalError::Ended)?;
        match answered.await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(_panic)) => Err(LocalError::Panicked),
            Err(_) => Err(LocalError::Ended),
        }
    }
}

/// Runs calls side by side until no handle is left and all are done.
async fn drive<L>(mut jobs: mpsc::Receiver<Job<L>>, state: Rc<L>) {
    let mut running = FuturesUnordered::new();
    let mut is_open = true;
    while is_open || !running.is_empty() {
        tokio::select! {
            Some(()) = running.next() => {}
            job = jobs.recv(), if is_open && running.len() < DEFAULT_MAX_CALLS => match job {
                Some(job) => running.push(job(Rc::clone(&state))),
                None => is_open = false,
            },
        }
    }
}

impl<L> Clone for Local<L> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<L> fmt::Debug for Local<L> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Local").field("has_ended", &self.0.is_closed()).finish()
    }
}
