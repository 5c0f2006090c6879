//! Methods and notifications that extensions add to those of MCP.

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::lists::not_asked;
use super::{Method, Server};
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::json;
use crate::jsonrpc::{ErrorObject, Notification, Payload, Result};
use crate::service::with_state;
use crate::version::Era;

/// The prefixes of names that MCP reserves, for requests and, after `notifications/`, for notifications.
const RESERVED: [&str; 18] = [
    "cancelled",
    "completion",
    "elicitation",
    "initialize",
    "initialized",
    "logging",
    "message",
    "notifications",
    "ping",
    "progress",
    "prompts",
    "resources",
    "roots",
    "sampling",
    "server",
    "subscriptions",
    "tasks",
    "tools",
];

/// The identifiers of extensions that the protocol's own project maintains begin so.
const OFFICIAL: &str = "io.modelcontextprotocol/";

type Requested = Arc<
    dyn Fn(Map<String, Value>, Context) -> BoxFuture<'static, Result<Value, RequestError>>
        + Send
        + Sync,
>;
type Notified = Box<dyn Fn(Map<String, Value>, Context) + Send + Sync>;

/// The methods of extensions by their names.
#[derive(Default)]
pub(super) struct ExtensionMethods {
    requests: HashMap<String, Requested>,
    notifications: HashMap<String, Notified>,
}

fn once<T>(other: Option<T>) -> Result<(), String> {
    other.map_or(Ok(()), |_| Err("another handler has the same method".to_owned()))
}

impl ExtensionMethods {
    pub(super) fn add<S, P, O, F, R>(
        &mut self,
        id: &str,
        method: String,
        state: S,
        handler: F,
    ) -> Result<(), String>
    where
        S: Clone + Send + Sync + 'static,
        P: DeserializeOwned + Send + 'static,
        O: Serialize + Send + 'static,
        F: Fn(S, P, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, RequestError>> + Send + 'static,
    {
        // Extensions of the protocol itself have methods below its prefixes.
        if !id.starts_with(OFFICIAL) {
            check_name(&method, &method, "notes/search")?;
        } else if Method::parse(&method, Era::Modern).is_some() {
            return Err("it is a method of MCP itself".to_owned());
        }
        let handler = Arc::new(handler);
        let requested: Requested = Arc::new(with_state(state, move |state, params, context| {
            let handler = Arc::clone(&handler);
            async move {
                let params = json::typed(Value::Object(params)).map_err(|(path, problem)| {
                    RequestError::invalid_params(format!("params{path}: {problem}"))
                })?;
                Ok(serde_json::to_value(handler(state, params, context).await?)?)
            }
        }));
        once(self.requests.insert(method, requested))
    }

    pub(super) fn add_notification<S, P, F>(
        &mut self,
        method: String,
        state: S,
        handler: F,
    ) -> Result<(), String>
    where
        S: Clone + Send + Sync + 'static,
        P: DeserializeOwned + 'static,
        F: Fn(S, P, Context) + Send + Sync + 'static,
    {
        let rest = method.strip_prefix("notifications/").unwrap_or_default();
        check_name(&method, rest, "notifications/notes/seen")?;
        let name = method.clone();
        let notified: Notified = Box::new(move |params, context| {
            match json::typed(Value::Object(params)) {
                Ok(params) => handler(state.clone(), params, context),
                // A notification has no answer to report it in.
                Err((path, problem)) => {
                    tracing::debug!(method = name, path, %problem, "a notification was ignored");
                }
            }
        });
        once(self.notifications.insert(method, notified))
    }

    pub(super) fn has(&self, method: &str) -> bool {
        self.requests.contains_key(method)
    }

    pub(super) fn get(&self, method: &str) -> Option<Requested> {
        self.requests.get(method).cloned()
    }
}

/// Two or more parts separated by slashes. The first must not be a prefix of MCP.
fn check_name(method: &str, rest: &str, example: &str) -> Result<(), String> {
    let is_good = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
    };
    let parts: Vec<&str> = rest.split('/').collect();
    match parts.as_slice() {
        [first, _, ..] if parts.iter().copied().all(is_good) => {
            if RESERVED.contains(first) {
                Err(format!("{first}/ is a prefix of MCP's own: take another one"))
            } else {
                Ok(())
            }
        }
        _ => {
            Err(format!("{method:?} needs a prefix of the extension's own, as {example:?} has one"))
        }
    }
}

impl Server {
    /// Answers a request of an extension's method.
    pub(super) async fn answer_extension(
        &self,
        method: Cow<'static, str>,
        requested: Requested,
        params: Map<String, Value>,
        mut context: Context,
    ) -> Result<Payload> {
        let (era, id) = (context.era(), context.request_id.clone());
        context.extensions.insert(self.clone());
        match requested(params, context).await {
            Ok(Value::Object(mut result)) => {
                let meta = match result.remove("_meta") {
                    Some(Value::Object(meta)) => Some(meta),
                    _ => None,
                };
                self.complete(&result, None, meta.as_ref(), era)
            }
            Ok(_) => {
                tracing::error!("the result of an extension's method must be a JSON object");
                Err(ErrorObject::internal())
            }
            Err(error) => Err(not_asked(error.log(&method, "", &id), era)),
        }
    }

    /// Passes a notification to the extension that handles it, if any. `context` takes `_meta` out of the params and
    /// creates the sender's context from it. If it cannot, or the sender lacks a scope, the notification is ignored.
    pub(crate) fn take(
        &self,
        notification: &Notification,
        context: impl FnOnce(&mut Map<String, Value>) -> Option<Context>,
    ) {
        let method = notification.method.as_str();
        let Some(notified) = self.0.methods.notifications.get(method) else {
            return;
        };
        let mut params = notification.params.clone();
        let Some(context) = context(&mut params) else {
            tracing::debug!(method, "a notification was ignored: its sender is not known");
            return;
        };
        let offered = self.offered();
        let missing = offered.needs.missing(method, &params, &context.extensions);
        if let Some(missing) = missing {
            tracing::debug!(method, %missing, "a notification was ignored: its sender lacks scopes");
            return;
        }
        if catch_unwind(AssertUnwindSafe(|| notified(params, context))).is_err() {
            tracing::error!(method, "the handler of a notification panicked");
        }
    }
}
