//! One change of a contract.

use serde_json::Value;

use super::values::varies;

/// What a change means for callers that were written for the older contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Impact {
    /// Calls that worked may be refused, or their results may be something else.
    Breaking,
    /// Calls that worked still work.
    Compatible,
    /// Only what people and models read.
    Text,
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// `tool`, `prompt`, `resource`, `resource template` or `server`.
    pub kind: &'static str,
    /// The name of the item; empty for the server.
    pub name: String,
    /// What changed, as the end of a sentence that begins with the item.
    pub what: String,
    /// What it means for callers.
    pub impact: Impact,
    /// The texts that changed, of a change that is only about them.
    pub texts: Vec<TextChange>,
}

/// A text that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    /// Which one, such as ``description of `path` ``.
    pub part: String,
    /// The old text; `None` if it is new.
    pub old: Option<String>,
    /// The new text; `None` if it is gone.
    pub new: Option<String>,
}

/// What was found about one item.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) changes: Vec<(String, Impact)>,
    pub(super) texts: Vec<TextChange>,
}

impl Found {
    pub(super) fn push(&mut self, what: impl Into<String>, impact: Impact) {
        self.changes.push((what.into(), impact));
    }

    /// Compares a text.
    pub(super) fn text(&mut self, part: String, old: Option<&Value>, new: Option<&Value>) {
        if old == new || old.is_some_and(varies) || new.is_some_and(varies) {
            return;
        }
        let text = |value: Option<&Value>| match value {
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => Some(other.to_string()),
            None => None,
        };
        self.texts.push(TextChange { part, old: text(old), new: text(new) });
    }
}

/// What happened to a text.
pub(super) fn verb<T>(old: Option<&T>, new: Option<&T>) -> &'static str {
    match (old, new) {
        (None, _) => "added",
        (_, None) => "dropped",
        _ => "changed",
    }
}
