//! Limits of values: numbers, lengths, patterns, members that are not listed.

use serde_json::Value;

use super::super::change::{Found, Impact};
use super::super::values::{bare, shown};
use super::{Direction, SchemaDiff};

/// Limits from below, and from above.
const LEAST: [&str; 5] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const MOST: [&str; 5] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Which of two values of these is narrower cannot be said.
const OTHER: [&str; 4] = ["pattern", "format", "multipleOf", "contentEncoding"];
/// Keywords that are compared as a whole.
const WHOLE: [&str; 12] = [
    "allOf",
    "contains",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedProperties",
];
/// The largest number that every language takes as an integer: as a limit it says nothing.
const SAFE: f64 = 9_007_199_254_740_991.0;

impl<'a> SchemaDiff<'a> {
    pub(super) fn limits(&self, old: &'a Value, new: &'a Value, at: &str, found: &mut Found) {
        for (names, is_least) in [(LEAST, true), (MOST, false)] {
            for name in names {
                self.bound(name, is_least, old, new, at, found);
            }
        }
        let member = self.member(at);
        for name in OTHER {
            let (before, after) = (old.get(name), new.get(name));
            match (before, after) {
                (Some(before), Some(after)) if before != after => {
                    let what = format!(
                        "{member}: {name} is {} instead of {}",
                        shown(after),
                        shown(before)
                    );
                    found.push(what, Impact::Breaking);
                }
                (None, Some(after)) => {
                    found
                        .push(format!("{member}: {name} is {} now", shown(after)), self.narrower());
                }
                (Some(before), None) => {
                    found.push(
                        format!("{member}: {name} {} was dropped", shown(before)),
                        self.wider(),
                    );
                }
                _ => {}
            }
        }
        let unique = |schema: &Value| schema.get("uniqueItems") == Some(&Value::Bool(true));
        match (unique(old), unique(new)) {
            (false, true) => found.push(format!("{member} has no item twice"), self.narrower()),
            (true, false) => found.push(format!("{member} may have an item twice"), self.wider()),
            _ => {}
        }
        self.others(old, new, at, found);
        self.headers(old, new, at, found);
        for name in WHOLE {
            let of = |root: &Value, schema: &Value| schema.get(name).map(|it| whole(root, it));
            if of(self.old, old) != of(self.new, new) {
                let what = format!(
                    "`{name}` of {member} changed; whether it is wider or narrower is not judged"
                );
                found.push(what, Impact::Breaking);
            }
        }
    }

    fn bound(
        &self,
        name: &str,
        is_least: bool,
        old: &Value,
        new: &Value,
        at: &str,
        found: &mut Found,
    ) {
        let of = |schema: &Value| {
            let number = schema.get(name).and_then(Value::as_f64)?;
            let says_nothing = number.abs() >= SAFE
                || name.starts_with("min") && name != "minimum" && number == 0.0;
            (!says_nothing).then_some(number)
        };
        let (before, after) = (of(old), of(new));
        let narrower = match (before, after) {
            (before, after) if before == after => return,
            (None, _) => true,
            (_, None) => false,
            (Some(before), Some(after)) => (after > before) == is_least,
        };
        let impact = if narrower { self.narrower() } else { self.wider() };
        let member = self.member(at);
        found.push(
            match (before, after) {
                (Some(before), Some(after)) => {
                    format!("{member}: {name} is {after} instead of {before}")
                }
                (None, Some(after)) => format!("{member}: {name} is {after} now"),
                (Some(before), None) => format!("{member}: {name} {before} was dropped"),
                (None, None) => return,
            },
            impact,
        );
    }

    /// Members that are not listed.
    fn others(&self, old: &'a Value, new: &'a Value, at: &str, found: &mut Found) {
        let of = |schema: &'a Value| schema.get("additionalProperties");
        let (before, after) = (of(old), of(new));
        let is_open = |it: Option<&Value>| {
            it.is_none_or(|it| {
                *it == Value::Bool(true) || it.as_object().is_some_and(|it| it.is_empty())
            })
        };
        let is_closed = |it: Option<&Value>| it == Some(&Value::Bool(false));
        let members = match (self.direction, at) {
            (Direction::Input, "") => "arguments that are not listed".to_owned(),
            _ => format!("members of {} that are not listed", self.member(at)),
        };
        match (before, after) {
            (before, after) if is_open(before) && is_open(after) => {}
            (before, after) if is_closed(before) && is_closed(after) => {}
            // Callers send and read what is listed.
            (_, after) if is_closed(after) => {
                found.push(format!("{members} are refused now"), Impact::Compatible);
            }
            (before, _) if is_closed(before) => {
                found.push(format!("{members} are possible now"), Impact::Compatible);
            }
            (Some(before), Some(after)) if before.is_object() && after.is_object() => {
                self.visit(before, after, &format!("{at}.*"), 1, found);
            }
            (_, after) if is_open(after) => {
                found.push(format!("{members} may have any form now"), self.wider());
            }
            _ => found.push(format!("{members} have a certain form now"), self.narrower()),
        }
    }

    /// Arguments that 2026-07-28 repeats in headers.
    fn headers(&self, old: &Value, new: &Value, at: &str, found: &mut Found) {
        let [before, after] = [old, new].map(|it| it.get("x-mcp-header").and_then(Value::as_str));
        let member = self.member(at);
        match (before, after) {
            (before, after) if before == after => {}
            (_, Some(after)) => found.push(
                format!("{member} must also be sent in the header Mcp-Param-{after}"),
                Impact::Breaking,
            ),
            (_, None) => {
                found.push(format!("{member} is no longer sent in a header"), Impact::Compatible);
            }
        }
    }
}

fn whole(root: &Value, value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|it| bare(root, it, 0)).collect(),
        Value::Object(_) => bare(root, value, 0),
        other => other.clone(),
    }
}
