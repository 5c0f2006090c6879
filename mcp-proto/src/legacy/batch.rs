//! Several messages as one JSON array (JSON-RPC 2.0 §6), which only the revision 2025-03-26 has.
//!
//! The answers come as one array over stdio, too: JSON-RPC requires it, and no revision of MCP contradicts it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::{self, JsonError, Meter};
use crate::jsonrpc::{ErrorObject, Message, MessageError, Request, Result};
use crate::lifecycle::ModernMeta;

/// Reads at most this many members of an array, as raw text; `None` if there are more.
struct ReadMembers {
    max: usize,
}

/// Whether a text, if it is JSON, is a batch.
pub(crate) fn is_batch(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"[")
}

/// Reads the messages of a batch, each on its own: an invalid one does not affect the others.
///
/// # Errors
/// As [`Message::from_slice`] if the text is not JSON; −32600 for an empty array and one of more than `max` messages.
/// Messages that are read when `meter` is over its allowance are refused with their ids.
pub(crate) fn read_batch(
    text: &[u8],
    max: usize,
    meter: &Meter,
) -> Result<Vec<Result<Message, MessageError>>, MessageError> {
    let members = match json::parse(text, ReadMembers { max }) {
        Ok(members) => members,
        Err(JsonError::Syntax(message) | JsonError::Refused(message)) => {
            return Err(MessageError { id: None, error: ErrorObject::parse(message) });
        }
    };
    let Some(members) = members else {
        let problem = format!("a batch has at most {max} messages");
        return Err(MessageError::invalid(None, problem));
    };
    if members.is_empty() {
        return Err(MessageError::invalid(None, "a batch has at least one message"));
    }
    let read = |member: &RawValue| read_member(member.get().as_bytes(), meter);
    Ok(members.into_iter().map(read).collect())
}

fn read_member(text: &[u8], meter: &Meter) -> Result<Message, MessageError> {
    if is_batch(text) {
        return Err(MessageError::invalid(None, "a batch holds messages, not batches"));
    }
    Ok(Message::from_slice_within(text, meter)?)
}

/// Refuses a request that must not be part of a batch: −32600.
pub(crate) fn check_in_batch(request: &Request) -> Result<()> {
    let what = if request.method == "initialize" {
        "initialize"
    } else if ModernMeta::is_claimed(&request.params) {
        "a request of 2026-07-28"
    } else {
        return Ok(());
    };
    Err(ErrorObject::invalid_request(format!("{what} cannot be part of a batch: send it alone")))
}

impl<'de> DeserializeSeed<'de> for ReadMembers {
    type Value = Option<Vec<&'de RawValue>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ReadMembers {
    type Value = Option<Vec<&'de RawValue>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut read: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while members.len() < self.max {
            match read.next_element()? {
                Some(member) => members.push(member),
                None => return Ok(Some(members)),
            }
        }
        let mut more = false;
        while read.next_element::<IgnoredAny>()?.is_some() {
            more = true;
        }
        Ok((!more).then_some(members))
    }
}
