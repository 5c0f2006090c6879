//! The result of a request as the JSON text that goes onto the wire.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::{ErrorObject, Result};
use crate::budget::{Client, Held, Over};
use crate::json;

/// The space reserved before a result: enough for ids that are numbers or short strings.
pub(super) const ENVELOPE: usize = 96;

/// A `result`, kept as the JSON text that goes onto the wire: it is serialised once and then copied.
#[derive(Debug, Clone)]
pub struct Payload {
    pub(super) text: Text,
    /// The amount that its client holds for it, if it is large.
    held: Option<Arc<Held>>,
    /// It is the result of a tool that failed.
    is_failure: bool,
    /// It only asks the client for input.
    asks: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Text {
    Own {
        /// In UTF-8.
        text: Vec<u8>,
        /// Where it begins: before it is room for what a message puts there.
        from: usize,
    },
    /// The same for many answers.
    Shared(Bytes),
    /// Large parts that were written before.
    Parts(Arc<PartsText>),
}

/// A text in parts. They are joined for callers that need the whole text.
#[derive(Debug)]
pub(super) struct PartsText {
    parts: Vec<Bytes>,
    whole: OnceLock<Vec<u8>>,
}

impl Payload {
    /// Serialises `value`, which should be a JSON object.
    ///
    /// # Errors
    /// −32603 when the value cannot be written as JSON (a map whose keys are not strings, or an error of the type's
    /// `Serialize`).
    pub fn of(value: &impl Serialize) -> Result<Self> {
        json::to_json(value)
            .map(|json| Self::own(json.into_bytes(), 0))
            .map_err(|error| ErrorObject::not_serialised(&error))
    }

    /// A text to write a result into, with this capacity in bytes.
    pub(crate) fn start(capacity: usize) -> Vec<u8> {
        let mut text = Vec::with_capacity(ENVELOPE + capacity);
        text.extend_from_slice(&[b' '; ENVELOPE]);
        text
    }

    /// What was written into the text of [`start`](Self::start): one JSON object, without line breaks.
    pub(crate) fn started(text: Vec<u8>) -> Self {
        Self::own(text, ENVELOPE)
    }

    /// One JSON object in parts, without line breaks.
    pub(crate) fn in_parts(parts: Vec<Bytes>) -> Self {
        let whole = OnceLock::new();
        Self::with(Text::Parts(Arc::new(PartsText { parts, whole })))
    }

    fn own(text: Vec<u8>, from: usize) -> Self {
        Self::with(Text::Own { text, from })
    }

    fn with(text: Text) -> Self {
        Self { text, held: None, is_failure: false, asks: false }
    }

    /// The same payload, as the result of a tool that may have failed.
    pub(crate) fn of_tool(self, is_failure: bool) -> Self {
        Self { is_failure, ..self }
    }

    /// The same payload, which only asks the client for input.
    pub(crate) fn of_question(self) -> Self {
        Self { asks: true, ..self }
    }

    /// Whether it only asks the client for input.
    pub(crate) fn asks(&self) -> bool {
        self.asks
    }

    /// Whether it is the result of a tool that failed.
    pub(crate) fn is_failure(&self) -> bool {
        self.is_failure
    }

    /// The same payload; its clones share the text.
    #[must_use]
    pub(crate) fn shared(self) -> Self {
        let text = match self.text {
            own @ Text::Own { .. } => Text::Shared(Bytes::copy_from_slice(own.as_bytes())),
            shared => shared,
        };
        Self { text, ..self }
    }

    /// The same payload, which is counted until it is written.
    #[must_use]
    pub(crate) fn held_by(self, held: Held) -> Self {
        Self { held: Some(Arc::new(held)), ..self }
    }

    /// The JSON text for a body, counted until it is written: as long as it was, or from now on by `client`.
    ///
    /// # Errors
    /// When the client has reached its bound.
    pub(crate) fn into_counted(self, client: &Client) -> Result<Vec<Bytes>, Over> {
        let size = self.size();
        let parts = match self.text {
            Text::Own { text, from } => vec![Bytes::from(text).split_off(from)],
            Text::Shared(json) => vec![json],
            Text::Parts(text) => text.parts.clone(),
        };
        let held = match self.held.and_then(Arc::into_inner) {
            Some(held) => held,
            None => client.hold_answer(size)?,
        };
        Ok(held.keep_parts(parts))
    }

    /// How many bytes the JSON text has.
    pub(crate) fn size(&self) -> usize {
        match &self.text {
            Text::Parts(text) => text.parts.iter().map(Bytes::len).sum(),
            text => text.as_bytes().len(),
        }
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_else(|error| {
            tracing::error!(%error, "a payload is not UTF-8");
            ""
        })
    }

    /// The JSON text in UTF-8.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The payload as a tree, for tests and clients.
    pub fn to_value(&self) -> Value {
        serde_json::from_slice(self.as_bytes()).unwrap_or_default()
    }
}

impl Text {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Own { text, from } => known_range::items(text, *from..),
            Self::Shared(json) => json,
            Self::Parts(text) => text.whole.get_or_init(|| text.parts.concat()),
        }
    }
}
