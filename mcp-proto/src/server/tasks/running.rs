//! The future in which a task runs, separate from every request: it calls the handler again after each round of
//! answers.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Weak};

use futures_util::future::{AbortRegistration, Abortable};
use tokio::sync::oneshot;

use super::super::offered::Offered;
use super::super::rounds::config::MAX_ROUNDS;
use super::super::{Inner, Server};
use crate::input::Input;
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::{ErrorObject, Result};
use crate::legacy::tasks as legacy;
use crate::outbox::{Outbox, OutboxReader};
use crate::service::Call;
use crate::task::{Entry, Keeper, Stage};
use crate::tool::{CallToolResult, ToolError};
use crate::version::Era;

/// A task to be started.
pub(super) struct Start {
    pub(super) entry: Arc<Entry>,
    pub(super) registration: AbortRegistration,
    pub(super) offered: Arc<Offered>,
    pub(super) call: Call,
}

/// Counts a handler that runs, and ends its task if it is dropped early.
struct RunningTask {
    /// Weak, since a task must not keep its server alive.
    server: Weak<Inner>,
    entry: Arc<Entry>,
}

impl Server {
    /// Runs the handler of a task in a separate future.
    pub(super) fn start_task(&self, start: Start) -> Result<()> {
        let (Some(tasks), Ok(runtime)) = (&self.0.tasks, tokio::runtime::Handle::try_current())
        else {
            tracing::error!("a task was started outside of tokio");
            return Err(ErrorObject::internal());
        };
        let Start { entry, registration, offered, mut call } = start;
        let (outbox, said) = match call.context.era() {
            Era::Modern => (Outbox::closed(), None),
            Era::Legacy => {
                let (outbox, said) = Outbox::channel();
                (outbox, Some(said))
            }
        };
        call.context = call.context.into_task(Arc::clone(&entry), outbox);
        tasks.count(true);
        let running = RunningTask { server: Arc::downgrade(&self.0), entry: Arc::clone(&entry) };
        // Boxed once, since every future around it would add its size again.
        let calls = Box::pin(in_rounds(offered, Arc::clone(&entry), call));
        let calls = Abortable::new(passing_on(calls, said, entry), registration);
        let (mut closed, time_left) = tasks.closing();
        runtime.spawn(async move {
            let closing = async {
                if closed.wait_for(|closed| *closed).await.is_err() {
                    // The server has been dropped, and this future will be dropped with it.
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(time_left).await;
            };
            tokio::select! {
                biased;
                ended = calls => if let Ok(ended) = ended {
                    running.finish(ended);
                },
                () = closing => running.finish(Err(ErrorObject::new(
                    ErrorObject::INTERNAL,
                    "the server closed before the task was done",
                ))),
                () = tokio::time::sleep_until(running.entry.expires) => running.expire(),
            }
        });
        Ok(())
    }

    /// Stores the record of a task where other servers find it, and then runs its handler. This happens in a separate
    /// task, so that a client that disconnects does not leave it half done.
    pub(super) async fn start_shared_task(
        &self,
        start: Start,
        mut keeper: Keeper,
        client: Option<Arc<str>>,
    ) -> Result<()> {
        let (report, reported) = oneshot::channel();
        let server = Arc::downgrade(&self.0);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            tracing::error!("a task was started outside of tokio");
            return Err(ErrorObject::internal());
        };
        runtime.spawn(async move {
            let inserted = keeper.insert(client).await;
            let started = inserted.and_then(|()| match server.upgrade() {
                // If the client has disconnected meanwhile, no client will ever know of the task.
                Some(server) if !report.is_closed() => Self(server).start_task(start),
                _ => Err(ErrorObject::internal()),
            });
            let is_started = started.is_ok();
            // A client that has disconnected needs no answer.
            let _ = report.send(started);
            if is_started { keeper.keep().await } else { keeper.discard().await }
        });
        reported.await.unwrap_or_else(|_| Err(ErrorObject::internal()))
    }

    /// Ends a task with the outcome of its call.
    pub(super) fn finish_task(&self, entry: &Entry, ended: Result<CallToolResult>) {
        let stage = ended.and_then(|result| {
            if entry.version.era() == Era::Legacy {
                return legacy::ended(self, entry, result);
            }
            Ok(Stage::Completed(self.tool_result(&result, entry.version)?))
        });
        if let Some(tasks) = &self.0.tasks {
            tasks.end(entry, stage.unwrap_or_else(Stage::Failed));
        }
    }
}

impl RunningTask {
    fn finish(&self, ended: Result<CallToolResult>) {
        if let Some(server) = self.server.upgrade() {
            Server(server).finish_task(&self.entry, ended);
        }
    }

    fn expire(&self) {
        tracing::debug!(task = ?self.entry, "a task ran longer than its ttl and was dropped");
        if let Some(server) = self.server.upgrade()
            && let Some(tasks) = &server.tasks
        {
            tasks.expire(&self.entry);
        }
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        // Changes nothing if the task has ended.
        self.finish(Err(ErrorObject::internal()));
        if let Some(server) = self.server.upgrade()
            && let Some(tasks) = &server.tasks
        {
            tasks.count(false);
        }
    }
}

/// Calls the handler, and calls it again with all answers so far whenever its questions are answered.
async fn in_rounds(
    offered: Arc<Offered>,
    entry: Arc<Entry>,
    mut call: Call,
) -> Result<CallToolResult> {
    let tools = &offered.tools;
    let input = call.context.input.take();
    let mut answers = input.map_or_else(BTreeMap::new, |input| input.all());
    for _ in 0..MAX_ROUNDS {
        call.context.input = Some(Arc::new(Input::new(answers.clone())));
        match tools.start(tools.named(&call)?, call.clone())?.finish().await {
            Ok(result) => return Ok(result),
            Err(Interrupt(Reason::Ask(questions))) => {
                entry.ask(&questions);
                match entry.answered().await {
                    Ok(given) => answers.extend(given),
                    Err(problem) => {
                        let (code, problem) = *problem;
                        let name = call.name.as_deref().unwrap_or_default();
                        let failed = tools.failed(name, ToolError::new(code, problem));
                        return failed.map_err(Interrupt::into_error);
                    }
                }
            }
            Err(interrupt) => return Err(interrupt.into_error()),
        }
    }
    tracing::error!(task = ?entry, "the handler of a task asked its client {MAX_ROUNDS} times");
    Err(ErrorObject::internal())
}

/// Passes the handler's messages to the request that waits for its result (legacy era).
async fn passing_on<T>(
    mut calls: impl Future<Output = T> + Unpin,
    said: Option<OutboxReader>,
    entry: Arc<Entry>,
) -> T {
    let Some(mut said) = said else {
        return calls.await;
    };
    let ended = loop {
        tokio::select! {
            biased;
            ended = &mut calls => break ended,
            message = said.recv() => entry.pass_on(message),
        }
    };
    while let Some(message) = said.try_recv() {
        entry.pass_on(message);
    }
    ended
}
