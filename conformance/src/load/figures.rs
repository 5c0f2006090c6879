//! Counts and times of requests.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest time that is recorded exactly, in microseconds: an hour.
const LONGEST: u64 = 3_600_000_000;
/// How many kinds of failures are counted separately.
const MAX_KINDS: usize = 40;
/// What failures of more kinds are counted as.
const OTHERS: &str = "other failures";

/// What came of requests.
#[derive(Debug, Clone)]
pub struct Figures {
    /// How long they took, in microseconds to three digits.
    times: Option<Histogram<u64>>,
    /// How many were answered as they should be.
    pub answered: u64,
    /// How many were not, by what was wrong.
    pub failures: BTreeMap<String, u64>,
    /// How many were due in an open loop, and were never sent because no connection was free.
    pub unsent: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
}

impl Figures {
    pub(super) fn new() -> Self {
        Self {
            // Its bounds are good; without a histogram there would be no times.
            times: Histogram::new_with_bounds(1, LONGEST, 3).ok(),
            answered: 0,
            failures: BTreeMap::new(),
            unsent: 0,
            seconds: 0.0,
        }
    }

    pub(super) fn add(&mut self, took: Duration, answer: &Result<(), String>) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if let Some(times) = &mut self.times {
            times.saturating_record(micros.max(1));
        }
        match answer {
            Ok(()) => self.answered += 1,
            Err(problem) => self.fail(problem, 1),
        }
    }

    fn fail(&mut self, problem: &str, count: u64) {
        let known = self.failures.contains_key(problem) || self.failures.len() < MAX_KINDS;
        let kind = if known { problem } else { OTHERS };
        *self.failures.entry(kind.to_owned()).or_default() += count;
    }

    /// Both together, one after the other.
    pub(super) fn merge(&mut self, other: &Self) {
        if let (Some(times), Some(more)) = (&mut self.times, &other.times) {
            // Their bounds are the same.
            let _ = times.add(more);
        }
        self.answered += other.answered;
        for (problem, count) in &other.failures {
            self.fail(problem, *count);
        }
        self.unsent += other.unsent;
        self.seconds += other.seconds;
    }

    /// How many requests there were.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.answered + self.failed()
    }

    /// How many were not answered as they should be.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// Answers a second.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52 requests")]
    pub fn per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.answered as f64 / self.seconds } else { 0.0 }
    }

    /// The time within which this part of the requests (0.5 for the median, 1 for all) had their answers, in
    /// milliseconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52 microseconds")]
    pub fn within(&self, part: f64) -> f64 {
        let micros = match &self.times {
            None => 0,
            Some(times) if part >= 1.0 => times.max(),
            Some(times) => times.value_at_quantile(part),
        };
        micros as f64 / 1_000.0
    }
}
