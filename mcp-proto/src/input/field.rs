//! The fields of a form: the flat kinds of JSON Schema that every client can show (schema: `PrimitiveSchemaDefinition`).

use serde_json::{Map, Value, json};

use crate::schema;

/// One field of an [`ElicitForm`](super::ElicitForm).
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Field {
    /// Its JSON Schema.
    members: Map<String, Value>,
    required: bool,
}

/// One choice of a field: what is sent, and what the user reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    value: String,
    title: String,
}

impl Field {
    /// A text.
    pub fn text() -> Self {
        Self::of("string")
    }

    /// A text of a format that the client checks too: `email`, `uri`, `date` or `date-time`.
    pub fn format(format: &str) -> Self {
        Self::text().with("format", format)
    }

    /// A number.
    pub fn number() -> Self {
        Self::of("number")
    }

    /// A whole number.
    pub fn integer() -> Self {
        Self::of("integer")
    }

    /// Yes or no.
    pub fn boolean() -> Self {
        Self::of("boolean")
    }

    /// One of these texts.
    pub fn one_of<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        Self::text().with("enum", values)
    }

    /// One of these choices (titles since 2025-11-25).
    pub fn one_of_titled(choices: impl IntoIterator<Item = Choice>) -> Self {
        Self::text().with("oneOf", titled(choices))
    }

    /// One of these choices in the form of 2025-06-18 (`enumNames`), for clients that know no other titles.
    pub fn one_of_named(choices: impl IntoIterator<Item = Choice>) -> Self {
        let (values, names): (Vec<_>, Vec<_>) = choices
            .into_iter()
            .map(|choice| (choice.value, choice.title))
            .unzip();
        Self::text().with("enum", values).with("enumNames", names)
    }

    /// Any of these texts (since 2025-11-25).
    pub fn any_of<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        Self::of("array").with("items", json!({ "type": "string", "enum": values }))
    }

    /// Any of these choices (since 2025-11-25).
    pub fn any_of_titled(choices: impl IntoIterator<Item = Choice>) -> Self {
        Self::of("array").with("items", json!({ "anyOf": titled(choices) }))
    }

    /// The same, to be filled in.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The same with a name for people.
    pub fn with_title(self, title: impl Into<String>) -> Self {
        self.with("title", title.into())
    }

    /// The same with what it means.
    pub fn with_description(self, description: impl Into<String>) -> Self {
        self.with("description", description.into())
    }

    /// The same with what it holds before the user touches it (since 2025-11-25; of booleans since 2025-06-18).
    pub fn with_default(self, default: impl Into<Value>) -> Self {
        self.with("default", default)
    }

    /// The same with bounds: of a number its value, of a text its length in characters, of several choices their
    /// number.
    pub fn with_bounds(self, least: Option<f64>, most: Option<f64>) -> Self {
        let (min, max) = match self.members.get("type").and_then(Value::as_str) {
            Some("string") => ("minLength", "maxLength"),
            Some("array") => ("minItems", "maxItems"),
            _ => ("minimum", "maximum"),
        };
        let bound = |bound: f64| {
            // Whole numbers are written as such: lengths must be.
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

    /// The same with a regular expression that the text must match.
    pub fn with_pattern(self, pattern: impl Into<String>) -> Self {
        self.with("pattern", pattern.into())
    }

    pub(super) fn is_required(&self) -> bool {
        self.required
    }

    pub(super) fn to_schema(&self) -> Value {
        Value::Object(self.members.clone())
    }

    /// What is wrong with a value, by the same schema that the client was shown.
    pub(super) fn check(&self, value: &Value) -> Result<(), String> {
        schema::check_once(&self.to_schema(), value)
    }

    fn of(kind: &str) -> Self {
        let mut members = Map::new();
        members.insert("type".to_owned(), Value::from(kind));
        Self {
            members,
            required: false,
        }
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }
}

impl Choice {
    /// What is sent, and what the user reads.
    #[must_use]
    pub fn new(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            title: title.into(),
        }
    }
}

fn titled(choices: impl IntoIterator<Item = Choice>) -> Vec<Value> {
    choices
        .into_iter()
        .map(|choice| json!({ "const": choice.value, "title": choice.title }))
        .collect()
}
