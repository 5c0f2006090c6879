//! Arguments that a tool's handler checks itself.

use mcp_proto::jsonrpc::Request;
use mcp_proto::{CallToolResult, Context, Server, Tool, ToolError};
use serde_json::{Value, json};

#[tokio::test]
async fn an_argument_may_be_left_to_its_handler() {
    let schema = json!({
        "type": "object",
        "properties": { "n": { "type": "integer" }, "shape": { "anyOf": [{ "const": "round" }] } },
        "required": ["n", "shape"],
    });
    let tool =
        Tool::new("draw", "Draws.").with_input_schema(schema.clone()).with_handler_checked("shape");
    let server = Server::builder("s", "1", ())
        .raw_tool(tool, async |(), arguments, _| match arguments["shape"].as_str() {
            Some("round") => Ok(CallToolResult::text("drawn")),
            _ => Err(ToolError::new("SHAPE", "only round ones")),
        })
        .build()
        .unwrap();
    let listed = server.handle(Request::new(1, "tools/list", json!({})), Context::test());
    let listed = listed.await.outcome.unwrap().to_value();
    assert_eq!(listed["tools"][0]["inputSchema"], schema);
    for (arguments, wanted) in [
        (json!({ "n": 1, "shape": "round" }), "drawn"),
        (json!({ "n": 1, "shape": 7 }), "only round ones"),
        (json!({ "n": 1 }), "\\\"shape\\\" is a required property"),
        (json!({ "n": "1", "shape": 7 }), "/n: "),
    ] {
        let call = Request::new(1, "tools/call", json!({ "name": "draw", "arguments": arguments }));
        let result = server.handle(call, Context::test()).await.outcome.unwrap().to_value();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(wanted), "{text}");
    }
}

#[tokio::test]
async fn an_argument_that_cannot_be_left_to_its_handler_is_refused() {
    let object = |properties: Value| json!({ "type": "object", "properties": properties });
    for (schema, wanted) in [
        (
            object(json!({ "n": { "type": "integer" } })),
            "\"shape\" is to be checked by the handler",
        ),
        (
            object(json!({ "shape": {}, "other": { "$ref": "#/properties/shape" } })),
            "leads into \"shape\"",
        ),
        (
            object(
                json!({ "shape": { "items": {} }, "other": { "items": { "$ref": "#/properties/shape/items" } } }),
            ),
            "leads into \"shape\"",
        ),
        (object(json!({ "shape": { "pattern": "[" } })), "does not compile"),
    ] {
        let tool =
            Tool::new("draw", "Draws.").with_input_schema(schema).with_handler_checked("shape");
        let refused = Server::builder("s", "1", ())
            .raw_tool(tool, async |(), _, _| Ok(CallToolResult::text("drawn")))
            .build();
        let problem = refused.err().unwrap().to_string();
        assert!(problem.contains(wanted), "{problem}");
    }
}
