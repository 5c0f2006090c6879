//! One round: every connection asks until its time is over.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, sleep_until};

use super::connection::Connection;
use super::figures::Figures;

/// When a request is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    /// When its connection has the answer to the one before.
    Closed,
    /// So many a second, whether there are answers or not.
    Open(f64),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    pub(super) length: Duration,
    pub(super) pace: Pace,
}

/// What all connections share.
struct Shared {
    begin: Instant,
    end: Instant,
    /// How many requests were taken up.
    taken: AtomicU64,
    /// The figures of all calls together, and of each.
    figures: Mutex<(Figures, Vec<Figures>)>,
}

impl Round {
    /// The figures of all requests, and of each call.
    pub(super) async fn run(self, connections: &mut [Connection]) -> (Figures, Vec<Figures>) {
        let begin = Instant::now();
        let shared = Shared {
            begin,
            end: begin + self.length,
            taken: AtomicU64::new(0),
            figures: Mutex::new((Figures::new(), Vec::new())),
        };
        join_all(connections.iter_mut().map(|it| self.work(it, &shared))).await;
        let took = begin.elapsed();
        let taken = shared.taken.load(Ordering::Relaxed);
        let figures = shared.figures.into_inner();
        let (mut all, mut each) = figures.unwrap_or_else(PoisonError::into_inner);
        all.seconds = took.as_secs_f64();
        if let Pace::Open(rate) = self.pace {
            all.unsent = due_by(rate, self.length).saturating_sub(taken);
        }
        for figures in &mut each {
            figures.seconds = all.seconds;
        }
        (all, each)
    }

    async fn work(self, connection: &mut Connection, shared: &Shared) {
        while let Some(from) = self.start(shared).await {
            let call = connection.upcoming();
            let answer = connection.ask().await;
            let took = from.elapsed();
            let figures = shared.figures.lock();
            let (all, each) = &mut *figures.unwrap_or_else(PoisonError::into_inner);
            while each.len() <= call {
                each.push(Figures::new());
            }
            all.add(took, &answer);
            if let Some(figures) = each.get_mut(call) {
                figures.add(took, &answer);
            }
        }
    }

    /// When the next request counts from; nothing once the time is over.
    async fn start(self, shared: &Shared) -> Option<Instant> {
        let now = Instant::now();
        if now >= shared.end {
            return None;
        }
        let number = shared.taken.fetch_add(1, Ordering::Relaxed);
        let Pace::Open(rate) = self.pace else {
            return Some(now);
        };
        let due = shared.begin + due_at(rate, number);
        if due >= shared.end {
            return None;
        }
        if due <= now {
            // No connection was free when it was due: that wait is the server's.
            return Some(due);
        }
        sleep_until(due).await;
        // A timer is late by up to a millisecond; that is not the server's.
        Some(Instant::now())
    }
}

/// When a request is due after the beginning.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52 requests")]
fn due_at(rate: f64, number: u64) -> Duration {
    let seconds = number as f64 / rate.max(f64::MIN_POSITIVE);
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 4)
}

/// How many requests are due within that time.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate times a time is not negative, and a cast saturates"
)]
fn due_by(rate: f64, length: Duration) -> u64 {
    (rate * length.as_secs_f64()) as u64
}
