//! A parameter that cannot be meant.

use std::fmt::Display;

/// A parameter that cannot be meant: which, what it was, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} {value}: {reason}")]
pub struct Invalid {
    /// Its name.
    pub parameter: &'static str,
    /// What it was.
    pub value: String,
    /// What is wrong with it, and what would be right.
    pub reason: String,
}

impl Invalid {
    pub(crate) fn new(parameter: &'static str, value: impl Display, reason: String) -> Self {
        Self {
            parameter,
            value: value.to_string(),
            reason,
        }
    }

    /// Refuses what is not between the two, both included.
    pub(crate) fn unless_within(
        parameter: &'static str,
        value: usize,
        least: usize,
        most: usize,
    ) -> Result<(), Self> {
        match (least..=most).contains(&value) {
            true => Ok(()),
            false => Err(Self::new(
                parameter,
                value,
                format!("must be between {least} and {most}"),
            )),
        }
    }
}
