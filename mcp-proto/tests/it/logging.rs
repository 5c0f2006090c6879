//! Log messages to the client: only at the level that the request (modern) or the session (legacy) wants, on the stream
//! of the request, and only where the server offers them.

use mcp_proto::{
    CallToolResult, Context, Era, LogLevel, RequestError, Resource, ResourceContents, Server,
    ServerBuilder, StreamableHttpService, Tool,
};
use mcp_proto_client::{Client, ClientConfig};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::common::{Raw, Served, every_client, messages, open_session, refused, request};
use crate::peer::Peer;

const LEVEL: &str = "io.modelcontextprotocol/logLevel";

async fn speak(context: Context) {
    for level in LogLevel::ALL {
        context.log(level, Some("test"), json!({ "at": level })).await;
    }
}

fn builder() -> ServerBuilder<()> {
    let tool = Tool::new("speak", "").with_input_schema(json!({"type": "object"}));
    Server::builder("s", "1", ())
        .raw_tool(tool, async |(), _: Map<String, Value>, context| {
            speak(context).await;
            Ok(CallToolResult::text(""))
        })
        .resource(Resource::new("x:1", "one"), async |(), context| {
            speak(context).await;
            Ok(ResourceContents::text("x:1", ""))
        })
        .list_resources(async |(), _, context| {
            speak(context).await;
            Ok(mcp_proto::Page::last(Vec::new()))
        })
}

fn server() -> Server {
    builder().logging().build().unwrap()
}

/// The levels that are told of before the answer.
async fn levels(client: &Client, method: &str, params: Value) -> Vec<String> {
    let mut told = client.notifications();
    client.request(method, params).await.unwrap();
    let mut levels = Vec::new();
    while let Ok(said) = told.try_recv() {
        assert_eq!(said.method, "notifications/message");
        let level = said.params["level"].as_str().unwrap().to_owned();
        assert_eq!(
            Value::Object(said.params),
            json!({"level": level, "logger": "test", "data": {"at": level}})
        );
        levels.push(level);
    }
    levels
}

/// The names of all levels from one on.
fn from(level: LogLevel) -> Vec<&'static str> {
    let levels = LogLevel::ALL.into_iter().skip_while(|one| *one != level);
    levels.map(LogLevel::as_str).collect()
}

fn call(level: impl Serialize) -> Value {
    json!({"name": "speak", "_meta": { LEVEL: level }})
}

#[tokio::test]
async fn a_modern_request_gets_what_it_asks_for_and_above_and_nothing_unasked() {
    let (clients, _served) = every_client(&server()).await;
    for (how, client) in clients.iter().filter(|(_, one)| one.era() == Era::Modern) {
        for level in LogLevel::ALL {
            let told = levels(client, "tools/call", call(level)).await;
            assert_eq!(told, from(level), "{how}");
            // Nothing is remembered of the request before.
            let silent = levels(client, "tools/call", json!({"name": "speak"})).await;
            assert!(silent.is_empty(), "{how}: {silent:?}");
        }
        for (method, params) in [
            ("resources/read", json!({"uri": "x:1", "_meta": { LEVEL: "alert" }})),
            ("resources/list", json!({"_meta": { LEVEL: "alert" }})),
        ] {
            assert_eq!(levels(client, method, params).await, ["alert", "emergency"]);
        }
        for wrong in [json!("loud"), json!("INFO"), json!(""), json!(3), json!({})] {
            let answer = client.request("tools/call", call(&wrong)).await;
            assert_eq!(refused(answer).code, -32602, "{how} {wrong}");
        }
    }
}

#[tokio::test]
async fn a_legacy_session_gets_info_until_it_sets_a_level_of_its_own() {
    let server = server();
    let (clients, served) = every_client(&server).await;
    for (how, client) in clients.iter().filter(|(_, one)| one.era() == Era::Legacy) {
        let speak = || json!({"name": "speak"});
        assert_eq!(levels(client, "tools/call", speak()).await, from(LogLevel::Info), "{how}");
        let config = ClientConfig::new(Era::Legacy);
        let other = if how.starts_with("http") {
            Client::http(&served.url(), config).await
        } else {
            Client::memory(server.clone(), config).await
        }
        .unwrap();
        for level in [LogLevel::Debug, LogLevel::Emergency, LogLevel::Warning] {
            let set = client.request("logging/setLevel", json!({ "level": level })).await;
            assert_eq!(set.unwrap(), json!({}), "{how}");
            assert_eq!(levels(client, "tools/call", speak()).await, from(level), "{how}");
            let read = levels(client, "resources/read", json!({"uri": "x:1"})).await;
            assert_eq!(read, from(level));
        }
        for params in [
            json!({}),
            json!({"level": "loud"}),
            json!({"level": "INFO"}),
            json!({"level": 3}),
            json!({"level": null}),
        ] {
            let error = refused(client.request("logging/setLevel", params.clone()).await);
            assert_eq!(error.code, -32602, "{how} {params}");
            assert!(error.message.contains("debug, info, notice"), "{}", error.message);
        }
        // What was refused changed nothing, and neither did anything for the other session.
        assert_eq!(levels(client, "tools/call", speak()).await, from(LogLevel::Warning));
        assert_eq!(levels(&other, "tools/call", speak()).await, from(LogLevel::Info), "{how}");
        // The modern member means nothing to a legacy request.
        let told = levels(client, "tools/call", call("debug")).await;
        assert_eq!(told, from(LogLevel::Warning));
    }
}

#[tokio::test]
async fn a_level_counts_for_what_comes_behind_it_on_the_same_pipe() {
    let mut peer = Peer::new(server());
    peer.send(&serde_json::from_slice(&Raw::initialize("2025-11-25").body).unwrap()).await;
    peer.next().await;
    let set = request(1, "logging/setLevel", &json!({"level": "emergency"}));
    let call = request(2, "tools/call", &json!({"name": "speak"}));
    // One write: the server has both before it answers either.
    peer.send_raw(format!("{set}\n{call}\n").as_bytes()).await;
    let mut said = Vec::new();
    while !said.iter().any(|message: &Value| message["id"] == 2) {
        said.push(peer.next().await);
    }
    let told = said.iter().filter(|message| message["method"] == "notifications/message");
    let told: Vec<_> = told.map(|message| message["params"]["level"].clone()).collect();
    assert_eq!(told, ["emergency"]);
}

#[tokio::test]
async fn a_server_that_offers_no_logging_logs_nothing_and_has_no_level_to_set() {
    let server = builder().build().unwrap();
    let (clients, _served) = every_client(&server).await;
    for (how, client) in &clients {
        for params in [json!({"name": "speak"}), call("debug")] {
            let told = levels(client, "tools/call", params).await;
            assert!(told.is_empty(), "{how}: {told:?}");
        }
        let level = json!({"level": "info"});
        let error = refused(client.request("logging/setLevel", level).await);
        assert_eq!(error.code, -32601, "{how}");
    }
}

#[tokio::test]
async fn logs_go_on_the_stream_of_their_request_and_no_other() {
    let service = StreamableHttpService::new(server());
    let session = open_session(&service).await;
    let loud = Raw::modern_id("loud", "tools/call", call("debug"));
    let silent = Raw::modern_id("silent", "tools/call", json!({"name": "speak"}));
    let legacy = Raw::legacy(&session, "tools/call", &json!({"name": "speak"}));
    let (loud, silent, legacy) =
        tokio::join!(loud.send(&service), silent.send(&service), legacy.send(&service));
    assert_eq!(loud.events().len(), 9);
    assert_eq!(silent.json()["id"], "silent");
    assert_eq!(messages(&legacy.body).len(), 8);
}

#[tokio::test]
async fn a_listen_carries_no_logs() {
    let server = Server::builder("s", "1", ())
        .logging()
        .on_subscribe(async |(), uri: String, context: Context| {
            context.log(LogLevel::Alert, None, "heard?").await;
            context.progress(1.0, None, None).await;
            match uri.as_str() {
                "x:1" => Ok(()),
                _ => Err(RequestError::not_found("")),
            }
        })
        .build()
        .unwrap();
    let served = Served::new(server.clone()).await;
    let raw = Raw::modern(
        "subscriptions/listen",
        json!({
            "notifications": {"resourceSubscriptions": ["x:1", "x:2"]},
            "_meta": { LEVEL: "debug", "progressToken": "p" },
        }),
    );
    server.close();
    let told = raw.send(&served.service).await.events();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0]["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(told[0]["params"]["notifications"], json!({"resourceSubscriptions": ["x:1"]}));
    assert_eq!(told[1]["result"]["resultType"], "complete");
}
