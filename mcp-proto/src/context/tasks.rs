//! Tasks in handlers: becoming one, and reporting its status.

use std::sync::Arc;

use super::Context;
use crate::budget::ClientName;
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::ErrorObject;
use crate::lifecycle::EXTENSION_TASKS;
use crate::outbox::Outbox;
use crate::task::{Entry, Owner, TaskMode};
use crate::version::Era;

impl Context {
    /// Continues as a task: the client gets the task's id now and fetches the result later
    /// ([guide](crate::guide::tasks)).
    ///
    /// Does nothing if the call is a task already, or if the tool's support is
    /// [`Optional`](crate::TaskSupport::Optional) and the client does not support tasks.
    ///
    /// # Errors
    /// The handler returns, and is called again as a task. The call fails (−32603) in a tool that does not declare task
    /// support, and when the server has no capacity for another task.
    pub fn start_task(&self) -> Result<(), Interrupt> {
        match &self.task {
            TaskMode::Within | TaskMode::Running(_) => Ok(()),
            TaskMode::Startable => Err(Interrupt(Reason::StartTask)),
            TaskMode::None => {
                tracing::error!("start_task was called by what does not declare task support");
                Err(ErrorObject::internal().into())
            }
        }
    }

    /// The id of the task that the call runs as, if any.
    pub fn task_id(&self) -> Option<&str> {
        match &self.task {
            TaskMode::Running(entry) => Some(&entry.id),
            _ => None,
        }
    }

    /// Sets the task's status in a sentence for people (`statusMessage`), and notifies its listeners. The last one is
    /// kept when the task completes. At most [`MAX_TASK_STATUS`](crate::task::MAX_TASK_STATUS) characters; without a
    /// task, nothing happens.
    pub fn task_status(&self, message: impl Into<String>) {
        if let TaskMode::Running(entry) = &self.task {
            entry.say(message.into());
        }
    }

    /// Whether the client supports the tasks extension.
    pub(crate) fn takes_tasks(&self) -> bool {
        let declared = self.client_capabilities.extension(EXTENSION_TASKS);
        declared.is_some_and(|settings| !settings.is_null())
    }

    /// The owner of the tasks of this request.
    pub(crate) fn owner(&self) -> Owner {
        match (self.principal(), &self.peer) {
            (Some(principal), _) => Owner::Principal(principal.into()),
            // The modern era does not identify connections.
            (None, Some(peer)) if self.era() == Era::Legacy => Owner::Peer(Arc::clone(peer)),
            (None, _) => Owner::Anyone,
        }
    }

    /// The client whose share the tasks of this request use.
    pub(crate) fn client_name(&self) -> ClientName {
        match (&self.client, self.principal()) {
            (Some(client), _) => client.name().clone(),
            (None, Some(principal)) => ClientName::Principal(principal.into()),
            (None, None) => ClientName::Unknown,
        }
    }

    /// The same for a task, whose messages are sent through `outbox`. The modern era cannot send progress and logs of a
    /// task.
    pub(crate) fn into_task(mut self, task: Arc<Entry>, outbox: Outbox) -> Self {
        if self.era() == Era::Modern {
            self.progress = None;
            self.log_level = None;
        }
        self.outbox = outbox;
        // The result of a task is kept as part of the task, not as an answer.
        self.client = None;
        self.task = TaskMode::Running(task);
        self
    }
}
