//! Finds the handler for the name of a method.

use std::future::{Future, ready};
use std::sync::Arc;

use futures_util::future::{BoxFuture, Either};
use futures_util::{FutureExt as _, TryFutureExt as _};
#[cfg(feature = "http")]
use http::Extensions;
use serde_json::json;

use super::offered::{Judged, Offered};
use super::run::ToolCall;
use super::{Method, Server};
use crate::context::Context;
use crate::interrupt::Interrupt;
use crate::jsonrpc::{ErrorObject, Payload, Request, Result};
use crate::legacy::dispatch as legacy;
use crate::legacy::method::Method as LegacyMethod;
use crate::prompt::{self, Prompt};
use crate::resource::not_found;
use crate::scopes::{Scopes, Wanted};
use crate::service::Call;
use crate::tool::{self, Callable, Tool};
use crate::version::{Era, ProtocolVersion};

/// How many existing names an error lists.
const MAX_NAMES: usize = 50;

/// A request that has found its handler.
pub(super) enum Dispatched<'s> {
    Now(Result<Payload>),
    /// A plain call, the most frequent request, without a box.
    Tool(ToolCall<'s>),
    Later(BoxFuture<'s, Result<Payload>>),
}

impl<'s> Dispatched<'s> {
    /// Its answer.
    pub(super) fn answer(self) -> impl Future<Output = Result<Payload>> + Send + use<'s> {
        match self {
            Self::Now(answer) => Either::Left(ready(answer)),
            Self::Tool(call) => {
                let answer = call.finish().map_err(Interrupt::into_error);
                Either::Right(Either::Left(answer))
            }
            Self::Later(answer) => Either::Right(Either::Right(answer)),
        }
    }
}

impl From<Result<Payload>> for Dispatched<'_> {
    fn from(answer: Result<Payload>) -> Self {
        Self::Now(answer)
    }
}

impl Server {
    /// The one match from a method to its handler.
    pub(super) fn dispatch(&self, mut call: Call) -> Dispatched<'_> {
        let judged = call.context.extensions.remove::<Judged>();
        if self.0.capabilities.logging.is_none() {
            call.context.log_level = None;
        }
        let (offered, layered) = match judged {
            Some(Judged { offered, layered }) => (offered, layered),
            None => (self.offered(), None),
        };
        if layered.is_none()
            && let Some(layers) = offered.layers.clone()
        {
            return Dispatched::Later(self.through_layers(layers, offered, call));
        }
        // A tool whose handler neither asks the client nor becomes a task.
        if call.is_plain() && self.0.capabilities.tools.is_some() {
            let tool = call.name.as_deref().and_then(|name| offered.tools.find(name));
            let visible =
                |tool: &Callable| self.is_visible(Wanted::Tool(&tool.name, None), &call.context);
            if let Some(tool) = tool.filter(|tool| tool.is_plain() && visible(tool)) {
                let started = self.start_tool(&offered, tool, call);
                return started.map_or_else(|error| Err(error).into(), Dispatched::Tool);
            }
        }
        let Some(method) = self.method(&call.method, call.context.era()) else {
            return self.dispatch_other(call);
        };
        if !method.may_ask()
            && (offered.needs.is_empty() || call.context.extension::<Scopes>().is_none())
            && let Some(ready) = self.ready(&offered, method, &call)
        {
            return Ok(ready).into();
        }
        if let Some(unknown) = self.unknown(&offered, method, &call) {
            return Err(unknown).into();
        }
        if method.may_ask() {
            return Dispatched::Later(Box::pin(self.in_rounds(offered, method, call)));
        }
        let Call { params, context, .. } = call;
        match method {
            Method::ListTools | Method::ListPrompts | Method::ListTemplates => {
                self.list_registered(&offered, method, &params, &context).into()
            }
            Method::ListResources => {
                let list = async move { self.list_resources(&params, context).await };
                Dispatched::Later(Box::pin(list))
            }
            Method::Complete => {
                let complete = async move { self.complete_argument(&params, context).await };
                Dispatched::Later(Box::pin(complete))
            }
            Method::Listen => Dispatched::Later(Box::pin(self.listen(params, context))),
            Method::GetTask | Method::CancelTask | Method::UpdateTask => {
                let about = self.about_task(method, params, context);
                if self.shares_tasks() {
                    return Dispatched::Later(Box::pin(about));
                }
                // It does not wait.
                about.now_or_never().unwrap_or_else(|| Err(ErrorObject::internal())).into()
            }
            // The same for every caller, whatever scopes they have.
            Method::Discover => self.0.discover.clone().ok_or_else(ErrorObject::internal).into(),
            // These may ask their caller.
            Method::CallTool | Method::ReadResource | Method::GetPrompt => {
                Err(ErrorObject::internal()).into()
            }
        }
    }

    /// A method that the modern era does not share with the older one, or that an extension adds.
    fn dispatch_other(&self, call: Call) -> Dispatched<'_> {
        let Call { method, params, context, .. } = call;
        let era = context.era();
        if era == Era::Legacy
            && let Some(method) = LegacyMethod::find(&method, &self.0.capabilities)
        {
            let answer = async move { legacy::answer(self, method, &params, &context).await };
            return Dispatched::Later(Box::pin(answer));
        }
        match self.0.methods.get(&method) {
            Some(requested) => {
                let answer = self.answer_extension(method, requested, params, context);
                Dispatched::Later(Box::pin(answer))
            }
            None => Err(Self::unknown_method(&method, era)).into(),
        }
    }

    /// The error for a tool, a prompt or a resource that a request names and that does not exist for its caller.
    fn unknown(&self, offered: &Offered, method: Method, call: &Call) -> Option<ErrorObject> {
        let (name, context) = (call.name.as_deref()?, &call.context);
        let visible = |wanted| self.is_visible(wanted, context);
        match method {
            Method::CallTool => {
                let there = offered.tools.has(name) && visible(Wanted::Tool(name, None));
                (!there).then(|| self.unknown_tool(offered, name, context))
            }
            Method::GetPrompt => {
                let there =
                    offered.prompts.get(name).is_some() && visible(Wanted::Prompt(name, None));
                (!there).then(|| self.unknown_prompt(offered, name, context))
            }
            Method::ReadResource if !visible(Wanted::Resource(name)) => {
                let unknown = not_found(name).into_interrupt(context.era(), Some(name));
                Some(unknown.into_error())
            }
            _ => None,
        }
    }

    fn unknown_tool(&self, offered: &Offered, name: &str, context: &Context) -> ErrorObject {
        let shown = |tool: &&Tool| self.shows(offered, Wanted::Tool(&tool.name, None), context);
        let names = offered.tools.list().filter(shown).take(MAX_NAMES);
        let names: Vec<_> = names.map(|tool| tool.name.as_str()).collect();
        tool::unknown(name).with_data(json!({ "tools": names }))
    }

    /// The error for a prompt that does not exist for its caller.
    pub(super) fn unknown_prompt(
        &self,
        offered: &Offered,
        name: &str,
        context: &Context,
    ) -> ErrorObject {
        let shown = |it: &&Prompt| self.shows(offered, Wanted::Prompt(&it.name, None), context);
        let names = offered.prompts.list().filter(shown).take(MAX_NAMES);
        let names: Vec<_> = names.map(|prompt| prompt.name.as_str()).collect();
        prompt::unknown(name).with_data(json!({ "prompts": names }))
    }

    /// Whether this server has a method in the modern era. If not, the transport answers 404 before it checks anything
    /// else in the params.
    pub(crate) fn knows(&self, method: &str) -> bool {
        self.method(method, Era::Modern).is_some() || self.0.methods.has(method)
    }

    /// The error for a method that this era does not define. For a handshake in a modern request it lists the versions
    /// that have one (2026-07-28, "Versioning").
    pub(crate) fn unknown_method(method: &str, era: Era) -> ErrorObject {
        let error = ErrorObject::method_not_found(method);
        if method != "initialize" || era == Era::Legacy {
            return error;
        }
        let legacy = ProtocolVersion::ALL.into_iter();
        let legacy: Vec<_> = legacy.filter(|version| version.era() == Era::Legacy).collect();
        let message = format!(
            "{}: this request names a version without a handshake; leave it out of params._meta to open a session",
            error.message
        );
        ErrorObject::new(error.code, message)
            .with_data(json!({ "supported": ProtocolVersion::ALL, "initialize": legacy }))
    }

    /// What a method's name means in an era, if this server offers it.
    fn method(&self, name: &str, era: Era) -> Option<Method> {
        Method::parse(name, era).filter(|method| method.is_offered(&self.0.capabilities))
    }

    /// The scopes that a request needs, if its caller has not all of them. The refusal is reported to the observer of
    /// requests. The offer used for this check is kept in the caller's extensions, so that the requests of a batch are
    /// checked against the same offer that answers them.
    #[cfg(feature = "http")]
    pub(crate) fn missing_scopes(
        &self,
        request: &Request,
        caller: &mut Extensions,
    ) -> Option<Scopes> {
        caller.get::<Scopes>()?;
        let judged =
            caller.get_or_insert_with(|| Judged { offered: self.offered(), layered: None });
        let offered = Arc::clone(&judged.offered);
        let needs = &offered.needs;
        let missing = needs.missing(&request.method, &request.params, caller)?;
        self.0.forbidden(request, caller);
        Some(missing)
    }

    /// A list that was written when a client first asked for it.
    fn ready(&self, offered: &Offered, method: Method, call: &Call) -> Option<Payload> {
        if call.params.contains_key("cursor") {
            return None;
        }
        self.ready_list(offered, method, call.context.protocol_version)
    }
}
