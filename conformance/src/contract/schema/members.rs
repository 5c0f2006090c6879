//! Members of arguments and results: which there are, which are required, and what is said of them.

use serde_json::{Map, Value};

use super::super::change::{Found, Impact};
use super::super::values::{bare, shown};
use super::{Direction, SchemaDiff};

impl<'a> SchemaDiff<'a> {
    pub(super) fn properties(
        &self,
        old: &'a Value,
        new: &'a Value,
        at: &str,
        depth: usize,
        found: &mut Found,
    ) {
        let none = Map::new();
        let of = |schema: &'a Value| schema.get("properties").and_then(Value::as_object);
        let before = of(old).map_or_else(Vec::new, |it| it.iter().collect::<Vec<_>>());
        let after = of(new).unwrap_or(&none);
        let inner =
            |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        let come: Vec<&String> =
            after.keys().filter(|it| before.iter().all(|(was, _)| was != it)).collect();
        let gone: Vec<_> = before.iter().filter(|(name, _)| !after.contains_key(*name)).collect();
        let mut new_name = None;
        if let ([(was, schema)], [now]) = (gone.as_slice(), come.as_slice()) {
            let same = after
                .get(*now)
                .is_some_and(|it| bare(self.new, it, 0) == bare(self.old, schema, 0));
            if same && needs(old, was) == needs(new, now) {
                let member = self.member(&inner(was));
                found.push(format!("{member} was renamed to `{now}`"), Impact::Breaking);
                new_name = Some(*now);
            }
        }
        for (name, schema) in before {
            let place = inner(name);
            let member = self.member(&place);
            let Some(now) = after.get(name) else {
                if new_name.is_none() {
                    found.push(format!("{member} was removed"), Impact::Breaking);
                }
                continue;
            };
            match (needs(old, name), needs(new, name)) {
                (false, true) => found.push(format!("{member} is now required"), self.narrower()),
                (true, false) => found.push(format!("{member} is now optional"), self.wider()),
                _ => {}
            }
            self.visit(schema, now, &place, depth + 1, found);
        }
        for name in come.into_iter().filter(|name| Some(*name) != new_name) {
            let member = self.member(&inner(name));
            match (needs(new, name), self.direction) {
                (true, Direction::Input) => {
                    found.push(format!("required {member} was added"), Impact::Breaking);
                }
                (false, Direction::Input) => {
                    found.push(format!("optional {member} was added"), Impact::Compatible);
                }
                (_, Direction::Output) => {
                    found.push(format!("{member} was added"), Impact::Compatible)
                }
            }
        }
        // Names that are required without a property of their own.
        for name in required(new).filter(|name| !after.contains_key(*name) && !needs(old, name)) {
            let member = self.member(&inner(name));
            found.push(format!("{member} is now required"), self.narrower());
        }
    }

    /// What a member is if it is left out.
    pub(super) fn default(&self, old: &Value, new: &Value, at: &str, found: &mut Found) {
        let (before, after) = (old.get("default"), new.get("default"));
        if before == after || self.direction == Direction::Output {
            return;
        }
        let member = self.member(at);
        let what = match (before, after) {
            (Some(before), Some(after)) => {
                format!("the default of {member} is {} instead of {}", shown(after), shown(before))
            }
            (None, Some(after)) => {
                format!("the default of {member} is now given: {}", shown(after))
            }
            (Some(before), None) => {
                format!("the default of {member}, {}, was dropped", shown(before))
            }
            (None, None) => return,
        };
        found.push(what, Impact::Compatible);
    }

    pub(super) fn texts(&self, old: &Value, new: &Value, at: &str, found: &mut Found) {
        for part in ["title", "description"] {
            let of = match (at, self.direction) {
                ("", Direction::Input) => "the inputSchema".to_owned(),
                ("", Direction::Output) => "the outputSchema".to_owned(),
                (at, Direction::Input) => format!("`{at}`"),
                (at, Direction::Output) => format!("`{at}` of the result"),
            };
            found.text(format!("{part} of {of}"), old.get(part), new.get(part));
        }
        let deprecated = |schema: &Value| schema.get("deprecated") == Some(&Value::Bool(true));
        if deprecated(new) && !deprecated(old) {
            found.push(format!("{} is deprecated", self.member(at)), Impact::Compatible);
        }
    }
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let required = schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}

fn needs(schema: &Value, name: &str) -> bool {
    required(schema).any(|it| it == name)
}
