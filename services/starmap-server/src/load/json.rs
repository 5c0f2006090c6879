//! What the JSON formats have in common.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::map::MAX_NAME_BYTES;

/// A position in metres.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Position {
    x: f64,
    y: f64,
    z: f64,
}

/// A name, in one language or in several.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Written")]
pub(super) struct Name {
    english: String,
    /// The names in other languages that differ from it.
    others: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Plain(String),
    Translated(BTreeMap<String, String>),
}

impl TryFrom<Written> for Name {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let mut names = match written {
            Written::Plain(english) => return Ok(Self { english, others: Vec::new() }),
            Written::Translated(names) => names,
        };
        let Some(english) = names.remove("en") else {
            let languages: Vec<String> = names.into_keys().take(12).collect();
            return Err(format!("the name has no en; it has {}", languages.join(", ")));
        };
        let mut others: Vec<String> = names.into_values().collect();
        others.retain(|name| *name != english && name.len() <= MAX_NAME_BYTES);
        others.sort_unstable();
        others.dedup();
        Ok(Self { english, others })
    }
}

impl Position {
    pub(super) fn metres(self) -> [f64; 3] {
        [self.x, self.y, self.z]
    }
}

impl Name {
    /// The name, or as much of it as is needed to see that it is too long. Many names of a megabyte each would fill the
    /// memory before the map is checked.
    pub(super) fn english(self) -> String {
        match self.english.trim() {
            long if long.len() > MAX_NAME_BYTES => long.chars().take(MAX_NAME_BYTES + 1).collect(),
            _ => self.english,
        }
    }

    /// The names in other languages, for the system with this id.
    pub(super) fn others(&mut self, id: u32) -> impl Iterator<Item = (String, u32)> {
        std::mem::take(&mut self.others).into_iter().map(move |name| (name, id))
    }
}

/// Removes the byte order mark that some editors write.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// The error in a line, with its column first. The parser counts lines from the start of its input, so its line number
/// is dropped.
pub(super) fn said(error: &serde_json::Error) -> impl fmt::Display {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default();
    format!("column {}: {reason}", error.column())
}
