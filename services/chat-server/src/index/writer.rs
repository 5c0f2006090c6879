//! The one thread that writes: it takes queued batches as one transaction and answers after the commit (group commit).

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc as std_mpsc;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use super::directory::Lock;
use super::error::IndexError;
use super::keep;
use super::vocabulary::KnownWords;
use crate::lock::lock;
use crate::source::Batch;

/// The most bytes of batches that wait or are being written, as [`weight`] counts them. A batch that does not fit
/// waits.
const QUEUE_BYTES: usize = 32 << 20;

/// The most bytes of one batch: the largest message of an export fits into a batch of its own.
const MAX_BATCH_BYTES: usize = QUEUE_BYTES / 4 * 3;

/// The least that a batch counts, in bytes, so that no more than 256 wait.
const MIN_SHARE: usize = QUEUE_BYTES / 256;

/// The most events after which a transaction takes no further batch.
const GROUP_EVENTS: usize = 8_000;

/// How long closing waits for queued batches.
const DRAIN: Duration = Duration::from_secs(5);

/// The handle of the thread. Dropping it closes the writer.
#[derive(Debug)]
pub(super) struct Writer {
    /// Bounded by the shares of the budget that its jobs hold. `None` closes it.
    queue: UnboundedSender<Option<Job>>,
    budget: Arc<Semaphore>,
    /// `None` once a caller waits for the thread to end.
    thread: Mutex<Option<Thread>>,
}

#[derive(Debug)]
struct Thread {
    handle: JoinHandle<()>,
    /// Closed when the thread has released everything.
    ended: std_mpsc::Receiver<()>,
}

/// A batch in the queue.
#[derive(Debug)]
struct Job {
    source: String,
    owner: Option<String>,
    batch: Batch,
    reply: oneshot::Sender<Result<(), IndexError>>,
    _share: OwnedSemaphorePermit,
}

impl Writer {
    /// Starts the thread. The lock is held until its connection is closed; `commits` is notified of every commit.
    pub(super) fn start(
        connection: Connection,
        lock: Lock,
        commits: watch::Sender<u64>,
    ) -> io::Result<Self> {
        let (queue, jobs) = mpsc::unbounded_channel();
        let (end, ended) = std_mpsc::channel();
        let handle = thread::Builder::new().name("chat-index".into()).spawn(move || {
            // Dropped in reverse, also after a panic: connection, lock, then the signal that the thread has ended.
            let _end: std_mpsc::Sender<()> = end;
            let _lock = lock;
            let connection = connection;
            run(&connection, jobs, &commits);
        })?;
        Ok(Self {
            queue,
            budget: Arc::new(Semaphore::new(QUEUE_BYTES)),
            thread: Mutex::new(Some(Thread { handle, ended })),
        })
    }

    /// Queues a batch and waits until it is committed.
    pub(super) async fn keep(
        &self,
        source: &str,
        owner: Option<&str>,
        batch: Batch,
    ) -> Result<(), IndexError> {
        let weight = weight(&batch);
        if weight > MAX_BATCH_BYTES {
            return Err(IndexError::TooLarge(format!(
                "a batch of {weight} bytes is too large: the most is {MAX_BATCH_BYTES}"
            )));
        }
        let share = u32::try_from(weight.max(MIN_SHARE)).unwrap_or(u32::MAX);
        let share = Arc::clone(&self.budget).acquire_many_owned(share).await;
        let (reply, answer) = oneshot::channel();
        let job = Job {
            source: source.to_owned(),
            owner: owner.map(str::to_owned),
            batch,
            reply,
            _share: share.map_err(|_closed| IndexError::Unavailable)?,
        };
        let sent = self.queue.send(Some(job));
        sent.map_err(|_closed| IndexError::Unavailable)?;
        answer.await.unwrap_or(Err(IndexError::Unavailable))
    }

    /// Closes the queue and waits until it is empty, at most [`DRAIN`].
    pub(super) fn close(&self) {
        // A thread that has ended does not receive it.
        drop(self.queue.send(None));
        let mut thread = lock(&self.thread);
        // Under the lock, so that two callers that close both return at the end.
        let Some(Thread { handle, ended }) = thread.take() else {
            return;
        };
        if ended.recv_timeout(DRAIN) == Err(std_mpsc::RecvTimeoutError::Timeout) {
            tracing::error!("the index is still writing and is left to end by itself");
        } else if handle.join().is_err() {
            tracing::error!("the writer of the index had panicked");
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

fn run(
    connection: &Connection,
    mut jobs: UnboundedReceiver<Option<Job>>,
    commits: &watch::Sender<u64>,
) {
    let words = KnownWords::default();
    while let Some(group) = next_group(&mut jobs) {
        if transact(connection, group, &words, commits).is_break() {
            tracing::error!("the index has stopped: fix the cause and start the program again");
            break;
        }
    }
}

/// What to write next; `None` at the end.
fn next_group(jobs: &mut UnboundedReceiver<Option<Job>>) -> Option<Vec<Job>> {
    let first = loop {
        match jobs.blocking_recv()? {
            Some(job) => break job,
            None => jobs.close(),
        }
    };
    let mut events = first.batch.events.len();
    let mut group = vec![first];
    while events < GROUP_EVENTS {
        match jobs.try_recv() {
            Ok(Some(job)) => {
                events += job.batch.events.len();
                group.push(job);
            }
            Ok(None) => jobs.close(),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
        }
    }
    Some(group)
}

/// One transaction. Breaks if the database cannot be trusted with another.
fn transact(
    connection: &Connection,
    group: Vec<Job>,
    words: &KnownWords,
    commits: &watch::Sender<u64>,
) -> ControlFlow<()> {
    let error = match commit(connection, &group, words) {
        Ok(kept) => {
            for (job, kept) in group.into_iter().zip(kept) {
                // The caller may be gone.
                let _ = job.reply.send(kept);
            }
            commits.send_modify(|commits| *commits += 1);
            return ControlFlow::Continue(());
        }
        Err(error) => error,
    };
    tracing::error!(%error, batches = group.len(), "a transaction of the index failed");
    words.forget();
    // A failed commit may or may not have ended the transaction.
    let recovered = connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok();
    let (failure, passing) = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => (IndexError::Full, true),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (IndexError::Unavailable, true)
        }
        _ => (IndexError::Unavailable, false),
    };
    for job in group {
        // The caller may be gone.
        let _ = job.reply.send(Err(failure.clone()));
    }
    if passing && recovered { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// The outcome of each batch: a refused one changes nothing and does not affect the others.
fn commit(
    connection: &Connection,
    group: &[Job],
    words: &KnownWords,
) -> rusqlite::Result<Vec<Result<(), IndexError>>> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let kept = group
        .iter()
        .map(|job| keep::keep(connection, &job.source, job.owner.as_deref(), &job.batch, words))
        .collect::<rusqlite::Result<_>>()?;
    connection.execute_batch("COMMIT")?;
    Ok(kept)
}

/// About how many bytes a batch has: its texts, and something for each event.
fn weight(batch: &Batch) -> usize {
    const EVENT: usize = 256;
    batch.events.iter().map(|event| event.bytes() + EVENT).sum()
}
