//! From the name of a method to what answers it.

use std::sync::PoisonError;

use serde_json::{Map, Value, json};

use super::{Method, Server};
use crate::context::Context;
use crate::interrupt::Interrupt;
use crate::jsonrpc::{ErrorObject, Payload, Request};
use crate::legacy::dispatch as legacy;
use crate::legacy::method::Method as LegacyMethod;
use crate::scopes::{Needs, Scopes};
use crate::version::{Era, ProtocolVersion};

impl Server {
    /// The one match from a method to its room.
    pub(super) async fn dispatch(
        &self,
        request: Request,
        mut context: Context,
    ) -> Result<Payload, ErrorObject> {
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
            return Box::pin(legacy::answer(self, method, &params, &context)).await;
        }
        let Some(method) = self.method(&method, era) else {
            return Err(Self::unknown_method(&method, era));
        };
        if !method.may_ask()
            && (self.0.needs.is_empty() || context.extension::<Scopes>().is_none())
            && let Some(ready) = self.ready(method, &params, context.protocol_version)
        {
            return Ok(ready);
        }
        // What is not called all the time is boxed, so that the future of a plain call is small.
        match method {
            Method::CallTool if self.is_plain(&params) => {
                let ran = self.run(method, params, context).await;
                ran.map_err(Interrupt::into_error)
            }
            Method::CallTool | Method::ReadResource | Method::GetPrompt => {
                Box::pin(self.in_rounds(method, params, context)).await
            }
            Method::ListTools => self.list_tools(&params, &context),
            Method::ListPrompts => self.list_prompts(&params, &context),
            Method::ListResources => Box::pin(self.list_resources(&params, context)).await,
            Method::ListTemplates => self.list_templates(&params, &context),
            Method::ListSkills => self.list_skills(&params, &context),
            Method::GetSkill => self.get_skill(&params, &context),
            Method::ReadDirectory => self.read_directory(&params, &context),
            Method::Complete => Box::pin(self.complete_argument(&params, context)).await,
            Method::Listen => Box::pin(self.listen(params, context)).await,
            Method::GetTask | Method::CancelTask | Method::UpdateTask => {
                self.about_task(method, params, &context)
            }
            // It is ready whenever it is offered.
            Method::Discover => Err(ErrorObject::internal()),
        }
    }

    /// Whether a call is answered by its handler alone: of a tool that neither asks nor becomes a task, by a client that
    /// brings no answers and wants no task.
    fn is_plain(&self, params: &Map<String, Value>) -> bool {
        let wants_more = ["inputResponses", "requestState", "task"];
        let mut is_plain = false;
        for (member, value) in params {
            match value {
                Value::String(name) if member == "name" => is_plain = self.0.tools.is_plain(name),
                _ if wants_more.contains(&member.as_str()) => return false,
                _ => {}
            }
        }
        is_plain
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

    /// What callers need scopes for.
    #[cfg(feature = "http")]
    pub(crate) fn needs(&self) -> &Needs {
        &self.0.needs
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
