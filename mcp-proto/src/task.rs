//! Tasks: calls that run longer than a client keeps a connection open.
//!
//! Both forms of tasks share one store and one life cycle. In the extension `io.modelcontextprotocol/tasks` of
//! 2026-07-28 the server decides what becomes a task. In the experimental tasks of 2025-11-25 the client decides. They
//! differ in how a task is reported and in how questions are asked and answered. A task stays in the era that it was
//! created in. The guide is [`guide::tasks`](crate::guide::tasks).
//!
//! If several servers share a store (`task/port.rs`), each answers for all tasks. The server that runs a task writes
//! its state to the store (`task/keeper.rs`). Other servers read and change the stored record (`task/shared.rs`).
//!
//! A task is an id and a state that waiting requests watch. Its handler runs in a future separate from every request.
//! The rest is in `server/tasks.rs`.

mod entry;
mod keeper;
mod owner;
mod port;
mod shared;
mod store;
mod timestamp;
mod view;
mod watched;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::budget::Bound;

pub(crate) use entry::{Entry, Open, Stage, State};
pub(crate) use keeper::Keeper;
pub(crate) use owner::Owner;
pub use port::{NewTaskRecord, TaskRecord, TaskStore, TaskStoreError};
pub(crate) use store::{NewTask, Tasks};
pub(crate) use view::TaskView;
pub(crate) use watched::Watched;

/// The longest [`Context::task_status`](crate::Context::task_status), in characters; a longer one is truncated.
pub const MAX_TASK_STATUS: usize = 1_000;

/// Whether a call of a tool may become a task (schema 2025-11-25: `ToolExecution.taskSupport`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TaskSupport {
    /// It never does.
    #[default]
    Forbidden,
    /// It may for clients that support tasks; for others the tool runs within its call.
    Optional,
    /// It must become one. Clients that do not support tasks are refused before the handler runs: −32021 in the modern
    /// era, −32601 before. In the modern era the handler starts the task
    /// ([`Context::start_task`](crate::Context::start_task)); a handler that returns before that answers its call
    /// directly.
    Required,
}

/// The bounds of a server's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TasksConfig {
    /// The most tasks that are kept, running and ended, in total and for one client. A client is its principal, or its
    /// address. No task is dropped early: a call that would become one task too many is answered −32603. 10,000 and
    /// 1,000 by default.
    pub tasks: Bound,
    /// How long a task is kept after its creation, unless a client of 2025-11-25 asks for another time. Also the
    /// longest that its handler may run. 1 hour by default.
    pub ttl: Duration,
    /// The longest time that any task is kept; the shortest is a second. 24 hours by default.
    pub max_ttl: Duration,
    /// How often clients are advised to poll. 1 second by default.
    pub poll_interval: Duration,
    /// The most that is kept for one task, in bytes as JSON: its arguments and the answers of its client while it runs,
    /// its result afterwards. A larger result makes it fail. 1 MiB by default.
    pub max_task_bytes: usize,
    /// The most bytes for all tasks together, and for those of one client. 256 MiB and 32 MiB by default.
    pub bytes: Bound,
    /// How long tasks may continue after the server is closed. 10 seconds by default.
    pub max_time_after_close: Duration,
}

/// How one call relates to tasks.
#[derive(Debug, Clone, Default)]
pub(crate) enum TaskMode {
    /// The tool or other method does not support tasks.
    #[default]
    None,
    /// It supports tasks, but this client does not.
    Within,
    /// It becomes a task when its handler starts one.
    Startable,
    /// It is a task.
    Running(Arc<Entry>),
}

/// How a tool is called.
pub(crate) enum Calling {
    /// Within its call, as long as it does not become a task.
    Now(TaskMode),
    /// As a task from the beginning, kept for this long.
    AsTask(Option<Duration>),
}

impl TaskSupport {
    /// Whether a call of the tool is never a task.
    pub fn is_forbidden(&self) -> bool {
        *self == Self::Forbidden
    }
}

impl Default for TasksConfig {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        const HOUR: Duration = Duration::from_secs(60 * 60);
        Self {
            tasks: Bound { total: 10_000, share: 1_000 },
            ttl: HOUR,
            max_ttl: HOUR * 24,
            poll_interval: Duration::from_secs(1),
            max_task_bytes: MIB,
            bytes: Bound { total: 256 * MIB, share: 32 * MIB },
            max_time_after_close: Duration::from_secs(10),
        }
    }
}
