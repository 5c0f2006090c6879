//! The grammar of queries: times, chats, limits. Each error names the accepted forms.

mod chat;
mod time;

pub use chat::ChatArgument;
pub use time::{TIME_FORMS, time};

use jiff::Timestamp;

/// How many messages a page has by default.
pub const DEFAULT_LIMIT: usize = 100;

/// The most messages of a page.
pub const MAX_LIMIT: usize = 1_000;

/// An invalid parameter: what is wrong with it and what is accepted. Clients get it as `INVALID_PARAMETER`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid parameter '{parameter}': {reason}")]
pub struct Invalid {
    /// The name of the parameter.
    pub parameter: &'static str,
    /// What is wrong, and which forms are accepted.
    pub reason: String,
}

impl Invalid {
    /// Refuses a parameter.
    pub fn new(parameter: &'static str, reason: impl Into<String>) -> Self {
        Self { parameter, reason: reason.into() }
    }
}

/// # Errors
/// [`Invalid`] unless there is something between `since` (inclusive) and `before` (exclusive).
pub fn range(since: Option<Timestamp>, before: Option<Timestamp>) -> Result<(), Invalid> {
    match (since, before) {
        (Some(since), Some(before)) if since >= before => {
            Err(Invalid::new("since", "it is not before `before`: give a time that is earlier"))
        }
        _ => Ok(()),
    }
}

/// # Errors
/// [`Invalid`] unless the limit is 1 to [`MAX_LIMIT`].
pub fn limit(limit: usize) -> Result<(), Invalid> {
    match limit {
        1..=MAX_LIMIT => Ok(()),
        _ => Err(Invalid::new(
            "limit",
            format!("{limit} is out of bounds: give a number from 1 to {MAX_LIMIT}"),
        )),
    }
}

/// The given value, short enough for a sentence.
fn quoted(text: &str) -> String {
    format!("'{}'", service_host::quotable(text, 40))
}
