//! What the formats made of JSON have in common.

use std::fmt;

use serde::Deserialize;

/// A place in metres.
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
    pub(super) fn english(self) -> String {
        match self {
            Self::Plain(name) | Self::Translated { en: name } => name,
        }
    }
}

/// Without the mark that some editors put before UTF-8.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// What is wrong with a line, the column before it: the parser counts lines from where it began.
pub(super) fn said(error: &serde_json::Error) -> impl fmt::Display {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default();
    format!("column {}: {reason}", error.column())
}
