//! Requests between a transport and the dispatcher: a `tools/call` as its parts, any other as its method and params.
//!
//! Nearly all requests are tool calls in the same form. Such a call is read directly into the types that the server
//! uses, without a tree of its params. Every other form, and every error, is left to [`Message`], so that all errors
//! are worded in one place.

mod read;

use serde_json::{Map, Value};

use crate::json::{self, Meter, Object};
use crate::jsonrpc::{
    self, Message, Notification, ReadError, Request, RequestId, Response, Result,
};
use crate::lifecycle::ModernMeta;
use read::PlainCall;

/// The method of calls.
pub(crate) const TOOLS_CALL: &str = "tools/call";

/// Texts of more bytes than this are not tried as a [`CallToolRequest`] first, since reading one twice would take too
/// long.
const MAX_BYTES: usize = 64 * 1024;

/// A message that has arrived.
#[derive(Debug)]
pub(crate) enum IncomingMessage {
    /// A request, which is answered.
    Request(Called),
    /// A notification, which is not answered.
    Notification(Notification),
    /// Answers an earlier request of ours.
    Response(Response),
}

/// A request. It is moved many times before it is answered, so it is small.
#[derive(Debug)]
pub(crate) enum Called {
    /// A tool call that was read directly.
    Tool(Box<CallToolRequest>),
    /// Any other request, and tool calls in an unusual form.
    Other(Box<Request>),
}

/// A `tools/call` (schema: `CallToolRequest`) that has no other params than a tool's name, its arguments and `_meta`.
#[derive(Debug)]
pub(crate) struct CallToolRequest {
    pub(crate) id: RequestId,
    /// The tool's name.
    pub(crate) name: String,
    /// An object, or null; `None` where the member is absent.
    pub(crate) arguments: Option<Value>,
    /// The validated metadata of a modern request; `None` in a request of the older era.
    modern: Option<ModernMeta>,
    /// `_meta` of a request of the older era.
    meta: Option<Map<String, Value>>,
}

impl IncomingMessage {
    /// Reads one message and counts by `meter` what it costs in memory.
    ///
    /// # Errors
    /// As [`Message::from_slice_within`].
    pub(crate) fn read(text: &[u8], meter: &Meter) -> Result<Self, ReadError> {
        if let Some(call) = CallToolRequest::read(text, meter) {
            return Ok(Self::Request(Called::Tool(call)));
        }
        Ok(match Message::from_slice_within(text, meter)? {
            Message::Request(request) => Self::Request(request.into()),
            Message::Notification(notification) => Self::Notification(notification),
            Message::Response(response) => Self::Response(response),
        })
    }
}

impl CallToolRequest {
    /// Reads one call; `None` where the text is anything else. Then nothing was counted.
    fn read(text: &[u8], meter: &Meter) -> Option<Box<Self>> {
        if text.len() > MAX_BYTES || !text.starts_with(b"{") {
            return None;
        }
        let text = std::str::from_utf8(text).ok()?;
        let before = meter.used();
        let read = json::from_text(text, Object::<PlainCall>::new(meter));
        let read = read.ok().and_then(PlainCall::into_request);
        if read.is_none() {
            meter.go_back_to(before);
        }
        read
    }
}

impl Called {
    pub(crate) fn id(&self) -> &RequestId {
        match self {
            Self::Tool(call) => &call.id,
            Self::Other(request) => &request.id,
        }
    }

    pub(crate) fn method(&self) -> &str {
        match self {
            Self::Tool(_) => TOOLS_CALL,
            Self::Other(request) => &request.method,
        }
    }

    /// A string among the params.
    pub(crate) fn text(&self, member: &str) -> Option<&str> {
        match self {
            Self::Tool(call) => (member == "name").then_some(&*call.name),
            Self::Other(request) => request.params.get(member).and_then(Value::as_str),
        }
    }

    /// The arguments of a call.
    pub(crate) fn arguments(&self) -> Option<&Value> {
        match self {
            Self::Tool(call) => call.arguments.as_ref(),
            Self::Other(request) => request.params.get("arguments"),
        }
    }

    /// Whether it claims to be modern: its `_meta` names a version, known or not.
    pub(crate) fn is_claimed(&self) -> bool {
        match self {
            Self::Tool(call) => call.modern.is_some(),
            Self::Other(request) => ModernMeta::is_claimed(&request.params),
        }
    }

    /// Takes the metadata of a modern request.
    ///
    /// # Errors
    /// As [`ModernMeta::take`].
    pub(crate) fn take_modern(&mut self) -> Result<ModernMeta> {
        match self {
            Self::Tool(call) => call.modern.take().ok_or_else(ModernMeta::unclaimed),
            Self::Other(request) => ModernMeta::take(&mut request.params),
        }
    }

    /// Takes `_meta` of a request of the older era; empty if it is absent or not an object.
    pub(crate) fn take_meta(&mut self) -> Map<String, Value> {
        match self {
            Self::Tool(call) => call.meta.take().unwrap_or_default(),
            Self::Other(request) => jsonrpc::take_meta(&mut request.params),
        }
    }
}

impl From<CallToolRequest> for Request {
    /// The params, without the members that were already taken from them.
    fn from(call: CallToolRequest) -> Self {
        let mut params = Map::new();
        params.insert("name".to_owned(), call.name.into());
        if let Some(arguments) = call.arguments {
            params.insert("arguments".to_owned(), arguments);
        }
        if let Some(meta) = call.meta {
            params.insert("_meta".to_owned(), meta.into());
        }
        Self { id: call.id, method: TOOLS_CALL.to_owned(), params }
    }
}

impl From<Called> for Request {
    fn from(called: Called) -> Self {
        match called {
            Called::Tool(call) => (*call).into(),
            Called::Other(request) => *request,
        }
    }
}

impl From<Request> for Called {
    fn from(request: Request) -> Self {
        Self::Other(request.into())
    }
}

#[cfg(test)]
mod tests;
