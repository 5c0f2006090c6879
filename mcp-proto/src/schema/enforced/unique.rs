//! `uniqueItems` by digests. The validator's own hashes of nested arrays and of large numbers collide easily, and then
//! it compares each item with every other: a megabyte of them takes minutes, even if their type is wrong.

use std::collections::HashSet;

use jsonschema::{Keyword, ValidationError};
use serde_json::Value;

use crate::seal::digest_value;

/// The keyword.
pub(super) const KEYWORD: &str = "uniqueItems";

/// Its value at one place in the schema.
pub(super) struct UniqueItems {
    wanted: bool,
}

impl UniqueItems {
    pub(super) fn new(wanted: &Value) -> Self {
        Self { wanted: *wanted == Value::Bool(true) }
    }
}

impl<'i> Keyword<'i> for UniqueItems {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        match self.is_valid(instance) {
            true => Ok(()),
            false => Err(ValidationError::custom("the value has non-unique elements")),
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        let Value::Array(items) = instance else {
            return true;
        };
        if !self.wanted || items.len() < 2 {
            return true;
        }
        let mut seen = HashSet::with_capacity(items.len());
        items.iter().all(|item| seen.insert(digest_value(item)))
    }
}
