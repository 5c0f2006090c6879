//! Shared code of the readers of a call: each field is filled once, and unusual input ends the reading.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

use crate::json::Meter;

/// Reads a text, which is counted.
pub(super) struct ReadText<'m>(pub(super) &'m Meter);

/// Ends the reading: the general reader finds the words for it, or that nothing is wrong.
pub(super) fn unusual<E: Error>() -> E {
    E::custom("not a plain tools/call")
}

/// Puts a value into its field, which must be free.
pub(super) fn put<T, E: Error>(field: &mut Option<T>, value: T) -> Result<(), E> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(unusual()),
    }
}

impl<'de> DeserializeSeed<'de> for ReadText<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for ReadText<'_> {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        self.0.string(text.len())?;
        Ok(text.to_owned())
    }
}
