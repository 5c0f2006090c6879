//! What changed from one contract to another, and whether it breaks callers of the older one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::change::{Change, Found, Impact};
use super::renamed::renamed;
use super::values::varies;
use super::{Contract, ItemKind, items};

/// All changes from one contract to another.
#[derive(Debug, Clone, PartialEq)]
pub struct ContractDiff {
    /// The older contract in a few words.
    pub old: String,
    /// The newer one.
    pub new: String,
    /// The changes: those that break callers first.
    pub changes: Vec<Change>,
    /// What was not compared, in sentences.
    pub notes: Vec<String>,
}

impl ContractDiff {
    /// Compares two contracts.
    #[must_use]
    pub fn between(old: &Contract, new: &Contract) -> Self {
        let mut changes = server(old, new).into_changes("server", "");
        let mut notes = Vec::new();
        for (side, contract) in [("old", old), ("new", new)] {
            notes.extend(contract.notes.iter().map(|note| format!("{side}: {note}")));
        }
        if let (Some(before), Some(after)) = (&old.revision, &new.revision)
            && before != after
        {
            notes.push(format!(
                "the old contract was read in revision {before}, the new one in {after}"
            ));
        }
        for kind in ItemKind::ALL {
            match (old.lists.get(&kind), new.lists.get(&kind)) {
                (Some(before), Some(after)) => list(kind, before, after, &mut changes),
                (None, Some(after)) if !after.is_empty() => notes.push(uncompared("old", kind)),
                (Some(before), None) if !before.is_empty() => notes.push(uncompared("new", kind)),
                _ => {}
            }
        }
        changes.sort_by_key(|it| it.impact);
        Self { old: old.title(), new: new.title(), changes, notes }
    }

    /// How many changes mean this.
    #[must_use]
    pub fn count(&self, impact: Impact) -> usize {
        self.changes.iter().filter(|it| it.impact == impact).count()
    }

    /// Whether a change breaks callers.
    #[must_use]
    pub fn is_breaking(&self) -> bool {
        self.count(Impact::Breaking) > 0
    }
}

fn uncompared(side: &str, kind: ItemKind) -> String {
    format!(
        "the {side} contract does not say which {}s there are: they are not compared",
        kind.word()
    )
}

fn list(
    kind: ItemKind,
    old: &BTreeMap<String, Value>,
    new: &BTreeMap<String, Value>,
    changes: &mut Vec<Change>,
) {
    let renamed = renamed(old, new);
    for (name, before) in old {
        let mut found = Found::default();
        let now = renamed.get(name.as_str()).copied();
        if let Some(now) = now {
            found.push(format!("was renamed to `{now}`"), Impact::Breaking);
        }
        match new.get(now.unwrap_or(name)) {
            Some(after) => items::compare(kind, before, after, &mut found),
            None => found.push("was removed", Impact::Breaking),
        }
        changes.extend(found.into_changes(kind.word(), name));
    }
    let is_new = |name: &&String| {
        !old.contains_key(*name) && !renamed.values().any(|now| *now == name.as_str())
    };
    for name in new.keys().filter(is_new) {
        let mut found = Found::default();
        found.push("was added", Impact::Compatible);
        changes.extend(found.into_changes(kind.word(), name));
    }
}

/// What changed about the server as a whole.
fn server(old: &Contract, new: &Contract) -> Found {
    let mut found = Found::default();
    // The eras offer the same things by different capabilities.
    if let (Some(before), Some(after)) = (&old.capabilities, &new.capabilities)
        && old.is_modern() == new.is_modern()
        && !varies(before)
    {
        let (before, after) = (declared(before), declared(after));
        let named = |names: Vec<&String>| -> Option<String> {
            let listed: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            let plural = if listed.len() == 1 { "y" } else { "ies" };
            (!listed.is_empty()).then(|| format!("capabilit{plural} {}", listed.join(", ")))
        };
        if let Some(gone) = named(before.difference(&after).collect()) {
            found.push(format!("no longer declares the {gone}"), Impact::Breaking);
        }
        if let Some(come) = named(after.difference(&before).collect()) {
            found.push(format!("declares the {come}"), Impact::Compatible);
        }
    }
    // A result of a list alone says nothing of instructions.
    if old.server.is_some() && new.server.is_some() {
        let (before, after) = (old.instructions.as_ref(), new.instructions.as_ref());
        found.text("instructions".to_owned(), before, after);
    }
    found
}

/// The names of the capabilities, and of what they say yes to.
fn declared(capabilities: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (name, value) in capabilities.as_object().into_iter().flatten() {
        // What these hold is what is offered.
        if !matches!(name.as_str(), "experimental" | "extensions") {
            names.insert(name.clone());
        }
        for (inner, value) in value.as_object().into_iter().flatten().filter(|_| !varies(value)) {
            if value.is_object() || *value == Value::Bool(true) {
                names.insert(format!("{name}.{inner}"));
            }
        }
    }
    names
}
