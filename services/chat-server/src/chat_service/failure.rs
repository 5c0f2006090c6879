//! Errors of requests: the same for tools, resources, prompts and the command line.

use serde_json::{Value, json};
use service_host::{Failure, quotable};

use crate::index::{ChatKey, IndexError};
use crate::query::Invalid;
use crate::view;

pub(super) fn source_not_found<'s>(
    source: &str,
    sources: impl Iterator<Item = &'s str>,
) -> Failure {
    let sources: Vec<&str> = sources.collect();
    Failure::not_found(
        "SOURCE_NOT_FOUND",
        format!("Source '{}' not found", quotable(source, SHOWN)),
    )
    .with_data(json!({ "sources": sources }))
}

pub(super) fn chat_not_found(chat: &str, source: Option<&str>, nearest: &[view::Chat]) -> Failure {
    let chat = quotable(chat, SHOWN);
    let message = match source {
        Some(source) => format!("Chat '{chat}' not found in source '{source}'"),
        None => format!("Chat '{chat}' not found"),
    };
    Failure::not_found("CHAT_NOT_FOUND", message).with_data(json!({ "nearest": named(nearest) }))
}

pub(super) fn message_not_found(chat: &ChatKey, id: &str) -> Failure {
    let message = format!(
        "Message '{}' not found in that chat of source '{}': ids are those of get_messages",
        quotable(id, SHOWN),
        chat.source
    );
    Failure::not_found("MESSAGE_NOT_FOUND", message)
}

pub(super) fn ambiguous(chat: &str, candidates: &[view::Chat], total: usize) -> Failure {
    let message = format!(
        "Chat '{}' may be any of {total}: give the id of one and its source",
        quotable(chat, SHOWN)
    );
    Failure::invalid("AMBIGUOUS_CHAT", message)
        .with_data(json!({ "candidates": named(candidates) }))
}

pub(super) fn not_connected(name: &str, source: &str, advice: &str, kept: u64) -> Failure {
    let stored = match kept {
        0 => String::new(),
        kept => {
            format!(". {kept} messages of it are kept from before: give \"stored\": true for these")
        }
    };
    let message = format!("Source '{name}' is not connected: {advice}{stored}");
    Failure::new("SOURCE_NOT_CONNECTED", message).with_data(json!({ "source": source }))
}

/// A list of chats is wrong, so nothing of the source is served.
pub(super) fn private(source: &str, unmatched: usize) -> Failure {
    let message = format!(
        "Source '{source}' is not served: {unmatched} entries of its `allow` or `deny` list match no chat. The person \
         whose chats these are can see the nearest names with `chat-server check-config` and correct the list, or \
         set strict_privacy = false"
    );
    Failure::new("SOURCE_NOT_SERVED", message)
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

/// The most characters of a given value in a sentence.
const SHOWN: usize = 100;

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Self::invalid("INVALID_PARAMETER", invalid.to_string())
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
