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

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Request(request) => request.serialize(serializer),
            Self::Notification(notification) => notification.serialize(serializer),
            Self::Response(response) => response.serialize(serializer),
        }
    }
}
