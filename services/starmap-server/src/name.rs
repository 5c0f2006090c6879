//! Names as people and models write them: a name or an id, one name instead of a list.
//!
//! The published schemas allow all of these forms.

use std::borrow::Cow;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// The name of a system, a region or a constellation, or an id: as text or as a number.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "NameOrId")]
pub(crate) struct Name(String);

/// Names: a list, or a single one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "OneOrMany")]
pub(crate) struct List(Vec<Name>);

#[derive(Deserialize)]
#[serde(untagged)]
enum NameOrId {
    Text(String),
    Id(u64),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    Many(Vec<Name>),
    One(Name),
}

impl From<NameOrId> for Name {
    fn from(written: NameOrId) -> Self {
        match written {
            NameOrId::Text(text) => Self(text),
            NameOrId::Id(id) => Self(id.to_string()),
        }
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl From<OneOrMany> for List {
    fn from(written: OneOrMany) -> Self {
        match written {
            OneOrMany::Many(names) => Self(names),
            // No name begins so: it is a list that a client sent as JSON text.
            OneOrMany::One(name) if name.starts_with('[') => {
                Self(serde_json::from_str(&name).unwrap_or_else(|_| vec![name]))
            }
            OneOrMany::One(name) => Self(vec![name]),
        }
    }
}

impl FromIterator<Name> for List {
    fn from_iter<I: IntoIterator<Item = Name>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Deref for List {
    type Target = [Name];

    fn deref(&self) -> &[Name] {
        &self.0
    }
}

impl JsonSchema for Name {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}

impl JsonSchema for List {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "List".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let name = ["string", "integer"];
        json_schema!({ "type": ["array", "string", "integer"], "items": { "type": name } })
    }
}
