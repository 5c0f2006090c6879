//! What users of other clients met over HTTP, tried on this one.

use std::time::Duration;

use mcp_proto::Era;
use mcp_proto_client::{CallOptions, Client, ClientConfig, ClientError};
use serde_json::json;

use crate::common::{PATIENCE, call};
use crate::fake::{Fake, events, open_events, status};

fn legacy() -> ClientConfig {
    ClientConfig::new(Era::Legacy)
}

// modelcontextprotocol/go-sdk#683: one call that took too long ends the connection for all later ones.
#[tokio::test]
async fn a_call_that_took_too_long_harms_no_other() {
    let fake = Fake::new(|seen, before| match (seen.name(), before) {
        ("initialize", _) => seen.initialized(json!({"tools": {}}), 1),
        ("tools/call", 1) => open_events(": nothing\n\n"),
        ("tools/call", _) => seen.result(json!({"content": []})),
        ("notifications/cancelled" | "notifications/initialized", _) => status(202),
        _ => status(405),
    })
    .await;
    for era in [Era::Legacy, Era::Modern] {
        let client = Client::http(&fake.url(), ClientConfig::new(era)).await.unwrap();
        let options = CallOptions::default().with_timeout(Duration::from_millis(300));
        let calls = if era == Era::Legacy { vec![true, false, true] } else { vec![true, true] };
        for is_answered in calls {
            let called = client.request_with("tools/call", call("t"), &options).await;
            assert_eq!(called.is_ok(), is_answered, "{era:?}: {called:?}");
        }
        assert!(!client.is_closed());
    }
}

// modelcontextprotocol/python-sdk#1811: a stream that ends without the answer leaves its caller waiting without end.
#[tokio::test]
async fn a_stream_that_ends_early_ends_its_call() {
    let fake = Fake::new(|seen, _| match seen.name() {
        "initialize" => seen.initialized(json!({"tools": {}}), 1),
        "tools/call" => events("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n"),
        "notifications/initialized" => status(202),
        _ => status(405),
    })
    .await;
    for era in [Era::Legacy, Era::Modern] {
        let client = Client::http(&fake.url(), ClientConfig::new(era)).await.unwrap();
        let called = client.call_tool("t", json!({}));
        let called = tokio::time::timeout(PATIENCE, called).await.unwrap();
        assert_eq!(called, Err(ClientError::Closed), "{era:?}");
    }
}

// modelcontextprotocol/python-sdk#1941: a server that takes POST alone, and answers by streams, is waited for.
#[tokio::test]
async fn a_server_without_a_stream_of_its_own_is_used_at_once() {
    for refusal in [404, 405, 501] {
        let fake = Fake::new(move |seen, _| match seen.name() {
            "initialize" => seen.initialized(json!({"tools": {"listChanged": true}}), 1),
            "tools/list" => {
                let id = &seen.body["id"];
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"tools": []}});
                open_events(&format!("event: message\ndata: {answer}\n\n"))
            }
            "notifications/initialized" => status(202),
            _ => status(refusal),
        })
        .await;
        let client = Client::http(&fake.url(), legacy()).await.unwrap();
        let listed = tokio::time::timeout(PATIENCE, client.list_tools()).await.unwrap();
        assert_eq!(listed, Ok(Vec::new()), "{refusal}");
    }
}

// modelcontextprotocol/rust-sdk#468: what comes on the stream before the answer to the handshake is taken for it.
#[tokio::test]
async fn notifications_before_the_answer_to_the_handshake_are_not_the_answer() {
    let fake = Fake::new(|seen, _| match seen.name() {
        "initialize" => {
            let log = json!({
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": {"level": "info", "data": "connected"},
            });
            let answer = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"},
            }});
            events(&format!(": hello\n\ndata: {log}\n\ndata: {answer}\n\n"))
        }
        "tools/list" => seen.result(json!({"tools": []})),
        "notifications/initialized" => status(202),
        _ => status(405),
    })
    .await;
    let client = Client::http(&fake.url(), legacy()).await.unwrap();
    assert_eq!(client.list_tools().await, Ok(Vec::new()));
}

// modelcontextprotocol/typescript-sdk#155: lists that the server does not declare are asked for again and again.
#[tokio::test]
async fn what_a_server_does_not_declare_is_not_asked_for() {
    let fake = Fake::new(|seen, _| match seen.name() {
        "initialize" => seen.initialized(json!({"tools": {}, "resources": {}}), 1),
        "tools/list" => seen.result(json!({"tools": []})),
        "resources/list" => seen.result(json!({"resources": []})),
        "notifications/initialized" => status(202),
        _ => seen.error(200, -32_601, json!(null)),
    })
    .await;
    let client = Client::http(&fake.url(), legacy()).await.unwrap();
    assert_eq!(client.list_prompts().await, Ok(Vec::new()));
    assert_eq!(client.list_tools().await, Ok(Vec::new()));
    assert_eq!(client.list_resources().await, Ok(Vec::new()));
    // Resources without templates are usual, and this is how such servers say so.
    assert_eq!(client.list_resource_templates().await, Ok(Vec::new()));
    assert!(!fake.names().contains(&"prompts/list".to_owned()), "{:?}", fake.names());
}

// modelcontextprotocol/go-sdk#637, gravitational/teleport#63805, cloudwalk/hermes-mcp#65; and
// modelcontextprotocol/python-sdk#1514, where the answer has a name of its own.
#[tokio::test]
async fn events_of_other_names_are_no_messages() {
    let fake = Fake::new(|seen, _| match seen.name() {
        "initialize" => seen.initialized(json!({"tools": {}}), 1),
        "tools/list" => {
            let answer = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"tools": []}});
            events(&format!("event: ping\ndata: {{\"time\": 1}}\n\nevent: keepalive\ndata: x\n\nevent: error\ndata: {answer}\n\n"))
        }
        "notifications/initialized" => status(202),
        _ => status(405),
    })
    .await;
    for era in [Era::Legacy, Era::Modern] {
        let client = Client::http(&fake.url(), ClientConfig::new(era)).await.unwrap();
        assert_eq!(client.list_tools().await, Ok(Vec::new()), "{era:?}");
    }
}

// openai/codex#37228, UsefulSoftwareCo/executor#1399
#[tokio::test]
async fn answers_are_asked_for_uncompressed_and_compressed_ones_are_said_to_be() {
    let fake = Fake::new(|seen, _| match seen.name() {
        "initialize" => seen.initialized(json!({"tools": {}}), 1),
        "tools/list" => {
            assert_eq!(seen.header("accept-encoding"), "identity");
            let mut answer = seen.result(json!({"tools": []}));
            answer.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
            answer
        }
        "notifications/initialized" => status(202),
        _ => status(405),
    })
    .await;
    let client = Client::http(&fake.url(), legacy()).await.unwrap();
    let failure = client.list_tools().await.unwrap_err().to_string();
    assert!(failure.contains("gzip"), "{failure}");
}

// NousResearch/hermes-agent#101330: what a failed call says in structuredContent is lost.
#[tokio::test]
async fn a_failed_call_keeps_what_it_says() {
    let fake = Fake::new(|seen, _| match seen.name() {
        "initialize" => seen.initialized(json!({"tools": {}}), 1),
        "tools/call" => {
            seen.result(json!({"content": [], "isError": true, "structuredContent": {"code": 7}}))
        }
        "notifications/initialized" => status(202),
        _ => status(405),
    })
    .await;
    let client = Client::http(&fake.url(), legacy()).await.unwrap();
    let failed = client.call_tool("t", json!({})).await.unwrap();
    assert!(failed.is_error);
    assert_eq!(failed.structured_content, Some(json!({"code": 7})));
}
