//! The result of a tool call.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::ToolError;
use crate::content::ContentBlock;
use crate::json::{on_one_line, to_json};
use crate::service::Warned;
use crate::version::Era;

/// The result of `tools/call` (schema: `CallToolResult`).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
#[must_use]
pub struct CallToolResult {
    /// For the model to read.
    pub content: Vec<ContentBlock>,
    /// The same for programs, as JSON text. The legacy era supports only objects: any other value is left out there.
    pub structured_content: Option<Box<RawValue>>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Metadata.
    pub meta: Option<Map<String, Value>>,
    /// JSON text of a handler's typed result, instead of the two above. It is copied only when the result is written.
    pub(crate) typed: Option<String>,
    /// The same in parts that need not be written.
    pub(crate) prepared: Option<PreparedJson>,
    /// A text after the content.
    pub(crate) warnings: Option<String>,
}

/// The forms in which a structured result is sent: as the mirror text among its content, as `structuredContent`, or
/// both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Both,
    Text,
    Structure,
}

impl Shape {
    /// What is sent where the client takes it: the one switch between the forms.
    pub(crate) const SENT: Self = Self::Both;
}

/// JSON text that was written before, for [`CallToolResult::prepared`].
#[derive(Debug, Clone, Default)]
pub struct PreparedJson {
    json: Vec<Bytes>,
    quoted: Vec<Bytes>,
}

impl CallToolResult {
    /// One block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(text)], ..Self::default() }
    }

    /// Content of any kind.
    pub fn content(content: impl Into<Vec<ContentBlock>>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// The same as a failure that the model should read; [`ToolError`] also has a code.
    pub fn with_error(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// A typed result: `structuredContent`, mirrored as one block of text. It is serialised once.
    ///
    /// # Errors
    /// [`ToolError`] of code `INTERNAL_ERROR` when the value cannot be written as JSON.
    pub fn structured(value: &impl Serialize) -> Result<Self, ToolError> {
        Ok(Self::from_json(to_raw_value(value)?))
    }

    /// [`CallToolResult::structured`] for JSON text that exists already.
    pub fn from_json(json: Box<RawValue>) -> Self {
        Self {
            content: vec![ContentBlock::text(json.get())],
            structured_content: Some(json),
            ..Self::default()
        }
    }

    /// As [`structured`](Self::structured), for a large JSON text that exists already, in parts. The parts are
    /// sent without a copy, except over pipes, as an event, and for a failure.
    pub fn prepared(json: PreparedJson) -> Self {
        Self { prepared: Some(json), ..Self::default() }
    }

    /// As [`structured`](Self::structured), for a result that goes straight to the client.
    pub(super) fn typed(value: &impl Serialize) -> Result<Self, ToolError> {
        Ok(Self { typed: Some(to_json(value)?), ..Self::default() })
    }

    /// The JSON text of `structuredContent`.
    pub(crate) fn structured_json(&self) -> Option<&str> {
        let made = self.structured_content.as_deref().map(RawValue::get);
        self.typed.as_deref().or(made)
    }

    /// Whether it has structured content that an era has.
    pub(crate) fn has_structure(&self, era: Era) -> bool {
        let parts = self.prepared.as_ref().and_then(|parts| parts.json.first());
        let begin = parts.map(|part| &**part).or(self.structured_json().map(str::as_bytes));
        // Before 2026-07-28 it is an object; clients of those revisions get the same content as text.
        begin.is_some_and(|json| era == Era::Modern || json.starts_with(b"{"))
    }

    /// Whether its content is the structured content as text, and nothing else.
    pub(crate) fn is_mirrored(&self) -> bool {
        if self.typed.is_some() || self.prepared.is_some() {
            return true;
        }
        match (self.content.as_slice(), &self.structured_content) {
            ([ContentBlock::Text(only)], Some(json)) => only.text == json.get(),
            _ => false,
        }
    }

    /// The same with the warnings of its call, if there are any.
    pub(super) fn with_warnings(mut self, warned: Option<Arc<Warned>>) -> Self {
        self.warnings = warned.map(|warned| warned.text.clone());
        self
    }

    /// About how many bytes it has.
    pub(crate) fn size(&self) -> usize {
        self.size_as(Shape::SENT)
    }

    /// How many bytes it has in a shape at least: escapes in a text add to it.
    pub(crate) fn size_as(&self, shape: Shape) -> usize {
        let prepared = |parts: fn(&PreparedJson) -> &[Bytes]| {
            let parts = self.prepared.as_ref().map_or(&[] as &[_], parts);
            parts.iter().map(Bytes::len).sum::<usize>()
        };
        let text = || {
            let content = self.content.iter().map(ContentBlock::size).sum::<usize>();
            content + self.typed.as_ref().map_or(0, String::len) + prepared(|it| &it.quoted)
        };
        let structure = || self.structured_json().map_or(0, str::len) + prepared(|it| &it.json);
        let warnings = self.warnings.as_ref().map_or(0, String::len);
        warnings
            + match shape {
                Shape::Both => text() + structure(),
                Shape::Text => text(),
                Shape::Structure => structure(),
            }
    }
}

impl PreparedJson {
    /// Appends a piece of JSON text, and the same as it stands in a JSON string, by [`escaped`](crate::json::escaped).
    ///
    /// All pieces together must be one JSON value, UTF-8 and on one line: that is not checked. A piece ends with a
    /// whole character.
    pub fn push(&mut self, json: Bytes, escaped: Bytes) {
        let line = std::str::from_utf8(&json).map(on_one_line);
        self.json.push(match line {
            Ok(Cow::Owned(line)) => line.into(),
            _ => json,
        });
        self.quoted.push(escaped);
    }

    /// The JSON text as one.
    pub(crate) fn joined(&self) -> String {
        String::from_utf8(self.json.concat()).unwrap_or_default()
    }

    /// The pieces of the JSON text, and those of a string that has it.
    pub(crate) fn into_parts(self) -> (Vec<Bytes>, Vec<Bytes>) {
        (self.json, self.quoted)
    }
}
