//! Members of arguments and results: which there are, which are required, and what is said of them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::change::Impact;
use super::super::same::is_same;
use super::super::values::turned;
use super::{Direction, SchemaDiff};

impl<'a> SchemaDiff<'a, '_> {
    pub(super) fn properties(&mut self, old: &'a Value, new: &'a Value, at: &str) {
        let [before, after] = [old, new].map(|schema| {
            let properties = schema.get("properties").and_then(Value::as_object);
            properties.into_iter().flatten().collect::<BTreeMap<_, _>>()
        });
        let inner =
            |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        let come: Vec<_> = after.iter().filter(|(name, _)| !before.contains_key(*name)).collect();
        let gone: Vec<_> = before.iter().filter(|(name, _)| !after.contains_key(*name)).collect();
        let renamed = match (gone.as_slice(), come.as_slice()) {
            ([(was, old_form)], [(now, new_form)]) => {
                needs(old, was) == needs(new, now)
                    && old_form.get("description") == new_form.get("description")
                    && is_same([self.old, self.new], "", old_form, new_form)
            }
            _ => false,
        };
        for (name, _) in &gone {
            let member = self.member(&inner(name));
            let what = match come.first().filter(|_| renamed) {
                Some((now, _)) => format!("{member} was renamed to `{now}`"),
                None => format!("{member} was removed"),
            };
            self.found.push(what, Impact::Breaking);
        }
        for (name, schema) in &before {
            let Some(now) = after.get(name) else { continue };
            let place = inner(name);
            let member = self.member(&place);
            match (needs(old, name), needs(new, name)) {
                (false, true) => {
                    self.found.push(format!("{member} is now required"), self.narrower());
                }
                (true, false) => {
                    self.found.push(format!("{member} is now optional"), self.wider());
                }
                _ => {}
            }
            self.visit(schema, now, &place);
        }
        for (name, _) in come.into_iter().filter(|_| !renamed) {
            let member = self.member(&inner(name));
            let (need, impact) = match (self.direction, needs(new, name)) {
                (Direction::Input, true) => ("required ", Impact::Breaking),
                (Direction::Input, false) => ("optional ", Impact::Compatible),
                (Direction::Output, _) => ("", Impact::Compatible),
            };
            self.found.push(format!("{need}{member} was added"), impact);
        }
        // Names that are required without a property of their own.
        for name in required(new).filter(|it| !needs(old, it)) {
            if !after.keys().any(|known| *known == name) {
                let what = format!("{} is now required", self.member(&inner(name)));
                self.found.push(what, self.narrower());
            }
        }
    }

    /// What is said of a member, either beside a reference or where it leads.
    pub(super) fn beside(&mut self, [old, new]: [[&'a Value; 2]; 2], at: &str) {
        let said = |schemas: [&'a Value; 2], part: &str| {
            schemas.into_iter().find_map(|schema| schema.get(part))
        };
        for part in ["title", "description"] {
            let of = match (at, self.direction) {
                ("", direction) => format!("the {}", direction.schema()),
                (at, Direction::Input) => format!("`{at}`"),
                (at, Direction::Output) => format!("`{at}` of the result"),
            };
            self.found.text(format!("{part} of {of}"), said(old, part), said(new, part));
        }
        let is_deprecated = |schemas| said(schemas, "deprecated") == Some(&Value::Bool(true));
        let member = self.member(at);
        if is_deprecated(new) && !is_deprecated(old) {
            self.found.push(format!("{member} is deprecated"), Impact::Compatible);
        }
        let turned = turned("default", said(old, "default"), said(new, "default"));
        if let (Direction::Input, Some(what)) = (self.direction, turned) {
            self.found.push(format!("{member}: {what}"), Impact::Compatible);
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
