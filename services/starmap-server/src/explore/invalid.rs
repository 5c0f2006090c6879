//! Invalid parameters.

use std::fmt::Display;

/// An invalid parameter: its name, its value, and what would be valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} {value}: {reason}")]
pub struct Invalid {
    /// Its name.
    pub parameter: &'static str,
    /// The given value.
    pub value: String,
    /// What is wrong with it, and what would be valid.
    pub reason: String,
}

impl Invalid {
    pub(crate) fn new(parameter: &'static str, value: impl Display, reason: String) -> Self {
        Self { parameter, value: value.to_string(), reason }
    }

    /// Returns an error for a value that is not between the two bounds, both included.
    pub(crate) fn unless_within(
        parameter: &'static str,
        value: usize,
        least: usize,
        most: usize,
    ) -> Result<(), Self> {
        if (least..=most).contains(&value) {
            Ok(())
        } else {
            Err(Self::new(parameter, value, format!("must be between {least} and {most}")))
        }
    }
}
