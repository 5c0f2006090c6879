//! Writes: appends in batches, everything else in separate statements.

mod batch;

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, Statement};

use self::batch::{Batch, Job};
use super::connect::Link;
use super::error::{causes, is_conflict, is_read_only, judge};
use super::frame;
use super::listen::CHANNEL;
use super::reader::{head, revision};
use crate::adapter::failure::Failure;
use crate::adapter::live::Live;
use crate::{
    Append, AppendError, Appended, Base, CommandId, CreateError, DeleteError, Head, MAX_WRITE,
    Meta, ReadError, Revision, Snapshot, SnapshotError, TrimError, UniverseId,
};

/// The most bytes of writes that are queued or in progress. A write beyond that waits.
const QUEUE_BYTES: usize = MAX_WRITE;

/// The least that a write counts for, in bytes, so that at most 1,024 are queued.
const MIN_SHARE: usize = QUEUE_BYTES / 1_024;

/// How many turns of the runtime a batch waits, so that callers that were answered just now send their next append with
/// it: without that, the one that comes first goes alone, and the others wait for its commit.
const TURNS: usize = 4;

/// How often a statement is sent that loses against another one.
const TRIES: usize = 5;

/// Where writes go.
pub(super) struct Writer {
    /// For all that is no append: a large body holds up no append.
    link: Arc<Link>,
    jobs: mpsc::UnboundedSender<Job>,
    budget: Arc<Semaphore>,
}

/// The statement for appends, which a connection plans once: that takes as long as a small batch.
type Prepared = (Arc<Client>, Statement);

type Parameters<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

impl Writer {
    /// The writer, with a task that appends.
    pub(super) fn start(
        appends: Link,
        link: Arc<Link>,
        live: Arc<Live>,
        tasks: &mut JoinSet<()>,
    ) -> Self {
        // Bounded by the budget.
        let (jobs, queue) = mpsc::unbounded_channel();
        tasks.spawn(append_all(appends, live, queue));
        Self { link, jobs, budget: Arc::new(Semaphore::new(QUEUE_BYTES)) }
    }

    pub(super) async fn append(
        &self,
        id: UniverseId,
        append: Append,
        size: usize,
    ) -> Result<Appended, AppendError> {
        let share = self.share::<AppendError>(size).await?;
        let (reply, answer) = oneshot::channel();
        let job = Job { id, append, size, reply, tries: 0, _share: share };
        if self.jobs.send(job).is_err() {
            return Err(AppendError::Unavailable);
        }
        answer.await.unwrap_or(Err(AppendError::Unknown))
    }

    /// Waits for its part of what may be queued.
    async fn share<E: From<Failure>>(&self, size: usize) -> Result<OwnedSemaphorePermit, E> {
        let share = u32::try_from(size.clamp(MIN_SHARE, QUEUE_BYTES)).unwrap_or(u32::MAX);
        let share = Arc::clone(&self.budget).acquire_many_owned(share).await;
        share.map_err(|_| Failure::Unavailable.into())
    }

    pub(super) async fn create(&self, meta: &Meta, base: &Base) -> Result<(), CreateError> {
        let sql = "WITH made AS (INSERT INTO universe (id, name, created_at, rev, updated_at, oldest) \
                     VALUES ($1, $2, $3, $5, $6, $5) ON CONFLICT (id) DO NOTHING RETURNING uni), \
                   based AS (INSERT INTO base (uni, rev, at, body, sum) SELECT uni, $5, $6, $4, $7 FROM made) \
                   SELECT uni FROM made";
        let (created, at) = (meta.created_at.as_millis(), base.at.as_millis());
        let (id, name, body) = (meta.id.as_str(), meta.name.as_bytes(), &base.body[..]);
        let revision = base.revision.0.cast_signed();
        let sum = frame::sum(id, revision, at, None, body);
        let parameters: Parameters<'_> = &[
            (&id, Type::TEXT),
            (&name, Type::BYTEA),
            (&created, Type::INT8),
            (&body, Type::BYTEA),
            (&revision, Type::INT8),
            (&at, Type::INT8),
            (&sum, Type::INT8),
        ];
        let _share = self.share::<CreateError>(body.len()).await?;
        let rows = self.write::<CreateError>(sql, parameters, body.len()).await?;
        if rows.is_empty() { Err(CreateError::Exists) } else { Ok(()) }
    }

    /// Gives the number of the universe that has gone.
    pub(super) async fn delete(
        &self,
        id: &UniverseId,
        expected: Option<Revision>,
    ) -> Result<i64, DeleteError> {
        let sql = format!(
            "WITH gone AS (DELETE FROM universe WHERE id = $1 AND ($2 IS NULL OR rev = $2) RETURNING uni), \
             doom AS (INSERT INTO doomed SELECT uni, {} FROM gone \
                      ON CONFLICT (uni) DO UPDATE SET upto = excluded.upto) \
             SELECT uni, pg_notify('{CHANNEL}', '-' || uni)::text FROM gone",
            i64::MAX
        );
        let rev = expected.map(|revision| revision.0.cast_signed());
        let parameters: Parameters<'_> = &[(&id.as_str(), Type::TEXT), (&rev, Type::INT8)];
        for _ in 0..TRIES {
            let rows = self.write::<DeleteError>(&sql, parameters, 0).await?;
            if let Some(row) = rows.first() {
                return row.try_get(0).map_err(|_| DeleteError::Unknown);
            }
            let sql = "SELECT rev, command, updated_at FROM universe WHERE id = $1";
            let rows = self.write::<DeleteError>(sql, &[(&id.as_str(), Type::TEXT)], 0).await?;
            let row = rows.first().ok_or(DeleteError::NotFound)?;
            let found: Head = head(row, 0).map_err(|_| DeleteError::Unavailable)?;
            // It has come to the expected one since: once more.
            found.admit_delete(expected)?;
        }
        Err(DeleteError::Unavailable)
    }

    pub(super) async fn trim(
        &self,
        id: &UniverseId,
        last: CommandId,
        base: &Base,
    ) -> Result<(), TrimError> {
        let sql = "WITH held AS (SELECT uni, rev, oldest FROM universe WHERE id = $1 FOR NO KEY UPDATE), \
                   fits AS (SELECT held.uni FROM held JOIN log ON log.uni = held.uni AND log.rev = $2 \
                            AND log.command = $3 WHERE $2 > held.oldest AND $2 < held.rev), \
                   moved AS (UPDATE universe SET oldest = $2 FROM fits WHERE universe.uni = fits.uni \
                             RETURNING universe.uni), \
                   based AS (UPDATE base SET rev = $2, at = $4, body = $5, sum = $6 FROM moved WHERE base.uni = moved.uni), \
                   snapped AS (DELETE FROM snap USING moved WHERE snap.uni = moved.uni AND snap.rev <= $2), \
                   doom AS (INSERT INTO doomed SELECT uni, $2 FROM moved \
                            ON CONFLICT (uni) DO UPDATE SET upto = greatest(doomed.upto, excluded.upto)) \
                   SELECT held.oldest, moved.uni FROM held LEFT JOIN moved ON true";
        let (rev, at) = (base.revision.0.cast_signed(), base.at.as_millis());
        let (id, body) = (id.as_str(), &base.body[..]);
        let sum = frame::sum(id, rev, at, None, body);
        let parameters: Parameters<'_> = &[
            (&id, Type::TEXT),
            (&rev, Type::INT8),
            (&last.0, Type::UUID),
            (&at, Type::INT8),
            (&body, Type::BYTEA),
            (&sum, Type::INT8),
        ];
        let _share = self.share::<TrimError>(body.len()).await?;
        let rows = self.write::<TrimError>(sql, parameters, body.len()).await?;
        let row = rows.first().ok_or(TrimError::NotFound)?;
        let oldest = revision(row, 0).map_err(|_| TrimError::Unavailable)?;
        let moved: Option<i64> = row.try_get(1).map_err(|_| TrimError::Unavailable)?;
        if moved.is_some() || base.revision <= oldest { Ok(()) } else { Err(TrimError::NotThere) }
    }

    pub(super) async fn put_snapshot(
        &self,
        id: &UniverseId,
        snapshot: &Snapshot,
    ) -> Result<(), SnapshotError> {
        let sql = "WITH found AS (SELECT uni, rev, oldest FROM universe WHERE id = $1), \
                   kept AS (INSERT INTO snap (uni, rev, body, sum) SELECT uni, $2, $3, $4 FROM found \
                            WHERE $2 <= rev AND $2 >= oldest \
                            ON CONFLICT (uni) DO UPDATE SET rev = excluded.rev, body = excluded.body, sum = excluded.sum \
                            WHERE snap.rev < excluded.rev) \
                   SELECT rev FROM found";
        let rev = snapshot.revision.0.cast_signed();
        let (id, body) = (id.as_str(), &snapshot.body[..]);
        let sum = frame::sum(id, rev, 0, None, body);
        let parameters: Parameters<'_> =
            &[(&id, Type::TEXT), (&rev, Type::INT8), (&body, Type::BYTEA), (&sum, Type::INT8)];
        let _share = self.share::<SnapshotError>(body.len()).await?;
        let rows = self.write::<SnapshotError>(sql, parameters, body.len()).await?;
        let row = rows.first().ok_or(SnapshotError::NotFound)?;
        let head = revision(row, 0).map_err(|_| SnapshotError::Unavailable)?;
        if snapshot.revision > head { Err(SnapshotError::Ahead { head }) } else { Ok(()) }
    }

    /// Puts right what the rest of the tables proves. Gives a line for each universe.
    pub(super) async fn repair(&self) -> Result<Vec<String>, ReadError> {
        let client = self.link.client().await.ok_or(ReadError::Unavailable)?;
        let done = self.link.within(MAX_WRITE, frame::repair(&client)).await;
        let done = done.ok_or(ReadError::Unavailable)?;
        done.map_err(|error| {
            failed(&self.link, &error);
            ReadError::Unavailable
        })
    }

    /// One statement, which is one transaction.
    async fn write<E: From<Failure>>(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        bytes: usize,
    ) -> Result<Vec<Row>, E> {
        let client = self.link.client().await.ok_or(Failure::Unavailable)?;
        for _ in 0..TRIES {
            let rows = self.link.within(bytes, client.query_typed(sql, parameters)).await;
            match rows.ok_or(Failure::Unknown)? {
                Ok(rows) => return Ok(rows),
                Err(error) if is_conflict(&error) => {}
                Err(error) => return Err(failed(&self.link, &error).into()),
            }
        }
        Err(Failure::Unavailable.into())
    }
}

/// What an error of the server means. A connection to a server that has become a standby is given up.
fn failed(link: &Link, error: &tokio_postgres::Error) -> Failure {
    tracing::error!(error = causes(error), "writing to the database failed");
    if is_read_only(error) {
        link.renew();
    }
    judge(error)
}

/// Appends what waits, batch by batch, until the store is dropped.
async fn append_all(link: Link, live: Arc<Live>, mut queue: mpsc::UnboundedReceiver<Job>) {
    let mut waiting = VecDeque::new();
    let mut prepared = None;
    loop {
        if waiting.is_empty() {
            match queue.recv().await {
                Some(job) => waiting.push_back(job),
                None => return,
            }
        }
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
        while let Ok(job) = queue.try_recv() {
            waiting.push_back(job);
        }
        let batch = Batch::take(&mut waiting);
        for job in land(&link, &live, &mut prepared, batch).await.into_iter().rev() {
            waiting.push_front(job);
        }
    }
}

/// Writes a batch and answers it. Gives back what has to be tried again.
async fn land(
    link: &Link,
    live: &Live,
    prepared: &mut Option<Prepared>,
    mut batch: Batch,
) -> Vec<Job> {
    let Some(client) = link.client().await else {
        batch.fail(Failure::Unavailable);
        return Vec::new();
    };
    let bytes = batch.bytes();
    let written = link.within(bytes, write(&client, prepared, &mut batch)).await;
    let failure = match written {
        Some(Ok(())) => return batch.settle(&live.channels()),
        Some(Err(error)) if is_conflict(&error) && batch.may_try_again() => {
            return batch.into_jobs();
        }
        Some(Err(error)) => failed(link, &error),
        None => Failure::Unknown,
    };
    batch.fail(failure);
    Vec::new()
}

/// Appends the part of the batch that fits, and finds out why the rest does not.
async fn write(
    client: &Arc<Client>,
    prepared: &mut Option<Prepared>,
    batch: &mut Batch,
) -> Result<(), tokio_postgres::Error> {
    let statement = match prepared {
        Some((of, statement)) if Arc::ptr_eq(of, client) => &*statement,
        _ => {
            let statement = client.prepare_typed(&batch::sql(), &batch::TYPES).await?;
            &prepared.insert((Arc::clone(client), statement)).1
        }
    };
    let columns = batch.columns();
    let rows = client.query(statement, &columns.parameters()).await?;
    for row in rows {
        batch.fated(row.try_get(0)?, row.try_get(1)?, head(&row, 2)?);
    }
    Ok(())
}
