//! A place in a value or in a schema, kept on the stack while both are walked.

use std::borrow::Cow;

use super::finding::{MAX_TOLD, shortened};
use crate::json;

/// A place, by the steps that lead to it.
pub(super) enum Place<'a> {
    Root,
    Member(&'a Self, &'a str),
    Item(&'a Self, usize),
}

impl Place<'_> {
    /// As a JSON Pointer (RFC 6901), of which only the beginning is kept if it is long.
    pub(super) fn pointer(&self) -> String {
        let (above, step) = match self {
            Self::Root => return String::new(),
            Self::Member(above, name) => (above, Cow::Borrowed(*name)),
            Self::Item(above, at) => (above, Cow::Owned(at.to_string())),
        };
        let mut pointer = above.pointer();
        if pointer.len() <= MAX_TOLD {
            let step = json::pointer_segment(&shortened(&step));
            pointer.push('/');
            pointer.push_str(&step);
        }
        pointer
    }
}
