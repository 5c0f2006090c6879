//! The members of a message, read but not judged yet.

use std::collections::BTreeSet;

use serde::de::MapAccess;
use serde_json::{Map, Value};

use crate::json::{Fields, Member, twice};

/// The members that JSON-RPC defines. Other members are read just as strictly and then dropped.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub(super) jsonrpc: Option<Value>,
    pub(super) id: Option<Value>,
    pub(super) method: Option<Value>,
    pub(super) params: Option<Value>,
    pub(super) result: Option<Value>,
    pub(super) error: Option<Value>,
    /// The names of the others.
    others: BTreeSet<String>,
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
            others: BTreeSet::new(),
        }
    }
}

impl Fields for Members {
    fn take<'de, A: MapAccess<'de>>(&mut self, mut member: Member<'_, A>) -> Result<(), A::Error> {
        let before = member.meter.used();
        let value = member.tree()?;
        let field = match member.name {
            "jsonrpc" => &mut self.jsonrpc,
            "id" => &mut self.id,
            "method" => &mut self.method,
            "params" => &mut self.params,
            "result" => &mut self.result,
            "error" => &mut self.error,
            other => {
                member.meter.go_back_to(before);
                member.meter.name(other)?;
                return if self.others.insert(other.to_owned()) {
                    Ok(())
                } else {
                    Err(twice(other))
                };
            }
        };
        member.put(field, value)
    }
}
