//! Messages as JSON. Members come in the order in which people read them.

use bytes::{BufMut, Bytes};
use serde::ser::{Error as _, Serialize, SerializeMap as _, Serializer};
use serde_json::value::RawValue;

use super::payload::{ENVELOPE, Payload, Text};
use super::{RequestId, Response};
use crate::json;

/// The start of each message, and the text before its id and its result.
const MESSAGE: &[u8] = br#"{"jsonrpc":"2.0""#;
const ID: &[u8] = br#","id":"#;
const RESULT: &[u8] = br#","result":"#;

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json: &RawValue = serde_json::from_slice(self.as_bytes()).map_err(S::Error::custom)?;
        json.serialize(serializer)
    }
}

impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("jsonrpc", "2.0")?;
        // Absent, not null, when unknown: the schema of MCP types the id as string or integer.
        if let Some(id) = &self.id {
            members.serialize_entry("id", id)?;
        }
        match &self.outcome {
            Ok(payload) => members.serialize_entry("result", payload)?,
            Err(error) => members.serialize_entry("error", error)?,
        }
        members.end()
    }
}

impl Response {
    /// Appends the message to a text, as [`Serialize`] writes it: its result is JSON already and needs no serializer.
    pub(crate) fn append_to(&self, text: &mut impl BufMut) {
        write_until_outcome(text, self.id.as_ref());
        match &self.outcome {
            Ok(payload) => {
                text.put_slice(RESULT);
                text.put_slice(payload.as_bytes());
            }
            Err(error) => {
                text.put_slice(br#","error":"#);
                match json::to_json(error) {
                    Ok(error) => text.put_slice(error.as_bytes()),
                    // It is made of strings and JSON values: this cannot fail short of a bug.
                    Err(error) => tracing::error!(%error, "an answer could not be serialised"),
                }
            }
        }
        text.put_u8(b'}');
    }

    /// The message as a text. A result that was [written](Payload::start) with room before it is not copied.
    pub(crate) fn into_text(mut self) -> Bytes {
        if let Ok(Payload { text: Text::Own { text, from }, .. }) = self.outcome.as_mut()
            && let Some(text) = within(self.id.as_ref(), text, *from)
        {
            return text;
        }
        let mut text = Vec::with_capacity(self.size_hint());
        self.append_to(&mut text);
        text.into()
    }
}

/// Appends several answers as one array.
pub(crate) fn append_all(answers: &[Response], text: &mut impl BufMut) {
    text.put_u8(b'[');
    for (index, answer) in answers.iter().enumerate() {
        if index > 0 {
            text.put_u8(b',');
        }
        answer.append_to(text);
    }
    text.put_u8(b']');
}

/// Writes the text before a result into the space before it, if that is large enough, and the text after it.
fn within(id: Option<&RequestId>, text: &mut Vec<u8>, from: usize) -> Option<Bytes> {
    let mut before = [0; ENVELOPE];
    let mut room = before.get_mut(..from.min(ENVELOPE))?;
    let room_at_first = room.len();
    if id_size(id) + RESULT.len() + MESSAGE.len() > room_at_first {
        return None;
    }
    write_until_outcome(&mut room, id);
    room.put_slice(RESULT);
    let length = room_at_first - room.len();
    let mut text = std::mem::take(text);
    let start = from - length;
    text.get_mut(start..from)?.copy_from_slice(before.get(..length)?);
    text.push(b'}');
    Some(Bytes::from(text).split_off(start))
}

/// The most bytes that an id takes as JSON, with the text before it.
fn id_size(id: Option<&RequestId>) -> usize {
    match id {
        None => 0,
        Some(RequestId::Number(_)) => 20 + ID.len(),
        // Each byte may be escaped.
        Some(RequestId::String(id)) => 6 * id.len() + 2 + ID.len(),
    }
}

fn write_until_outcome(text: &mut impl BufMut, id: Option<&RequestId>) {
    text.put_slice(MESSAGE);
    let Some(id) = id else {
        return;
    };
    text.put_slice(ID);
    match id {
        RequestId::Number(id) => text.put_slice(itoa::Buffer::new().format(*id).as_bytes()),
        RequestId::String(id) => {
            let mut written = Vec::new();
            json::push_string(&mut written, id);
            text.put_slice(&written);
        }
    }
}
