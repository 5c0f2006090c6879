//! What is told of each request that was answered, for those who count and measure.

use std::time::{Duration, Instant};

#[cfg(feature = "http")]
use http::Extensions;
use serde::Deserialize;
#[cfg(feature = "http")]
use serde_json::Value;

use super::Inner;
use crate::context::Context;
#[cfg(feature = "http")]
use crate::context::{Principal, trace};
use crate::jsonrpc::{ErrorObject, Payload, Request};

/// How many bytes a failure of a tool has at the most: larger results are not looked at for one.
const FAILURE_BYTES: usize = 64 * 1024;

/// A request that was answered, or refused for what its caller may do. The names are those that the server knows, so there are few of them.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Operation<'o> {
    /// The method; `_OTHER` if there is none of that name.
    pub method: &'o str,
    /// The tool of a `tools/call`, if there is one of that name.
    pub tool: Option<&'o str>,
    /// Whether it is a call of a tool that does not say that it only reads.
    pub writes: bool,
    /// Who called, if that is known: the [`Principal`](crate::Principal).
    pub principal: Option<&'o str>,
    /// How long it took until the answer could be sent. That of a listen is as long as the listen.
    pub duration: Duration,
    /// Why it failed.
    pub error: Option<OperationError>,
    /// The span of the caller, [`Context::trace_parent`]. It is the client's word.
    pub trace_parent: Option<&'o str>,
    /// What tracing systems on the way have added, [`Context::trace_state`].
    pub trace_state: Option<&'o str>,
}

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationError {
    /// The code of its JSON-RPC error.
    Code(i64),
    /// Its tool said so (`isError`).
    Tool,
    /// Its caller lacks a scope: it was refused before it was handled, with HTTP 403.
    Forbidden,
}

/// Who is told.
pub(super) type Observer = Box<dyn Fn(Operation<'_>) + Send + Sync>;

/// A request that is being answered.
pub(super) struct Begun {
    method: String,
    tool: Option<String>,
    writes: bool,
    principal: Option<String>,
    start: Instant,
    trace_parent: Option<String>,
    trace_state: Option<String>,
}

impl Inner {
    /// The tool that a request calls, if there is one of that name, and whether it may write.
    fn called<'r>(&self, request: &'r Request) -> (Option<&'r str>, bool) {
        let tool = request.params.get("name").and_then(|name| name.as_str());
        let tool = tool.filter(|tool| request.method == "tools/call" && self.tools.has(tool));
        (tool, tool.is_some_and(|tool| !self.tools.only_reads(tool)))
    }

    /// Tells of a request that was refused, since its caller may not do what it asks for.
    #[cfg(feature = "http")]
    pub(super) fn forbidden(&self, request: &Request, caller: &Extensions) {
        let Some(observer) = &self.observer else {
            return;
        };
        let (tool, writes) = self.called(request);
        let principal = caller.get::<Principal>();
        let meta = request.params.get("_meta").and_then(Value::as_object);
        observer(Operation {
            method: &request.method,
            tool,
            writes,
            principal: principal.map(|principal| principal.0.as_str()),
            duration: Duration::ZERO,
            error: Some(OperationError::Forbidden),
            trace_parent: meta.and_then(trace::parent),
            trace_state: meta.and_then(trace::state),
        });
    }

    /// Remembers a request, if somebody is to be told of it.
    pub(super) fn begun(&self, request: &Request, context: &Context) -> Option<Begun> {
        self.observer.as_ref()?;
        let (tool, writes) = self.called(request);
        Some(Begun {
            method: request.method.clone(),
            writes,
            tool: tool.map(str::to_owned),
            principal: context.principal().map(str::to_owned),
            start: Instant::now(),
            trace_parent: context.trace_parent().map(str::to_owned),
            trace_state: context.trace_state().map(str::to_owned),
        })
    }

    /// Tells of its answer.
    pub(super) fn observe(&self, begun: Option<Begun>, outcome: &Result<Payload, ErrorObject>) {
        let (Some(observer), Some(begun)) = (&self.observer, begun) else {
            return;
        };
        let error = match outcome {
            Err(error) => Some(OperationError::Code(error.code)),
            Ok(payload) => {
                let failed = begun.tool.is_some() && is_failure(payload.as_str());
                failed.then_some(OperationError::Tool)
            }
        };
        let is_known = error != Some(OperationError::Code(ErrorObject::METHOD_NOT_FOUND));
        observer(Operation {
            method: if is_known { &begun.method } else { "_OTHER" },
            tool: begun.tool.as_deref(),
            writes: begun.writes,
            principal: begun.principal.as_deref(),
            duration: begun.start.elapsed(),
            error,
            trace_parent: begun.trace_parent.as_deref(),
            trace_state: begun.trace_state.as_deref(),
        });
    }
}

fn is_failure(result: &str) -> bool {
    #[derive(Deserialize)]
    struct Result {
        #[serde(default, rename = "isError")]
        is_error: bool,
    }
    result.len() <= FAILURE_BYTES
        && serde_json::from_str(result).is_ok_and(|Result { is_error }| is_error)
}
