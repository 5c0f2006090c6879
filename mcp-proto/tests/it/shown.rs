//! Tools that are hidden and shown while the server runs: what is listed, what can be called, and who hears of it, over
//! HTTP and stdio in both eras.

use http::Method;
use http_body_util::BodyExt as _;
use mcp_proto::http::ResponseBody;
use mcp_proto::{CallToolResult, Server, ServerBuilder, StreamableHttpService, Tool};
use serde_json::{Value, json};

use crate::common::{
    PATIENCE, Raw, call, every_client, messages, open_session, request, with_meta,
};
use crate::listen::{self, listen};
use crate::peer::Peer;

const CHANGED: &str = "notifications/tools/list_changed";

fn builder() -> ServerBuilder<()> {
    let tool = |name: &str| {
        let region = json!({"type": "string", "x-mcp-header": "Region"});
        let schema = json!({"type": "object", "properties": {"region": region}});
        Tool::new(name, "").with_input_schema(schema)
    };
    let done = async |(), _, _| Ok(CallToolResult::text("done"));
    Server::builder("s", "1", ())
        .raw_tool(tool("always"), done)
        .raw_tool(tool("one"), done)
        .raw_tool(tool("two"), done)
}

fn server() -> Server {
    builder().tools_list_changed().build().unwrap()
}

/// What every client of a server sees: the names that are listed.
async fn listed(server: &Server) -> Vec<Vec<String>> {
    let (clients, served) = every_client(server).await;
    let mut all = Vec::new();
    for (_, client) in &clients {
        let answer = client.request("tools/list", json!({})).await.unwrap();
        let tools = answer["tools"].as_array().unwrap().iter();
        all.push(tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect());
    }
    drop(clients);
    served.ended().await;
    all
}

#[tokio::test]
async fn what_is_hidden_is_neither_listed_nor_called_until_it_is_shown() {
    let server = server();
    assert!(server.hide_tools(&["one", "two"]));
    assert!(listed(&server).await.iter().all(|names| names == &["always"]));
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        let mut refusals = Vec::new();
        for tool in ["one", "none"] {
            let params = json!({"name": tool, "arguments": {"region": "eu"}});
            let refused = crate::common::refused(client.request("tools/call", params).await);
            assert_eq!(refused.data, Some(json!({"tools": ["always"]})), "{name}");
            refusals.push((refused.code, refused.message.replace(tool, "?")));
        }
        assert_eq!(refusals[0], refusals[1], "{name}");
        assert_eq!(refusals[0].1, "unknown tool \"?\"");
    }
    assert!(server.show_tools(&["two"]));
    for (name, client) in &clients {
        let params = call("two");
        let answer = client.request("tools/call", params).await.unwrap();
        assert_eq!(answer["content"][0]["text"], "done", "{name}");
    }
    drop(clients);
    served.ended().await;
    let shown = ["always", "two"];
    assert!(listed(&server).await.iter().all(|names| names == &shown));
}

#[tokio::test]
async fn a_header_that_is_missing_does_not_give_a_hidden_tool_away() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    let params = json!({"name": "one", "arguments": {"region": "eu"}});
    let refused = || Raw::modern("tools/call", params.clone()).send(&service);
    assert!(refused().await.message().contains("mcp-param-region"));
    assert!(server.hide_tools(&["one"]));
    assert_eq!(refused().await.message(), "unknown tool \"one\"");
}

#[tokio::test]
async fn a_page_that_follows_a_tool_that_is_hidden_meanwhile_leaves_none_out() {
    let server = builder().tools_list_changed().page_size(1).build().unwrap();
    let service = StreamableHttpService::new(server.clone());
    let page = |params| Raw::modern("tools/list", params).send(&service);
    let first = page(json!({})).await.result();
    assert_eq!(first["tools"][0]["name"], "always");
    let second = || page(json!({"cursor": first["nextCursor"]}));
    assert!(server.hide_tools(&["one"]));
    let follows = second().await.result();
    assert_eq!(follows["tools"][0]["name"], "two");
    // Where the page begins is gone on both sides: to guess would leave tools out.
    assert!(server.hide_tools(&["always"]));
    assert_eq!(second().await.refusal().1, -32602);
    let only = page(json!({})).await.result();
    assert_eq!(only["tools"][0]["name"], "two");
    assert!(only.get("nextCursor").is_none(), "{only}");
}

#[tokio::test]
async fn every_listener_hears_once_of_each_change_and_of_nothing_else() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    let wanted = json!({"toolsListChanged": true});
    let mut modern = listen::open(&service, listen(7, &wanted)).await;
    listen::next(&mut modern).await;
    let session = open_session(&service).await;
    let get =
        Raw::bare(Method::GET).set("accept", "text/event-stream").set("mcp-session-id", &session);
    let mut legacy = service.handle(get.request()).await.into_body();
    frame(&mut legacy).await;
    let mut modern_pipe = Peer::new(server.clone());
    let params = with_meta(json!({ "notifications": wanted }));
    modern_pipe.send(&request(1, "subscriptions/listen", &params)).await;
    modern_pipe.next().await;
    let mut legacy_pipe = Peer::new(server.clone());
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    legacy_pipe.send(&request(1, "initialize", &params)).await;
    let declared = legacy_pipe.next().await;
    assert_eq!(declared["result"]["capabilities"]["tools"], json!({"listChanged": true}));
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    legacy_pipe.send(&ready).await;
    legacy_pipe.send(&request(2, "ping", &json!({}))).await;
    legacy_pipe.next().await;

    // Nothing changes by these, and so nobody is told.
    assert!(server.show_tools(&["one", "two"]));
    assert!(server.hide_tools(&[]));
    assert!(!server.hide_tools(&["one", "no such tool"]));
    for change in [Server::hide_tools, Server::show_tools] {
        assert!(change(&server, &["one", "one", "two"]));
        for event in [
            listen::next(&mut modern).await,
            frame(&mut legacy).await,
            modern_pipe.next().await,
            legacy_pipe.next().await,
        ] {
            assert_eq!(event["method"], CHANGED);
        }
    }
    server.close();
    let rest = listen::rest(modern).await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert!(legacy_pipe.end().await.is_empty());
    let rest = modern_pipe.end().await;
    assert!(rest.iter().all(|message| message["method"] != CHANGED), "{rest:?}");
}

#[tokio::test]
async fn a_server_that_declares_no_changes_hides_nothing() {
    let server = builder().build().unwrap();
    assert!(!server.hide_tools(&["one"]));
    let service = StreamableHttpService::new(server);
    let answer = Raw::modern("tools/call", call("one")).send(&service).await;
    assert_eq!(answer.result()["content"][0]["text"], "done");
}

/// The next message of a GET stream; null for a frame without one.
async fn frame(stream: &mut ResponseBody) -> Value {
    let frame = tokio::time::timeout(PATIENCE, stream.frame()).await;
    let data = frame.unwrap().unwrap().unwrap().into_data().unwrap();
    messages(&data).pop().unwrap_or_default()
}
