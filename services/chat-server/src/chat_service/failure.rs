//! Errors of requests: the same for tools, resources, prompts and the command line.

use serde_json::{Value, json};

use crate::index::{ChatKey, IndexError};
use crate::query::Invalid;
use crate::view;

/// An error that the caller can act on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// In `UPPER_SNAKE`.
    pub code: &'static str,
    /// What is wrong and what is accepted.
    pub message: String,
    /// Details for programs; an object, or null for none.
    pub data: Value,
}

impl Failure {
    /// A failure without details.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: Value::Null }
    }

    pub(crate) fn with_data(mut self, data: Value) -> Self {
        self.data = data;
        self
    }

    pub(super) fn source_not_found<'s>(
        source: &str,
        sources: impl Iterator<Item = &'s str>,
    ) -> Self {
        let sources: Vec<&str> = sources.collect();
        Self::new("SOURCE_NOT_FOUND", format!("Source '{}' not found", short(source)))
            .with_data(json!({ "sources": sources }))
    }

    pub(super) fn chat_not_found(chat: &str, source: Option<&str>, nearest: &[view::Chat]) -> Self {
        let chat = short(chat);
        let message = match source {
            Some(source) => format!("Chat '{chat}' not found in source '{source}'"),
            None => format!("Chat '{chat}' not found"),
        };
        Self::new("CHAT_NOT_FOUND", message).with_data(json!({ "nearest": named(nearest) }))
    }

    pub(super) fn message_not_found(chat: &ChatKey, id: &str) -> Self {
        let message = format!(
            "Message '{}' not found in that chat of source '{}': ids are those of get_messages",
            short(id),
            chat.source
        );
        Self::new("MESSAGE_NOT_FOUND", message)
    }

    pub(super) fn ambiguous(chat: &str, candidates: &[view::Chat], total: usize) -> Self {
        let message = format!(
            "Chat '{}' may be any of {total}: give the id of one and its source",
            short(chat)
        );
        Self::new("AMBIGUOUS_CHAT", message).with_data(json!({ "candidates": named(candidates) }))
    }

    pub(super) fn not_connected(name: &str, source: &str, advice: &str, kept: u64) -> Self {
        let stored = match kept {
            0 => String::new(),
            kept => format!(
                ". {kept} messages of it are kept from before: give \"stored\": true for these"
            ),
        };
        let message = format!("Source '{name}' is not connected: {advice}{stored}");
        Self::new("SOURCE_NOT_CONNECTED", message).with_data(json!({ "source": source }))
    }

    /// A list of chats is wrong, so nothing of the source is served.
    pub(super) fn private(source: &str, unmatched: usize) -> Self {
        let message = format!(
            "Source '{source}' is not served: {unmatched} entries of its `allow` or `deny` list match no chat. The person \
             whose chats these are can see the nearest names with `chat-server check-config` and correct the list, or \
             set strict_privacy = false"
        );
        Self::new("SOURCE_NOT_SERVED", message)
    }

    /// A time limit was reached.
    pub(crate) fn timeout() -> Self {
        Self::new(
            "TIMEOUT",
            "it took longer than 60 seconds: ask for less, such as one chat or a shorter time",
        )
    }

    /// Whether something does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.code.ends_with("_NOT_FOUND")
    }

    /// Whether the question was wrong.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        matches!(self.code, "INVALID_PARAMETER" | "AMBIGUOUS_CHAT" | "STREAMING_NOT_SUPPORTED")
    }
}

fn named(chats: &[view::Chat]) -> Vec<Value> {
    let named = |chat: &view::Chat| {
        json!({
            "source": chat.source,
            "id": chat.id,
            "name": chat.name,
            "type": chat.kind,
            "message_count": chat.message_count,
        })
    };
    chats.iter().map(named).collect()
}

/// The given value, short enough for a sentence.
fn short(text: &str) -> String {
    const LONGEST: usize = 100;
    let clean = |c: char| if c.is_control() { '\u{FFFD}' } else { c };
    let mut chars = text.chars();
    let mut head: String = chars.by_ref().take(LONGEST).map(clean).collect();
    if chars.next().is_some() {
        head.push('…');
    }
    head
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Self::new("INVALID_PARAMETER", invalid.to_string())
            .with_data(json!({ "parameter": invalid.parameter }))
    }
}

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Invalid(invalid) => invalid.into(),
            other => {
                tracing::error!(error = %other, "a question could not be answered");
                Self::new("INDEX_UNAVAILABLE", other.to_string())
            }
        }
    }
}
