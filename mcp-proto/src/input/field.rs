//! The fields of a form: the flat kinds of JSON Schema that every client can show (schema:
//! `PrimitiveSchemaDefinition`).

use serde_json::{Map, Value, json};

use crate::json;
use crate::schema::{self, Unfit};
use crate::version::ProtocolVersion;

/// The keywords under which a field, or its items, list the choices.
const CHOICES: [&str; 3] = ["enum", "oneOf", "anyOf"];

/// One field of an [`ElicitForm`](super::ElicitForm).
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Field {
    /// Its JSON Schema.
    pub(super) members: Map<String, Value>,
    pub(super) required: bool,
}

/// One choice of a field: what is sent, and what the user reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub(super) value: String,
    pub(super) title: String,
}

impl Field {
    /// A text.
    pub fn text() -> Self {
        Self::of("string")
    }

    /// A text that is an e-mail address. Formats of answers are checked with the feature `validate` alone.
    pub fn email() -> Self {
        Self::text().with("format", "email")
    }

    /// A text that is a URI.
    pub fn uri() -> Self {
        Self::text().with("format", "uri")
    }

    /// A text that is a date such as `2026-07-28`.
    pub fn date() -> Self {
        Self::text().with("format", "date")
    }

    /// A text that is a date with a time and an offset such as `2026-07-28T12:00:00Z`.
    pub fn date_time() -> Self {
        Self::text().with("format", "date-time")
    }

    /// A number.
    pub fn number() -> Self {
        Self::of("number")
    }

    /// A whole number.
    pub fn integer() -> Self {
        Self::of("integer")
    }

    /// A boolean.
    pub fn boolean() -> Self {
        Self::of("boolean")
    }

    /// One of these texts.
    pub fn one_of<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        Self::text().with("enum", values)
    }

    /// One of these choices. Clients before 2025-11-25 get them as [`Field::one_of_named`] writes them.
    pub fn one_of_titled(choices: impl IntoIterator<Item = Choice>) -> Self {
        Self::text().with("oneOf", titled(choices))
    }

    /// One of these choices in the form of 2025-06-18 (`enumNames`), for clients that support only that form of titles.
    pub fn one_of_named(choices: impl IntoIterator<Item = Choice>) -> Self {
        let (values, names): (Vec<_>, Vec<_>) =
            choices.into_iter().map(|choice| (choice.value, choice.title)).unzip();
        Self::text().with("enum", values).with("enumNames", names)
    }

    /// Any of these texts (since 2025-11-25; earlier clients cannot be asked).
    pub fn any_of<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        Self::of("array").with("items", json!({ "type": "string", "enum": values }))
    }

    /// Any of these choices (since 2025-11-25; earlier clients cannot be asked).
    pub fn any_of_titled(choices: impl IntoIterator<Item = Choice>) -> Self {
        Self::of("array").with("items", json!({ "anyOf": titled(choices) }))
    }

    /// The same, required.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The same with a name for people.
    pub fn with_title(self, title: impl Into<String>) -> Self {
        self.with("title", title.into())
    }

    /// The same with a description.
    pub fn with_description(self, description: impl Into<String>) -> Self {
        self.with("description", description.into())
    }

    /// The same with a default (since 2025-11-25; for booleans since 2025-06-18). The field must accept it as an
    /// answer.
    pub fn with_default(self, default: impl Into<Value>) -> Self {
        self.with("default", default)
    }

    /// The same with bounds: for a number its value, for a text its length in characters, for several choices their
    /// number.
    pub fn with_bounds(self, least: Option<f64>, most: Option<f64>) -> Self {
        let (min, max) = match self.members.get("type").and_then(Value::as_str) {
            Some("string") => ("minLength", "maxLength"),
            Some("array") => ("minItems", "maxItems"),
            _ => ("minimum", "maximum"),
        };
        let bound = |bound: f64| {
            // Whole numbers are written as integers, which lengths must be.
            if bound.fract() == 0.0 && bound.abs() < 9e15 {
                #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
                return json!(bound as i64);
            }
            json!(bound)
        };
        let mut field = self;
        for (name, value) in [(min, least), (max, most)] {
            if let Some(value) = value {
                field = field.with(name, bound(value));
            }
        }
        field
    }

    /// The same with a regular expression that the text must match. A form with one is asked with the feature
    /// `validate` alone.
    pub fn with_pattern(self, pattern: impl Into<String>) -> Self {
        self.with("pattern", pattern.into())
    }

    pub(super) fn is_required(&self) -> bool {
        self.required
    }

    /// Whether clients before 2025-11-25 cannot show it.
    pub(super) fn has_several_choices(&self) -> bool {
        self.is_a("array")
    }

    /// Its schema as a revision defines it.
    pub(super) fn to_schema(&self, version: ProtocolVersion) -> Value {
        match self.members.get("oneOf") {
            Some(Value::Array(choices)) if version < ProtocolVersion::V2025_11_25 => {
                let all = |member| -> Vec<Value> {
                    let choices = choices.iter();
                    choices.filter_map(|one| one.get(member).cloned()).collect()
                };
                let mut field = self.clone();
                field.members.remove("oneOf");
                let field = field.with("enum", all("const"));
                Value::Object(field.with("enumNames", all("title")).members)
            }
            _ => Value::Object(self.members.clone()),
        }
    }

    /// What is wrong with the field itself, if anything: its author's mistake.
    pub(super) fn problem(&self) -> Option<String> {
        let empty = |choices: &Value| choices.as_array().is_some_and(Vec::is_empty);
        let items = self.members.get("items").and_then(Value::as_object);
        let mut lists = [Some(&self.members), items].into_iter().flatten();
        if lists.any(|members| CHOICES.iter().any(|name| members.get(*name).is_some_and(empty))) {
            return Some("it has no choices".to_owned());
        }
        let default = self.members.get("default");
        let schema = Value::Object(self.members.clone());
        // Null never fits a field, but checking it shows whether the schema is valid.
        match schema::check_field(&schema, default.unwrap_or(&Value::Null)) {
            Err(Unfit::Value(problem)) if default.is_some() => {
                Some(format!("its default is not an answer to it: {problem}"))
            }
            Err(problem @ Unfit::Schema(_)) => Some(problem.to_string()),
            _ => None,
        }
    }

    /// The accepted value, or what is wrong with it by the schema that the client was shown.
    pub(super) fn read(&self, value: &Value) -> Result<Value, String> {
        schema::check_field(&Value::Object(self.members.clone()), value)
            .map_err(|problem| problem.to_string())?;
        // JSON Schema accepts `1.0` as an integer. Handlers should not have to.
        let whole = self.is_a("integer").then(|| json::with_whole_numbers(value));
        Ok(whole.flatten().unwrap_or_else(|| value.clone()))
    }

    fn is_a(&self, kind: &str) -> bool {
        self.members.get("type").is_some_and(|known| known == kind)
    }

    fn of(kind: &str) -> Self {
        let mut members = Map::new();
        members.insert("type".to_owned(), Value::from(kind));
        Self { members, required: false }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }
}

impl Choice {
    /// What is sent, and what the user reads.
    pub fn new(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self { value: value.into(), title: title.into() }
    }
}

fn titled(choices: impl IntoIterator<Item = Choice>) -> Vec<Value> {
    choices
        .into_iter()
        .map(|choice| json!({ "const": choice.value, "title": choice.title }))
        .collect()
}
