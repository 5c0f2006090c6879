//! Errors that callers can act on: the same for tools, resources, prompts and the command line.

use std::fmt;

use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto::{RequestError, ToolError};
use serde_json::Value;

/// The most characters of a message.
const MOST: usize = 2_000;

/// An error that the caller can act on.
///
/// It is not a [`std::error::Error`]: what is one becomes an internal error of a tool, and this has a code. Where an
/// error is needed, its text becomes one: `.map_err(|failure| failure.to_string())?`.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// In `UPPER_SNAKE`.
    pub code: &'static str,
    /// What is wrong and what is accepted.
    pub message: String,
    /// Details for programs; an object, or null for none.
    pub data: Value,
    /// What it means for a request.
    pub fault: Fault,
}

/// What a failure means for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// What was asked for does not exist.
    NotFound,
    /// The question is wrong.
    Invalid,
    /// Anything else.
    Failed,
}

impl Failure {
    /// A failure without details. A message may repeat the caller's input, so it is cut after 2,000 characters.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(MOST) {
            message.truncate(end);
            message.push('…');
        }
        Self { code, message, data: Value::Null, fault: Fault::Failed }
    }

    /// What was asked for does not exist.
    pub fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self { fault: Fault::NotFound, ..Self::new(code, message) }
    }

    /// The question is wrong.
    pub fn invalid(code: &'static str, message: impl Into<String>) -> Self {
        Self { fault: Fault::Invalid, ..Self::new(code, message) }
    }

    /// The same with details for programs.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = data;
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        let error = Self::new(failure.code, failure.message);
        match failure.data {
            Value::Null => error,
            data => error.with_data(data),
        }
    }
}

impl From<Failure> for RequestError {
    fn from(failure: Failure) -> Self {
        let error = match failure.fault {
            Fault::NotFound => Self::not_found(failure.message),
            Fault::Invalid => Self::invalid_params(failure.message),
            Fault::Failed => ErrorObject::new(ErrorObject::INTERNAL, failure.message).into(),
        };
        let members = match failure.data {
            Value::Object(members) => members,
            _ => serde_json::Map::new(),
        };
        let error = error.with_data("code", failure.code);
        members.into_iter().fold(error, |error, (name, value)| error.with_data(name, value))
    }
}

/// A text from a caller as an error quotes it: at most so many characters, those that would break a line replaced.
pub fn quotable(text: &str, most: usize) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut chars = text.chars();
    let mut quoted: String = chars.by_ref().take(most).map(clean).collect();
    if chars.next().is_some() {
        quoted.push('…');
    }
    quoted
}
