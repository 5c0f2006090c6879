//! Time limits, which count the time of machines and not that of people: while a form, a page, a sample or a log-in
//! waits for someone, the clock stands still.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::{CallOptions, ClientError, Result};
use crate::locked::Locked as _;

/// How often a time limit that has nearly passed is looked at while its clock stands still.
const TICK: Duration = Duration::from_millis(10);

/// How long people have been waited for. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock(Arc<Mutex<Waits>>);

#[derive(Debug, Default)]
struct Waits {
    running: usize,
    /// When the first of those that run began.
    since: Option<Instant>,
    /// The time of those before.
    spent: Duration,
}

/// Someone is waited for, until this is dropped.
#[derive(Debug)]
pub(super) struct Waiting(Clock);

/// How long a call may take.
#[derive(Debug)]
pub(super) struct TimeLimit {
    limit: Duration,
    /// The limit no matter how much progress is reported.
    max: Option<Duration>,
    /// A progress report starts the limit again.
    pub(super) progressed: Arc<Notify>,
    /// Of the questions that belong to this call alone.
    pub(super) own: Clock,
    /// Of the connection: log-ins, and questions that may belong to any call.
    shared: Clock,
}

impl Clock {
    pub(super) fn wait(&self) -> Waiting {
        let mut waits = self.0.locked();
        waits.running += 1;
        waits.since.get_or_insert_with(Instant::now);
        drop(waits);
        Waiting(self.clone())
    }

    /// Runs a future with a time limit.
    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        running: impl Future<Output = T>,
    ) -> Result<T> {
        TimeLimit::new(&CallOptions::default(), limit, self).run(running).await
    }

    fn spent(&self) -> Duration {
        let waits = self.0.locked();
        waits.spent + waits.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut waits = self.0.0.locked();
        waits.running = waits.running.saturating_sub(1);
        if waits.running == 0
            && let Some(since) = waits.since.take()
        {
            waits.spent += since.elapsed();
        }
    }
}

impl TimeLimit {
    /// The limits of a call; `limit` where its options have none.
    pub(super) fn new(options: &CallOptions, limit: Duration, shared: &Clock) -> Self {
        Self {
            limit: options.timeout.unwrap_or(limit),
            max: options.max_timeout,
            progressed: Arc::default(),
            own: Clock::default(),
            shared: shared.clone(),
        }
    }

    pub(super) async fn run<T>(&self, running: impl Future<Output = T>) -> Result<T> {
        let mut running = std::pin::pin!(running);
        let begun = Instant::now();
        let before = self.waited();
        let passed = || begun.elapsed().saturating_sub(self.waited().saturating_sub(before));
        let mut until = self.limit;
        loop {
            let left = until.saturating_sub(passed());
            tokio::select! {
                done = &mut running => return Ok(done),
                () = tokio::time::sleep(left.max(TICK)) => {
                    if passed() >= until {
                        let max = self.max.filter(|max| *max <= until);
                        return Err(ClientError::Timeout(max.unwrap_or(self.limit)));
                    }
                }
                () = self.progressed.notified(), if self.max.is_some() => {
                    let later = passed().saturating_add(self.limit);
                    until = self.max.map_or(later, |max| later.min(max));
                }
            }
        }
    }

    fn waited(&self) -> Duration {
        self.own.spent() + self.shared.spent()
    }
}
