//! What the JSON formats have in common.

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
#[serde(untagged)]
pub(super) enum Name {
    Plain(String),
    Translated { en: String },
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
        let (Self::Plain(name) | Self::Translated { en: name }) = self;
        match name.trim() {
            long if long.len() > MAX_NAME_BYTES => long.chars().take(MAX_NAME_BYTES + 1).collect(),
            _ => name,
        }
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
