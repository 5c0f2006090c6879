//! Calls that become tasks: who gets one, how it is created, and the future it runs in.

mod legacy;
mod modern;
mod running;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Method, Server, wire};
use crate::context::Context;
use crate::input::missing_capability;
use crate::jsonrpc::{ErrorObject, Payload};
use crate::lifecycle::EXTENSION_TASKS;
use crate::task::{Entry, NewTask, TaskMode, TaskSupport, TaskView, json_size};
use crate::version::{Era, ProtocolVersion};
use running::Start;

/// How a tool is called.
pub(super) enum Calling {
    /// Within its call, as far as that goes.
    Now(TaskMode),
    /// As a task from the beginning, to be kept that long.
    AsTask(Option<Duration>),
}

impl Server {
    /// How the tool of that call is called, or why it is not, as far as its declaration says so. Unknown tools are judged
    /// elsewhere.
    pub(super) fn calling(
        &self,
        params: &mut Map<String, Value>,
        context: &Context,
    ) -> Result<Calling, ErrorObject> {
        let name = params.get("name").and_then(Value::as_str);
        let support = name.and_then(|name| self.0.tools.task_support(name));
        let (Some(name), Some(support)) = (name, support) else {
            return Ok(Calling::Now(TaskMode::None));
        };
        if context.era() == Era::Modern {
            return match support {
                TaskSupport::Forbidden => Ok(TaskMode::None),
                TaskSupport::Optional if !context.takes_tasks() => Ok(TaskMode::Within),
                TaskSupport::Required if !context.takes_tasks() => Err(needs_extension()),
                TaskSupport::Optional | TaskSupport::Required => Ok(TaskMode::Startable),
            }
            .map(Calling::Now);
        }
        let unfit = |problem| {
            let message = format!("the tool {name:?} {problem}");
            ErrorObject::new(ErrorObject::METHOD_NOT_FOUND, message)
        };
        let wanted = has_tasks(context) && params.get("task").is_some_and(|task| !task.is_null());
        match (support, wanted) {
            (TaskSupport::Forbidden, false) => Ok(Calling::Now(TaskMode::None)),
            (TaskSupport::Optional, false) => Ok(Calling::Now(TaskMode::Within)),
            (TaskSupport::Required, false) if has_tasks(context) => Err(unfit(
                "runs as a task alone: add params.task, such as {\"ttl\": 60000}",
            )),
            (TaskSupport::Required, false) => Err(unfit(
                "runs as a task alone, which this revision of the protocol does not have",
            )),
            (TaskSupport::Forbidden, true) => {
                Err(unfit("does not run as a task: leave params.task out"))
            }
            (TaskSupport::Optional | TaskSupport::Required, true) => {
                let task = params.remove("task").unwrap_or_default();
                read_ttl(&task).map(Calling::AsTask)
            }
        }
    }

    /// Creates the task of a call and starts it; `CreateTaskResult`.
    pub(super) fn create_task(
        &self,
        params: Map<String, Value>,
        context: Context,
        ttl: Option<Duration>,
    ) -> Result<Payload, ErrorObject> {
        let Some(tasks) = &self.0.tasks else {
            return Err(ErrorObject::internal());
        };
        let answers = context
            .input
            .as_ref()
            .map_or(0, |input| json_size(&input.all()));
        let (entry, registration) = tasks.create(NewTask {
            owner: context.owner(),
            version: context.protocol_version,
            ttl,
            bytes: json_size(&params).saturating_add(answers),
        })?;
        // Before it runs: it is new when its client first hears of it.
        let created = self.created(&entry);
        let start = Start {
            entry: Arc::clone(&entry),
            registration,
            params,
            context,
        };
        let started = created.and_then(|created| self.start_task(start).map(|()| created));
        if started.is_err() {
            tasks.expire(&entry);
        }
        started
    }

    fn created(&self, entry: &Entry) -> Result<Payload, ErrorObject> {
        let state = entry.state();
        let task = TaskView {
            entry,
            state: &state,
            detailed: false,
        };
        match entry.version.era() {
            Era::Modern => Payload::of(&wire::Complete::created_task(&task, &self.0.info_json)),
            Era::Legacy => {
                #[derive(serde::Serialize)]
                struct Created<'a> {
                    task: TaskView<'a>,
                }
                Payload::of(&Created { task })
            }
        }
    }

    /// The requests about tasks; of both eras, since they share names.
    pub(super) async fn about_tasks(
        &self,
        method: Method,
        params: Map<String, Value>,
        context: Context,
    ) -> Result<Payload, ErrorObject> {
        match context.era() {
            Era::Modern => self.about_modern_task(method, params, &context),
            Era::Legacy if !has_tasks(&context) => {
                Err(ErrorObject::method_not_found(method.name()))
            }
            Era::Legacy => self.about_legacy_task(method, &params, &context).await,
        }
    }

    /// The task that a request names, if it is its caller's.
    fn named_task(
        &self,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Arc<Entry>, ErrorObject> {
        let Some(Value::String(id)) = params.get("taskId") else {
            return Err(ErrorObject::invalid_params(
                "params.taskId must be a string: the name of a task",
            ));
        };
        let found = self.find_task(id, context);
        found.ok_or_else(|| {
            let shown: String = id.chars().take(100).collect();
            ErrorObject::invalid_params(format!(
                "params.taskId {shown:?} is no task of yours: there was none, or its time is over"
            ))
        })
    }

    pub(super) fn find_task(&self, id: &str, context: &Context) -> Option<Arc<Entry>> {
        let tasks = self.0.tasks.as_ref()?;
        tasks.find(id, &context.owner(), context.era())
    }
}

/// The refusal of a modern client that does not declare the extension.
pub(super) fn needs_extension() -> ErrorObject {
    missing_capability(
        Era::Modern,
        &json!({ "extensions": { EXTENSION_TASKS: {} } }),
    )
}

/// Whether the client's revision has the experimental tasks.
fn has_tasks(context: &Context) -> bool {
    context.protocol_version == ProtocolVersion::V2025_11_25
}

/// `TaskMetadata` of 2025-11-25.
fn read_ttl(task: &Value) -> Result<Option<Duration>, ErrorObject> {
    let unfit = |problem| Err(ErrorObject::invalid_params(problem));
    let Some(task) = task.as_object() else {
        return unfit("params.task must be an object such as {\"ttl\": 60000}");
    };
    let Some(ttl) = task.get("ttl").filter(|ttl| !ttl.is_null()) else {
        return Ok(None);
    };
    let millis = ttl.as_f64().filter(|ttl| *ttl >= 0.0);
    let Some(millis) = millis else {
        return unfit("params.task.ttl must be a number of milliseconds, at least 0");
    };
    // What is longer than any time is cut to the most that is given anyway.
    Ok(Some(
        Duration::try_from_secs_f64(millis / 1_000.0).unwrap_or(Duration::MAX),
    ))
}
