//! What changed from one contract to another, and whether it breaks callers of the older one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::change::{Change, Impact, TextChange, verb};
use super::renamed::renamed;
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
        let mut changes = server(old, new);
        let mut notes = Vec::new();
        let told = |side: &str, contract: &Contract| {
            let notes = contract.notes.iter();
            notes.map(|note| format!("{side}: {note}")).collect::<Vec<_>>()
        };
        notes.extend(told("old", old));
        notes.extend(told("new", new));
        if let (Some(before), Some(after)) = (&old.revision, &new.revision)
            && before != after
        {
            notes.push(format!(
                "read in the newest revision of each: the old one in {before}, the new one in {after}"
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
    let change = |name: &str, what: String, impact| Change {
        kind: kind.word(),
        name: name.to_owned(),
        what,
        impact,
        texts: Vec::new(),
    };
    let renamed = renamed(old, new);
    for (name, before) in old {
        let after = match (new.get(name), renamed.get(name.as_str())) {
            (Some(after), _) => after,
            (None, Some(now)) => {
                changes.push(change(name, format!("was renamed to `{now}`"), Impact::Breaking));
                let Some(after) = new.get(*now) else { continue };
                after
            }
            (None, None) => {
                changes.push(change(name, "was removed".to_owned(), Impact::Breaking));
                continue;
            }
        };
        changes.extend(items::compare(kind, name, before, after));
    }
    let known: BTreeSet<_> = renamed.values().copied().collect();
    for name in new.keys().filter(|name| !old.contains_key(*name)) {
        if !known.contains(name.as_str()) {
            changes.push(change(name, "was added".to_owned(), Impact::Compatible));
        }
    }
}

/// What changed about the server as a whole.
fn server(old: &Contract, new: &Contract) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut add = |what: String, impact, texts| {
        changes.push(Change { kind: "server", name: String::new(), what, impact, texts });
    };
    // The eras offer the same things by different capabilities.
    if let (Some(before), Some(after)) = (&old.capabilities, &new.capabilities)
        && old.is_modern() == new.is_modern()
    {
        let (before, after) = (declared(before), declared(after));
        let named = |names: BTreeSet<&String>| -> Option<String> {
            let listed: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            let plural = if listed.len() == 1 { "y" } else { "ies" };
            (!listed.is_empty()).then(|| format!("capabilit{plural} {}", listed.join(", ")))
        };
        if let Some(gone) = named(before.difference(&after).collect()) {
            add(format!("no longer declares the {gone}"), Impact::Breaking, vec![]);
        }
        if let Some(come) = named(after.difference(&before).collect()) {
            add(format!("declares the {come}"), Impact::Compatible, vec![]);
        }
    }
    // A result of a list alone says nothing of instructions.
    if old.instructions != new.instructions && old.server.is_some() && new.server.is_some() {
        let (old, new) = (old.instructions.clone(), new.instructions.clone());
        let what = format!("instructions {}", verb(old.as_ref(), new.as_ref()));
        add(what, Impact::Text, vec![TextChange { part: "instructions".to_owned(), old, new }]);
    }
    changes
}

/// The names of the capabilities, and of what they say yes to.
fn declared(capabilities: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (name, value) in capabilities.as_object().into_iter().flatten() {
        // What these hold is what is offered.
        if !matches!(name.as_str(), "experimental" | "extensions") {
            names.insert(name.clone());
        }
        for (inner, value) in value.as_object().into_iter().flatten() {
            if value.is_object() || *value == Value::Bool(true) {
                names.insert(format!("{name}.{inner}"));
            }
        }
    }
    names
}
