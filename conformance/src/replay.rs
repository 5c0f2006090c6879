//! Replaying transcripts: each against a target, in each era it has, as a sequence of events.

pub(crate) mod base;
mod exchange;
mod fault;
pub(crate) mod report;
mod run;
mod step;
mod stream;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use self::report::{Event, Failure, Summary, TextReporter};
use self::run::{Outcome, Run};
use crate::target::Target;
use crate::transcript::{Era, Transcript};

/// Replays transcripts against one target, one after the other.
#[derive(Debug, Clone)]
#[must_use]
pub struct Replay {
    target: Target,
    eras: BTreeSet<Era>,
    fixtures: BTreeSet<String>,
    limits: Limits,
}

/// How long a replay waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// For a step to be done.
    pub(crate) step: Duration,
    /// How long a stream that should be silent is watched after the steps meanwhile are done.
    pub(crate) settle: Duration,
}

impl Replay {
    /// Replays in both eras, waits at most 10 s for each step, and has no fixture.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            eras: BTreeSet::from(Era::ALL),
            fixtures: BTreeSet::new(),
            limits: Limits { step: Duration::from_secs(10), settle: Duration::from_millis(50) },
        }
    }

    /// Replays in these eras only.
    pub fn eras(mut self, eras: impl IntoIterator<Item = Era>) -> Self {
        self.eras = eras.into_iter().collect();
        self
    }

    /// Says that the target is the special server called `fixture`: transcripts that need it are replayed, instead of
    /// those that need none.
    pub fn fixture(mut self, fixture: impl Into<String>) -> Self {
        self.fixtures.insert(fixture.into());
        self
    }

    /// Waits at most this long for each step.
    pub fn step_timeout(mut self, timeout: Duration) -> Self {
        self.limits.step = timeout;
        self
    }

    /// Replays all of them and reports events to `emit`. A transcript continues after a step that fails, without the
    /// steps that need what it would have captured or opened. Ends early when no server answers.
    pub async fn run<'a>(
        &self,
        transcripts: impl IntoIterator<Item = &'a Transcript>,
        mut emit: impl FnMut(&Event<'_>),
    ) -> Summary {
        let mut summary = Summary::default();
        'transcripts: for transcript in transcripts {
            if let Some(reason) = self.reason_to_skip(transcript) {
                summary.skipped += 1;
                emit(&Event::Skipped { transcript, reason: &reason });
                continue;
            }
            for &era in transcript.eras().iter().filter(|era| self.eras.contains(era)) {
                emit(&Event::Started { transcript, era });
                let start = Instant::now();
                let outcome = self.outcome(transcript, era, true).await;
                let elapsed = start.elapsed();
                if outcome.failures.is_empty() {
                    summary.passed += 1;
                    emit(&Event::Passed { transcript, era, elapsed });
                } else {
                    summary.failed += 1;
                    emit(&Event::Failed {
                        transcript,
                        era,
                        elapsed,
                        failures: &outcome.failures,
                        not_run: outcome.not_run,
                    });
                }
                if outcome.unreachable {
                    summary.unreachable = true;
                    break 'transcripts;
                }
            }
        }
        emit(&Event::Finished(&summary));
        summary
    }

    /// Replays all of them and reports as [`TextReporter`] does, without colours: for tests.
    pub async fn report<'a>(
        &self,
        transcripts: impl IntoIterator<Item = &'a Transcript>,
    ) -> (Summary, String) {
        let mut report = Vec::new();
        let mut reporter = TextReporter::new(&mut report, false);
        let on_event = |event: &Event<'_>| {
            // Memory takes everything.
            let _ = reporter.report(event);
        };
        let summary = self.run(transcripts, on_event).await;
        (summary, String::from_utf8_lossy(&report).into_owned())
    }

    /// Replays one transcript in one era, whether or not it lists the era or needs a fixture, up to the first step
    /// that fails.
    ///
    /// # Errors
    ///
    /// The first step that did not go as expected.
    pub async fn run_one(&self, transcript: &Transcript, era: Era) -> Result<(), Failure> {
        let outcome = self.outcome(transcript, era, false).await;
        outcome.failures.into_iter().next().map_or(Ok(()), Err)
    }

    async fn outcome(&self, transcript: &Transcript, era: Era, continues: bool) -> Outcome {
        Run::new(&self.target, transcript.endpoint(), era, self.limits, continues)
            .all(&transcript.steps)
            .await
    }

    /// Replays the transcripts in these files and directories, for tests.
    ///
    /// # Panics
    ///
    /// With the report, if a transcript cannot be read, something differs, or nothing was replayed.
    pub async fn hold<P: AsRef<Path>>(&self, paths: impl IntoIterator<Item = P>) {
        let transcripts = match Transcript::read_all(paths) {
            Ok(transcripts) => transcripts,
            Err(error) => panic!("{error}"),
        };
        let (summary, report) = self.report(&transcripts).await;
        assert!(summary.is_success(), "{report}");
    }

    fn reason_to_skip(&self, transcript: &Transcript) -> Option<String> {
        match transcript.fixture() {
            Some(fixture) if !self.fixtures.contains(fixture) => {
                return Some(format!("needs a server prepared as {fixture}; see --fixture"));
            }
            None if !self.fixtures.is_empty() => {
                return Some("does not need this fixture".to_owned());
            }
            _ => {}
        }
        if transcript.eras().iter().any(|era| self.eras.contains(era)) {
            return None;
        }
        let eras: Vec<&str> = transcript.eras().iter().map(|era| era.name()).collect();
        Some(format!("is for {} only", eras.join(" and ")))
    }
}
