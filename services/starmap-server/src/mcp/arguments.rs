//! Arguments as people and models write them: a name or an id, one value instead of a list, words in upper or lower
//! case.
//!
//! The published schemas allow all of these forms. Values that are still invalid are refused here, and the error
//! suggests the nearest valid one.

use std::borrow::Cow;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::connections::Connection;
use crate::errors::{InvalidParameterError, UniverseError};
use crate::explore::Invalid;
use crate::map::Map;

use super::names::{Names, did_you_mean, nearest_names};
use super::records::Detail;

/// The name of a system, a region or a constellation, or an id: as text or as a number.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "NameOrId")]
pub(crate) struct Name(String);

/// Names: a list, or a single one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "OneOrMany")]
pub(crate) struct List(Vec<Name>);

/// What most tools take besides their own arguments.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Common {
    /// names, summary (default) or full
    pub(crate) detail: Option<String>,
    /// Take an unknown name for the only one that is a letter away.
    pub(crate) correct: Option<bool>,
}

impl Common {
    /// The requested detail for each system, and the resolver for the names in the call.
    pub(crate) fn begin<'m>(&self, map: &'m Map) -> Result<(Detail, Names<'m>), UniverseError> {
        let detail = Detail::of(self.detail.as_deref())?;
        Ok((detail, Names::new(map, self.correct)))
    }
}

/// The connections that a way may take besides the gates.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Ways {
    /// Jump bridges, wormholes
    #[schemars(length(max = 500))]
    pub(crate) connections: Option<Vec<Connection>>,
    /// false: without the connections that the server was started with
    pub(crate) own_connections: Option<bool>,
}

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

/// The value that a word stands for. Case is ignored, and blanks and hyphens count as underscores. `None` if no word is
/// given.
///
/// # Errors
/// An unknown word, with the nearest known one.
pub(crate) fn word<T: Copy>(
    parameter: &str,
    given: Option<&str>,
    words: &[(&str, T)],
) -> Result<Option<T>, UniverseError> {
    let Some(given) = given else {
        return Ok(None);
    };
    let plain = given.trim().to_lowercase().replace([' ', '-'], "_");
    if let Some((_, meant)) = words.iter().find(|(word, _)| *word == plain) {
        return Ok(Some(*meant));
    }
    let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let near = did_you_mean(nearest_names(&plain, all.iter().copied()).first());
    Err(invalid(parameter, given, &format!("it is one of {}{near}", all.join(", "))))
}

impl From<Invalid> for UniverseError {
    fn from(error: Invalid) -> Self {
        invalid(error.parameter, &error.value, &error.reason)
    }
}

/// The error for an invalid parameter.
pub(crate) fn invalid(parameter: &str, value: &str, reason: &str) -> UniverseError {
    InvalidParameterError::new(parameter, value, reason).into()
}
