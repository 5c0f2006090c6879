//! `uniqueItems` by digests. The validator's own hashes of nested arrays and of large numbers collide easily, and then
//! it compares each item with every other: a megabyte of them takes minutes, even if their type is wrong.

use jsonschema::{Keyword, ValidationError};
use serde_json::Value;

use crate::schema::simple::are_unique;

/// The keyword.
pub(super) const KEYWORD: &str = "uniqueItems";

/// Its value at one place in the schema.
pub(super) struct UniqueItems {
    pub(super) is_wanted: bool,
}

impl<'i> Keyword<'i> for UniqueItems {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            Ok(())
        } else {
            Err(ValidationError::custom("its items are not unique"))
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        !self.is_wanted || instance.as_array().is_none_or(|items| are_unique(items))
    }
}
