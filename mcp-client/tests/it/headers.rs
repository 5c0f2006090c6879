//! Headers by which the client repeats parameters (`x-mcp-header`), and the tools that it leaves out.

use mcp_proto::{CallToolResult, Era, Server, Tool};
use mcp_proto_client::{Client, ClientConfig, ClientError};
use serde_json::{Map, Value, json};

use crate::client::{answer, scripted};
use crate::common::Served;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "x-mcp-header": "Text"},
            "n": {"type": "integer", "x-mcp-header": "N"},
            "deep": {"type": "object", "properties": {
                "flag": {"type": "boolean", "x-mcp-header": "X-Flag"},
            }},
        },
    })
}

/// A tool that gives its arguments back.
fn server() -> Server {
    Server::builder("s", "1", ())
        .raw_tool(
            Tool::new("mirrored", "").with_input_schema(schema()),
            async |(), arguments: Map<String, Value>, _| {
                Ok(CallToolResult::text(Value::Object(arguments).to_string()))
            },
        )
        .build()
        .unwrap()
}

async fn modern(url: &str) -> Client {
    let config = ClientConfig::new(Era::Modern);
    Client::http(url, config).await.unwrap()
}

#[tokio::test]
async fn every_value_arrives_whether_or_not_the_tool_was_listed_before() {
    let served = Served::new(server()).await;
    let listed = modern(&served.url()).await;
    listed.list_tools().await.unwrap();
    for arguments in [
        json!({}),
        json!({"text": null, "n": null, "deep": null}),
        json!({"text": "", "n": 0, "deep": {"flag": false}}),
        json!({"text": "eu west", "n": -7, "deep": {"flag": true}}),
        json!({"text": " späte Möwe\n", "n": 9_007_199_254_740_991_i64}),
        json!({"text": "=?base64?literal?=", "n": 42.0, "deep": {}}),
    ] {
        for client in [&listed, &modern(&served.url()).await] {
            let result = client.call_tool_raw("mirrored", arguments.clone()).await;
            let result = result.unwrap();
            let echoed = result["content"][0]["text"].as_str().unwrap();
            let echoed: Value = serde_json::from_str(echoed).unwrap();
            assert_eq!(echoed, arguments);
        }
    }
}

#[tokio::test]
async fn a_tool_whose_annotations_are_wrong_is_left_out_and_the_others_are_kept() {
    let tool = |name: &str, property: Value| json!({"name": name, "inputSchema": {"type": "object", "properties": {"p": property}}});
    let tools = json!([
        tool("plain", json!({})),
        tool("number", json!({"type": "number", "x-mcp-header": "P"})),
        tool("good", json!({"type": "string", "x-mcp-header": "P"})),
        tool("blank", json!({"type": "string", "x-mcp-header": ""})),
        tool("no token", json!({"type": "string", "x-mcp-header": "a b"})),
        tool("items", json!({"type": "array", "items": {"type": "string", "x-mcp-header": "P"}})),
        tool("secret", json!({"type": "string", "format": "password", "x-mcp-header": "P"})),
    ]);
    let listed = |id| json!({"jsonrpc": "2.0", "id": id, "result": {"tools": tools}}).to_string();
    let done = json!({"jsonrpc": "2.0", "id": 2, "result": {"content": []}}).to_string();
    let answers = [listed(1), done].map(|body| answer("200 OK", "application/json", &body));
    let (url, script) = scripted(answers.to_vec()).await;
    let client = modern(&url).await;
    let names: Vec<_> = client.list_tools().await.unwrap();
    let names: Vec<_> = names.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["plain", "good", "secret"]);
    let arguments = json!({"p": "a", "q": "b"});
    client.call_tool_raw("good", arguments).await.unwrap();
    let requests = script.await.unwrap();
    assert!(requests[1].contains("mcp-param-p: a\r\n"), "{}", requests[1]);
    assert!(!requests[0].contains("mcp-param"));
}

#[tokio::test]
async fn a_call_that_stays_refused_is_made_twice_and_no_more() {
    let refused = |id| {
        let error = json!({"code": -32020, "message": "no"});
        json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
    };
    let listed = json!({"jsonrpc": "2.0", "id": 2, "result": {"tools": []}}).to_string();
    let answers = [refused(1), listed, refused(3)];
    let answers = answers.map(|body| answer("200 OK", "application/json", &body));
    let (url, script) = scripted(answers.to_vec()).await;
    let error = modern(&url).await.call_tool_raw("t", json!({})).await;
    assert!(matches!(error, Err(ClientError::Rpc(error)) if error.code == -32020));
    assert_eq!(script.await.unwrap().len(), 3);
}
