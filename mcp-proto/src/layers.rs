//! Layers that many servers want, for [`ServerBuilder::layer`](crate::ServerBuilder::layer).
//!
//! Two things are none, since they are about requests that no layer may see: metrics and audits are told of every
//! request that has ended, also of refused ones ([`ServerBuilder::observe`](crate::ServerBuilder::observe)); and
//! guards by scope refuse with HTTP 403 what a caller may not do, and leave it out of the caller's lists
//! ([`ServerBuilder::require_scopes`](crate::ServerBuilder::require_scopes)).

mod rate;

use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tower_layer::Layer;
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use crate::context::Waits;
use crate::json::quoted;
use crate::server::OperationError;
use crate::service::{Call, Next, from_fn, named_by};
use crate::tool::{TIME_LIMIT, ToolError, take_habits};

pub use rate::rate_limit;

/// The least time between two looks at a call whose client is being asked.
const SHORTEST: Duration = Duration::from_millis(10);

/// A layer that takes harmless habits of clients in the arguments of tools, with a warning as a further text after the
/// content of the answer. Without it, arguments that the schema does not allow are refused.
///
/// - An object or a list that was sent as JSON text is read, where the schema wants an object or a list. So are the
///   arguments as a whole.
/// - The members that gateways add to every call (`toolCallId`, `sessionId`, `action`, `chatInput`) are left out, where
///   the schema does not have them and allows no others. Any other name is refused, with the nearest known one: it may
///   be a filter, and an answer without it would be another answer.
///
/// The lists stay as they are.
///
/// ```
/// use mcp_proto::jsonrpc::Request;
/// use mcp_proto::{CallToolResult, Context, Server, Tool, layers};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = json!({
///     "type": "object",
///     "properties": { "page": { "type": "object" } },
///     "additionalProperties": false,
/// });
/// let print = Tool::new("print", "Prints a page.").with_input_schema(schema);
/// let server = Server::builder("office", "1.0.0", ())
///     .raw_tool(print, async |(), given, _| Ok(CallToolResult::text(given["page"]["title"].to_string())))
///     .layer(layers::lenient())
///     .build()?;
/// let arguments = json!({ "page": "{\"title\": \"Minutes\"}", "sessionId": "7" });
/// let call = Request::new(1, "tools/call", json!({ "name": "print", "arguments": arguments }));
/// let answer = server.handle(call, Context::test()).await.outcome.unwrap().to_value();
/// assert_eq!(answer["content"][0]["text"], "\"Minutes\"");
/// assert!(answer["content"][1]["text"].as_str().unwrap().contains("/sessionId"));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn lenient() -> impl Layer<Next, Service = Next> + Send + Sync {
    habits(false)
}

/// As [`lenient`], which it replaces; and an argument that is text is read as a number (`"50"`, `"-1.5"`) or as a
/// boolean (`"true"`, `"false"`), where the schema wants one and allows no text. The text must be what JSON writes:
/// `"007"` and `" 50"` are refused. Only the arguments themselves are read so, not what is inside of them.
///
/// ```
/// use mcp_proto::jsonrpc::Request;
/// use mcp_proto::{CallToolResult, Context, Server, Tool, layers};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = json!({ "type": "object", "properties": { "limit": { "type": "integer" } } });
/// let list = Tool::new("list", "Lists notes.").with_input_schema(schema);
/// let server = Server::builder("notes", "1.0.0", ())
///     .raw_tool(list, async |(), given, _| Ok(CallToolResult::text(given["limit"].to_string())))
///     .layer(layers::lenient_plain())
///     .build()?;
/// let call = Request::new(1, "tools/call", json!({ "name": "list", "arguments": { "limit": "50" } }));
/// let answer = server.handle(call, Context::test()).await.outcome.unwrap().to_value();
/// assert_eq!(answer["content"][0]["text"], "50");
/// assert!(answer["content"][1]["text"].as_str().unwrap().contains("/limit"));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn lenient_plain() -> impl Layer<Next, Service = Next> + Send + Sync {
    habits(true)
}

fn habits(plain: bool) -> impl Layer<Next, Service = Next> + Send + Sync {
    from_fn(move |mut call: Call, next: Next| {
        if let Some(tool) = call.tool() {
            take_habits(&mut call, &tool, plain);
        }
        next.run(call)
    })
}

/// A layer that ends the call of a tool, a prompt or a resource that takes longer than this, with an error that names
/// the limit. Its handler is cancelled: its future is dropped. Other requests, such as subscriptions, are not limited.
///
/// The time in which a person or a model answers the client's questions does not count: each round of a modern call is
/// a call of its own, and while a call of the older era waits for its client, the limit waits too. What a handler asks
/// of others counts. A call that becomes a task is not limited.
///
/// ```
/// use std::time::Duration;
///
/// use mcp_proto::jsonrpc::Request;
/// use mcp_proto::{CallToolResult, Context, Server, Tool, layers};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let wait = Tool::new("wait", "Waits.").with_input_schema(json!({ "type": "object" }));
/// let server = Server::builder("office", "1.0.0", ())
///     .raw_tool(wait, async |(), _, _| std::future::pending::<Result<CallToolResult, _>>().await)
///     .layer(layers::time_limit(Duration::from_millis(20)))
///     .build()?;
/// let call = Request::new(1, "tools/call", json!({ "name": "wait" }));
/// let answer = server.handle(call, Context::test()).await.outcome.unwrap().to_value();
/// assert!(answer["content"][0]["text"].as_str().unwrap().contains("20ms"));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn time_limit(limit: Duration) -> impl Layer<Next, Service = Next> + Send + Sync {
    from_fn(move |mut call: Call, next: Next| async move {
        if named_by(&call.method).is_none() {
            return next.run(call).await;
        }
        let waits = call.context.extensions.get_or_insert_default::<Waits>().clone();
        // For the error, without the arguments, which may be large.
        let arguments = call.arguments.take();
        let about = call.clone();
        call.arguments = arguments;
        let (begun, before) = (Instant::now(), waits.total());
        let mut running = pin!(next.run(call));
        let mut left = limit;
        loop {
            if let Ok(outcome) = timeout(left, &mut running).await {
                return outcome;
            }
            let waited = waits.total().saturating_sub(before);
            left = limit.saturating_sub(begun.elapsed().saturating_sub(waited));
            if left.is_zero() {
                break;
            }
            left = left.max(SHORTEST);
        }
        let message =
            format!("the call took longer than {limit:?}, the server's time limit, and was ended");
        about.fail(ToolError::new(TIME_LIMIT, message))
    })
}

/// A layer that makes a `tracing` span at info level for each request, by OpenTelemetry's conventions for MCP, and says
/// in it at its end how it ended, and how many seconds it took (`mcp.server.operation.duration`).
///
/// The span is `mcp`; its `otel.name`, which `tracing-opentelemetry` takes for its name, is the method, with the name
/// of the tool if the server has it: `tools/call list`. Fields: `mcp.method.name`, `gen_ai.tool.name`,
/// `mcp.protocol.version`, `mcp.session.id` where there is a session, and `jsonrpc.request.id`. A failure sets
/// `otel.status_code` to `ERROR` and `error.type` to `tool_error`, or to the code of the protocol error, which is
/// `rpc.response.status_code` too. Arguments and results are not part of it. A request that is cancelled ends without a
/// word.
///
/// ```
/// use mcp_proto::{Server, layers};
///
/// let server = Server::builder("notes", "1.0.0", ()).layer(layers::spans()).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn spans() -> impl Layer<Next, Service = Next> + Send + Sync {
    from_fn(|call: Call, next: Next| {
        let span = span(&call);
        let within = span.clone();
        let run = async move {
            let begun = Instant::now();
            let outcome = next.run(call).await;
            let ended = match OperationError::of(&outcome) {
                Some(error) => {
                    span.record("otel.status_code", "ERROR");
                    span.record("error.type", error.to_string());
                    if let OperationError::Code(code) = error {
                        span.record("rpc.response.status_code", code.to_string());
                    }
                    "failed"
                }
                None if outcome.asks() => "asks its client",
                None => "done",
            };
            let seconds = begun.elapsed().as_secs_f64();
            tracing::info!(mcp.server.operation.duration = seconds, "{ended}");
            outcome
        };
        run.instrument(within)
    })
}

/// The span of a request, with what is known when it begins.
fn span(call: &Call) -> Span {
    let method = quoted(&call.method);
    // A tool that does not exist may have any name, and a span must not.
    let tool = call.tool();
    let tool = tool.as_ref().map(|tool| tool.name.as_str());
    tracing::info_span!(
        "mcp",
        otel.name = tool.map_or_else(|| method.to_owned(), |tool| format!("{method} {tool}")),
        otel.kind = "server",
        otel.status_code = Empty,
        mcp.method.name = method,
        gen_ai.tool.name = tool,
        mcp.protocol.version = call.context.protocol_version.as_str(),
        mcp.session.id = call.context.session(),
        jsonrpc.request.id = %call.context.request_id,
        error.type = Empty,
        rpc.response.status_code = Empty,
    )
}
