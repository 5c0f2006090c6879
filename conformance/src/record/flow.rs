//! Who made up which text: what a client sends back, and what it says first.

use std::collections::BTreeSet;

use super::session::{Answer, Item};
use super::volatile::{is_opaque_name, parts};
use crate::json::each_text;

/// The shortest text that is followed from an answer to a request.
pub(super) const SHORTEST: usize = 6;

/// The texts of a session that differ between runs, by the side that sent them first.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Texts of the server that the client sends back later.
    pub(super) returned: BTreeSet<String>,
    /// Identifiers and times that the client made up. A server that repeats them repeats just them.
    pub(super) own: BTreeSet<String>,
}

impl Flow {
    pub(super) fn of(items: &[Item]) -> Self {
        let mut flow = Self::default();
        let mut known = BTreeSet::new();
        for item in items {
            match item {
                Item::Response { answer: Answer { value, .. }, .. }
                | Item::Server { message: value, .. } => {
                    each_text(value, "", &mut |_, text| known.extend([text]));
                }
                Item::Request { params: Some(value), .. }
                | Item::Notification { params: Some(value), .. }
                | Item::Reply { answer: Answer { value, .. }, .. } => {
                    each_text(value, "", &mut |key, text| flow.sent(text, key, &known));
                }
                Item::Request { .. }
                | Item::Notification { .. }
                | Item::Listen
                | Item::Plain { .. } => {}
            }
        }
        flow
    }

    fn sent(&mut self, text: &str, key: &str, known: &BTreeSet<&str>) {
        let opaque = key == "cursor" || is_opaque_name(key);
        let changing = parts(text);
        if known.contains(text) {
            if opaque || text.len() >= SHORTEST && !changing.is_empty() {
                self.returned.insert(text.to_owned());
            }
            return;
        }
        for part in changing {
            let part = known_range::text(text, part.start..part.end);
            if known.contains(part) {
                // The client put it into a longer text.
                self.returned.insert(part.to_owned());
            } else if !known.iter().any(|text| text.contains(part)) {
                self.own.insert(part.to_owned());
            }
        }
    }
}
