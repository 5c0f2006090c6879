//! Starting, stopping, who may call, and how many at once.

use std::sync::Arc;
use std::time::Duration;

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::harness::{HANG, TestSetup, structured, terminate};
use super::pipe::Pipe;
use crate::assert_has;

pub(super) fn modern(id: usize, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(super) fn initialize() -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// Start embedded server; no authentication in embedded mode; list capabilities.
#[tokio::test]
async fn it_serves_stdin_and_stdout_without_a_token() {
    let setup = TestSetup::of("chats.toml");
    setup.write("token", "secret123\n");
    let token = setup.path("token");
    let mut pipe = Pipe::start(&setup, &["--token-file", token.to_str().unwrap()]);
    let told = pipe.ask(&initialize()).await.unwrap();
    let capabilities = &told["result"]["capabilities"];
    for capability in ["tools", "resources", "prompts"] {
        assert!(capabilities[capability].is_object(), "{told}");
    }
}

/// Graceful shutdown: what is asked before the signal is answered, and it ends with 0.
#[tokio::test]
async fn a_signal_lets_it_finish_and_end() {
    let setup = TestSetup::of("chats.toml");
    let mut pipe = Pipe::start(&setup, &[]);
    pipe.ask(&initialize()).await.unwrap();
    let call = json!({ "name": "get_messages", "arguments": { "search": "harbour" } });
    let call = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call });
    // Once the exports are read none of them waits for that.
    let note = |answer: &Value| answer["result"]["structuredContent"]["note"].to_string();
    while note(&pipe.ask(&call(100)).await.unwrap()).contains("still being read") {}
    for id in 1..=20 {
        pipe.send(&call(id)).await;
    }
    // Lines are read in their order: when this one is answered, all before it run or have run.
    pipe.send(&json!({ "jsonrpc": "2.0", "id": "last", "method": "ping" })).await;
    let mut answered = 0;
    loop {
        let answer = pipe.next().await;
        if answer["id"] == "last" {
            break;
        }
        assert!(answer["result"].is_object(), "{answer}");
        answered += 1;
    }
    terminate(&pipe.child);
    for _ in answered..20 {
        let answer = pipe.next().await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    let ended = tokio::time::timeout(HANG, pipe.child.wait()).await.unwrap();
    assert_eq!(ended.unwrap().code(), Some(0));

    let (mut server, url) = setup.listening(&[]).await;
    let client = Client::http(&url, ClientConfig::new(Era::Modern)).await.unwrap();
    structured(&client, "list_sources", json!({})).await;
    terminate(&server);
    let ended = tokio::time::timeout(HANG, server.wait()).await.unwrap();
    assert_eq!(ended.unwrap().code(), Some(0));
}

/// The status of an answer over HTTP and its body.
pub(super) async fn post(url: &str, message: &Value, token: Option<&str>) -> (u16, String) {
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    let body = message.to_string();
    let token = token.map_or(String::new(), |token| format!("authorization: Bearer {token}\r\n"));
    let method = message["method"].as_str().unwrap();
    let mut modern = if message["params"]["_meta"].is_object() {
        format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n")
    } else {
        String::new()
    };
    if let Some(uri) = message["params"]["uri"].as_str() {
        modern.push_str(&format!("mcp-name: {uri}\r\n"));
    }
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nconnection: close\r\n{token}{modern}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let status = answer.get(9..12).unwrap().parse().unwrap();
    (status, answer)
}

/// Token-based authentication; valid token.
#[tokio::test]
async fn with_a_token_it_answers_those_who_have_it() {
    let setup = TestSetup::of("chats.toml");
    setup.write("token", "secret123\n");
    let token = setup.path("token");
    let (_server, url) = setup.listening(&["--token-file", token.to_str().unwrap()]).await;
    let (status, answer) = post(&url, &initialize(), None).await;
    assert_eq!(status, 401);
    assert!(answer.contains("Authentication required"), "{answer}");
    assert_eq!(post(&url, &initialize(), Some("secret124")).await.0, 401);
    let (status, answer) = post(&url, &initialize(), Some("secret123")).await;
    assert_eq!(status, 200, "{answer}");
    let list = modern(1, "tools/list", json!({}));
    let (status, answer) = post(&url, &list, Some("secret123")).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("list_sources"), "{answer}");
    // What a client of 2026 asks first.
    let discover = modern(2, "server/discover", json!({}));
    let (status, answer) = post(&url, &discover, Some("secret123")).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("supportedVersions"), "{answer}");
}

fn listen(id: usize) -> Value {
    let wanted = json!({ "resourceSubscriptions": ["messages://telegram/*"] });
    modern(id, "subscriptions/listen", json!({ "notifications": wanted }))
}

#[tokio::test]
async fn the_hundred_and_first_request_is_told_so_on_pipes() {
    let setup = TestSetup::of("chats.toml");
    let mut pipe = Pipe::start(&setup, &[]);
    for id in 1..=100 {
        pipe.send(&listen(id)).await;
        let acknowledged = pipe.next().await;
        assert_eq!(
            acknowledged["method"], "notifications/subscriptions/acknowledged",
            "{acknowledged}"
        );
    }
    let refused = pipe.ask(&modern(101, "tools/list", json!({}))).await.unwrap();
    assert!(refused["error"]["code"].is_i64(), "{refused}");
    assert_has(refused["error"]["message"].as_str().unwrap(), &["100"]);
    // One ends: there is room.
    let gone = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    pipe.send(&gone).await;
    let listed = pipe.ask(&modern(102, "tools/list", json!({}))).await.unwrap();
    assert!(listed["result"]["tools"].is_array(), "{listed}");
}

#[tokio::test]
async fn the_hundred_and_first_request_is_told_so_over_http() {
    let setup = TestSetup::of("chats.toml");
    let (_server, url) = setup.listening(&[]).await;
    let url: Arc<str> = url.into();
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    let mut open = Vec::new();
    for id in 1..=100 {
        let body = listen(id).to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
             mcp-method: subscriptions/listen\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = [0; 12];
        tokio::time::timeout(HANG, stream.read_exact(&mut head)).await.unwrap().unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");
        open.push(stream);
    }
    let list = modern(101, "tools/list", json!({}));
    let (status, answer) = post(&url, &list, None).await;
    assert_eq!(status, 503, "{answer}");
    drop(open);
    // They are gone once the server has seen it.
    let again = async {
        while post(&url, &list, None).await.0 != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(HANG, again).await.unwrap();
}
