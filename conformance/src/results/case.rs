//! One case, how it went, and what shows it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::check::Level;

/// One rule in one revision, or one transcript in one era.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The rule or the transcript.
    pub name: String,
    /// The revision or the era; empty for a transcript that was replayed in none.
    #[serde(default)]
    pub revision: String,
    /// The rule or what the transcript shows, in a sentence.
    pub title: String,
    /// How much the rule binds: MUST, SHOULD or practice. A transcript has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The section of the specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// How it went.
    pub verdict: Outcome,
    /// What was seen, or why nothing could be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// What to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The exchange that shows it, or the steps that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<String>,
    /// Where the transcript says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Location>,
    /// The steps of a transcript that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<FailedStep>,
    /// How long it took, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// A step of a transcript that did not go as expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailedStep {
    /// The line of the step, counted from 1.
    pub line: usize,
    /// The step in a few words, such as `POST /mcp` or `tools/call by main`.
    pub step: String,
    /// What went wrong.
    pub problem: String,
    /// Where the answer differs.
    pub differences: Vec<Difference>,
}

/// One place where an answer is not what was expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Where, as a JSON Pointer (RFC 6901) into the answer.
    pub path: String,
    /// What was expected: a JSON text, or words for what a matcher accepts.
    pub expected: String,
    /// What was there; absent if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Value>,
    /// Why it does not match, where the two values alone do not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Location {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
}

/// How a case went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It holds.
    Holds,
    /// It does not.
    Finding,
    /// It does not, and the baseline knows.
    Known,
    /// It passes although the baseline lists it as failing.
    Fixed,
    /// It tests something that the target does not have, or was left out.
    Inapplicable,
    /// It could not be judged.
    #[default]
    Unclear,
}

impl Case {
    /// The case in a few words.
    pub(super) fn label(&self) -> String {
        match self.revision.as_str() {
            "" => self.name.clone(),
            revision => format!("{} ({revision})", self.name),
        }
    }
}

impl Outcome {
    /// Whether a run with such a case fails.
    #[must_use]
    pub fn fails(self) -> bool {
        matches!(self, Self::Finding | Self::Fixed)
    }
}
