//! The methods that only revisions up to 2025-11-25 have, or have in a form of their own.

use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::jsonrpc::{ErrorObject, Payload};
use crate::legacy::tasks;
use crate::lifecycle::{MAX_SUBSCRIPTION_BYTES, MAX_SUBSCRIPTIONS, ServerCapabilities};
use crate::logging::LogLevel;
use crate::server::Server;

/// A method of these revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Subscribe,
    Unsubscribe,
    SetLogLevel,
    GetTask,
    CancelTask,
    TaskResult,
    ListTasks,
    Ping,
    Initialize,
}

impl Method {
    /// The method of that name, if a server of these capabilities has it.
    pub(crate) fn find(name: &str, server: &ServerCapabilities) -> Option<Self> {
        let subscribes = || {
            server
                .resources
                .is_some_and(|resources| resources.subscribe)
        };
        let (method, is_offered) = match name {
            "resources/subscribe" => (Self::Subscribe, subscribes()),
            "resources/unsubscribe" => (Self::Unsubscribe, subscribes()),
            "logging/setLevel" => (Self::SetLogLevel, server.logging.is_some()),
            "tasks/get" => (Self::GetTask, server.has_tasks),
            "tasks/cancel" => (Self::CancelTask, server.has_tasks),
            "tasks/result" => (Self::TaskResult, server.has_tasks),
            "tasks/list" => (Self::ListTasks, server.has_tasks),
            "ping" => (Self::Ping, true),
            "initialize" => (Self::Initialize, true),
            _ => return None,
        };
        is_offered.then_some(method)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Subscribe => "resources/subscribe",
            Self::Unsubscribe => "resources/unsubscribe",
            Self::SetLogLevel => "logging/setLevel",
            Self::GetTask => "tasks/get",
            Self::CancelTask => "tasks/cancel",
            Self::TaskResult => "tasks/result",
            Self::ListTasks => "tasks/list",
            Self::Ping => "ping",
            Self::Initialize => "initialize",
        }
    }
}

/// Answers a request of these methods.
pub(crate) async fn answer(
    server: &Server,
    method: Method,
    params: &Map<String, Value>,
    context: &Context,
) -> Result<Payload, ErrorObject> {
    match method {
        Method::Subscribe => subscribe(server, params, context).await,
        Method::Unsubscribe => {
            read_uri(params)?;
            Payload::of(&json!({}))
        }
        Method::SetLogLevel => set_log_level(params),
        Method::Ping => Payload::of(&json!({})),
        Method::Initialize => Err(ErrorObject::invalid_request(
            "this connection is initialized already: open another one",
        )),
        Method::GetTask | Method::CancelTask | Method::TaskResult | Method::ListTasks => {
            tasks::answer(server, method, params, context).await
        }
    }
}

/// The refusal of a subscription above the bound.
pub(crate) fn too_many_subscriptions() -> ErrorObject {
    ErrorObject::invalid_params(format!(
        "at most {MAX_SUBSCRIPTIONS} resources can be subscribed to, whose URIs have {MAX_SUBSCRIPTION_BYTES} bytes \
         together: unsubscribe from one first"
    ))
}

/// `resources/subscribe`; the transport keeps the subscription.
async fn subscribe(
    server: &Server,
    params: &Map<String, Value>,
    context: &Context,
) -> Result<Payload, ErrorObject> {
    let uri = read_uri(params)?;
    let checked = server.check_subscription(uri, || context.clone()).await;
    checked.map_err(|error| error.into_interrupt(context.era(), Some(uri)).into_error())?;
    // Before the client knows, so that it misses nothing that comes after.
    server.changes().expect_updates();
    Payload::of(&json!({}))
}

/// `logging/setLevel`; the transport keeps the level.
fn set_log_level(params: &Map<String, Value>) -> Result<Payload, ErrorObject> {
    let level = params.get("level").and_then(Value::as_str);
    match level.map(str::parse::<LogLevel>) {
        Some(Ok(_)) => Payload::of(&json!({})),
        Some(Err(_)) | None => Err(ErrorObject::invalid_params(format!(
            "params.level must be one of {}",
            LogLevel::names()
        ))),
    }
}

fn read_uri(params: &Map<String, Value>) -> Result<&str, ErrorObject> {
    let uri = params.get("uri").and_then(Value::as_str);
    uri.ok_or_else(|| ErrorObject::invalid_params("params.uri must be a string"))
}
