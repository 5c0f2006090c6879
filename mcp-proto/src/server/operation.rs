//! The report on each request that was answered, refused or cancelled, for metrics and audits.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(feature = "http")]
use http::Extensions;
#[cfg(feature = "http")]
use serde_json::Value;

use super::{Inner, Method};
use crate::context::Context;
#[cfg(feature = "http")]
use crate::context::{ClientSide, Incoming};
#[cfg(feature = "http")]
use crate::jsonrpc::Request;
use crate::jsonrpc::{Payload, RequestId};
use crate::legacy::method::Method as LegacyMethod;
use crate::lifecycle::Implementation;
#[cfg(feature = "http")]
use crate::service::named_by;
use crate::service::{Call, Outcome};
use crate::version::{Era, ProtocolVersion};

/// A request that has ended. Except for `request_id`, `uri`, `client` and the traces, which the client chooses, all
/// names are known to the server, so there are few different ones.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Operation {
    /// The method; `_OTHER` if the method is unknown.
    pub method: String,
    /// The tool of a `tools/call`, if it exists.
    pub tool: Option<String>,
    /// The prompt of a `prompts/get`, if it exists.
    pub prompt: Option<String>,
    /// The resource of a `resources/read`, if it exists: its URI or, for a family, the template.
    pub resource: Option<String>,
    /// The URI that a `resources/read` asks for, as the client wrote it.
    pub uri: Option<String>,
    /// Whether it is a call of a tool that is not declared read-only.
    pub writes: bool,
    /// The id of the request.
    pub request_id: RequestId,
    /// The session ([`Context::session`]), but for requests that were [`Forbidden`](OperationError::Forbidden).
    pub session: Option<Arc<str>>,
    /// The caller, if known: the [`Principal`](crate::Principal).
    pub principal: Option<String>,
    /// The name and version that the client reports; `None` if it reported none, and for requests that were
    /// [`Forbidden`](OperationError::Forbidden).
    pub client: Option<Arc<Implementation>>,
    /// The revision that it was handled in; [`ProtocolVersion::era`] gives its era. `None` for requests that were
    /// [`Forbidden`](OperationError::Forbidden).
    pub protocol_version: Option<ProtocolVersion>,
    /// The time until the answer could be sent. For a listen it is the duration of the listen.
    pub duration: Duration,
    /// Why it failed; `None` if it did not.
    pub error: Option<OperationError>,
    /// Whether the answer only asks the client for input (`input_required`): the client sends the request again with
    /// its answers, which is another operation.
    pub asks: bool,
    /// How many bytes the result has as JSON, before compression; 0 without a result.
    pub result_bytes: usize,
    /// The caller's span, [`Context::trace_parent`].
    pub trace_parent: Option<String>,
    /// The data that tracing systems on the path have added, [`Context::trace_state`].
    pub trace_state: Option<String>,
}

/// Why a request failed. Its text is the `error.type` of OpenTelemetry's conventions for MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationError {
    /// The code of its JSON-RPC error.
    Code(i64),
    /// Its tool reported it (`isError`): `tool_error`.
    Tool,
    /// Its caller lacks a scope: it was refused before it was handled, with HTTP 403.
    Forbidden,
    /// It was cancelled, or its client disconnected before the answer. This is the normal end of a listen.
    Cancelled,
}

/// An observer.
pub(super) type Observer = Box<dyn Fn(&Operation) + Send + Sync>;

/// A request that is being answered. It is reported when it is dropped: as cancelled, unless its end is known.
pub(super) struct Begun {
    server: Arc<Inner>,
    start: Instant,
    operation: Operation,
}

impl OperationError {
    pub(crate) fn of(outcome: &Outcome) -> Option<Self> {
        match outcome.result() {
            Err(error) => Some(Self::Code(error.code)),
            Ok(payload) => payload.is_failure().then_some(Self::Tool),
        }
    }
}

impl fmt::Display for OperationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Code(code) => return write!(formatter, "{code}"),
            Self::Tool => "tool_error",
            Self::Forbidden => "forbidden",
            Self::Cancelled => "cancelled",
        })
    }
}

impl Begun {
    /// Records a request, if requests are observed.
    pub(super) fn new(server: &Arc<Inner>, call: &Call) -> Option<Box<Self>> {
        if server.observers.is_empty() {
            return None;
        }
        let operation = server.operation(&call.method, call.name.as_deref(), &call.context);
        Some(Box::new(Self { operation, start: Instant::now(), server: Arc::clone(server) }))
    }

    /// Reports the request with its answer.
    pub(super) fn end(mut self: Box<Self>, outcome: &Outcome) {
        let result = outcome.result().ok();
        self.operation.error = OperationError::of(outcome);
        self.operation.asks = outcome.asks();
        self.operation.result_bytes = result.map_or(0, Payload::size);
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.operation.duration = self.start.elapsed();
        self.server.report(&self.operation);
    }
}

impl Inner {
    fn knows(&self, name: &str, context: &Context) -> bool {
        let era = context.era();
        let offered = &self.capabilities;
        Method::parse(name, era).is_some_and(|method| method.is_offered(offered))
            || era == Era::Legacy && LegacyMethod::find(name, offered).is_some()
            || self.methods.has(name)
    }

    /// A request that begins: its end would be that it is cancelled.
    fn operation(&self, method: &str, name: Option<&str>, context: &Context) -> Operation {
        let offered = self.offered();
        let of = |wanted: &str| name.filter(|_| method == wanted);
        let tool = of("tools/call").filter(|it| offered.tools.has(it));
        let prompt = of("prompts/get").filter(|it| offered.prompts.get(it).is_some());
        let uri = of("resources/read");
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Operation {
            method: if self.knows(method, context) { method } else { "_OTHER" }.to_owned(),
            tool: owned(tool),
            prompt: owned(prompt),
            resource: owned(uri.and_then(|uri| offered.resources.registered_as(uri))),
            uri: owned(uri),
            writes: tool.is_some_and(|tool| !offered.tools.only_reads(tool)),
            request_id: context.request_id.clone(),
            session: context.peer.clone(),
            principal: owned(context.principal()),
            client: context.client_info.clone(),
            protocol_version: Some(context.protocol_version),
            duration: Duration::ZERO,
            error: Some(OperationError::Cancelled),
            asks: false,
            result_bytes: 0,
            trace_parent: owned(context.trace_parent()),
            trace_state: owned(context.trace_state()),
        }
    }

    /// Reports a request that was refused because its caller lacks a scope.
    #[cfg(feature = "http")]
    pub(super) fn forbidden(&self, request: &Request, caller: &Extensions) {
        if self.observers.is_empty() {
            return;
        }
        let meta = request.params.get("_meta").and_then(Value::as_object);
        let incoming = Incoming {
            request_id: request.id.clone(),
            ..Incoming::unanswered(meta.cloned().unwrap_or_default(), caller.clone())
        };
        let context = Context::new(incoming, ClientSide::of_version(ProtocolVersion::LATEST));
        let name = named_by(&request.method).and_then(|member| request.params.get(member));
        self.report(&Operation {
            method: request.method.clone(),
            error: Some(OperationError::Forbidden),
            protocol_version: None,
            ..self.operation(&request.method, name.and_then(Value::as_str), &context)
        });
    }

    /// An observer that panics must not end a connection.
    fn report(&self, operation: &Operation) {
        for observer in &self.observers {
            if catch_unwind(AssertUnwindSafe(|| observer(operation))).is_err() {
                tracing::error!("an observer of requests panicked");
            }
        }
    }
}
