//! Finds the handler of a method that only the revisions up to 2025-11-25 have. Those that both eras have, such as
//! `tools/call`, are in `server/dispatch.rs`.

use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::jsonrpc::{ErrorObject, Payload, Result};
use crate::legacy::method::Method;
use crate::legacy::tasks;
use crate::logging::LogLevel;
use crate::server::Server;

/// Answers a request of these methods.
pub(crate) async fn answer(
    server: &Server,
    method: Method,
    params: &Map<String, Value>,
    context: &Context,
) -> Result<Payload> {
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

/// `resources/subscribe`; the transport keeps the subscription.
async fn subscribe(
    server: &Server,
    params: &Map<String, Value>,
    context: &Context,
) -> Result<Payload> {
    let uri = read_uri(params)?;
    let checked = server.check_subscription(uri, || context.clone()).await;
    checked.map_err(|error| {
        let error = error.log("resources/subscribe", uri, &context.request_id);
        error.into_interrupt(context.era(), Some(uri)).into_error()
    })?;
    // Before the client has its answer, so that it misses no later update.
    server.0.changes.expect_updates();
    Payload::of(&json!({}))
}

/// `logging/setLevel`; the transport keeps the level.
fn set_log_level(params: &Map<String, Value>) -> Result<Payload> {
    let level = params.get("level").and_then(Value::as_str);
    match level.map(str::parse::<LogLevel>) {
        Some(Ok(_)) => Payload::of(&json!({})),
        Some(Err(_)) | None => Err(ErrorObject::invalid_params(format!(
            "params.level must be one of {}",
            LogLevel::names()
        ))),
    }
}

fn read_uri(params: &Map<String, Value>) -> Result<&str> {
    let uri = params.get("uri").and_then(Value::as_str);
    uri.ok_or_else(|| ErrorObject::invalid_params("params.uri must be a string"))
}
