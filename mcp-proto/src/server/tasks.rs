//! Calls that become tasks: which calls get one, how it is created, and the future it runs in.
//!
//! A task is not part of a request's future and does not keep its server alive. It is bounded in number and time,
//! dropped when it is cancelled, and ends with the last handle of the server.

mod modern;
mod running;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::offered::Offered;
use super::{Server, wire};
use crate::context::Context;
use crate::input::missing_capability;
use crate::json::json_size;
use crate::jsonrpc::{ErrorObject, Payload, Result};
use crate::legacy::tasks as legacy;
use crate::lifecycle::EXTENSION_TASKS;
use crate::service::Call;
use crate::task::{Calling, Entry, Keeper, NewTask, TaskMode, TaskSupport, TaskView};
use crate::version::Era;
use running::Start;

impl Server {
    /// Creates the task of a call and starts it. Returns `CreateTaskResult`.
    pub(super) async fn create_task(
        &self,
        offered: Arc<Offered>,
        call: Call,
        ttl: Option<Duration>,
    ) -> Result<Payload> {
        let Some(tasks) = &self.0.tasks else {
            return Err(ErrorObject::internal());
        };
        let context = &call.context;
        let answers = context.input.as_ref().map_or(0, |input| json_size(&input.all()));
        let client = context.client_name();
        let (entry, registration) = tasks.create(NewTask {
            owner: context.owner(),
            client: client.clone(),
            version: context.protocol_version,
            ttl,
            bytes: json_size(&(&call.name, &call.arguments, &call.params)).saturating_add(answers),
        })?;
        // Before it runs, so that it is in its first state when its client first sees it.
        let created = self.created(&entry);
        let start = Start { entry: Arc::clone(&entry), registration, offered, call };
        let started = match (created, tasks.shared()) {
            (Ok(created), Some(shared)) => {
                let keeper = Keeper::new(tasks, shared.clone(), Arc::clone(&entry));
                let started = self.start_shared_task(start, keeper, client.text()).await;
                started.map(|()| created)
            }
            (created, _) => created.and_then(|created| self.start_task(start).map(|()| created)),
        };
        if started.is_err() {
            tasks.expire(&entry);
        }
        started
    }

    fn created(&self, entry: &Entry) -> Result<Payload> {
        let state = entry.state();
        let task = TaskView { entry, state: &state, detailed: false };
        match entry.version.era() {
            Era::Modern => Payload::of(&wire::Complete::created_task(&task, &self.0.info_json)),
            Era::Legacy => legacy::created(task),
        }
    }

    /// The task that a request names, if it belongs to the caller.
    pub(crate) async fn named_task(
        &self,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Arc<Entry>> {
        let Some(Value::String(id)) = params.get("taskId") else {
            return Err(ErrorObject::invalid_params(
                "params.taskId must be a string: the name of a task",
            ));
        };
        let found = self.find_task(id, context).await?;
        found.ok_or_else(|| {
            let shown: String = id.chars().take(100).collect();
            ErrorObject::invalid_params(format!(
                "params.taskId {shown:?} is not a task of yours: there was none, or its time is over"
            ))
        })
    }

    /// Whether tasks are shared with other servers.
    pub(super) fn shares_tasks(&self) -> bool {
        self.tasks().is_some_and(|tasks| tasks.shared().is_some())
    }

    pub(super) async fn find_task(
        &self,
        id: &str,
        context: &Context,
    ) -> Result<Option<Arc<Entry>>> {
        match self.tasks() {
            Some(tasks) => tasks.find(id, &context.owner(), context.era()).await,
            None => Ok(None),
        }
    }
}

/// How the tool of a call is to be called, or the error if its declaration forbids the call. Unknown tools are handled
/// elsewhere.
pub(super) fn calling(offered: &Offered, call: &Call) -> Result<Calling> {
    let (name, context) = (call.name.as_deref(), &call.context);
    let Some(support) = name.and_then(|name| offered.tools.task_support(name)) else {
        return Ok(Calling::Now(TaskMode::None));
    };
    match support {
        TaskSupport::Forbidden => Ok(TaskMode::None),
        TaskSupport::Optional if !context.takes_tasks() => Ok(TaskMode::Within),
        TaskSupport::Required if !context.takes_tasks() => Err(needs_extension()),
        TaskSupport::Optional | TaskSupport::Required => Ok(TaskMode::Startable),
    }
    .map(Calling::Now)
}

/// The error for a modern client that does not declare the extension.
fn needs_extension() -> ErrorObject {
    missing_capability(Era::Modern, &json!({ "extensions": { EXTENSION_TASKS: {} } }))
}
