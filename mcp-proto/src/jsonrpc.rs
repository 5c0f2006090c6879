//! JSON-RPC 2.0 as MCP narrows it: one message per text, ids are strings or integers, params are objects.
//!
//! Everything that arrives passes [`Message::from_slice`], which says what is wrong in words and keeps the id of a
//! broken request when it can be read, so that the sender can match the refusal to what it sent.

use std::fmt;

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::json::{self, JsonError};

/// One JSON-RPC message of MCP.
#[derive(Debug, Clone)]
pub enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// Answers an earlier request.
    Response(Response),
}

/// The id of a request: a string or an integer, never null (MCP base protocol, "Requests").
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum RequestId {
    /// An integer of 64 bits.
    Number(i64),
    /// Any string.
    String(String),
}

/// A call of `method`.
#[derive(Debug, Clone)]
pub struct Request {
    /// Chosen by the sender, echoed by the answer.
    pub id: RequestId,
    /// The method's name, such as `tools/call`.
    pub method: String,
    /// The members of `params`; empty when `params` is absent.
    pub params: Map<String, Value>,
}

/// A message that is not answered.
#[derive(Debug, Clone)]
pub struct Notification {
    /// The method's name, such as `notifications/progress`.
    pub method: String,
    /// The members of `params`; empty when `params` is absent.
    pub params: Map<String, Value>,
}

/// The answer to a request.
#[derive(Debug, Clone)]
pub struct Response {
    /// The id of the request; `None` only when it could not be read.
    pub id: Option<RequestId>,
    /// `result` or `error`.
    pub outcome: Result<Payload, ErrorObject>,
}

/// A `result`, kept as the JSON text that goes onto the wire: it is serialised once and copied from then on.
#[derive(Debug, Clone)]
pub struct Payload(Box<RawValue>);

/// The `error` of a response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// What kind of failure; see [`ErrorObject`]'s constants.
    pub code: i64,
    /// One sentence for the developer of the other side.
    pub message: String,
    /// What a program needs to react, such as the supported versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Why a text is not a [`Message`]; becomes the `error` of a response with the id, if there was one to read.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageError {
    /// The id of the broken request, when it could be read.
    pub id: Option<RequestId>,
    /// Code −32700 or −32600 and what was wrong.
    pub error: ErrorObject,
}

impl Message {
    /// Reads one message.
    ///
    /// # Errors
    /// −32700 when the text is not JSON (or not UTF-8, or nested deeper than [`json::MAX_DEPTH`]); −32600 when it is
    /// JSON but not one JSON-RPC message of MCP: a batch, another version, an id that is null or a fraction, params
    /// that are no object, a member given twice.
    pub fn from_slice(text: &[u8]) -> Result<Self, MessageError> {
        match json::parse(text) {
            Ok(value) => Self::from_value(value),
            Err(JsonError::Syntax(message)) => Err(MessageError {
                id: None,
                error: ErrorObject::parse(message),
            }),
            Err(JsonError::Duplicate(message)) => Err(MessageError::invalid(None, message)),
        }
    }

    /// Reads one message from JSON already parsed.
    ///
    /// # Errors
    /// −32600, as for [`Message::from_slice`].
    pub fn from_value(value: Value) -> Result<Self, MessageError> {
        let mut members = match value {
            Value::Object(members) => members,
            Value::Array(_) => {
                return Err(MessageError::invalid(
                    None,
                    "batches are not supported: send one message per request",
                ));
            }
            _ => {
                return Err(MessageError::invalid(
                    None,
                    "a message must be a JSON object",
                ));
            }
        };
        let id = match members.remove("id") {
            None => None,
            Some(id) => Some(
                RequestId::from_value(id)
                    .map_err(|message| MessageError::invalid(None, message))?,
            ),
        };
        match members.get("jsonrpc") {
            Some(Value::String(version)) if version == "2.0" => {}
            _ => {
                return Err(MessageError::invalid(
                    id,
                    "the member \"jsonrpc\" must be \"2.0\"",
                ));
            }
        }
        match members.remove("method") {
            Some(Value::String(method)) => Self::call(id, method, members.remove("params")),
            Some(_) => Err(MessageError::invalid(
                id,
                "the member \"method\" must be a string",
            )),
            None => Response::from_members(id, members).map(Self::Response),
        }
    }

    fn call(
        id: Option<RequestId>,
        method: String,
        params: Option<Value>,
    ) -> Result<Self, MessageError> {
        let params = match params {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => {
                return Err(MessageError::invalid(
                    id,
                    "the member \"params\" must be an object",
                ));
            }
        };
        Ok(match id {
            Some(id) => Self::Request(Request { id, method, params }),
            None => Self::Notification(Notification { method, params }),
        })
    }
}

impl RequestId {
    fn from_value(value: Value) -> Result<Self, &'static str> {
        match value {
            Value::String(id) => Ok(Self::String(id)),
            Value::Number(id) => id
                .as_i64()
                .map(Self::Number)
                .ok_or("the member \"id\" must be a string or an integer of 64 bits"),
            _ => Err("the member \"id\" must be a string or an integer"),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(id) => write!(formatter, "{id}"),
            Self::String(id) => write!(formatter, "{id:?}"),
        }
    }
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        Self::Number(id)
    }
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        Self::String(id.to_owned())
    }
}

impl Request {
    /// A request; `params` that are no object count as none.
    #[must_use]
    pub fn new(id: impl Into<RequestId>, method: impl Into<String>, params: Value) -> Self {
        Self {
            id: id.into(),
            method: method.into(),
            params: members(params),
        }
    }
}

impl Notification {
    /// A notification; `params` that are no object count as none.
    #[must_use]
    pub fn new(method: impl Into<String>, params: Value) -> Self {
        Self {
            method: method.into(),
            params: members(params),
        }
    }
}

impl Response {
    /// A success.
    #[must_use]
    pub fn result(id: RequestId, payload: Payload) -> Self {
        Self {
            id: Some(id),
            outcome: Ok(payload),
        }
    }

    /// A failure; `id` is `None` when the request's could not be read.
    #[must_use]
    pub fn error(id: Option<RequestId>, error: ErrorObject) -> Self {
        Self {
            id,
            outcome: Err(error),
        }
    }

    fn from_members(
        id: Option<RequestId>,
        mut members: Map<String, Value>,
    ) -> Result<Self, MessageError> {
        let outcome = match (members.remove("result"), members.remove("error")) {
            (Some(result), None) => Ok(Payload::of(&result).map_err(|error| MessageError {
                id: id.clone(),
                error,
            })?),
            (None, Some(error)) => Err(serde_json::from_value(error).map_err(|problem| {
                MessageError::invalid(
                    id.clone(),
                    format!("the member \"error\" is not an error object: {problem}"),
                )
            })?),
            (Some(_), Some(_)) => {
                return Err(MessageError::invalid(
                    id,
                    "a response has \"result\" or \"error\", not both",
                ));
            }
            (None, None) => {
                return Err(MessageError::invalid(
                    id,
                    "a message needs \"method\", \"result\" or \"error\"",
                ));
            }
        };
        if id.is_none() && outcome.is_ok() {
            return Err(MessageError::invalid(
                None,
                "a result needs the \"id\" of its request",
            ));
        }
        Ok(Self { id, outcome })
    }
}

impl Payload {
    /// Serialises `value`, which should be a JSON object.
    ///
    /// # Errors
    /// −32603 when the value cannot be written as JSON (a map whose keys are no strings, or the type's own refusal).
    pub fn of(value: &impl Serialize) -> Result<Self, ErrorObject> {
        serde_json::value::to_raw_value(value)
            .map(Self)
            .map_err(|error| {
                tracing::error!(%error, "a result could not be serialised");
                ErrorObject::internal()
            })
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The payload as a tree, for tests and clients.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_str(self.0.get()).unwrap_or_default()
    }
}

impl ErrorObject {
    /// The text is not JSON.
    pub const PARSE: i64 = -32700;
    /// JSON, but no message of MCP.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method here.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The method cannot take these params.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The server failed; details are in its log.
    pub const INTERNAL: i64 = -32603;
    /// HTTP headers and body disagree (2026-07-28, Streamable HTTP).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a client capability that it did not declare (2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The protocol version is not served (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;

    /// An error of `code` without data.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The same with `data`.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// −32700.
    #[must_use]
    pub fn parse(message: impl Into<String>) -> Self {
        Self::new(Self::PARSE, message)
    }

    /// −32600.
    #[must_use]
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_REQUEST, message)
    }

    /// −32601, naming the method.
    #[must_use]
    pub fn method_not_found(method: &str) -> Self {
        Self::new(Self::METHOD_NOT_FOUND, format!("unknown method {method:?}"))
    }

    /// −32602.
    #[must_use]
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    /// −32603, which tells nothing of the inside.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(
            Self::INTERNAL,
            "internal error; the server's log has the details",
        )
    }
}

impl MessageError {
    fn invalid(id: Option<RequestId>, message: impl Into<String>) -> Self {
        Self {
            id,
            error: ErrorObject::invalid_request(message),
        }
    }
}

impl From<MessageError> for Response {
    fn from(error: MessageError) -> Self {
        Self::error(error.id, error.error)
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
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

fn members(params: Value) -> Map<String, Value> {
    match params {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
