//! Calls that run longer than anybody holds a connection open: tasks, as their tools and their server see them.
//!
//! Both forms are one store of tasks with one life: the extension `io.modelcontextprotocol/tasks` of 2026-07-28, whose
//! server decides what becomes a task, and the experimental tasks of 2025-11-25, whose client does. They differ in how
//! a task is told and in how it is asked and answered; a task stays in the era that it was created in. The guide is
//! [`guide::tasks`](crate::guide::tasks).
//!
//! Where several servers share a store (`task/port.rs`), each answers for the tasks of all: the one that runs a task
//! writes it through (`task/keeper.rs`), others read and change what the store has (`task/shared.rs`).
//!
//! A task is a name and a state that whoever waits for it watches. Its handler runs in a future apart from every
//! request; the server has the rest (`server/tasks.rs`).

mod entry;
mod keeper;
mod owner;
mod port;
mod shared;
mod size;
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
pub(crate) use size::json_size;
pub(crate) use store::{NewTask, Tasks};
pub(crate) use view::TaskView;
pub(crate) use watched::Watched;

/// The longest [`Context::task_status`](crate::Context::task_status), in characters; what is longer is cut.
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
    /// It is for clients that can take one; others are refused before the handler runs: −32021 in the modern era,
    /// −32601 before. In the modern era it is the handler that starts the task
    /// ([`Context::start_task`](crate::Context::start_task)); one that returns before that has answered its call.
    Required,
}

/// The bounds of a server's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TasksConfig {
    /// How many tasks are kept, running and over together; a client's share is that of its principal, or of its
    /// address. None is put out before its time: a call that would become one more is answered −32603. 10,000 and 1,000
    /// by default.
    pub tasks: Bound,
    /// How long a task is kept after its creation, unless a client of 2025-11-25 asks for another time. Also the
    /// longest that its handler may run. 1 hour by default.
    pub ttl: Duration,
    /// The most that any task gets; the least is a second. 24 hours by default.
    pub max_ttl: Duration,
    /// How often clients are advised to ask. 1 second by default.
    pub poll_interval: Duration,
    /// The most that is kept of one task, in bytes as JSON: its arguments and the answers of its client while it runs,
    /// its result afterwards. A larger result makes it fail. 1 MiB by default.
    pub max_task_bytes: usize,
    /// The same of all tasks together, and of those of one client. 256 MiB and 32 MiB by default.
    pub bytes: Bound,
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

/// How a tool is called.
pub(crate) enum Calling {
    /// Within its call, as far as that goes.
    Now(TaskMode),
    /// As a task from the beginning, to be kept that long.
    AsTask(Option<Duration>),
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
            tasks: Bound {
                total: 10_000,
                share: 1_000,
            },
            ttl: HOUR,
            max_ttl: HOUR * 24,
            poll_interval: Duration::from_secs(1),
            max_task_bytes: MIB,
            bytes: Bound {
                total: 256 * MIB,
                share: 32 * MIB,
            },
            max_time_after_close: Duration::from_secs(10),
        }
    }
}
