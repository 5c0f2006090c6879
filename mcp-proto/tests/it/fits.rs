//! Answers that are longer than clients take: over stdio they lose one of their forms or become errors, and the
//! connection lives; over HTTP they are one JSON body wherever that is possible.

use mcp_proto::stdio::StdioConfig;
use mcp_proto::{
    CallToolResult, ContentBlock, Context, Json, PreparedJson, Resource, ResourceContents, Server,
    StreamableHttpService, Tool, ToolError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::common::{Raw, request, subscribe, with_meta};
use crate::logs::Warnings;
use crate::peer::Peer;

/// The most bytes of an answer in these tests.
const MAX: usize = 64 * 1024;

#[derive(Deserialize, JsonSchema)]
struct Wanted {
    bytes: usize,
}

#[derive(Serialize, JsonSchema)]
struct Made {
    text: String,
}

fn made(given: &Map<String, Value>) -> Value {
    let bytes = given["bytes"].as_u64().unwrap();
    json!({ "text": "x".repeat(usize::try_from(bytes).unwrap()) })
}

fn server() -> Server {
    let schema = || json!({ "type": "object", "properties": { "bytes": { "type": "integer" }, "quotes": { "type": "boolean" } } });
    let output = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let tool = |name: &str| Tool::new(name, "").with_input_schema(schema());
    let prepared = async |(): (), given: Map<String, Value>, _: Context| {
        let json = made(&given).to_string();
        let mut parts = PreparedJson::default();
        let escaped = mcp_proto::json::escaped(&json);
        parts.push(json.into(), escaped.into());
        Ok(CallToolResult::prepared(parts))
    };
    let structured = async |(): (), given: Map<String, Value>, _: Context| {
        CallToolResult::structured(&made(&given))
    };
    Server::builder("s", "1", ())
        .tool(Tool::new("typed", ""), async |wanted: Wanted, context: Context| {
            context.progress(1.0, None, None).await;
            Json(Made { text: "x".repeat(wanted.bytes) })
        })
        .raw_tool(tool("plain"), structured)
        .raw_tool(tool("prepared"), prepared)
        .raw_tool(tool("promised").with_output_schema(output.clone()), prepared)
        .raw_tool(
            tool("whole")
                .with_output_schema(output.clone())
                .with_whole_results("ask for fewer `bytes`"),
            structured,
        )
        .raw_tool(tool("text"), async |(), given, _| {
            Ok(CallToolResult::text(made(&given)["text"].as_str().unwrap()))
        })
        // Its text is not that of the structured content.
        .raw_tool(tool("pictured").with_output_schema(output), async |(), given, _| {
            let mut result = CallToolResult::structured(&made(&given))?;
            result.content.push(ContentBlock::text("and a picture"));
            Ok(result)
        })
        .raw_tool(tool("quotes"), async |(), given, _| {
            let bytes = made(&given)["text"].as_str().unwrap().len();
            CallToolResult::structured(&"\"".repeat(bytes))
        })
        .raw_tool(tool("fails"), async |(), given, _| {
            Err::<CallToolResult, _>(ToolError::new("FULL", "no").with_data(made(&given)))
        })
        .resource(Resource::new("s://large", "large"), async |(), _| {
            Ok(ResourceContents::text("s://large", "x".repeat(2 * MAX)))
        })
        .build()
        .unwrap()
}

/// A connection that takes answers of [`MAX`], in each era.
async fn peers() -> [(bool, Peer); 2] {
    let mut config = StdioConfig::default();
    config.max_answer_bytes = MAX;
    let mut legacy = Peer::with(server(), config);
    let client = json!({ "name": "c", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    legacy.send(&request(0, "initialize", &params)).await;
    legacy.next().await;
    [(false, legacy), (true, Peer::with(server(), config))]
}

async fn ask((is_modern, peer): &mut (bool, Peer), method: &str, params: Value) -> Value {
    let params = if *is_modern { with_meta(params) } else { params };
    peer.send(&request("an id", method, &params)).await;
    let line = peer.line().await;
    assert!(line.len() < MAX, "{} bytes", line.len());
    serde_json::from_str(&line).unwrap()
}

async fn call(peer: &mut (bool, Peer), tool: &str, bytes: usize) -> Value {
    let params = json!({ "name": tool, "arguments": { "bytes": bytes } });
    let mut answer = ask(peer, "tools/call", params).await;
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].take()
}

/// openai/codex#31805, byadsco/meta-ads-mcp#150: the payload twice, as text and as structured content, ends the
/// connection of the client.
#[tokio::test]
async fn a_long_result_loses_one_of_its_forms() {
    for mut peer in peers().await {
        for tool in ["typed", "plain", "prepared", "promised", "whole"] {
            let result = call(&mut peer, tool, MAX / 3).await;
            assert_eq!(result["content"].as_array().unwrap().len(), 1, "{tool}");
            let text: Value =
                serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(text, result["structuredContent"], "{tool}");
        }
        let wanted = json!({ "text": "x".repeat(MAX * 2 / 3) });
        // Nothing promises the structure.
        for tool in ["plain", "prepared"] {
            let result = call(&mut peer, tool, MAX * 2 / 3).await;
            assert!(result.get("structuredContent").is_none());
            let text: Value =
                serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(text, wanted, "{tool}");
        }
        // Clients throw without the structure that the output schema promises.
        for tool in ["typed", "promised"] {
            let result = call(&mut peer, tool, MAX * 2 / 3).await;
            assert_eq!(result["structuredContent"], wanted, "{tool}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("structuredContent"), "{text}");
            assert_ne!(result["isError"], true);
        }
        let result = call(&mut peer, "fails", MAX * 2 / 3).await;
        assert!(result["isError"] == true && result.get("structuredContent").is_none());
    }
}

#[tokio::test]
async fn a_result_that_is_too_long_in_any_form_is_a_failure_with_advice() {
    for mut peer in peers().await {
        for (tool, bytes) in [
            ("typed", MAX),
            ("plain", MAX),
            ("prepared", MAX),
            ("promised", MAX),
            ("text", MAX),
            ("pictured", MAX * 2 / 3),
            // Escapes are counted.
            ("quotes", MAX / 2),
            ("fails", MAX),
            ("whole", MAX * 2 / 3),
        ] {
            let result = call(&mut peer, tool, bytes).await;
            assert_eq!(result["isError"], true, "{tool}");
            let error: Value =
                serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
            let error = &error["error"];
            assert_eq!(error["code"], "ANSWER_TOO_LARGE", "{tool}: {error}");
            let message = error["message"].as_str().unwrap();
            let advice = match tool {
                "whole" => "ask for fewer `bytes`",
                _ => "ask for less, or for a part of it",
            };
            assert!(message.starts_with(&format!("the answer of {tool} has")), "{message}");
            assert!(message.ends_with(advice), "{message}");
            assert!(
                error["data"]["bytes"].as_u64().unwrap() > error["data"]["limit"].as_u64().unwrap()
            );
        }
        // The connection lives.
        assert_eq!(call(&mut peer, "text", 1).await["content"][0]["text"], "x");
    }
}

#[tokio::test]
async fn any_other_answer_that_is_too_long_is_an_error() {
    for mut peer in peers().await {
        let answer = ask(&mut peer, "resources/read", json!({ "uri": "s://large" })).await;
        assert_eq!(answer["id"], "an id");
        assert_eq!(answer["error"]["code"], -32603);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("at most 65536") && message.contains("ask for less"), "{message}");
    }
}

#[tokio::test]
async fn the_answers_of_a_batch_are_bounded_together() {
    let mut config = StdioConfig::default();
    config.max_answer_bytes = MAX;
    let mut peer = Peer::with(server(), config);
    let client = json!({ "name": "c", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client });
    peer.send(&request(0, "initialize", &params)).await;
    peer.next().await;
    let call = json!({ "name": "text", "arguments": { "bytes": MAX / 3 } });
    let calls: Vec<_> = (1..=4).map(|id| request(id, "tools/call", &call)).collect();
    peer.send(&json!(calls)).await;
    let line = peer.line().await;
    assert!(line.len() < MAX + 1_024, "{}", line.len());
    let answers: Value = serde_json::from_str(&line).unwrap();
    let answers = answers.as_array().unwrap();
    let errors = answers.iter().filter(|answer| answer["error"]["code"] == -32603).count();
    assert_eq!((answers.len(), errors), (4, 2));
}

#[tokio::test]
async fn over_http_a_large_answer_is_one_json_body_and_an_event_of_it_is_logged() {
    const LARGE: usize = 1 << 20;
    let warnings = Warnings::default();
    let _here = subscribe(warnings.clone());
    let service = StreamableHttpService::new(server());
    let arguments = json!({ "bytes": LARGE });
    for tool in ["typed", "whole", "prepared"] {
        let raw = Raw::modern("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = raw.send(&service).await.result();
        assert_eq!(result["structuredContent"]["text"].as_str().unwrap().len(), LARGE);
        assert!(result["content"][0]["text"].as_str().unwrap().len() > LARGE);
    }
    assert_eq!(warnings.count(), 0);
    // A client that takes events alone, and one that was sent something before.
    let params = json!({ "name": "whole", "arguments": arguments });
    let events = Raw::modern("tools/call", params).set("accept", "text/event-stream");
    assert_eq!(events.send(&service).await.status, 200);
    assert_eq!(warnings.count(), 1);
    let token = json!({ "progressToken": 1 });
    let params = json!({ "name": "typed", "arguments": arguments, "_meta": token });
    let reply = Raw::modern("tools/call", params).send(&service).await;
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    assert_eq!(warnings.count(), 2);
}
