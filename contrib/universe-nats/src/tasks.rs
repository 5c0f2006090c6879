//! Tasks of the nodes' clients, beside the universes. The servers take each away when its time is over.
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use universe_store::adapter::keys::{hash, task_key};
use universe_store::adapter::lease::millis;
use universe_store::clients::nodes::Unavailable;
use universe_store::clients::tasks::{self, Found, TaskBounds, TaskError};

use super::nodes::Nodes;
use super::records::{Label, Life, Records, Row, owner, share};

/// How often a write is tried when another write was first, or the server reports that.
const TRIES: usize = 16;

/// The number of tasks of a list that are read at a time.
const ABREAST: usize = 8;

/// The tasks of all nodes that use the same streams.
pub(super) struct Tasks {
    nodes: Arc<Nodes>,
    bounds: TaskBounds,
}

impl Tasks {
    pub(super) fn new(nodes: Arc<Nodes>, bounds: TaskBounds) -> Self {
        Self { nodes, bounds }
    }

    fn records(&self) -> &Records {
        self.nodes.records()
    }

    async fn insert(
        &self,
        name: &str,
        owner: Option<&str>,
        client: Option<&str>,
        ttl: Duration,
        body: &[u8],
    ) -> Result<u64, TaskError> {
        self.bounds.check(body.len())?;
        let records = self.records();
        let client = client.map(hashed);
        if let Some(client) = &client {
            records.catch_up().await?;
            self.check_share(client)?;
        }
        let bytes = body.len() as u64;
        let until = records.now().saturating_add(millis(ttl));
        let (body, inline) = records.keep(body, Life::Until(until)).await?;
        let label = Label {
            share: client,
            owner: owner.map(hashed),
            name: owner.map(|_| name.to_owned()),
            until,
            bytes,
            body,
            ..records.label()
        };
        let number = records.put(&path(name), &label, inline, Some(0)).await?;
        number.ok_or(TaskError::Unavailable)
    }

    /// A share's last task may exceed the limit of its bytes, by the size of one task at most.
    fn check_share(&self, client: &str) -> Result<(), TaskError> {
        let TaskBounds { tasks_per_client: tasks, bytes_per_client: bytes, .. } = self.bounds;
        let (now, table) = (self.records().now(), self.records().table());
        let own = table.group(&share("task", client));
        let (mut has, mut size) = (0, 0_u64);
        for (_, row) in own.filter(|(_, row)| row.label.until > now) {
            has += 1;
            size = size.saturating_add(row.label.bytes);
        }
        if has < tasks && size < bytes as u64 {
            Ok(())
        } else {
            Err(TaskError::Full { tasks, bytes })
        }
    }

    async fn load(&self, name: &str, owner: Option<&str>) -> Result<Option<Found>, TaskError> {
        let owner = owner.map(hashed);
        let found = self.read(&path(name)).await?;
        let found = found.filter(|(row, _)| row.label.owner == owner);
        Ok(found.map(|found| self.found(found)))
    }

    async fn result(&self, name: &str) -> Result<Option<Vec<u8>>, TaskError> {
        let (records, path) = (self.records(), path(name));
        let mut before = None;
        while let Some(row) = self.row(&path).await? {
            let Some(result) = &row.label.result else {
                return Ok(None);
            };
            match records.load(result, Bytes::new()).await {
                Ok(result) => return Ok(Some(result.into())),
                // It was replaced meanwhile.
                Err(Unavailable) if before.replace(row.sequence) != Some(row.sequence) => {}
                Err(Unavailable) => return Err(TaskError::Unavailable),
            }
        }
        Ok(None)
    }

    async fn list(&self, who: &str, after: u64, max: usize) -> Result<Vec<Found>, TaskError> {
        let records = self.records();
        records.catch_up().await?;
        let mut tasks: Vec<(u64, Arc<str>)> = {
            let (now, table) = (records.now(), records.table());
            let own = table
                .group(&owner("task", &hashed(who)))
                .filter(|(_, row)| row.label.until > now && number(row) > after);
            own.map(|(path, row)| (number(row), Arc::clone(path))).collect()
        };
        tasks.sort_unstable();
        tasks.truncate(max);
        let read = |(_, path): (u64, Arc<str>)| async move {
            let found = self.read(&path).await?;
            Ok(found.map(|found| self.found(found)))
        };
        let found = stream::iter(tasks).map(read).buffered(ABREAST);
        found.try_filter_map(async |found| Ok(found)).try_collect().await
    }

    async fn replace(
        &self,
        name: &str,
        version: u64,
        body: &[u8],
        result: Option<&[u8]>,
    ) -> Result<bool, TaskError> {
        let bytes = body.len().saturating_add(result.map_or(0, <[u8]>::len));
        self.bounds.check(bytes)?;
        let (records, path) = (self.records(), path(name));
        for _ in 0..TRIES {
            let Some(row) = self.row(&path).await? else {
                return Ok(false);
            };
            if row.label.version != version {
                return Ok(false);
            }
            let life = Life::Until(row.label.until);
            let (body, inline) = records.keep(body, life).await?;
            let result = match result {
                Some(result) => Some(records.keep_apart(result, life).await?),
                None => None,
            };
            let label = Label {
                by: records.id,
                version: version.saturating_add(1),
                number: number(&row),
                bytes: bytes as u64,
                body,
                result,
                ..row.label.clone()
            };
            let put = records.put(&path, &label, inline, Some(row.sequence)).await?;
            if put.is_some() {
                records.forget(&row.label).await;
                return Ok(true);
            }
            records.forget(&label).await;
        }
        Err(TaskError::Unavailable)
    }

    async fn remove(&self, name: &str) -> Result<(), TaskError> {
        let (records, path) = (self.records(), path(name));
        for _ in 0..TRIES {
            let Some(got) = records.living(&path).await? else {
                return Ok(());
            };
            if records.end(&path, &got.row).await? {
                return Ok(());
            }
        }
        Err(TaskError::Unavailable)
    }

    /// The task with a path, unless it has expired.
    async fn row(&self, path: &str) -> Result<Option<Row>, Unavailable> {
        let got = self.records().living(path).await?;
        let now = self.records().now();
        let row = got.map(|got| got.row);
        Ok(row.filter(|row| row.label.until > now))
    }

    /// The same with its body.
    async fn read(&self, path: &str) -> Result<Option<(Row, Bytes)>, Unavailable> {
        let found = self.records().read(path).await?;
        let now = self.records().now();
        Ok(found.filter(|(row, _)| row.label.until > now))
    }

    fn found(&self, (row, body): (Row, Bytes)) -> Found {
        let records = self.records();
        let left = row.label.until.saturating_sub(records.now());
        Found {
            number: number(&row),
            version: row.label.version,
            ttl: Duration::from_millis(u64::try_from(left).unwrap_or(0)),
            is_orphaned: records.has_ended(row.label.node),
            body: body.into(),
            name: row.label.name,
        }
    }
}

impl tasks::Tasks for Tasks {
    fn insert<'a>(
        &'a self,
        name: &'a str,
        owner: Option<&'a str>,
        client: Option<&'a str>,
        ttl: Duration,
        body: &'a [u8],
    ) -> BoxFuture<'a, Result<u64, TaskError>> {
        Box::pin(self.insert(name, owner, client, ttl, body))
    }

    fn load<'a>(
        &'a self,
        name: &'a str,
        owner: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Found>, TaskError>> {
        Box::pin(self.load(name, owner))
    }

    fn result<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, TaskError>> {
        Box::pin(self.result(name))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: u64,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<Found>, TaskError>> {
        Box::pin(self.list(owner, after, max))
    }

    fn replace<'a>(
        &'a self,
        name: &'a str,
        version: u64,
        body: &'a [u8],
        result: Option<&'a [u8]>,
    ) -> BoxFuture<'a, Result<bool, TaskError>> {
        Box::pin(self.replace(name, version, body, result))
    }

    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), TaskError>> {
        Box::pin(self.remove(name))
    }

    fn hints(&self, name: &str) -> BoxStream<'static, ()> {
        self.records().hints(&path(name))
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").finish_non_exhaustive()
    }
}

fn path(name: &str) -> String {
    format!("task.{}", HEXLOWER.encode(&task_key(name)))
}

fn hashed(text: &str) -> String {
    HEXLOWER.encode(&hash(&[text.as_bytes()]))
}

/// The sequence of a task's first message. Later tasks have greater sequences.
fn number(row: &Row) -> u64 {
    match row.label.number {
        0 => row.sequence,
        number => number,
    }
}
