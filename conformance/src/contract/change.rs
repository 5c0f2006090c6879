//! One change of a contract.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::values::varies;

/// What a change means for callers that were written for the older contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Impact {
    /// Calls that worked may be refused, or their results may be something else.
    Breaking,
    /// Calls that worked still work.
    Compatible,
    /// Only what people and models read.
    Text,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextChange {
    /// Which one, such as ``description of `path` ``.
    pub part: String,
    /// The older text; `None` if the text was added.
    pub old: Option<String>,
    /// The newer text; `None` if the text was dropped.
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
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.texts.push(TextChange { part, old: old.map(text), new: new.map(text) });
    }

    pub(super) fn len(&self) -> usize {
        self.changes.len() + self.texts.len()
    }

    /// The changes of an item; all its texts are one change.
    pub(super) fn into_changes(mut self, kind: &'static str, name: &str) -> Vec<Change> {
        if !self.texts.is_empty() {
            self.push(in_words(&self.texts), Impact::Text);
        }
        let mut changes: Vec<_> = self
            .changes
            .into_iter()
            .map(|(what, impact)| Change {
                kind,
                name: name.to_owned(),
                what,
                impact,
                texts: Vec::new(),
            })
            .collect();
        if let Some(last) = changes.last_mut() {
            last.texts = self.texts;
        }
        changes
    }
}

/// Such as `title added, descriptions of 3 members changed`.
fn in_words(texts: &[TextChange]) -> String {
    let mut groups: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for text in texts {
        let verb = match (&text.old, &text.new) {
            (None, _) => "added",
            (_, None) => "dropped",
            _ => "changed",
        };
        let (part, of) = text.part.split_once(" of ").unwrap_or((&text.part, ""));
        groups.entry((verb, part)).or_default().push(of);
    }
    let words = groups.into_iter().map(|((verb, part), of)| {
        let own = of.iter().any(|it| it.is_empty());
        let of: Vec<_> = of.into_iter().filter(|it| !it.is_empty()).collect();
        let own = own.then(|| part.to_owned());
        let inner = match of.as_slice() {
            [] => None,
            [only] => Some(format!("{part} of {only}")),
            several => Some(format!("{part}s of {} members", several.len())),
        };
        let parts: Vec<_> = own.into_iter().chain(inner).collect();
        format!("{} {verb}", parts.join(" and "))
    });
    words.collect::<Vec<_>>().join(", ")
}
