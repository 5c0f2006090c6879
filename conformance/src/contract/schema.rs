//! What changed in the schema of a tool's arguments or results, in words.

mod forms;
mod limits;
mod members;
mod types;

use std::collections::BTreeSet;

use serde_json::Value;

use self::forms::forms;
use self::types::{all_types, type_words, types, values};
use super::change::{Found, Impact};
use super::values::{MAX_DEPTH, bare, listed, varies};
use crate::schema::local::resolve;

/// Which way values go: what is narrower breaks callers on the way in, and what is wider on the way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Arguments.
    Input,
    /// Results.
    Output,
}

/// Two schemas, and the way of their values.
pub(super) struct SchemaDiff<'a> {
    direction: Direction,
    old: &'a Value,
    new: &'a Value,
}

impl<'a> SchemaDiff<'a> {
    pub(super) fn new(direction: Direction, old: &'a Value, new: &'a Value) -> Self {
        Self { direction, old, new }
    }

    /// Adds what changed.
    pub(super) fn compare(&self, found: &mut Found) {
        if self.old == self.new || varies(self.old) || varies(self.new) {
            return;
        }
        let before = (found.changes.len(), found.texts.len());
        self.visit(self.old, self.new, "", 0, found);
        let is_silent = before == (found.changes.len(), found.texts.len());
        if is_silent && bare(self.old, self.old, 0) != bare(self.new, self.new, 0) {
            let what = match self.direction {
                Direction::Input => {
                    "its inputSchema is written differently, without effect on callers"
                }
                Direction::Output => {
                    "its outputSchema is written differently, without effect on callers"
                }
            };
            found.push(what, Impact::Text);
        }
    }

    /// What narrower means.
    fn narrower(&self) -> Impact {
        match self.direction {
            Direction::Input => Impact::Breaking,
            Direction::Output => Impact::Compatible,
        }
    }

    /// What wider means.
    fn wider(&self) -> Impact {
        match self.direction {
            Direction::Input => Impact::Compatible,
            Direction::Output => Impact::Breaking,
        }
    }

    /// A member in words.
    fn member(&self, at: &str) -> String {
        match (self.direction, at) {
            (Direction::Input, "") => "the arguments".to_owned(),
            (Direction::Output, "") => "the result".to_owned(),
            (Direction::Input, at) => format!("argument `{at}`"),
            (Direction::Output, at) => format!("`{at}` of the result"),
        }
    }

    fn visit(&self, old: &'a Value, new: &'a Value, at: &str, depth: usize, found: &mut Found) {
        if depth > MAX_DEPTH || varies(old) || varies(new) {
            return;
        }
        self.texts(old, new, at, found);
        self.default(old, new, at, found);
        let (old, new) = (resolve(self.old, old), resolve(self.new, new));
        if bare(self.old, old, 0) == bare(self.new, new, 0) && depth > 0 && !has_texts(old, new) {
            return;
        }
        if let (Some(before), Some(after)) = (values(self.old, old), values(self.new, new)) {
            return self.values(&before, &after, at, found);
        }
        if !self.types(old, new, at, found) {
            return;
        }
        match (values(self.old, old), values(self.new, new)) {
            (None, Some(after)) => {
                let what = format!("{} is now one of {}", self.member(at), listed(&after));
                return found.push(what, self.narrower());
            }
            (Some(before), None) => {
                let what = format!("{} may be more than {}", self.member(at), listed(&before));
                return found.push(what, self.wider());
            }
            _ => {}
        }
        let (before, after) = (forms(self.old, old), forms(self.new, new));
        match (before.as_slice(), after.as_slice()) {
            ([before], [after]) => self.one(before, after, at, depth, found),
            _ => self.several(before, after, at, depth, found),
        }
    }

    /// Two schemas without alternatives.
    fn one(&self, old: &'a Value, new: &'a Value, at: &str, depth: usize, found: &mut Found) {
        self.properties(old, new, at, depth, found);
        if let (Some(before), Some(after)) = (old.get("items"), new.get("items")) {
            self.visit(before, after, &format!("{at}[]"), depth + 1, found);
        } else if old.get("items") != new.get("items") {
            let narrower = new.get("items").is_some();
            let (what, impact) = if narrower {
                ("has items of a certain form now", self.narrower())
            } else {
                ("may have items of any form", self.wider())
            };
            found.push(format!("{} {what}", self.member(at)), impact);
        }
        self.limits(old, new, at, found);
    }

    /// Alternatives: those that are the same are left out, and a form is compared with the one that took its place.
    fn several(
        &self,
        mut before: Vec<&'a Value>,
        mut after: Vec<&'a Value>,
        at: &str,
        depth: usize,
        found: &mut Found,
    ) {
        before.retain(|old| {
            let form = bare(self.old, old, 0);
            let same = after.iter().position(|new| bare(self.new, new, 0) == form);
            same.map(|index| after.remove(index)).is_none()
        });
        before.retain(|old| {
            let kind = types(self.old, old, 0);
            let alike = |new: &&Value| {
                let named = |it: &Value| it.get("title").cloned();
                types(self.new, new, 0) == kind
                    && (named(old) == named(new) || named(new).is_none())
            };
            let twin = after.iter().position(alike).map(|index| after.remove(index));
            if let Some(twin) = twin {
                self.visit(old, twin, at, depth + 1, found);
            }
            twin.is_none()
        });
        let count = |forms: &[&Value]| match forms.len() {
            1 => "one form".to_owned(),
            count => format!("{count} forms"),
        };
        if !before.is_empty() {
            let what = format!("{} lost {} of its alternatives", self.member(at), count(&before));
            found.push(what, self.narrower());
        }
        if !after.is_empty() {
            let what =
                format!("{} has {} more among its alternatives", self.member(at), count(&after));
            found.push(what, self.wider());
        }
    }

    /// Whether there is more to compare: not if no type is left that both take.
    fn types(&self, old: &Value, new: &Value, at: &str, found: &mut Found) -> bool {
        let (before, after) = (types(self.old, old, 0), types(self.new, new, 0));
        let lost: Vec<_> = before.difference(&after).collect();
        let come: Vec<_> = after.difference(&before).collect();
        if lost.is_empty() && come.is_empty() {
            return true;
        }
        let member = self.member(at);
        let (now, was) = (type_words(&after), type_words(&before));
        let impact = match (lost.is_empty(), come.is_empty()) {
            (true, _) => self.wider(),
            (_, true) => self.narrower(),
            _ => Impact::Breaking,
        };
        let what =
            match (lost.is_empty() && *come == [&"null"], come.is_empty() && *lost == [&"null"]) {
                (true, _) => format!("{member} may be null"),
                (_, true) => format!("{member} is no longer null"),
                _ => format!("{member} is now {now} instead of {was}"),
            };
        found.push(what, impact);
        let any = all_types();
        let left: BTreeSet<_> = before.intersection(&after).filter(|it| **it != "null").collect();
        !left.is_empty() && before != any && after != any
    }

    fn values(&self, before: &[&Value], after: &[&Value], at: &str, found: &mut Found) {
        let lost: Vec<_> = before.iter().copied().filter(|it| !after.contains(it)).collect();
        let come: Vec<_> = after.iter().copied().filter(|it| !before.contains(it)).collect();
        let member = self.member(at);
        if !lost.is_empty() {
            found.push(format!("{member} is no longer {}", or(&lost)), self.narrower());
        }
        if !come.is_empty() {
            found.push(format!("{member} may also be {}", or(&come)), self.wider());
        }
    }
}

/// Whether something in either may have a text of its own.
fn has_texts(old: &Value, new: &Value) -> bool {
    let inner = ["properties", "items", "anyOf", "oneOf", "allOf", "additionalProperties"];
    inner.iter().any(|name| old.get(name).is_some() || new.get(name).is_some())
}

fn or(values: &[&Value]) -> String {
    listed(values).replace(", ", " or ")
}
