//! Harmless habits of clients and gateways: taken with a warning where a server is lenient, refused where it is not.

use mcp_proto::jsonrpc::Request;
use mcp_proto::{CallToolResult, Context, Json, Server, Tool, layers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::common::{Raw, every_client, open_session, request, say, server, service, with_meta};
use crate::peer::{Peer, list};

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    filter: Filter,
    tags: Option<Vec<String>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Filter {
    word: String,
}

/// Tools that give back what they were given.
fn tools(is_lenient: bool) -> Server {
    let closed = |properties: Value| json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let find = closed(json!({
        "where": { "type": "object", "properties": { "id": { "type": "integer" } }, "additionalProperties": false },
        "names": { "type": "array", "items": { "type": "string" } },
        "either": { "anyOf": [{ "type": "object" }, { "type": "array" }, { "type": "null" }] },
        "text": { "type": "string" },
        "any": {},
        "limit": { "type": "integer" },
    }));
    let acts =
        closed(json!({ "action": { "type": "string" }, "session_id": { "type": "string" } }));
    let checked = closed(json!({ "command": { "type": "object", "required": ["type"] } }));
    let open = json!({ "type": "object", "properties": { "where": { "type": "object" } } });
    let raw = |name: &str, schema: Value| Tool::new(name, "").with_input_schema(schema);
    let server = Server::builder("s", "1", ())
        .raw_tool(raw("find", find), async |(), given, _| CallToolResult::structured(&given))
        .raw_tool(raw("acts", acts), async |(), given, _| CallToolResult::structured(&given))
        .raw_tool(raw("open", open), async |(), given, _| CallToolResult::structured(&given))
        .raw_tool(raw("checked", checked).with_handler_checked("command"), async |(), given, _| {
            CallToolResult::structured(&given)
        })
        .tool(Tool::new("typed", ""), async |query: Query| Json(query))
        .build()
        .unwrap();
    if is_lenient {
        server.layer(&layers::lenient());
    }
    server
}

/// The paths of the warnings of a result.
fn warned(result: &Value) -> Vec<String> {
    let Some(text) = result["content"].get(1) else {
        return Vec::new();
    };
    assert_eq!(text["type"], "text");
    let told: Value = serde_json::from_str(text["text"].as_str().unwrap()).unwrap();
    let warnings = told["warnings"].as_array().unwrap();
    warnings.iter().map(|warning| warning["path"].as_str().unwrap().to_owned()).collect()
}

/// A call, what its tool gets, and where the warnings are. Each is refused where the server is not lenient.
fn habits() -> Vec<(&'static str, Value, Value, Vec<&'static str>)> {
    let text = |value: Value| Value::from(value.to_string());
    vec![
        // anthropics/claude-code#80666, #93179: an object argument as JSON text.
        (
            "find",
            json!({ "where": "{\"id\": 1}" }),
            json!({ "where": { "id": 1 } }),
            vec!["/where"],
        ),
        ("find", json!({ "names": " [\"a\"]\n" }), json!({ "names": ["a"] }), vec!["/names"]),
        // anthropics/claude-code#20732: also where the schema is an `anyOf`.
        ("find", json!({ "either": "[1]" }), json!({ "either": [1] }), vec!["/either"]),
        ("find", json!({ "either": "{}" }), json!({ "either": {} }), vec!["/either"]),
        (
            "typed",
            json!({ "filter": "{\"word\":\"x\"}" }),
            json!({ "filter": { "word": "x" }, "tags": null }),
            vec!["/filter"],
        ),
        // All arguments as one text.
        ("find", text(json!({ "limit": 3 })), json!({ "limit": 3 }), vec![""]),
        ("find", text(json!({ "where": "{}" })), json!({ "where": {} }), vec!["", "/where"]),
        // n8n-io/n8n#21500, #22787: what a gateway adds to each call.
        (
            "find",
            json!({ "limit": 1, "toolCallId": "c", "sessionId": "s", "action": "sendMessage", "chatInput": "hi" }),
            json!({ "limit": 1 }),
            vec!["/toolCallId", "/sessionId", "/action", "/chatInput"],
        ),
        (
            "typed",
            json!({ "filter": { "word": "x" }, "sessionId": 7 }),
            json!({ "filter": { "word": "x" }, "tags": null }),
            vec!["/sessionId"],
        ),
        // It is not taken for `session_id`, misspelled.
        ("acts", json!({ "sessionId": "s" }), json!({}), vec!["/sessionId"]),
    ]
}

#[tokio::test]
async fn habits_are_taken_with_a_warning_by_every_transport_in_both_eras() {
    let (clients, served) = every_client(&tools(true)).await;
    for (name, client) in &clients {
        for (tool, arguments, wanted, paths) in habits() {
            let params = json!({ "name": tool, "arguments": arguments });
            let result = client.request("tools/call", params).await.unwrap();
            assert_ne!(result["isError"], true, "{name}: {arguments}: {result}");
            assert_eq!(result["structuredContent"], wanted, "{name}: {arguments}");
            let text: Value =
                serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(text, wanted);
            assert_eq!(warned(&result), paths, "{name}: {arguments}");
        }
        // What is published does not change.
        let listed = client.request("tools/list", json!({})).await.unwrap();
        assert_eq!(listed["tools"][0]["inputSchema"]["additionalProperties"], false);
    }
    served.ended().await;
}

async fn call(server: &Server, tool: &str, arguments: Value) -> Result<Value, Value> {
    let params = json!({ "name": tool, "arguments": arguments });
    let answer = server.handle(Request::new(1, "tools/call", params), Context::test()).await;
    match answer.outcome {
        Ok(result) if result.to_value()["isError"] == true => Err(result.to_value()),
        Ok(result) => Ok(result.to_value()),
        Err(error) => Err(json!(error)),
    }
}

#[tokio::test]
async fn habits_are_refused_unless_the_server_is_lenient() {
    let server = tools(false);
    for (tool, arguments, _, _) in habits() {
        assert!(call(&server, tool, arguments.clone()).await.is_err(), "{arguments}");
    }
    let never = Server::builder("s", "1", ());
    let schema = json!({ "type": "object", "additionalProperties": false });
    let tool = Tool::new("t", "").with_input_schema(schema);
    let never =
        never.raw_tool(tool, async |(), _, _| Ok(CallToolResult::text(""))).build().unwrap();
    assert!(call(&never, "t", json!({ "sessionId": 1 })).await.is_err());
}

#[tokio::test]
async fn what_may_be_another_argument_stays_an_error() {
    let server = tools(true);
    for (tool, arguments, told) in [
        ("find", json!({ "limt": 1 }), "did you mean limit?"),
        // One doubt is enough.
        ("find", json!({ "limt": 1, "note": 2 }), "did you mean limit?"),
        ("find", json!({ "Where": {}, "sessionId": "s" }), "did you mean where?"),
        // Something else is wrong: all of it is told, but for what a gateway adds.
        ("find", json!({ "limit": "x", "note": 2 }), "'note' was unexpected"),
        // Inside of an argument there is no doubt that it matters.
        ("find", json!({ "where": { "idd": 1 } }), "'idd' was unexpected"),
        ("find", json!({ "where": "{\"idd\": 1}" }), "/where: Additional properties"),
        ("find", json!({ "where": "{\"id\": 1" }), "is not of type"),
        ("find", json!({ "where": "[1]" }), "is not of type"),
        ("find", json!({ "where": "{\"id\": 1, \"id\": 2}" }), "is not of type"),
        ("find", json!({ "names": "a" }), "is not of type"),
        ("find", json!("[1]"), "must be an object"),
        ("find", json!("x"), "must be an object"),
    ] {
        let refused = call(&server, tool, arguments.clone()).await.expect_err("is refused");
        let refused = refused.pointer("/content/0").unwrap_or(&refused).to_string();
        assert!(refused.contains(told), "{arguments}: {refused}");
        assert!(!refused.contains("sessionId"), "{refused}");
    }
}

#[tokio::test]
async fn what_a_tool_takes_is_left_as_it_is() {
    let server = tools(true);
    for (tool, arguments) in [
        ("acts", json!({ "action": "go", "session_id": "s" })),
        ("find", json!({ "text": "{}", "any": "[1]" })),
        ("open", json!({ "sessionId": "s", "note": "{}" })),
    ] {
        let result = call(&server, tool, arguments.clone()).await.unwrap();
        assert_eq!(result["structuredContent"], arguments);
        assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
    }
    // By the published schema, where the handler checks it.
    let result = call(&server, "checked", json!({ "command": "{\"type\":\"t\"}" })).await.unwrap();
    assert_eq!(result["structuredContent"], json!({ "command": { "type": "t" } }));
    assert_eq!(warned(&result), ["/command"]);
}

#[tokio::test]
async fn warnings_are_bounded() {
    let names = || (0..1_000).map(|number| format!("{}-{number}", "x".repeat(100)));
    let properties: Map<_, _> = names().map(|name| (name, json!({ "type": "object" }))).collect();
    let schema = json!({ "type": "object", "properties": properties });
    let server = Server::builder("s", "1", ())
        .raw_tool(
            Tool::new("many", "Takes many.").with_input_schema(schema),
            async |(), given, _| Ok(CallToolResult::text(given.len().to_string())),
        )
        .layer(layers::lenient())
        .build()
        .unwrap();
    let arguments: Map<_, _> = names().map(|name| (name, json!("{}"))).collect();
    let result = call(&server, "many", arguments.into()).await.unwrap();
    assert_eq!(result["content"][0]["text"], "1000");
    assert_eq!(warned(&result).len(), 21);
    let text = result["content"][1]["text"].as_str().unwrap();
    assert!(text.len() < 6_000 && text.contains("980 more"), "{text}");
}

/// A name that is not the gateway's may be a filter: an answer without it would be another answer.
#[tokio::test]
async fn any_other_unknown_name_is_an_error() {
    for arguments in
        [json!({ "limit": 1, "weather~/": "fine" }), json!({ "where": {}, "note": 1, "action": 2 })]
    {
        let result = call(&tools(true), "find", arguments).await.unwrap_err();
        assert_eq!(result["isError"], true, "{result}");
    }
}

/// modelcontextprotocol/typescript-sdk#2790, modelcontextprotocol/rust-sdk#833: a byte order mark before a message
/// (RFC 8259 §8.1).
#[tokio::test]
async fn a_byte_order_mark_before_a_message_is_ignored() {
    let marked = |text: &str| [b"\xEF\xBB\xBF", text.as_bytes()].concat();
    let service = service();
    let modern = Raw::modern("tools/call", say("x"));
    let body = marked(std::str::from_utf8(&modern.body).unwrap());
    let reply = Raw { body: body.into(), ..modern }.send(&service).await;
    assert_eq!(reply.result()["structuredContent"]["text"], "x");
    let session = open_session(&service).await;
    let legacy = Raw::legacy(&session, "tools/call", &say("x"));
    let body = marked(std::str::from_utf8(&legacy.body).unwrap());
    let reply = Raw { body: body.into(), ..legacy }.send(&service).await;
    assert_eq!(reply.result()["structuredContent"]["text"], "x");

    let mut peer = Peer::new(server());
    peer.send_raw(&marked(&format!("{}\n", list(1)))).await;
    assert_eq!(peer.next().await["id"], 1);
    // The handshake of 2025-03-26, and a batch.
    let client = json!({ "name": "c", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client });
    peer.send_raw(&marked(&format!("{}\n", request(2, "initialize", &params)))).await;
    assert_eq!(peer.next().await["result"]["protocolVersion"], "2025-03-26");
    peer.send_raw(&marked(&format!("{}\r\n", json!([request(3, "ping", &json!({}))])))).await;
    assert_eq!(peer.next().await[0]["id"], 3);
    assert!(peer.end().await.is_empty());
}

/// Clients in Rust and Swift write absent params as null.
#[tokio::test]
async fn params_that_are_null_are_absent() {
    let service = service();
    let session = open_session(&service).await;
    let ready = Raw::notification("notifications/initialized", &Value::Null)
        .set("mcp-session-id", &session);
    assert_eq!(ready.send(&service).await.status, 202);
    let reply = Raw::legacy(&session, "tools/list", &Value::Null).send(&service).await;
    assert!(reply.result()["tools"].is_array());

    let mut peer = Peer::new(server());
    peer.send(&request(1, "ping", &Value::Null)).await;
    assert_eq!(peer.next().await, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": null }))
        .await;
    peer.send(&request(2, "tools/list", &with_meta(json!({})))).await;
    assert_eq!(peer.next().await["id"], 2);
    // Without `_meta` a modern request stays an error.
    let modern = Raw::modern("tools/list", json!({}));
    let body = request(7, "tools/list", &Value::Null).to_string();
    let reply = Raw { body: body.into(), ..modern }.send(&service).await;
    assert_eq!(reply.refusal(), (400, -32602, Some(json!(7))));
}
