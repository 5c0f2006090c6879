//! The report on each request that was answered, refused or cancelled, for metrics and audits.

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
use crate::context::{Principal, trace};
use crate::jsonrpc::Payload;
#[cfg(feature = "http")]
use crate::jsonrpc::Request;
use crate::legacy::method::Method as LegacyMethod;
use crate::lifecycle::Implementation;
#[cfg(feature = "http")]
use crate::service::named_by;
use crate::service::{Call, Outcome};
use crate::version::{Era, ProtocolVersion};

/// A request that has ended. Except for `uri`, `client` and the traces, which the client chooses, all names are known
/// to the server, so there are few different ones.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Operation<'o> {
    /// The method; `_OTHER` if the method is unknown.
    pub method: &'o str,
    /// The tool of a `tools/call`, if it exists.
    pub tool: Option<&'o str>,
    /// The prompt of a `prompts/get`, if it exists.
    pub prompt: Option<&'o str>,
    /// The resource of a `resources/read`, if it exists: its URI or, for a family, the template.
    pub resource: Option<&'o str>,
    /// The URI that a `resources/read` asks for, as the client wrote it.
    pub uri: Option<&'o str>,
    /// Whether it is a call of a tool that is not declared read-only.
    pub writes: bool,
    /// The caller, if known: the [`Principal`](crate::Principal).
    pub principal: Option<&'o str>,
    /// The name and version that the client reports; `None` if it reported none, and for requests that were
    /// [`Forbidden`](OperationError::Forbidden).
    pub client: Option<&'o Implementation>,
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
    pub trace_parent: Option<&'o str>,
    /// The data that tracing systems on the path have added, [`Context::trace_state`].
    pub trace_state: Option<&'o str>,
}

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationError {
    /// The code of its JSON-RPC error.
    Code(i64),
    /// Its tool reported it (`isError`).
    Tool,
    /// Its caller lacks a scope: it was refused before it was handled, with HTTP 403.
    Forbidden,
    /// It was cancelled, or its client disconnected before the answer. This is the normal end of a listen.
    Cancelled,
}

/// The observer.
pub(super) type Observer = Box<dyn Fn(Operation<'_>) + Send + Sync>;

/// A request that is being answered. One that is dropped before its answer was cancelled.
pub(super) struct Begun(Option<Observed>);

struct Observed {
    server: Arc<Inner>,
    /// `None` if no method has that name.
    method: Option<String>,
    named: Named,
    principal: Option<String>,
    client: Option<Arc<Implementation>>,
    protocol_version: ProtocolVersion,
    start: Instant,
    trace_parent: Option<String>,
    trace_state: Option<String>,
}

/// The items on offer that a request names.
#[derive(Default)]
struct Named {
    tool: Option<String>,
    prompt: Option<String>,
    resource: Option<String>,
    uri: Option<String>,
    writes: bool,
}

impl Begun {
    /// Records a request, if requests are observed.
    pub(super) fn new(server: &Arc<Inner>, call: &Call) -> Option<Box<Self>> {
        server.observer.as_ref()?;
        let (method, context) = (&*call.method, &call.context);
        Some(Box::new(Self(Some(Observed {
            method: server.knows(method, context).then(|| method.to_owned()),
            named: server.named(method, call.name.as_deref()),
            principal: context.principal().map(str::to_owned),
            client: context.client_info.clone(),
            protocol_version: context.protocol_version,
            start: Instant::now(),
            trace_parent: context.trace_parent().map(str::to_owned),
            trace_state: context.trace_state().map(str::to_owned),
            server: Arc::clone(server),
        }))))
    }

    /// Reports the request with its answer.
    pub(super) fn end(mut self: Box<Self>, outcome: &Outcome) {
        let Some(observed) = self.0.take() else {
            return;
        };
        match outcome.result() {
            Err(error) => observed.report(Some(OperationError::Code(error.code)), None),
            Ok(payload) => {
                let failed = payload.is_failure().then_some(OperationError::Tool);
                observed.report(failed, Some(payload));
            }
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(observed) = self.0.take() {
            observed.report(Some(OperationError::Cancelled), None);
        }
    }
}

impl Observed {
    fn report(&self, error: Option<OperationError>, result: Option<&Payload>) {
        self.server.report(Operation {
            duration: self.start.elapsed(),
            error,
            asks: result.is_some_and(Payload::asks),
            result_bytes: result.map_or(0, Payload::size),
            client: self.client.as_deref(),
            protocol_version: Some(self.protocol_version),
            principal: self.principal.as_deref(),
            trace_parent: self.trace_parent.as_deref(),
            trace_state: self.trace_state.as_deref(),
            ..self.named.operation(self.method.as_deref().unwrap_or("_OTHER"))
        });
    }
}

impl Named {
    fn operation<'o>(&'o self, method: &'o str) -> Operation<'o> {
        Operation {
            method,
            tool: self.tool.as_deref(),
            prompt: self.prompt.as_deref(),
            resource: self.resource.as_deref(),
            uri: self.uri.as_deref(),
            writes: self.writes,
            principal: None,
            client: None,
            protocol_version: None,
            duration: Duration::ZERO,
            error: None,
            asks: false,
            result_bytes: 0,
            trace_parent: None,
            trace_state: None,
        }
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

    /// The item of this name that a request is about.
    fn named(&self, method: &str, name: Option<&str>) -> Named {
        let owned = |text: &str| Some(text.to_owned());
        let mut named = Named::default();
        let offered = self.offered();
        match method {
            "tools/call" => {
                named.tool = name.filter(|it| offered.tools.has(it)).and_then(owned);
                let reads = |tool: &String| offered.tools.only_reads(tool);
                named.writes = named.tool.as_ref().is_some_and(|tool| !reads(tool));
            }
            "prompts/get" => {
                let known = |it: &&str| offered.prompts.get(it).is_some();
                named.prompt = name.filter(known).and_then(owned);
            }
            "resources/read" => {
                let registered = name.and_then(|uri| offered.resources.registered_as(uri));
                named.resource = registered.and_then(owned);
                named.uri = name.and_then(owned);
            }
            _ => {}
        }
        named
    }

    /// Reports a request that was refused because its caller lacks a scope.
    #[cfg(feature = "http")]
    pub(super) fn forbidden(&self, request: &Request, caller: &Extensions) {
        if self.observer.is_none() {
            return;
        }
        let name = named_by(&request.method).and_then(|member| request.params.get(member));
        let named = self.named(&request.method, name.and_then(Value::as_str));
        let principal = caller.get::<Principal>();
        let meta = request.params.get("_meta").and_then(Value::as_object);
        self.report(Operation {
            principal: principal.map(|principal| principal.0.as_str()),
            error: Some(OperationError::Forbidden),
            trace_parent: meta.and_then(trace::parent),
            trace_state: meta.and_then(trace::state),
            ..named.operation(&request.method)
        });
    }

    /// An observer that panics must not end a connection.
    fn report(&self, operation: Operation<'_>) {
        let Some(observer) = &self.observer else {
            return;
        };
        if catch_unwind(AssertUnwindSafe(|| observer(operation))).is_err() {
            tracing::error!("the observer of requests panicked");
        }
    }
}
