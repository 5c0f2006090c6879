//! What a replay says while it runs. The runner emits, reporters consume; neither knows the other.

mod text;

use std::time::Duration;

use serde_json::Value;

pub use self::text::TextReporter;
use crate::pattern::Mismatch;
use crate::transcript::{Era, Transcript};

/// One thing that happened in a replay.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A transcript begins in an era.
    Started {
        /// The transcript.
        transcript: &'a Transcript,
        /// The era it is replayed in.
        era: Era,
    },
    /// All of its steps went as expected.
    Passed {
        /// The transcript.
        transcript: &'a Transcript,
        /// The era it was replayed in.
        era: Era,
        /// How long it took.
        elapsed: Duration,
    },
    /// Some steps did not go as expected.
    Failed {
        /// The transcript.
        transcript: &'a Transcript,
        /// The era it was replayed in.
        era: Era,
        /// How long it took.
        elapsed: Duration,
        /// What went wrong, in the order in which it was seen; never empty.
        failures: &'a [Failure],
        /// Steps that were not run because they need what a failed one would have provided.
        not_run: usize,
    },
    /// The transcript was not replayed.
    Skipped {
        /// The transcript.
        transcript: &'a Transcript,
        /// Why, such as the fixture it needs.
        reason: &'a str,
    },
    /// Everything is done.
    Finished(&'a Summary),
}

/// Where and how a replay left its transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The line of the step, counted from 1.
    pub line: usize,
    /// The step in a few words, such as `POST /mcp` or `tools/call`.
    pub step: String,
    /// What the transcript says the step shows.
    pub note: Option<String>,
    /// What went wrong.
    pub problem: String,
    /// The differences, if an answer was compared.
    pub mismatches: Vec<Mismatch>,
    /// The member of the answer that was compared (`result` or `error`), and what was in it.
    pub answer: Option<(&'static str, Value)>,
}

/// How many replays went how; a transcript counts once for each era.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Replays in which everything went as expected.
    pub passed: usize,
    /// Replays that failed.
    pub failed: usize,
    /// Transcripts that were not replayed.
    pub skipped: usize,
    /// The server could not be reached, so the rest was not tried.
    pub unreachable: bool,
}

impl Summary {
    /// Nothing failed, and something was replayed.
    pub fn is_success(&self) -> bool {
        self.failed == 0 && self.passed > 0
    }
}
