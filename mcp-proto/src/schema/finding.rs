//! What is wrong with the arguments of a call, as it is answered.

use serde::Serialize;

/// The longest path and the longest message of a finding, in bytes; what is longer is cut. Of an instance that is too
/// large, longer messages are not told at all.
pub(super) const MAX_TOLD: usize = 1_024;

/// One thing that is wrong with the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Where, as a JSON Pointer (RFC 6901); empty for the arguments as a whole. Cut where it is very long.
    pub path: String,
    /// What is wrong and what would be right.
    pub message: String,
    /// The member that is missing there or that nobody knows there, if that is what is wrong. Not told to clients by
    /// itself: the message names it.
    #[serde(skip)]
    pub member: Option<String>,
    /// What is there, as text; `None` where it is long, or a list or an object. Not told to clients by itself.
    #[serde(skip)]
    pub value: Option<String>,
}

impl Finding {
    /// A finding, its texts cut where they would tell a client's megabytes back to it.
    pub(crate) fn new(path: &str, message: &str) -> Self {
        Self {
            path: shortened(path),
            message: shortened(message),
            member: None,
            value: None,
        }
    }
}

pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().find(|(at, _)| *at >= MAX_TOLD) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
    }
}
