//! Limits of values: numbers, lengths, patterns, members that are not listed.

use serde_json::{Map, Value};

use super::super::change::Impact;
use super::super::same::is_same;
use super::super::values::turned;
use super::{Direction, SchemaDiff};

/// Limits from below, and from above.
const LEAST: [&str; 5] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const MOST: [&str; 5] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Which of two values of these is narrower cannot be said.
const OTHER: [&str; 5] = ["pattern", "format", "multipleOf", "contentEncoding", "uniqueItems"];
/// Keywords that are compared as a whole.
const WHOLE: [&str; 20] = [
    "additionalItems",
    "allOf",
    "anyOf",
    "contains",
    "contentMediaType",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "minContains",
    "not",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// The largest number that every language takes as an integer: as a limit it says nothing.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// The schema of any value.
const ANY: &Value = &Value::Bool(true);

impl<'a> SchemaDiff<'a, '_> {
    pub(super) fn limits(&mut self, old: &'a Value, new: &'a Value, at: &str) {
        let member = self.member(at);
        for name in LEAST.into_iter().chain(MOST).chain(OTHER) {
            let limit = |schema: &'a Value| schema.get(name).filter(|it| !says_nothing(name, it));
            let (before, after) = (limit(old), limit(new));
            let Some(what) = turned(name, before, after) else { continue };
            let impact = match (before, after) {
                (None, _) => self.narrower(),
                (_, None) => self.wider(),
                _ if OTHER.contains(&name) => Impact::Breaking,
                (Some(before), Some(after)) => {
                    let is_more = after.as_f64() > before.as_f64();
                    let is_narrower = is_more == LEAST.contains(&name);
                    if is_narrower { self.narrower() } else { self.wider() }
                }
            };
            self.found.push(format!("{member}: {what}"), impact);
        }
        self.others(old, new, at);
        for name in WHOLE {
            let is_equal = match (old.get(name), new.get(name)) {
                (Some(before), Some(after)) => is_same([self.old, self.new], name, before, after),
                (before, after) => before == after,
            };
            if !is_equal {
                let what = format!(
                    "`{name}` of {member} changed; whether it is wider or narrower is not judged"
                );
                self.found.push(what, Impact::Breaking);
            }
        }
    }

    /// Members that are not listed.
    fn others(&mut self, old: &'a Value, new: &'a Value, at: &str) {
        let [before, after] = [old, new].map(|it| it.get("additionalProperties").unwrap_or(ANY));
        let is_open = |it: &Value| it == ANY || it.as_object().is_some_and(Map::is_empty);
        let is_closed = |it: &Value| *it == Value::Bool(false);
        let members = match (self.direction, at) {
            (Direction::Input, "") => "arguments that are not listed".to_owned(),
            _ => format!("members of {} that are not listed", self.member(at)),
        };
        // Callers send and read what is listed.
        let (what, impact) = match (before, after) {
            _ if is_open(before) && is_open(after) || is_closed(before) && is_closed(after) => {
                return;
            }
            // A map: what callers send in it is never listed.
            _ if is_closed(after) && !at.is_empty() && old.get("properties").is_none() => {
                ("are refused now", self.narrower())
            }
            _ if is_closed(after) => ("are refused now", Impact::Compatible),
            _ if is_closed(before) => ("are possible now", Impact::Compatible),
            _ if is_open(after) => ("may have any form now", self.wider()),
            _ if is_open(before) => ("have a certain form now", self.narrower()),
            _ => return self.visit(before, after, &format!("{at}.*")),
        };
        self.found.push(format!("{members} {what}"), impact);
    }

    /// Arguments that 2026-07-28 repeats in headers.
    pub(super) fn headers(&mut self, old: &Value, new: &Value, at: &str) {
        let [before, after] = [old, new].map(|it| it.get("x-mcp-header").and_then(Value::as_str));
        let member = self.member(at);
        match (before, after) {
            (before, after) if before == after => {}
            (_, Some(after)) => self.found.push(
                format!("{member} must also be sent in the header Mcp-Param-{after}"),
                Impact::Breaking,
            ),
            (_, None) => {
                let what = format!("{member} is no longer sent in a header");
                self.found.push(what, Impact::Compatible);
            }
        }
    }
}

/// Whether every value keeps to a limit.
fn says_nothing(name: &str, limit: &Value) -> bool {
    let is_count = name.starts_with("min") && name != "minimum";
    *limit == Value::Bool(false)
        || limit.as_f64().is_some_and(|it| it.abs() >= SAFE || is_count && it == 0.0)
}
