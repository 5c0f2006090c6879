//! From the name of a method to what answers it.

use std::future::{Future, ready};
use std::sync::PoisonError;

use futures_util::TryFutureExt as _;
use futures_util::future::{BoxFuture, Either};
#[cfg(feature = "http")]
use http::Extensions;
use serde_json::{Map, Value, json};

use super::run::ToolCall;
use super::{Method, Server};
use crate::context::Context;
use crate::interrupt::Interrupt;
use crate::jsonrpc::{ErrorObject, Payload, Request};
use crate::legacy::dispatch as legacy;
use crate::legacy::method::Method as LegacyMethod;
use crate::scopes::Scopes;
use crate::tool::Plain;
use crate::version::{Era, ProtocolVersion};

/// A request that has found its room.
pub(super) enum Dispatched<'s> {
    Now(Result<Payload, ErrorObject>),
    /// A plain call: what is called all the time needs no box of its own.
    Tool(ToolCall<'s>),
    Later(BoxFuture<'s, Result<Payload, ErrorObject>>),
}

impl<'s> Dispatched<'s> {
    /// Its answer.
    pub(super) fn answer(
        self,
    ) -> impl Future<Output = Result<Payload, ErrorObject>> + Send + use<'s> {
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

impl From<Result<Payload, ErrorObject>> for Dispatched<'_> {
    fn from(answer: Result<Payload, ErrorObject>) -> Self {
        Self::Now(answer)
    }
}

impl Server {
    /// The one match from a method to its room.
    pub(super) fn dispatch(&self, request: Request, mut context: Context) -> Dispatched<'_> {
        let Request {
            id: _,
            method,
            params,
        } = request;
        let era = context.era();
        if self.0.capabilities.logging.is_none() {
            context.log_level = None;
        }
        if era == Era::Legacy
            && let Some(method) = LegacyMethod::find(&method, &self.0.capabilities)
        {
            let answer = async move { legacy::answer(self, method, &params, &context).await };
            return Dispatched::Later(Box::pin(answer));
        }
        let Some(method) = self.method(&method, era) else {
            return Err(Self::unknown_method(&method, era)).into();
        };
        if !method.may_ask()
            && (self.0.needs.is_empty() || context.extension::<Scopes>().is_none())
            && let Some(ready) = self.ready(method, &params, context.protocol_version)
        {
            return Ok(ready).into();
        }
        if method == Method::CallTool
            && let Some(tool) = self.plain(&params)
        {
            return match self.start_plain(tool, params, context) {
                Ok(call) => Dispatched::Tool(call),
                Err(error) => Err(error).into(),
            };
        }
        match method {
            Method::CallTool | Method::ReadResource | Method::GetPrompt => {
                Dispatched::Later(Box::pin(self.in_rounds(method, params, context)))
            }
            Method::ListTools => self.list_tools(&params, &context).into(),
            Method::ListPrompts => self.list_prompts(&params, &context).into(),
            Method::ListResources => {
                let list = async move { self.list_resources(&params, context).await };
                Dispatched::Later(Box::pin(list))
            }
            Method::ListTemplates => self.list_templates(&params, &context).into(),
            Method::ListSkills => self.list_skills(&params, &context).into(),
            Method::GetSkill => self.get_skill(&params, &context).into(),
            Method::ReadDirectory => self.read_directory(&params, &context).into(),
            Method::Complete => {
                let complete = async move { self.complete_argument(&params, context).await };
                Dispatched::Later(Box::pin(complete))
            }
            Method::Listen => Dispatched::Later(Box::pin(self.listen(params, context))),
            Method::GetTask | Method::CancelTask | Method::UpdateTask => {
                self.about_task(method, params, &context).into()
            }
            // It is ready whenever it is offered.
            Method::Discover => Err(ErrorObject::internal()).into(),
        }
    }

    /// The tool of a call that is answered by its handler alone: of a tool that neither asks nor becomes a task, by a
    /// client that brings no answers and wants no task.
    fn plain(&self, params: &Map<String, Value>) -> Option<Plain<'_>> {
        let wants_more = ["inputResponses", "requestState", "task"];
        let mut plain = None;
        for (member, value) in params {
            match value {
                Value::String(name) if member == "name" => plain = self.0.tools.plain(name),
                _ if wants_more.contains(&member.as_str()) => return None,
                _ => {}
            }
        }
        plain
    }

    /// Whether the modern era has a method here: the transport answers 404 before it looks at anything else of the params.
    pub(crate) fn knows(&self, method: &str) -> bool {
        self.method(method, Era::Modern).is_some()
    }

    /// The refusal of a method that there is not in an era. A handshake that comes in a modern request is told which
    /// versions have one (2026-07-28, "Versioning").
    pub(crate) fn unknown_method(method: &str, era: Era) -> ErrorObject {
        let error = ErrorObject::method_not_found(method);
        if method != "initialize" || era == Era::Legacy {
            return error;
        }
        let legacy = ProtocolVersion::ALL.into_iter();
        let legacy: Vec<_> = legacy
            .filter(|version| version.era() == Era::Legacy)
            .collect();
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

    /// The scopes that a request needs, if its caller has not all of them. Who observes requests is told of it.
    #[cfg(feature = "http")]
    pub(crate) fn missing_scopes(&self, request: &Request, caller: &Extensions) -> Option<Scopes> {
        let needs = &self.0.needs;
        let missing = needs.missing(&request.method, &request.params, caller)?;
        self.0.forbidden(request, caller);
        Some(missing)
    }

    /// A result that was made when the server was built.
    fn ready(
        &self,
        method: Method,
        params: &Map<String, Value>,
        version: ProtocolVersion,
    ) -> Option<Payload> {
        if method == Method::Discover {
            return self.0.ready.discover.clone();
        }
        if params.contains_key("cursor") {
            return None;
        }
        let lists = self.0.ready.lists.read();
        // Nothing panics while it writes them.
        let lists = lists.unwrap_or_else(PoisonError::into_inner);
        let ready = lists
            .iter()
            .find(|(list, told, _)| *list == method && *told == version);
        ready.map(|(_, _, list)| list.clone())
    }
}
