//! Tools that run longer than anybody holds a connection open: tasks, in both of their forms.
//!
//! A tool says by [`Tool::with_task_support`](crate::Tool::with_task_support) that a call of it may become a task, and
//! [`ServerBuilder::tasks`](crate::ServerBuilder::tasks) gives the server a place for them. Inside the handler,
//! [`Context::start_task`] is the line between what is answered at once and what runs on:
//!
//! ```
//! use mcp_proto::{CallToolResult, Context, Field, ElicitForm, ServerBuilder, TaskSupport, TasksConfig, Tool, ToolError};
//! # use serde_json::{Map, Value, json};
//!
//! async fn render((): (), _: Map<String, Value>, context: Context) -> Result<CallToolResult, ToolError> {
//!     // Asked and answered before there is a task: the client still holds the line.
//!     let size = context.elicit("size", &ElicitForm::new("How large?").field("px", Field::integer()))?;
//!     context.start_task()?;
//!     // From here on it runs as a task, without the client.
//!     context.task_status("rendering");
//!     tokio::time::sleep(std::time::Duration::from_secs(1)).await;
//!     Ok(CallToolResult::text(format!("{size:?}")))
//! }
//!
//! # fn main() -> Result<(), mcp_proto::BuildError> {
//! let tool = Tool::new("render", "Renders a picture.")
//!     .with_input_schema(json!({ "type": "object" }))
//!     .with_task_support(TaskSupport::Optional);
//! let server = mcp_proto::Server::builder("studio", "0.1.0", ())
//!     .tasks(TasksConfig::default())
//!     .raw_tool(tool, render)
//!     .build()?;
//! # Ok(())
//! # }
//! ```
//!
//! `start_task` leaves the handler like a question does, through `?`: the server creates the task, answers the call with
//! its name, and calls the handler again in a future of its own, with everything the client has answered so far. So what
//! stands before `start_task` runs twice, and what must happen once belongs behind it. A question behind it makes the
//! task `input_required` until the client has answered.
//!
//! # The two forms
//!
//! * 2026-07-28, extension `io.modelcontextprotocol/tasks`: the server decides. A client that declares the extension gets
//!   a task whenever the handler starts one; it polls `tasks/get`, answers by `tasks/update`, stops it by `tasks/cancel`,
//!   and may hear of it by `subscriptions/listen` with `taskIds`, which tells what the task is at once and then every
//!   change. Progress and log messages have no way out of such a task; [`Context::task_status`] has.
//! * 2025-11-25, experimental: the client decides, by `params.task`. The task starts at once, and `start_task` changes
//!   nothing. The client polls `tasks/get`, or holds `tasks/result`, on whose stream it is asked and told of progress: on
//!   the newest one, if there are several. What is reported while there is none is lost. There are no
//!   `notifications/tasks/status`, which the revision leaves to the server.
//!
//! Older clients have no tasks. Without one a tool of [`TaskSupport::Optional`] runs within its call, and one of
//! [`TaskSupport::Required`] is refused.
//!
//! # Whose it is
//!
//! A task belongs to the [`Principal`](crate::Principal) that created it, in the era it was created in. Where nobody is
//! authenticated, a legacy task belongs to its session (over stdio, to its connection), and a modern one to whoever knows
//! its name: 128 random bits. To everybody else it does not exist. A task outlives its session, but without a principal
//! nobody can reach it then.
//!
//! # How it ends
//!
//! A task is kept, running or over, until its `ttl` has passed since it was created; then a running handler is dropped,
//! and the task is unknown. It ends before that when its handler returns, and when it is cancelled: that drops the
//! handler's future. [`Server::close`](crate::Server::close) gives running tasks
//! [`max_time_after_close`](TasksConfig::max_time_after_close); when the last clone of the [`Server`](crate::Server) is
//! gone they are dropped at once. Tasks are kept in memory: they end with the process.

mod entry;
mod owner;
mod size;
mod store;
mod timestamp;
mod view;
mod watched;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::ErrorObject;
use crate::lifecycle::EXTENSION_TASKS;

pub(crate) use entry::{Entry, Stage, Step, relate, relate_params};
pub(crate) use owner::Owner;
pub(crate) use size::json_size;
pub(crate) use store::{NewTask, Tasks};
pub(crate) use view::TaskView;
pub(crate) use watched::Watched;

/// The longest [`Context::task_status`], in characters; what is longer is cut.
pub const MAX_TASK_STATUS: usize = 1_000;

/// Whether a call of a tool may become a task (schema 2025-11-25: `ToolExecution.taskSupport`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskSupport {
    /// It never does.
    #[default]
    Forbidden,
    /// It does for clients that can take one; for others it runs within its call.
    Optional,
    /// It always does; clients that cannot take a task are refused before the handler runs: −32021 in the modern era,
    /// −32601 before.
    Required,
}

/// The bounds of a server's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TasksConfig {
    /// The most tasks, running and over together. None is put out before its time: when all places are taken a call that
    /// would become one more is answered −32603. 10,000 by default.
    pub max_tasks: usize,
    /// The most tasks of one principal or one legacy session; modern clients without a principal have none of their own
    /// to count. 1,000 by default.
    pub max_tasks_per_owner: usize,
    /// How long a task is kept after its creation, unless a client of 2025-11-25 asks for another time. Also the longest
    /// that its handler may run. 1 hour by default.
    pub ttl: Duration,
    /// The most that any task gets; the least is a second. 24 hours by default.
    pub max_ttl: Duration,
    /// How often clients are advised to ask. 1 second by default.
    pub poll_interval: Duration,
    /// The most that is kept of one task, in bytes as JSON: its arguments and the answers of its client while it runs,
    /// its result afterwards. A larger result makes it fail. 1 MiB by default.
    pub max_task_bytes: usize,
    /// The same of all tasks together. 256 MiB by default.
    pub max_bytes: usize,
    /// How long tasks may run on once the server is closed. 10 seconds by default.
    pub max_time_after_close: Duration,
}

/// What tasks have to do with one call.
#[derive(Debug, Clone, Default)]
pub(crate) enum TaskMode {
    /// The tool, or what else is called, has nothing to do with tasks.
    #[default]
    None,
    /// It may be a task for other clients.
    Within,
    /// It becomes one as soon as its handler says so.
    Startable,
    /// It is one.
    Running(Arc<Entry>),
}

impl Context {
    /// From here on as a task: the client gets its name now and fetches the result later ([guide](crate::task)).
    ///
    /// Goes on as it is where the call is a task already, and where the tool's support is
    /// [`Optional`](TaskSupport::Optional) and the client takes no task.
    ///
    /// # Errors
    /// Leaves the handler until it is called again as a task. For good (−32603) in a tool that does not declare its
    /// support, and when the server has no place for another task.
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

    /// The name of the task that the call runs as, if it does.
    #[must_use]
    pub fn task_id(&self) -> Option<&str> {
        match &self.task {
            TaskMode::Running(entry) => Some(&entry.id),
            _ => None,
        }
    }

    /// Says how the task is doing, in a sentence for people (`statusMessage`), and tells those who listen. The last one
    /// stays when the task completes. At most [`MAX_TASK_STATUS`] characters; without a task, nothing happens.
    pub fn task_status(&self, message: impl Into<String>) {
        if let TaskMode::Running(entry) = &self.task {
            entry.say(message.into());
        }
    }

    /// Whether the client takes tasks of the extension.
    pub(crate) fn takes_tasks(&self) -> bool {
        let declared = self.client_capabilities.extension(EXTENSION_TASKS);
        declared.is_some_and(|settings| !settings.is_null())
    }
}

impl TaskSupport {
    /// Whether a call of the tool is never a task.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        *self == Self::Forbidden
    }
}

impl Default for TasksConfig {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        const HOUR: Duration = Duration::from_secs(60 * 60);
        Self {
            max_tasks: 10_000,
            max_tasks_per_owner: 1_000,
            ttl: HOUR,
            max_ttl: HOUR * 24,
            poll_interval: Duration::from_secs(1),
            max_task_bytes: MIB,
            max_bytes: 256 * MIB,
            max_time_after_close: Duration::from_secs(10),
        }
    }
}
