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
