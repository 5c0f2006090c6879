//! Forms that fill in a Rust type: its schema is the form, its value the answer.

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::{Choice, ElicitForm, Field};
use crate::schema::{self, SchemaError};

/// The keywords of a field besides its type and its choices.
const KEYWORDS: [&str; 11] = [
    "title",
    "description",
    "default",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
];

impl ElicitForm {
    /// The form of a type: a struct whose members are texts, numbers, booleans, enumerations without data or lists of
    /// such enumerations. An [`Option`] and a member with a default may be left empty.
    ///
    /// # Errors If a member cannot be a field. The error names the first one.
    pub fn of<T: JsonSchema>(message: impl Into<String>) -> Result<Self, SchemaError> {
        let schema = schema::input_schema_of::<T>()?;
        let open = schema.get("additionalProperties").is_some_and(|rest| *rest != false);
        let mixed = ["oneOf", "anyOf", "allOf"].iter().any(|of| schema.get(of).is_some());
        if open || mixed || schema.get("type").is_none_or(|kind| kind != "object") {
            let problem = "the type must be a struct with members of fixed names";
            return Err(SchemaError(problem.to_owned()));
        }
        let required = schema.get("required").and_then(Value::as_array);
        let members = schema.get("properties").and_then(Value::as_object);
        let mut form = Self::new(message);
        for (name, schema) in members.into_iter().flatten() {
            let field = Field::from_schema(schema)
                .map_err(|problem| SchemaError(format!("the member {name:?} {problem}")))?;
            let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
            form = form.field(name, if is_required { field.required() } else { field });
        }
        Ok(form)
    }
}

impl Field {
    fn from_schema(schema: &Value) -> Result<Self, String> {
        let no_field = || "is not a text, number, boolean or enumeration without data".to_owned();
        let members = schema.as_object().ok_or_else(no_field)?;
        let (field, choices) = match members.get("type").and_then(Value::as_str) {
            Some("array") => (Self::several_of(members).ok_or_else(no_field)?, "items"),
            kind => match (choices(members), kind) {
                (Some(choices), _) => (Self::one_of_titled_or_not(choices), "enum"),
                (None, Some("string")) => (Self::text(), ""),
                (None, Some("number")) => (Self::number(), ""),
                (None, Some("integer")) => (Self::integer(), ""),
                (None, Some("boolean")) => (Self::boolean(), ""),
                (None, _) => return Err(no_field()),
            },
        };
        let mut field = field;
        for (keyword, value) in members {
            match keyword.as_str() {
                "type" | "uniqueItems" => {}
                known if known == choices || (choices == "enum" && known == "oneOf") => {}
                "format" if !FORMATS.iter().any(|known| value == known) => {}
                known if KEYWORDS.contains(&known) => field = field.with(known, value.clone()),
                other => return Err(format!("says {other:?}, which forms do not know")),
            }
        }
        Ok(field)
    }

    fn several_of(list: &Map<String, Value>) -> Option<Self> {
        let choices = choices(list.get("items")?.as_object()?)?;
        Some(if titled(&choices) {
            Self::any_of_titled(choices)
        } else {
            Self::any_of(choices.into_iter().map(|choice| choice.value))
        })
    }

    fn one_of_titled_or_not(choices: Vec<Choice>) -> Self {
        if titled(&choices) {
            Self::one_of_titled(choices)
        } else {
            Self::one_of(choices.into_iter().map(|choice| choice.value))
        }
    }
}

/// The formats of a text that clients check.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// The choices of an enumeration without data, with the documentation of each as its title; `None` for anything else.
fn choices(schema: &Map<String, Value>) -> Option<Vec<Choice>> {
    let same = |value: &Value| value.as_str().map(|text| Choice::new(text, text));
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values.iter().map(same).collect();
    }
    let variants = schema.get("oneOf")?.as_array()?.iter().map(|variant| {
        let words = |name| variant.get(name).and_then(Value::as_str);
        // Variants without documentation are listed together.
        if let Some(Value::Array(values)) = variant.get("enum") {
            return values.iter().map(same).collect::<Option<Vec<_>>>();
        }
        let value = words("const")?;
        let title = words("title").or(words("description")).unwrap_or(value);
        Some(vec![Choice::new(value, title)])
    });
    let variants: Option<Vec<_>> = variants.collect();
    Some(variants?.concat())
}

fn titled(choices: &[Choice]) -> bool {
    choices.iter().any(|choice| choice.title != choice.value)
}
