//! MCP tasks in a store that servers share. Each server shows, answers and cancels the tasks of all servers.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use mcp_proto::task::{NewTaskRecord, TaskRecord, TaskStore, TaskStoreError};

use crate::store::clients::tasks::{Found, TaskError, Tasks};

type Answer<'a, T> = BoxFuture<'a, Result<T, TaskStoreError>>;

/// The tasks of all servers that use one store, for
/// [`ServerBuilder::task_store`](mcp_proto::ServerBuilder::task_store).
///
/// The tools of the universe server create no tasks. This type is for programs that embed `mcp-proto` and have such
/// tools.
#[derive(Debug)]
pub struct SharedTasks(Tasks);

impl SharedTasks {
    /// The tasks in a PostgreSQL database or in NATS streams, as returned by the method `tasks` of these stores.
    pub fn new(tasks: Tasks) -> Self {
        Self(tasks)
    }
}

impl TaskStore for SharedTasks {
    fn insert(&self, task: NewTaskRecord) -> Answer<'_, u64> {
        Box::pin(async move {
            let (owner, client) = (task.owner.as_deref(), task.client.as_deref());
            let kept = self.0.insert(&task.id, owner, client, task.ttl, &task.body);
            kept.await.map_err(failed)
        })
    }

    fn load<'a>(&'a self, id: &'a str, owner: Option<&'a str>) -> Answer<'a, Option<TaskRecord>> {
        Box::pin(async move {
            let found = self.0.load(id, owner).await.map_err(failed)?;
            Ok(found.map(|found| record(id.into(), found)))
        })
    }

    fn list<'a>(&'a self, owner: &'a str, after: u64, max: usize) -> Answer<'a, Vec<TaskRecord>> {
        Box::pin(async move {
            let found = self.0.list(owner, after, max).await.map_err(failed)?;
            let listed = found
                .into_iter()
                // Tasks with an owner have a name.
                .filter_map(|mut found| Some(record(found.name.take()?.into(), found)));
            Ok(listed.collect())
        })
    }

    fn result<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Vec<u8>>> {
        Box::pin(async move { self.0.result(id).await.map_err(failed) })
    }

    fn replace<'a>(
        &'a self,
        id: &'a str,
        version: u64,
        body: &'a [u8],
        result: Option<&'a [u8]>,
    ) -> Answer<'a, bool> {
        Box::pin(async move {
            let replaced = self.0.replace(id, version, body, result);
            replaced.await.map_err(failed)
        })
    }

    fn remove<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
        Box::pin(async move { self.0.remove(id).await.map_err(failed) })
    }

    fn hints(&self, id: &str) -> BoxStream<'static, ()> {
        self.0.hints(id)
    }
}

fn record(id: Arc<str>, found: Found) -> TaskRecord {
    let record = TaskRecord::new(id, found.number, found.version, found.ttl, found.body);
    record.orphaned(found.is_orphaned)
}

fn failed(error: TaskError) -> TaskStoreError {
    match error {
        TaskError::TooLarge { max } => TaskStoreError::TooLarge { max },
        error @ TaskError::Full { .. } => TaskStoreError::Full(error.to_string()),
        error => TaskStoreError::Unavailable(error.to_string()),
    }
}
