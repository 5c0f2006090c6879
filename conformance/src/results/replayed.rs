//! Results of a replay, made from its events.

use super::{Case, Difference, FailedStep, Location, Outcome, Subject};
use crate::pattern::in_words;
use crate::replay::report::{Event, Failure, TextReporter};
use crate::transcript::Transcript;

impl Subject {
    /// The results of transcripts that are replayed against a target.
    #[must_use]
    pub fn replayed(target: String) -> Self {
        Self { name: target.clone(), target, ..Self::default() }
    }

    /// Adds what a replay says.
    pub fn add(&mut self, event: &Event<'_>) {
        match event {
            Event::Passed { transcript, era, elapsed } => self.cases.push(Case {
                seconds: Some(elapsed.as_secs_f64()),
                ..case(transcript, era.name(), Outcome::Holds)
            }),
            Event::Failed { transcript, era, elapsed, failures, .. } => self.cases.push(Case {
                seconds: Some(elapsed.as_secs_f64()),
                seen: failures.first().map(seen),
                exchange: Some(in_full(event)),
                steps: failures.iter().map(failed).collect(),
                place: failures.first().map(|failure| Location {
                    file: transcript.source_name().to_owned(),
                    line: failure.line,
                }),
                ..case(transcript, era.name(), Outcome::Finding)
            }),
            Event::Skipped { transcript, reason } => self.cases.push(Case {
                seen: Some((*reason).to_owned()),
                ..case(transcript, "", Outcome::Inapplicable)
            }),
            Event::Finished(summary) if summary.unreachable => {
                let failed = self.cases.pop_if(|case| case.verdict == Outcome::Finding);
                let why = failed.and_then(|case| case.seen);
                self.unreachable = Some(why.unwrap_or_else(|| "it did not answer".to_owned()));
            }
            Event::Started { .. } | Event::Finished(_) => {}
        }
    }
}

fn case(transcript: &Transcript, era: &str, verdict: Outcome) -> Case {
    let title = match transcript.title() {
        "" => transcript.name(),
        title => title,
    };
    Case {
        name: transcript.name().to_owned(),
        revision: era.to_owned(),
        title: title.to_owned(),
        verdict,
        ..Case::default()
    }
}

/// The first thing that is wrong, with its JSON path.
fn seen(failure: &Failure) -> String {
    let Failure { line, step, problem, mismatches, .. } = failure;
    let path = mismatches.first().map(|it| format!(", at {}", it.path));
    format!("line {line}, {step}: {problem}{}", path.unwrap_or_default())
}

fn failed(failure: &Failure) -> FailedStep {
    let differences = failure.mismatches.iter().map(|it| Difference {
        path: it.path.clone(),
        expected: in_words(&it.expected),
        found: it.actual.clone(),
        reason: it.reason.clone(),
    });
    FailedStep {
        line: failure.line,
        step: failure.step.clone(),
        problem: failure.problem.clone(),
        differences: differences.collect(),
    }
}

/// All that is wrong, as people read it.
fn in_full(event: &Event<'_>) -> String {
    let mut text = Vec::new();
    // Memory takes everything.
    let _ = TextReporter::new(&mut text, false).report(event);
    let text = String::from_utf8_lossy(&text).into_owned();
    // The first line repeats the case.
    text.split_once('\n').map_or(String::new(), |(_, rest)| rest.to_owned())
}
