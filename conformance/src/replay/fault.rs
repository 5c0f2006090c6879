//! Why a step of a replay did not go as expected.

use std::fmt;

use serde_json::Value;

use crate::error::Problem;
use crate::pattern::Mismatch;
use crate::target::TargetError;

/// Why a step did not go as expected.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) problem: String,
    pub(crate) mismatches: Vec<Mismatch>,
    pub(crate) cause: Cause,
    /// The member of the answer that was compared, and what was in it.
    pub(crate) answer: Option<(&'static str, Value)>,
}

/// What is behind a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The server's messages, or missing messages.
    Server,
    /// An earlier step did not provide what this one needs.
    EarlierStep,
    /// The server cannot be reached.
    Unreachable,
}

impl Fault {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), mismatches: Vec::new(), cause: Cause::Server, answer: None }
    }

    pub(crate) fn missing(problem: String) -> Self {
        Self { cause: Cause::EarlierStep, ..Self::new(problem) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

/// The variables of a step were not captured: names are checked when a transcript is read.
impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self::missing(problem.to_string())
    }
}

impl From<TargetError> for Fault {
    fn from(error: TargetError) -> Self {
        let cause = match &error {
            TargetError::Unreachable { .. } => Cause::Unreachable,
            _ => Cause::Server,
        };
        Self { cause, ..Self::new(error.to_string()) }
    }
}
