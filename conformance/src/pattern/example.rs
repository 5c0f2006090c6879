//! A value that a pattern accepts: what a mock server answers in place of what was recorded.

use serde_json::{Map, Value, json};

use super::{Kind, Pattern};
use crate::template::Vars;

impl Pattern {
    /// A value that this accepts; `None` if it is absent. A variable is what `vars` has, and a text that is matched by
    /// an expression what `like` makes of the expression.
    pub(crate) fn example(&self, vars: &Vars, like: fn(&str) -> String) -> Option<Value> {
        let list = |items: &[Self]| items.iter().filter_map(|it| it.example(vars, like)).collect();
        let var = |name: &str| vars.get(name).cloned();
        Some(match &self.0 {
            Kind::Scalar(value) => value.clone(),
            Kind::Text(text) | Kind::ContainsText(text) => text.fill(vars).ok()?.into(),
            Kind::Array(items) | Kind::ContainsElements(items) | Kind::Unordered(items) => {
                Value::Array(list(items))
            }
            Kind::Object(members) | Kind::ContainsMembers(members) => {
                // Nobody asked for the page after this one.
                let asked = members
                    .iter()
                    .filter(|(name, it)| *name != "nextCursor" || !matches!(it.0, Kind::Type(_)));
                let values =
                    asked.filter_map(|(name, it)| Some((name.clone(), it.example(vars, like)?)));
                Value::Object(values.collect::<Map<_, _>>())
            }
            Kind::Absent => return None,
            Kind::Any => json!({}),
            Kind::Optional(inner) => return inner.example(vars, like),
            Kind::Type(name) => match name.as_str() {
                "null" => Value::Null,
                "boolean" => true.into(),
                "number" | "integer" => 1.into(),
                "array" => json!([]),
                "object" => json!({}),
                _ => "text".into(),
            },
            Kind::Match(regex) => {
                let expression = regex.source.fill_with(vars, |value| regex::escape(&value));
                like(&expression.ok()?).into()
            }
            Kind::Each(_) => json!([]),
            Kind::Length(length) => "a".repeat(usize::try_from(*length).ok()?).into(),
            Kind::Json(inner) => inner.example(vars, like)?.to_string().into(),
            Kind::Not(_) => "something else".into(),
            Kind::All(patterns) | Kind::OneOf(patterns) => {
                return patterns.iter().find_map(|it| it.example(vars, like));
            }
            Kind::Capture(name) | Kind::Var(name) => return var(name),
        })
    }
}
