//! JSON-RPC 2.0 as MCP narrows it: one message per text, ids are strings or integers, params are objects.
//!
//! Everything that arrives passes [`Message::from_slice`], which describes errors in words and keeps the id of a broken
//! request when it can be read, so that the sender can match the refusal to what it sent.
//!
//! A refusal without a readable id leaves `id` out. JSON-RPC requires null; the schema of MCP allows a string, an
//! integer, or no `id`. Over stdio a text that is not JSON is refused with null.

mod error;
mod members;
mod payload;
mod write;

use std::fmt;
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::json::{self, JsonError, MAX_TREE_BYTES, Meter, Object, Strict, quoted};
use members::Members;

pub(crate) use write::append_all;

pub(crate) use error::Result;
pub use error::{ErrorObject, MessageError, ReadError};
pub use payload::Payload;

/// The longest request id that is accepted, in bytes of its string. It is repeated in every message about the request.
pub const MAX_REQUEST_ID_BYTES: usize = 256;

/// One JSON-RPC message of MCP.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Message {
    /// A request, which is answered.
    Request(Request),
    /// A notification, which is not answered.
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
    /// A string of at most [`MAX_REQUEST_ID_BYTES`]. Clones share it.
    String(Arc<str>),
}

/// A call of `method`.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "jsonrpc", rename = "2.0")]
pub struct Request {
    /// Chosen by the sender, echoed by the answer.
    pub id: RequestId,
    /// The method's name, such as `tools/call`.
    pub method: String,
    /// The members of `params`; empty when `params` is absent or null.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
}

/// A message that is not answered.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "jsonrpc", rename = "2.0")]
pub struct Notification {
    /// The method's name, such as `notifications/progress`.
    pub method: String,
    /// The members of `params`; empty when `params` is absent or null.
    #[serde(skip_serializing_if = "Map::is_empty")]
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

impl Message {
    /// Reads one message, which may cost [`MAX_TREE_BYTES`] of memory. An escaped lone surrogate
    /// becomes U+FFFD.
    ///
    /// # Errors
    /// −32700 when the text is not JSON (or not UTF-8, or nested deeper than [`json::MAX_DEPTH`]); −32600 when it is
    /// JSON but not one JSON-RPC message of MCP: a batch, another version, an id that is null, a fraction or too long,
    /// params that are not an object, a member given twice, `method` beside `result` or `error`; and for one that costs
    /// too much.
    pub fn from_slice(text: &[u8]) -> Result<Self, MessageError> {
        Ok(Self::from_slice_within(text, &Meter::new(MAX_TREE_BYTES))?)
    }

    /// Reads one message and counts the memory of its tree with `meter`, up to its allowance.
    ///
    /// # Errors
    /// As [`Message::from_slice`]; [`ReadError::TooCostly`] above the allowance.
    pub fn from_slice_within(text: &[u8], meter: &Meter) -> Result<Self, ReadError> {
        let before = meter.used();
        let read = if text.trim_ascii_start().starts_with(b"{") {
            json::parse(text, Object::new(meter)).map(Self::from_members)
        } else {
            json::parse(text, Strict(meter))
                .map(|value| Self::from_value(value).map_err(Into::into))
        };
        match read {
            Ok(message) => message,
            Err(JsonError::Syntax(message)) => match json::without_lone_surrogates(text) {
                Some(whole) => {
                    meter.go_back_to(before);
                    Self::from_slice_within(&whole, meter)
                }
                None => Err(MessageError { id: None, error: ErrorObject::parse(message) }.into()),
            },
            Err(JsonError::Refused(message)) => {
                let id = RequestId::peek(text);
                Err(if meter.is_over() {
                    ReadError::TooCostly { id, max: meter.max() }
                } else {
                    MessageError::invalid(id, message).into()
                })
            }
        }
    }

    /// Reads one message from JSON already parsed.
    ///
    /// # Errors
    /// −32600, as for [`Message::from_slice`].
    pub fn from_value(value: Value) -> Result<Self, MessageError> {
        let problem = match value {
            Value::Object(members) => return Ok(Self::from_members(members.into())?),
            Value::Array(_) => "batches are not supported: send one message per request",
            _ => "a message must be a JSON object",
        };
        Err(MessageError::invalid(None, problem))
    }

    fn from_members(members: Members) -> Result<Self, ReadError> {
        let id = match members.id {
            None => None,
            // JSON-RPC 2.0 §5: the answer to a request whose id could not be read.
            Some(Value::Null) if members.error.is_some() && members.method.is_none() => None,
            Some(id) => Some(RequestId::from_value(&id)?),
        };
        match members.jsonrpc {
            Some(Value::String(version)) if version == "2.0" => {}
            _ => {
                let problem = "the member \"jsonrpc\" must be \"2.0\"";
                return Err(MessageError::invalid(id, problem).into());
            }
        }
        if members.method.is_some() && (members.result.is_some() || members.error.is_some()) {
            let problem = "a message has \"method\", or \"result\" or \"error\", not both: the first is a request, the \
                           others are an answer";
            return Err(MessageError::invalid(id, problem).into());
        }
        Ok(match members.method {
            Some(Value::String(method)) => Self::call(id, method, members.params)?,
            Some(_) => {
                let problem = "the member \"method\" must be a string";
                return Err(MessageError::invalid(id, problem).into());
            }
            None => Self::Response(Response::from_members(id, members.result, members.error)?),
        })
    }

    fn call(
        id: Option<RequestId>,
        method: String,
        params: Option<Value>,
    ) -> Result<Self, MessageError> {
        let Some(params) = json::object_or_empty(params) else {
            return Err(MessageError::invalid(id, "the member \"params\" must be an object"));
        };
        Ok(match id {
            Some(id) => Self::Request(Request { id, method, params }),
            None => Self::Notification(Notification { method, params }),
        })
    }
}

impl RequestId {
    /// The id of a message that is JSON but otherwise invalid, unless the id is ambiguous.
    fn peek(text: &[u8]) -> Option<Self> {
        // Written with escapes, a character takes up to six times its bytes.
        const LONGEST: usize = 6 * MAX_REQUEST_ID_BYTES + 2;
        #[derive(Deserialize)]
        struct Identified<'t> {
            #[serde(borrow)]
            id: &'t RawValue,
        }
        let identified: Identified<'_> = serde_json::from_slice(text).ok()?;
        let id = identified.id.get();
        if id.len() > LONGEST {
            return None;
        }
        let id: Value = serde_json::from_str(id).ok()?;
        Self::from_value(&id).ok()
    }

    pub(crate) fn from_value(value: &Value) -> Result<Self, ReadError> {
        match value {
            Value::String(id) if id.len() > MAX_REQUEST_ID_BYTES => Err(ReadError::LongId),
            Value::String(id) => Ok(Self::String(id.as_str().into())),
            Value::Number(id) => {
                id.as_i64().or_else(|| json::whole(id)).map(Self::Number).ok_or(ReadError::WrongId)
            }
            _ => Err(ReadError::WrongId),
        }
    }

    /// The number that a text stands for as another client library writes it.
    pub(crate) fn as_number(&self) -> Option<Self> {
        let Self::String(text) = self else {
            return None;
        };
        let number = text.parse::<i64>().ok()?;
        (number.to_string() == **text).then_some(Self::Number(number))
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
        Self::String(id.into())
    }
}

impl Request {
    /// A request; `params` that are not an object count as empty.
    pub fn new(id: impl Into<RequestId>, method: impl Into<String>, params: Value) -> Self {
        Self { id: id.into(), method: method.into(), params: members(params) }
    }
}

/// A text without the byte order mark that may be before it (RFC 8259 §8.1).
pub(crate) fn without_mark(mut text: Bytes) -> Bytes {
    if text.starts_with("\u{feff}".as_bytes()) {
        text.advance("\u{feff}".len());
    }
    text
}

/// Takes `_meta` out of params; empty if it is absent or not an object.
pub(crate) fn take_meta(params: &mut Map<String, Value>) -> Map<String, Value> {
    match params.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    }
}

impl Notification {
    /// The request that a `notifications/cancelled` names; `None` for other notifications and invalid ids.
    pub fn cancelled_request(&self) -> Option<RequestId> {
        if self.method != "notifications/cancelled" {
            return None;
        }
        RequestId::from_value(self.params.get("requestId")?).ok()
    }

    /// A notification; `params` that are not an object count as empty.
    pub fn new(method: impl Into<String>, params: Value) -> Self {
        Self { method: method.into(), params: members(params) }
    }
}

impl Response {
    /// A successful response.
    pub fn result(id: RequestId, payload: Payload) -> Self {
        Self { id: Some(id), outcome: Ok(payload) }
    }

    /// An error response; `id` is `None` if the id of the request could not be read.
    pub fn error(id: Option<RequestId>, error: ErrorObject) -> Self {
        Self { id, outcome: Err(error) }
    }

    /// The approximate length of the message as JSON, so that a buffer need not grow while it is written.
    pub(crate) fn size_hint(&self) -> usize {
        const ENVELOPE: usize = 64;
        let id = match &self.id {
            Some(RequestId::String(id)) => id.len(),
            Some(RequestId::Number(_)) | None => 0,
        };
        let outcome = match &self.outcome {
            Ok(payload) => payload.size(),
            Err(error) => error.message.len(),
        };
        ENVELOPE + id + outcome
    }

    fn from_members(
        id: Option<RequestId>,
        result: Option<Value>,
        error: Option<Value>,
    ) -> Result<Self, MessageError> {
        let outcome = match (result, error) {
            (Some(result), None) => {
                Ok(Payload::of(&result).map_err(|error| MessageError { id: id.clone(), error })?)
            }
            (None, Some(error)) => Err(serde_json::from_value(error).map_err(|problem| {
                let problem = problem.to_string();
                MessageError::invalid(
                    id.clone(),
                    format!("the member \"error\" is not an error object: {}", quoted(&problem)),
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
            return Err(MessageError::invalid(None, "a result needs the \"id\" of its request"));
        }
        Ok(Self { id, outcome })
    }
}

fn members(params: Value) -> Map<String, Value> {
    match params {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
