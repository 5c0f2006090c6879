//! One operation: a [`Call`] in, an [`Outcome`] out. Transports make the call, layers wrap it, and the server answers
//! it.
//!
//! A layer is code around calls: audit, limits, guards, retries. [`ServerBuilder::layer`](crate::ServerBuilder::layer)
//! adds one, as a function ([`from_fn`]) or as a `Layer` of tower. A server without layers pays nothing for them.

mod next;

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use crate::budget::Held;
use crate::call::{CallToolRequest, Called, TOOLS_CALL};
use crate::context::Context;
use crate::jsonrpc::{ErrorObject, Payload, Request, Result};
use crate::scopes::Guarded;

pub use crate::cause::Cause;
pub use next::{Answering, Answers, Next, from_fn};

/// A request on its way to its handler.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Call {
    /// The method, such as `tools/call`.
    pub method: Cow<'static, str>,
    /// The tool of a `tools/call`, the prompt of a `prompts/get`, or the URI of a `resources/read`, as the client wrote
    /// it. `None` for other methods, and if the client named nothing.
    pub name: Option<String>,
    /// The arguments of a `tools/call` or a `prompts/get`. They are not judged yet.
    pub arguments: Option<Value>,
    /// All other params, such as the `cursor` of a list. Most calls have none.
    pub params: Map<String, Value>,
    /// The request's id, caller, client, session and extensions.
    pub context: Context,
    /// What was taken in its arguments although it is odd.
    pub(crate) warned: Option<Arc<Warned>>,
}

/// How a [`Call`] ended: with a result, which may be that of a tool that failed, or with a protocol error.
#[derive(Debug, Clone)]
#[must_use]
pub struct Outcome(pub(crate) Result<Payload>);

/// The warnings of a call, and the memory that its client holds for what was read from text.
#[derive(Debug)]
pub(crate) struct Warned {
    pub(crate) text: String,
    pub(crate) _held: Option<Held>,
}

/// A handler that has its state: from what is asked and the context of a request to an answer.
pub(crate) trait Handle<A, T>:
    Fn(A, Context) -> BoxFuture<'static, T> + Send + Sync + 'static
{
}

impl<A, T, H> Handle<A, T> for H where
    H: Fn(A, Context) -> BoxFuture<'static, T> + Send + Sync + 'static
{
}

impl Call {
    pub(crate) fn new(called: Called, context: Context) -> Self {
        match called {
            Called::Tool(call) => {
                let CallToolRequest { name, arguments, .. } = *call;
                Self {
                    method: Cow::Borrowed(TOOLS_CALL),
                    name: Some(name),
                    arguments,
                    params: Map::new(),
                    context,
                    warned: None,
                }
            }
            Called::Other(request) => Self::of(*request, context),
        }
    }

    fn of(Request { id: _, method, mut params }: Request, context: Context) -> Self {
        let member = named_by(&method);
        let name = match member.and_then(|member| params.remove_entry(member)) {
            Some((_, Value::String(name))) => Some(name),
            // Left where it is, for the error.
            Some((member, other)) => {
                params.insert(member, other);
                None
            }
            None => None,
        };
        let arguments = if member == Some("name") { params.remove("arguments") } else { None };
        Self { method: Cow::Owned(method), name, arguments, params, context, warned: None }
    }

    /// Whether it calls a tool, carries no answers and requests no task.
    pub(crate) fn is_plain(&self) -> bool {
        let more = ["inputResponses", "requestState", "task"];
        self.method == TOOLS_CALL
            && (self.params.is_empty() || !more.iter().any(|more| self.params.contains_key(*more)))
    }

    /// Whether it is about this item.
    pub(crate) fn is_about(&self, item: &Guarded) -> bool {
        let is_of = |method: &str| self.method == method;
        let name = self.name.as_deref().unwrap_or_default();
        match item {
            Guarded::Tool(tool) => is_of("tools/call") && name == tool,
            Guarded::Prompt(prompt) => is_of("prompts/get") && name == prompt,
            Guarded::Resources(prefix) => is_of("resources/read") && name.starts_with(prefix),
            Guarded::Method(method) => is_of(method),
        }
    }

    /// All params as they came.
    pub(crate) fn all_params(&self) -> Map<String, Value> {
        let mut params = self.params.clone();
        if let Some((member, name)) = named_by(&self.method).zip(self.name.as_deref()) {
            params.insert(member.to_owned(), name.into());
        }
        if let Some(arguments) = &self.arguments {
            params.insert("arguments".to_owned(), arguments.clone());
        }
        params
    }
}

impl Outcome {
    /// The result, or the protocol error. A tool that failed has a result ([`Outcome::is_failure`]).
    ///
    /// # Errors
    /// The protocol error.
    pub fn result(&self) -> Result<&Payload, &ErrorObject> {
        self.0.as_ref()
    }

    /// Whether it is a protocol error, or the result of a tool that failed (`isError`).
    pub fn is_failure(&self) -> bool {
        self.0.as_ref().map_or(true, Payload::is_failure)
    }

    /// Whether it only asks the client for input: the client sends the request again, with its answers.
    pub fn asks(&self) -> bool {
        self.0.as_ref().is_ok_and(Payload::asks)
    }

    /// What went wrong: the message of a protocol error, or the text of a tool that failed. The result is read for it.
    pub fn error_text(&self) -> Option<String> {
        let payload = match &self.0 {
            Err(error) => return Some(error.message.clone()),
            Ok(payload) => Some(payload).filter(|payload| payload.is_failure())?,
        };
        let result = payload.to_value();
        let text = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
        let body: Option<Value> = serde_json::from_str(text).ok();
        let message = body.as_ref().and_then(|body| body.pointer("/error/message")?.as_str());
        Some(message.unwrap_or(text).to_owned())
    }
}

impl From<ErrorObject> for Outcome {
    fn from(error: ErrorObject) -> Self {
        Self(Err(error))
    }
}

/// The member of the params of a method that names what is asked for.
pub(crate) fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        _ => None,
    }
}

/// Gives a handler its state, of which each call gets a clone. The whole handler runs inside the future, so that a
/// panic of its synchronous part is caught too.
pub(crate) fn with_state<S, A, F, R>(state: S, handler: F) -> impl Handle<A, R::Output>
where
    S: Clone + Send + Sync + 'static,
    A: Send + 'static,
    F: Fn(S, A, Context) -> R + Send + Sync + 'static,
    R: Future + Send + 'static,
{
    let handler = Arc::new(handler);
    move |asked, context| {
        let (state, handler) = (state.clone(), Arc::clone(&handler));
        Box::pin(async move { handler(state, asked, context).await })
    }
}
