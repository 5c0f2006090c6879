//! What clients say of themselves: what is needed, what is passed over, how much of it is kept.

use std::sync::{Arc, Mutex};

use http::StatusCode;
use mcp_proto::lifecycle::Implementation;
use mcp_proto::session::{MAX_CAPABILITY_VALUES, MAX_CLIENT_BYTES};
use mcp_proto::stdio::{StdioConfig, serve};
use mcp_proto::{CallToolResult, Server, StreamableHttpService, Tool};
use serde_json::{Map, Value, json};

use crate::common::{Raw, call, open_session, request, server, service, with_meta};

fn params(client_info: &Value, capabilities: &Value) -> Value {
    json!({"protocolVersion": "2025-11-25", "clientInfo": client_info, "capabilities": capabilities})
}

/// The answers over HTTP and over stdio to one `initialize`.
async fn handshakes(params: &Value) -> [Value; 2] {
    let body = request(7, "initialize", params).to_string();
    let reply = Raw::post(body.clone()).send(&service()).await;
    let mut output = Vec::new();
    serve(server(), body.as_bytes(), &mut output, StdioConfig::default()).await.unwrap();
    [reply.json(), serde_json::from_slice(&output).unwrap()]
}

#[tokio::test]
async fn what_is_for_display_alone_refuses_no_handshake() {
    let capabilities = json!({});
    for client in [
        json!({"name": "c", "version": "1", "icons": null}),
        json!({"name": "c", "version": "1", "icons": "none"}),
        json!({"name": "c", "version": "1", "icons": [{"src": "https://x/i.png", "sizes": "48x48"}]}),
        json!({"name": "c", "version": "1", "icons": [{"src": 1}, null]}),
        json!({"name": "c", "version": "1", "title": null, "description": 1, "websiteUrl": []}),
        json!({"name": "c"}),
        json!({"version": 1}),
    ] {
        for answer in handshakes(&params(&client, &capabilities)).await {
            assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{client}: {answer}");
        }
        let mut modern = with_meta(json!({}));
        modern["_meta"]["io.modelcontextprotocol/clientInfo"] = client;
        let reply = Raw::modern("tools/list", modern).send(&service()).await;
        assert!(reply.result()["tools"].is_array());
    }
    let client = json!({"name": "c", "version": "1"});
    for answer in handshakes(&params(&client, &Value::Null)).await {
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    }
}

#[test]
fn of_unreadable_members_only_the_readable_are_kept() {
    let client: Implementation = serde_json::from_value(json!({
        "name": "c", "version": "1", "title": 1, "description": "d",
        "icons": [{"src": "https://x/i.png", "sizes": "48x48", "mimeType": "image/png"}, {"src": 1}],
    }))
    .unwrap();
    assert_eq!(
        serde_json::to_value(&client).unwrap(),
        json!({
            "name": "c", "version": "1", "description": "d",
            "icons": [{"src": "https://x/i.png", "mimeType": "image/png"}],
        })
    );
}

#[tokio::test]
async fn what_a_handshake_needs_is_named() {
    let client = json!({"name": "c", "version": "1"});
    for (params, told) in [
        (json!({"clientInfo": client, "capabilities": {}}), "protocolVersion"),
        (json!({"protocolVersion": 1, "clientInfo": client}), "protocolVersion"),
        (params(&client, &json!(["roots"])), "params.capabilities"),
    ] {
        for answer in handshakes(&params).await {
            assert_eq!(answer["error"]["code"], -32602, "{params}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(told), "{message}");
        }
    }
}

#[tokio::test]
async fn a_session_keeps_no_more_of_its_client_than_the_bound() {
    let client = |description: usize| json!({"name": "c", "version": "1", "description": "x".repeat(description)});
    let rest = client(0).to_string().len() + "{}".len();
    let many: Map<String, Value> =
        (0..MAX_CAPABILITY_VALUES).map(|index| (index.to_string(), json!({}))).collect();
    let few: Map<String, Value> = many.clone().into_iter().skip(1).collect();
    let icon = json!({"src": format!("data:,{}", "x".repeat(MAX_CLIENT_BYTES))});
    let with_icon = json!({"name": "c", "version": "1", "icons": [icon]});
    for (client, capabilities, fits) in [
        (client(MAX_CLIENT_BYTES - rest), json!({}), true),
        (client(MAX_CLIENT_BYTES - rest + 1), json!({}), false),
        (client(0), json!({"experimental": {"x": "x".repeat(MAX_CLIENT_BYTES)}}), false),
        (client(0), few.into(), true),
        (client(0), many.into(), false),
        // A large icon is left out, not refused.
        (with_icon, json!({}), true),
    ] {
        for answer in handshakes(&params(&client, &capabilities)).await {
            assert_eq!(answer.get("result").is_some(), fits, "{answer}");
            if !fits {
                assert_eq!(answer["error"]["code"], -32602);
                let told = answer["error"]["message"].as_str().unwrap();
                assert!(
                    told.contains("more than 256") || told.contains("longer than 16384 bytes"),
                    "{told}"
                );
            }
        }
    }
}

#[tokio::test]
async fn the_calls_of_a_session_share_what_it_knows_of_its_client() {
    type Seen = Arc<Mutex<Vec<(usize, usize)>>>;
    let seen = Seen::default();
    let server = Server::builder("s", "1", seen.clone())
        .raw_tool(
            Tool::new("look", "").with_input_schema(json!({"type": "object"})),
            async |seen: Seen, _, context: mcp_proto::Context| {
                let client = Arc::as_ptr(context.client_info.as_ref().unwrap()).addr();
                let capabilities = Arc::as_ptr(&context.client_capabilities).addr();
                seen.lock().unwrap().push((client, capabilities));
                Ok(CallToolResult::text("seen"))
            },
        )
        .build()
        .unwrap();
    let service = StreamableHttpService::new(server);
    let session = open_session(&service).await;
    for _ in 0..2 {
        let raw = Raw::legacy(&session, "tools/call", &call("look"));
        raw.send(&service).await.result();
    }
    let seen = seen.lock().unwrap();
    assert_eq!((seen.len(), seen[0]), (2, seen[1]));
}

#[tokio::test]
async fn a_modern_request_carries_its_client_into_the_handler() {
    let server = Server::builder("s", "1", ())
        .raw_tool(
            Tool::new("look", "").with_input_schema(json!({"type": "object"})),
            async |(), _, context: mcp_proto::Context| {
                CallToolResult::structured(&json!({
                    "client": context.client_info,
                    "elicits": context.client_capabilities.get("elicitation"),
                    "extra": context.meta.get("extra"),
                }))
            },
        )
        .build()
        .unwrap();
    let mut params = with_meta(json!({"name": "look"}));
    params["_meta"]["extra"] = json!(1);
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "c", "version": "1"});
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    let reply = Raw::modern("tools/call", params).send(&StreamableHttpService::new(server)).await;
    assert_eq!(
        reply.result()["structuredContent"],
        json!({"client": {"name": "c", "version": "1"}, "elicits": {}, "extra": 1})
    );
}

#[tokio::test]
async fn an_unknown_log_level_is_refused() {
    let with = |level: Value| json!({"_meta": {"io.modelcontextprotocol/logLevel": level}});
    for level in ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] {
        let reply = Raw::modern("tools/list", with(level.into())).send(&service()).await;
        assert!(reply.result()["tools"].is_array(), "{level}");
    }
    for level in [json!("loud"), json!("DEBUG"), json!(7), json!(null)] {
        let reply = Raw::modern("tools/list", with(level)).send(&service()).await;
        assert_eq!(reply.refusal(), (400, -32602, Some(json!(7))));
        assert!(reply.message().contains("one of debug, info"), "{}", reply.message());
        assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn a_modern_initialize_is_told_which_versions_have_one() {
    let asked = params(&json!({"name": "c", "version": "1"}), &json!({}));
    let asked = with_meta(asked);
    let reply = Raw::modern("initialize", asked.clone()).send(&service()).await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
    let line = request(7, "initialize", &with_meta(asked)).to_string();
    let mut output = Vec::new();
    serve(server(), line.as_bytes(), &mut output, StdioConfig::default()).await.unwrap();
    for answer in [reply.json(), serde_json::from_slice(&output).unwrap()] {
        assert_eq!(answer["error"]["code"], -32601);
        let data = &answer["error"]["data"];
        assert_eq!(data["supported"][0], "2026-07-28");
        assert_eq!(data["supported"].as_array().unwrap().len(), 5);
        assert_eq!(data["initialize"][0], "2025-11-25");
    }
}
