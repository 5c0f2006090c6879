//! The members of a message, read but not judged yet.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::json::{Meter, Strict, twice};

/// The members that JSON-RPC defines. Other members are read just as strictly and then dropped.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub(super) jsonrpc: Option<Value>,
    pub(super) id: Option<Value>,
    pub(super) method: Option<Value>,
    pub(super) params: Option<Value>,
    pub(super) result: Option<Value>,
    pub(super) error: Option<Value>,
}

/// Reads an object as [`Members`], without a map in between: every request passes here.
pub(super) struct ReadMembers<'m>(pub(super) &'m Meter);

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Name {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    Other(String),
}

impl From<Map<String, Value>> for Members {
    fn from(mut members: Map<String, Value>) -> Self {
        let mut take = |name| members.remove(name);
        Self {
            jsonrpc: take("jsonrpc"),
            id: take("id"),
            method: take("method"),
            params: take("params"),
            result: take("result"),
            error: take("error"),
        }
    }
}

impl<'de> DeserializeSeed<'de> for ReadMembers<'_> {
    type Value = Members;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Members, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ReadMembers<'_> {
    type Value = Members;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut read: A) -> Result<Members, A::Error> {
        let mut members = Members::default();
        let mut others = BTreeSet::new();
        while let Some(name) = read.next_key::<Name>()? {
            let before = self.0.used();
            let value = read.next_value_seed(Strict(self.0))?;
            let (name, member) = match name {
                Name::Jsonrpc => ("jsonrpc", &mut members.jsonrpc),
                Name::Id => ("id", &mut members.id),
                Name::Method => ("method", &mut members.method),
                Name::Params => ("params", &mut members.params),
                Name::Result => ("result", &mut members.result),
                Name::Error => ("error", &mut members.error),
                Name::Other(name) => {
                    self.0.go_back_to(before);
                    self.0.name(&name)?;
                    if let Some(name) = others.replace(name) {
                        return Err(twice(&name));
                    }
                    continue;
                }
            };
            if member.replace(value).is_some() {
                return Err(twice(name));
            }
        }
        Ok(members)
    }
}
