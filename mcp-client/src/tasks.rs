//! Tasks: calls that run longer than a connection, in the form of 2026-07-28 and in the experimental one of 2025-11-25.

use std::time::Duration;

use mcp_proto::Era;
use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto::lifecycle::EXTENSION_TASKS;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::calls::{typed, unanswered};
use super::{CallOptions, Client, ClientConfig, ClientError, Result};

/// The time between two polls of a task if the server does not set one, and its bounds.
const POLL: Duration = Duration::from_secs(1);
const MIN_POLL: Duration = Duration::from_millis(20);
const MAX_POLL: Duration = Duration::from_secs(60);

/// The outcome of a call.
#[derive(Debug, Clone)]
pub enum Started {
    /// The call has ended, with the result that [`Client::call_tool_raw`] would return.
    Done(Value),
    /// It continues as a task.
    Task(Task),
}

/// A task of the server. Dropping it leaves the task alone: see [`Task::cancel`].
#[derive(Debug, Clone)]
pub struct Task {
    client: Client,
    id: String,
    /// Of the call that became the task.
    options: CallOptions,
}

/// The status of a task (schema: `Task`).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskStatus {
    /// Its id.
    pub task_id: String,
    /// `working`, `input_required`, `completed`, `failed` or `cancelled`.
    pub status: String,
    /// A message for people.
    pub status_message: Option<String>,
    /// How long it is kept after its creation, in milliseconds.
    #[serde(alias = "ttl", default)]
    pub ttl_ms: Option<u64>,
    /// The time to wait between two polls, in milliseconds.
    #[serde(alias = "pollInterval", default)]
    pub poll_interval_ms: Option<u64>,
    /// The result of its call, if it is completed (2026-07-28).
    pub result: Option<Value>,
    /// Why it failed (2026-07-28).
    pub error: Option<Value>,
    /// The input that it needs to continue (2026-07-28).
    pub input_requests: Option<Value>,
}

impl TaskStatus {
    /// A status of a task, such as `working`.
    pub fn new(task_id: impl Into<String>, status: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            status: status.into(),
            status_message: None,
            ttl_ms: None,
            poll_interval_ms: None,
            result: None,
            error: None,
            input_requests: None,
        }
    }
}

impl ClientConfig {
    /// The same with the capability for tasks of 2026-07-28: a server may then turn calls into tasks.
    pub fn with_tasks(mut self) -> Self {
        let extensions = self.capabilities.entry("extensions");
        let extensions = extensions.or_insert_with(|| json!({}));
        if let Some(extensions) = extensions.as_object_mut() {
            extensions.insert(EXTENSION_TASKS.to_owned(), json!({}));
        }
        self
    }
}

impl Client {
    /// Calls a tool that may continue as a task: if the server decides so (2026-07-28, needs
    /// [`ClientConfig::with_tasks`]), or if the tool allows it (2025-11-25). `ttl` is how long a legacy server should
    /// keep the task.
    ///
    /// # Errors
    /// As for [`Client::call_tool_raw`].
    pub async fn start_tool(
        &self,
        name: &str,
        arguments: Value,
        ttl: Option<Duration>,
    ) -> Result<Started> {
        let params = match self.era() {
            Era::Legacy => Self::task_params(name, &arguments, ttl),
            Era::Modern => json!({ "name": name, "arguments": arguments }),
        };
        let result = self.call(params, &CallOptions::default()).await?;
        Ok(match self.task_of(&result, None) {
            Some(task) => Started::Task(task),
            None => Started::Done(result),
        })
    }

    /// The params of a call that should become a task (2025-11-25).
    pub(super) fn task_params(name: &str, arguments: &Value, ttl: Option<Duration>) -> Value {
        let ttl = ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
        let task = ttl.map_or_else(|| json!({}), |ttl| json!({ "ttl": ttl }));
        json!({ "name": name, "arguments": arguments, "task": task })
    }

    /// A task that was started earlier, by its id.
    #[must_use]
    pub fn task(&self, id: impl Into<String>) -> Task {
        Task { client: self.clone(), id: id.into(), options: CallOptions::default() }
    }

    /// `tasks/list` of 2025-11-25, all its pages. The modern era has no such list.
    ///
    /// # Errors
    /// As for [`Client::request`].
    pub async fn list_tasks(&self) -> Result<Vec<TaskStatus>> {
        self.list("tasks/list", "tasks", json!({})).await
    }

    /// The task that a result names, with the time limit of its requests.
    pub(super) fn task_of(&self, result: &Value, timeout: Option<Duration>) -> Option<Task> {
        let id = match self.era() {
            Era::Modern => result
                .get("resultType")
                .filter(|kind| *kind == "task")
                .and_then(|_| result.get("taskId")),
            Era::Legacy => result.get("task").and_then(|task| task.get("taskId")),
        };
        let mut task = self.task(id?.as_str()?);
        task.options.timeout = timeout;
        Some(task)
    }
}

impl Task {
    /// Its id, by which it can be found later ([`Client::task`]).
    pub fn id(&self) -> &str {
        &self.id
    }

    /// `tasks/get`: its status.
    ///
    /// # Errors
    /// As for [`Client::request`]; −32602 for a task that no longer exists.
    pub async fn status(&self) -> Result<TaskStatus> {
        typed("tasks/get", self.ask("tasks/get", json!({})).await?)
    }

    /// Waits for its end, without a time limit, and returns what its call would have returned. Its questions meanwhile
    /// are answered by the callbacks of the configuration.
    ///
    /// # Errors
    /// As for [`Task::status`]; [`ClientError::Rpc`] for one that failed, [`ClientError::Cancelled`] for one that was
    /// cancelled, [`ClientError::Refused`] when a callback refuses.
    pub async fn result(&self) -> Result<Value> {
        loop {
            let status = self.status().await?;
            match (status.status.as_str(), self.client.era()) {
                ("completed" | "failed", Era::Legacy) => {
                    return self.ask("tasks/result", json!({})).await;
                }
                ("completed", Era::Modern) => return Ok(status.result.unwrap_or_default()),
                ("failed", Era::Modern) => return Err(failed(status)),
                ("cancelled", _) => return Err(ClientError::Cancelled),
                // The questions arrive on the stream of this request.
                ("input_required", Era::Legacy) => {
                    match self.ask("tasks/result", json!({})).await {
                        Err(ClientError::Timeout(_)) => continue,
                        result => return result,
                    }
                }
                ("input_required", Era::Modern) => self.answer(&status).await?,
                _ => {}
            }
            let asked = status.poll_interval_ms.map(Duration::from_millis);
            let wait = asked.unwrap_or(POLL).clamp(MIN_POLL, MAX_POLL);
            tokio::time::sleep(wait).await;
        }
    }

    /// `tasks/update` (2026-07-28): sends answers, by the keys of [`TaskStatus::input_requests`]. [`Task::result`] does
    /// so by the callbacks.
    ///
    /// # Errors
    /// As for [`Task::status`].
    pub async fn update(&self, answers: Map<String, Value>) -> Result<()> {
        let params = json!({ "inputResponses": answers });
        self.ask("tasks/update", params).await.map(|_| ())
    }

    /// `tasks/cancel`.
    ///
    /// # Errors
    /// As for [`Task::status`]; in the legacy era −32602 for one that has ended.
    pub async fn cancel(&self) -> Result<()> {
        self.ask("tasks/cancel", json!({})).await.map(|_| ())
    }

    async fn answer(&self, status: &TaskStatus) -> Result<()> {
        let answers = &self.client.0.config.answers;
        if answers.is_empty() {
            return Err(unanswered("the task"));
        }
        let asked = json!({ "inputRequests": status.input_requests });
        let answered = self.client.answer(answers, &asked).await?;
        match answered.get("inputResponses") {
            Some(Value::Object(answered)) => self.update(answered.clone()).await,
            _ => Ok(()),
        }
    }

    async fn ask(&self, method: &str, mut params: Value) -> Result<Value> {
        if let Some(members) = params.as_object_mut() {
            members.insert("taskId".to_owned(), json!(self.id));
        }
        self.client.request_with(method, params, &self.options).await
    }
}

fn failed(status: TaskStatus) -> ClientError {
    let message = status.status_message.as_deref().unwrap_or("the task failed");
    let error = status.error.unwrap_or_default();
    let code = error.get("code").and_then(Value::as_i64);
    let text = error.get("message").and_then(Value::as_str);
    let rpc_error =
        ErrorObject::new(code.unwrap_or(ErrorObject::INTERNAL), text.unwrap_or(message));
    ClientError::Rpc(match error.get("data") {
        Some(data) => rpc_error.with_data(data.clone()),
        None => rpc_error,
    })
}
