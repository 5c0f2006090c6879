//! The members of an entry. Some versions of Telegram write a member twice; what is said in either is kept.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

/// An entry of the list of messages.
#[derive(Debug)]
pub(super) struct Entry(pub(super) Value);

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Entry, A::Error> {
        let mut entry = Map::new();
        while let Some((name, value)) = members.next_entry::<String, Value>()? {
            let value = match entry.remove(&name) {
                Some(first) if is_empty(&value) => first,
                Some(first) if name == "text" && !is_empty(&first) && first != value => {
                    Value::Array(vec![first, Value::from(" "), value])
                }
                _ => value,
            };
            entry.insert(name, value);
        }
        Ok(Entry(Value::Object(entry)))
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}
