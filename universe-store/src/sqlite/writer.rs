//! The one thread that writes: it takes what is queued as one transaction and answers after the
//! commit (group commit).

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc as std_mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::ErrorCode;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;

use super::DRAIN;
use super::directory::Lock;
use super::job::Job;
use super::ledger::Ledger;
use crate::adapter::failure::Failure;
use crate::adapter::live::Live;

/// Most writes in one transaction.
const GROUP: usize = 512;

/// A write of more bytes than this goes alone, and a group that has reached it is closed, so that
/// no write delays others by more than its own time.
const HEAVY: usize = 512 << 10;

/// How many entries that no reader sees any more are removed along with other writes, and when nothing else is to do.
const SWEEP_BUSY: u32 = 64;
const SWEEP_IDLE: u32 = 1_024;

/// The thread's handle. Dropping it closes it.
pub(super) struct Writer {
    /// Bounded by what its jobs hold of the store's budget: were it by its own places, an asker that
    /// has one and is never polled again would keep it open. A `None` asks to close it.
    queue: UnboundedSender<Option<Job>>,
    /// `None` once somebody waits for its end.
    thread: Mutex<Option<Thread>>,
    /// Closed when the thread has ended.
    alive: watch::Receiver<()>,
}

struct Thread {
    handle: JoinHandle<()>,
    /// Closed when the thread has let go of everything.
    ended: std_mpsc::Receiver<()>,
}

impl Writer {
    /// Starts the thread. The lock is held until its connection is closed.
    pub(super) fn start(ledger: Ledger, live: Arc<Live>, lock: Arc<Lock>) -> io::Result<Self> {
        let (queue, jobs) = mpsc::unbounded_channel();
        let (end, ended) = std_mpsc::channel();
        let (life, alive) = watch::channel(());
        let handle = thread::Builder::new().name("universe-store".into()).spawn(move || {
            // Dropped in reverse, also by a panic: connection, lock, then the word that all
            // ended.
            let _end = (end, life);
            let _lock = lock;
            let _live = CloseAtEnd(Arc::clone(&live));
            Loop { ledger, jobs, carried: None }.run(&live);
        })?;
        Ok(Self { queue, thread: Mutex::new(Some(Thread { handle, ended })), alive })
    }

    /// Where writes go; `None` once closed or once the thread has ended.
    pub(super) fn queue(&self) -> Option<&UnboundedSender<Option<Job>>> {
        (!self.queue.is_closed()).then_some(&self.queue)
    }

    /// Resolves when the thread has ended.
    pub(super) fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut alive = self.alive.clone();
        async move { while alive.changed().await.is_ok() {} }
    }

    /// Lets the queue run empty and waits for that, at most [`DRAIN`].
    pub(super) fn close(&self) {
        // A thread that has ended needs no message.
        let _sent = self.queue.send(None);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that of two who close both return at the end.
        let Some(Thread { handle, ended }) = thread.take() else {
            return;
        };
        if ended.recv_timeout(DRAIN) == Err(std_mpsc::RecvTimeoutError::Timeout) {
            tracing::error!("the store is still writing and is left to end by itself");
        } else if handle.join().is_err() {
            tracing::error!("the store's writer had panicked");
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

/// Ends all tails when the writer ends, whatever the reason.
struct CloseAtEnd(Arc<Live>);

impl Drop for CloseAtEnd {
    fn drop(&mut self) {
        self.0.close();
    }
}

struct Loop {
    ledger: Ledger,
    jobs: UnboundedReceiver<Option<Job>>,
    /// Taken from the queue for the next transaction.
    carried: Option<Job>,
}

impl Loop {
    fn run(mut self, live: &Live) {
        while let Some(group) = self.next_group() {
            if self.transact(group, live).is_break() {
                break;
            }
        }
    }

    /// What to do next, nothing being a sweep; `None` at the end.
    fn next_group(&mut self) -> Option<Vec<Job>> {
        let first = match self.carried.take() {
            Some(job) => job,
            None if self.ledger.is_untidy() => match self.try_next() {
                Ok(job) => job,
                Err(TryRecvError::Empty) => return Some(Vec::new()),
                Err(TryRecvError::Disconnected) => return None,
            },
            None => self.next()?,
        };
        let mut weight = first.size;
        let mut group = vec![first];
        while weight <= HEAVY && group.len() < GROUP {
            let Ok(job) = self.try_next() else { break };
            if job.size > HEAVY {
                self.carried = Some(job);
                break;
            }
            weight += job.size;
            group.push(job);
        }
        Some(group)
    }

    /// The next write; `None` once closed and empty.
    fn next(&mut self) -> Option<Job> {
        loop {
            match self.jobs.blocking_recv()? {
                Some(job) => return Some(job),
                None => self.jobs.close(),
            }
        }
    }

    /// The next write, if one is waiting.
    fn try_next(&mut self) -> Result<Job, TryRecvError> {
        loop {
            match self.jobs.try_recv()? {
                Some(job) => return Ok(job),
                None => self.jobs.close(),
            }
        }
    }

    /// One transaction. Breaks if the database cannot be trusted with another.
    fn transact(&mut self, mut group: Vec<Job>, live: &Live) -> ControlFlow<()> {
        let Err(Fault { failure, passing, error }) = self.commit(&mut group) else {
            let tidied = group.is_empty() && !self.ledger.is_untidy();
            let mut channels = live.channels();
            for job in group {
                job.work.settle(&mut channels);
            }
            drop(channels);
            if tidied && let Err(error) = self.ledger.checkpoint() {
                tracing::debug!(%error, "the file has its new size later");
            }
            return ControlFlow::Continue(());
        };
        // Whoever asked for the writes says that the disk is full, and not once for each.
        if failure == Failure::Full {
            tracing::debug!(%error, writes = group.len(), "a transaction of the store failed");
        } else {
            tracing::error!(%error, writes = group.len(), "a transaction of the store failed");
        }
        let recovered = self.ledger.roll_back();
        if group.is_empty() {
            // It would fail again at once, and for ever.
            self.ledger.rest();
        }
        for job in group {
            job.work.fail(failure);
        }
        if passing && recovered.is_ok() {
            return ControlFlow::Continue(());
        }
        tracing::error!("the store has stopped: fix the cause and start the server again");
        ControlFlow::Break(())
    }

    fn commit(&mut self, group: &mut [Job]) -> Result<(), Fault> {
        self.fill(group).map_err(|error| Fault::new(error, Failure::Unavailable))?;
        self.ledger.commit().map_err(|error| Fault::new(error, Failure::Unknown))
    }

    fn fill(&mut self, group: &mut [Job]) -> rusqlite::Result<()> {
        self.ledger.begin()?;
        for job in group.iter_mut() {
            job.work.apply(&mut self.ledger)?;
        }
        if self.ledger.is_untidy() {
            self.ledger.tidy(if group.is_empty() { SWEEP_IDLE } else { SWEEP_BUSY })?;
        }
        Ok(())
    }
}

/// Why a transaction failed.
struct Fault {
    /// What that means to those who wait.
    failure: Failure,
    /// Whether the next one may fare better.
    passing: bool,
    error: rusqlite::Error,
}

impl Fault {
    /// A full disk and a foreign lock are found before anything is committed, and may pass.
    fn new(error: rusqlite::Error, otherwise: Failure) -> Self {
        let (failure, passing) = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => (Failure::Full, true),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                (Failure::Unavailable, true)
            }
            _ => (otherwise, false),
        };
        Self { failure, passing, error }
    }
}
