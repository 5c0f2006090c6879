//! Layers that many servers want, for [`ServerBuilder::layer`](crate::ServerBuilder::layer).

use tower_layer::Layer;

use crate::service::{Call, Next, from_fn};
use crate::tool::take_habits;

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
    from_fn(|mut call: Call, next: Next| {
        if let Some(tool) = call.tool() {
            take_habits(&mut call, &tool);
        }
        next.run(call)
    })
}
