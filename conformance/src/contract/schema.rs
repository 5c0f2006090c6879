//! What changed in the schema of a tool's arguments or results, in words.

mod forms;
mod limits;
mod members;
mod types;

use std::ptr;

use serde_json::Value;

use self::forms::forms;
use self::types::{all_types, type_words, types, values};
use super::change::{Found, Impact};
use super::same::{MAX_DEPTH, is_same};
use super::values::{VARIES, listed, varies};
use crate::schema::local::resolve;

/// The most pairs of schemas that are compared in one schema.
const MAX_PAIRS: usize = 20_000;

/// Which way values go: what is narrower breaks callers on the way in, and what is wider on the way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Arguments.
    Input,
    /// Results.
    Output,
}

impl Direction {
    fn schema(self) -> &'static str {
        match self {
            Self::Input => "inputSchema",
            Self::Output => "outputSchema",
        }
    }
}

/// Adds what changed from one schema to another.
pub(super) fn compare(direction: Direction, old: &Value, new: &Value, found: &mut Found) {
    if old == new {
        return;
    }
    let before = found.len();
    SchemaDiff { direction, old, new, found, open: Vec::new(), left: MAX_PAIRS }
        .visit(old, new, "");
    if found.len() == before && ![old, new].iter().any(|it| it.to_string().contains(VARIES)) {
        let schema = direction.schema();
        let what = format!("its {schema} is written differently, without effect on callers");
        found.push(what, Impact::Text);
    }
}

/// Two schemas, and the way of their values.
struct SchemaDiff<'a, 'f> {
    direction: Direction,
    old: &'a Value,
    new: &'a Value,
    found: &'f mut Found,
    /// The pairs that are being compared, each within the one before.
    open: Vec<[*const Value; 2]>,
    /// How many more pairs are compared.
    left: usize,
}

impl<'a> SchemaDiff<'a, '_> {
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

    fn visit(&mut self, old: &'a Value, new: &'a Value, at: &str) {
        if varies(old) || varies(new) {
            return;
        }
        let (before, after) = (resolve(self.old, old), resolve(self.new, new));
        self.beside([[old, before], [new, after]], at);
        let pair = [ptr::from_ref(before), ptr::from_ref(after)];
        // A definition that refers to itself is compared once.
        if self.open.contains(&pair) {
            return;
        }
        if self.left == 0 || self.open.len() == MAX_DEPTH {
            if !is_same([self.old, self.new], "", before, after) {
                let member = self.member(at);
                let what = format!("{member} changed; the schema is too large to say how");
                self.found.push(what, Impact::Breaking);
            }
            return;
        }
        self.left -= 1;
        self.open.push(pair);
        self.resolved(before, after, at);
        self.open.pop();
    }

    /// Two schemas that are not references.
    fn resolved(&mut self, old: &'a Value, new: &'a Value, at: &str) {
        self.headers(old, new, at);
        let (before, after) = (values(self.old, old), values(self.new, new));
        if let (Some(before), Some(after)) = (&before, &after) {
            return self.values(before, after, at);
        }
        if !self.types(old, new, at) {
            return;
        }
        let member = self.member(at);
        if let Some(after) = after {
            let what = format!("{member} is now one of {}", listed(&after));
            return self.found.push(what, self.narrower());
        }
        if let Some(before) = before {
            let what = format!("{member} may be more than {}", listed(&before));
            return self.found.push(what, self.wider());
        }
        let (before, after) = (forms(self.old, old), forms(self.new, new));
        match (before.as_slice(), after.as_slice()) {
            ([before], [after]) => self.one(before, after, at),
            _ => self.several(before, after, at),
        }
    }

    /// Two schemas without alternatives.
    fn one(&mut self, old: &'a Value, new: &'a Value, at: &str) {
        self.properties(old, new, at);
        match (old.get("items"), new.get("items")) {
            (Some(before), Some(after)) => self.visit(before, after, &format!("{at}[]")),
            (None, Some(_)) => {
                let what = format!("{} has only items of a certain form now", self.member(at));
                self.found.push(what, self.narrower());
            }
            (Some(_), None) => {
                let what = format!("{} may have items of any form now", self.member(at));
                self.found.push(what, self.wider());
            }
            (None, None) => {}
        }
        self.limits(old, new, at);
    }

    /// Alternatives: those that are the same are left out, and a form is compared with the one that took its place.
    fn several(&mut self, mut before: Vec<&'a Value>, mut after: Vec<&'a Value>, at: &str) {
        let roots = [self.old, self.new];
        before.retain(|old| {
            let same = after.iter().position(|new| is_same(roots, "", old, new));
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
                self.visit(old, twin, at);
            }
            twin.is_none()
        });
        let member = self.member(at);
        let count = |forms: &[&Value]| match forms.len() {
            1 => "one alternative".to_owned(),
            count => format!("{count} alternatives"),
        };
        if !before.is_empty() {
            self.found.push(format!("{member} lost {}", count(&before)), self.narrower());
        }
        if !after.is_empty() {
            self.found.push(format!("{member} gained {}", count(&after)), self.wider());
        }
    }

    /// Whether there is more to compare: not if no type is left that both take.
    fn types(&mut self, old: &Value, new: &Value, at: &str) -> bool {
        // The arguments of a call are an object, also where a schema does not say so.
        if self.direction == Direction::Input && at.is_empty() {
            return true;
        }
        let (before, after) = (types(self.old, old, 0), types(self.new, new, 0));
        let lost: Vec<_> = before.difference(&after).copied().collect();
        let come: Vec<_> = after.difference(&before).copied().collect();
        let member = self.member(at);
        let (impact, what) = match (lost.as_slice(), come.as_slice()) {
            ([], []) => return true,
            ([], ["null"]) => (self.wider(), format!("{member} may be null")),
            (["null"], []) => (self.narrower(), format!("{member} is no longer null")),
            (lost, come) => {
                let impact = match (lost, come) {
                    ([], _) => self.wider(),
                    (_, []) => self.narrower(),
                    _ => Impact::Breaking,
                };
                let (now, was) = (type_words(&after), type_words(&before));
                (impact, format!("{member} is now {now} instead of {was}"))
            }
        };
        self.found.push(what, impact);
        let any = all_types();
        before.intersection(&after).any(|it| *it != "null") && before != any && after != any
    }

    fn values(&mut self, before: &[&Value], after: &[&Value], at: &str) {
        let lost: Vec<_> = before.iter().copied().filter(|it| !after.contains(it)).collect();
        let come: Vec<_> = after.iter().copied().filter(|it| !before.contains(it)).collect();
        let member = self.member(at);
        let or = |values: &[&Value]| listed(values).replace(", ", " or ");
        if !lost.is_empty() {
            self.found.push(format!("{member} is no longer {}", or(&lost)), self.narrower());
        }
        if !come.is_empty() {
            self.found.push(format!("{member} may also be {}", or(&come)), self.wider());
        }
    }
}
