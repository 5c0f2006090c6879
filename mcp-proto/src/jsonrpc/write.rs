//! Messages as JSON. Members come in the order in which people read them.

use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::{Message, Notification, Payload, Request, Response};

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("jsonrpc", "2.0")?;
        members.serialize_entry("id", &self.id)?;
        members.serialize_entry("method", &self.method)?;
        if !self.params.is_empty() {
            members.serialize_entry("params", &self.params)?;
        }
        members.end()
    }
}

impl Serialize for Notification {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("jsonrpc", "2.0")?;
        members.serialize_entry("method", &self.method)?;
        if !self.params.is_empty() {
            members.serialize_entry("params", &self.params)?;
        }
        members.end()
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
    pub(crate) fn append_to(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(br#"{"jsonrpc":"2.0""#);
        // An id and an error are made of strings and JSON values: these cannot fail short of a bug.
        let mut written = Ok(());
        if let Some(id) = &self.id {
            text.extend_from_slice(br#","id":"#);
            written = serde_json::to_writer(&mut *text, id);
        }
        match &self.outcome {
            Ok(payload) => {
                text.extend_from_slice(br#","result":"#);
                text.extend_from_slice(payload.as_str().as_bytes());
            }
            Err(error) => {
                text.extend_from_slice(br#","error":"#);
                written = written.and_then(|()| serde_json::to_writer(&mut *text, error));
            }
        }
        text.push(b'}');
        if let Err(error) = written {
            tracing::error!(%error, "an answer could not be serialised");
        }
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Request(request) => request.serialize(serializer),
            Self::Notification(notification) => notification.serialize(serializer),
            Self::Response(response) => response.serialize(serializer),
        }
    }
}
