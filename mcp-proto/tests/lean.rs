//! Builds without the feature `validate`: what a schema says is enforced, or the server is not built.

#![cfg(not(feature = "validate"))]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use mcp_proto::jsonrpc::Request;
use mcp_proto::{CallToolResult, Context, ElicitForm, Field, Json, Server, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

async fn echo(
    (): (),
    arguments: Map<String, Value>,
    _: Context,
) -> Result<CallToolResult, ToolError> {
    CallToolResult::structured(&arguments)
}

fn object(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

fn problem(tool: Tool) -> String {
    let built = Server::builder("s", "1", ()).raw_tool(tool, echo).build();
    built.err().map(|error| error.to_string()).unwrap_or_default()
}

async fn call(server: &Server, tool: &str, arguments: Value) -> Value {
    let call = Request::new(1, "tools/call", json!({ "name": tool, "arguments": arguments }));
    server.handle(call, Context::test()).await.outcome.unwrap().to_value()
}

#[test]
fn what_would_not_be_enforced_is_refused_with_its_place() {
    let wide: Map<_, _> = (0..1_000).map(|n| (n.to_string(), json!({}))).collect();
    for (schema, said) in [
        (object(json!({ "id": { "pattern": "^a" } })), "\"pattern\" at \"/properties/id\""),
        (
            object(json!({ "id": { "items": { "multipleOf": 2 } } })),
            "\"multipleOf\" at \"/properties/id/items\"",
        ),
        (
            json!({ "type": "object", "dependentRequired": { "a": ["b"] } }),
            "\"dependentRequired\" at the root of the schema",
        ),
        (
            json!({ "type": "object", "$schema": "http://json-schema.org/draft-07/schema#" }),
            "the value of \"$schema\" at the root of the schema",
        ),
        (
            object(json!({ "id": { "type": "text" } })),
            "the value of \"type\" at \"/properties/id\"",
        ),
        (object(wide.into()), "a schema of more than 1000 nodes"),
    ] {
        let told = problem(Tool::new("t", "").with_input_schema(schema.clone()));
        let wanted = format!(
            "tool \"t\": {said} is not enforced by this build: build mcp-proto with the feature \"validate\", or say \
             that the handler checks the argument (Tool::with_handler_checked)"
        );
        assert_eq!(told, wanted);
        let tool = Tool::new("t", "").with_input_schema(object(json!({})));
        let told = problem(tool.with_output_schema(schema));
        let wanted = format!("{said} is not enforced by this build");
        assert!(told.contains(&wanted) && told.contains("Tool::with_trusted_output"), "{told}");
    }
}

#[tokio::test]
async fn what_somebody_answers_for_is_listed() {
    let schema = object(json!({ "id": { "pattern": "^a" }, "n": { "type": ["integer", "null"] } }));
    let tool = Tool::new("t", "").with_input_schema(schema.clone()).with_handler_checked("id");
    let tool = tool.with_output_schema(schema).with_trusted_output();
    let mut fails = tool.clone();
    fails.name = "fails".to_owned();
    let failing = async |(), _, _| Err::<(), _>(ToolError::new("NO", "no"));
    let server = Server::builder("s", "1", ())
        .raw_tool(fails, failing)
        .raw_tool(tool, echo)
        .build()
        .unwrap();
    let result = call(&server, "t", json!({ "id": "b", "n": null })).await;
    assert_eq!(result["structuredContent"], json!({ "id": "b", "n": null }));
    let result = call(&server, "t", json!({ "n": "x" })).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("/n: \\\"x\\\" is not of types \\\"integer\\\", \\\"null\\\""), "{text}");
    // Whether a failure would fit is not known.
    let result = call(&server, "fails", json!({})).await;
    assert_eq!((&result["isError"], result.get("structuredContent")), (&json!(true), None));
}

#[test]
fn annotations_are_allowed() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "kept",
        "type": "object",
        "properties": {
            "id": {
                "type": "string", "title": "Id", "description": "An id.", "default": "a", "examples": ["b"],
                "format": "uuid", "readOnly": false, "deprecated": true, "x-order": 1, "enumNames": ["c"],
            },
        },
    });
    assert_eq!(problem(Tool::new("t", "").with_input_schema(schema)), "");
}

/// Has the forms that types have.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Drawing {
    shape: Shape,
    place: (f64, f64),
    colour: Option<Colour>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
    Square { side: Option<f64> },
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Colour {
    Red,
    /// The colour of the sky.
    Blue,
}

#[tokio::test]
async fn schemas_of_types_are_enforced() {
    let server = Server::builder("s", "1", ())
        .tool(Tool::new("draw", ""), async |it: Drawing| Json(it))
        .build()
        .unwrap();
    let right =
        json!({ "shape": { "kind": "square", "side": null }, "place": [1, 2], "colour": null });
    assert_eq!(call(&server, "draw", right).await.get("isError"), None);
    let wrong = json!({ "shape": { "kind": "ring" }, "place": [1], "colour": "green" });
    let result = call(&server, "draw", wrong).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    for said in [
        "/shape/kind: \\\"ring\\\" is not one of \\\"circle\\\", \\\"square\\\"",
        "/place: the value has less than 2 items",
        "/colour: \\\"green\\\" is not one of \\\"red\\\", \\\"blue\\\"",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[tokio::test]
async fn a_form_that_would_not_be_enforced_is_not_asked() {
    let tool = Tool::new("ask", "").with_input_schema(object(json!({}))).asking();
    let server = Server::builder("s", "1", ())
        .raw_tool(tool, async |(), _, context: Context| {
            let form = ElicitForm::new("Which?").field("id", Field::text().with_pattern("^a"));
            let answer = context.elicit("id", &form)?;
            Ok(CallToolResult::text(format!("{answer:?}")))
        })
        .build()
        .unwrap();
    let call = Request::new(1, "tools/call", json!({ "name": "ask", "arguments": {} }));
    let context = Context::test().with_capability("elicitation", json!({}));
    let outcome = server.handle(call, context).await.outcome;
    assert_eq!(outcome.unwrap_err().code, -32603);
}
