//! Streams of the client: what it hears without asking, and how it finds its way back to a stream.

use std::time::Duration;

use mcp_proto::{Change, Era, Resource, ResourceContents, Server};
use mcp_proto_client::{Client, ClientConfig, ClientError, Interest, ListenEvent, Listening};
use serde_json::{Value, json};

use crate::common::{PATIENCE, every_client};
use crate::fake::{Fake, Seen, events, open_events, refusal, status};

/// The next notification, by its method, and `missed` for a gap.
async fn next(listening: &mut Listening) -> String {
    let heard = tokio::time::timeout(PATIENCE, listening.next()).await;
    match heard.expect("nothing was heard") {
        Some(ListenEvent::Notification(heard)) => {
            let uri = heard.params.get("uri").and_then(Value::as_str);
            match uri {
                Some(uri) => format!("{} {uri}", heard.method),
                None => heard.method,
            }
        }
        Some(_) => "missed".to_owned(),
        None => "over".to_owned(),
    }
}

fn offering() -> Server {
    let read = async |(), _| Ok(ResourceContents::text("notes://1", "text"));
    Server::builder("s", "1", ())
        .resource(Resource::new("notes://1", "one"), read)
        .resource(Resource::new("notes://2", "two"), read)
        .subscriptions()
        .build()
        .unwrap()
}

#[tokio::test]
async fn every_change_is_heard_over_every_transport_in_both_eras() {
    let server = offering();
    let (clients, _served) = every_client(&server).await;
    for (way, client) in clients {
        let interest = Interest::lists().resource("notes://1");
        let mut listening = client.listen(interest).await.unwrap();
        let mut all = client.notifications();
        for _ in 0..3 {
            server.notify(Change::resource_updated("notes://2"));
            server.notify(Change::resource_updated("notes://1"));
            let wanted = "notifications/resources/updated notes://1";
            assert_eq!(next(&mut listening).await, wanted, "{way}");
            let heard = all.recv().await.unwrap();
            assert_eq!(heard.params["uri"], "notes://1", "{way}");
        }
        drop(listening);
    }
}

/// A legacy server with a stream; `stream` says what it tells at the n-th GET.
fn legacy(
    seen: &Seen,
    before: usize,
    stream: impl Fn(&Seen, usize) -> crate::fake::Answer,
) -> crate::fake::Answer {
    match seen.name() {
        "initialize" => seen.initialized(json!({"tools": {"listChanged": true}}), before),
        "GET" => stream(seen, before),
        "notifications/initialized" | "notifications/cancelled" | "DELETE" => status(202),
        _ => seen.result(json!({"tools": []})),
    }
}

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

async fn connected(fake: &Fake) -> Client {
    Client::http(&fake.url(), ClientConfig::new(Era::Legacy)).await.unwrap()
}

#[tokio::test]
async fn a_stream_that_ends_is_opened_again_behind_its_last_event() {
    let fake = Fake::new(|seen, before| {
        legacy(seen, before, |_, before| match before {
            0 => events(&format!("id: a\nretry: 10\ndata: {CHANGED}\n\n")),
            1 => events(&format!("id: b\ndata: {CHANGED}\n\nid: c\ndata:\n\n")),
            _ => open_events(&format!("data: {CHANGED}\n\n")),
        })
    })
    .await;
    let client = connected(&fake).await;
    let mut all = client.notifications();
    fake.wait_for("GET", 3).await;
    for _ in 0..2 {
        let heard = tokio::time::timeout(PATIENCE, all.recv()).await.unwrap();
        assert_eq!(heard.unwrap().method, "notifications/tools/list_changed");
    }
    let seen = fake.seen();
    let gets = seen.iter().filter(|seen| seen.name() == "GET");
    let gets: Vec<_> =
        gets.map(|seen| (seen.header("last-event-id"), seen.header("mcp-session-id"))).collect();
    assert_eq!(gets, [("", "s0"), ("a", "s0"), ("c", "s0")]);
    let accept = seen.iter().find(|seen| seen.name() == "GET").unwrap();
    assert_eq!(accept.header("accept"), "text/event-stream");
    assert_eq!(accept.header("mcp-protocol-version"), "2025-11-25");
}

#[tokio::test]
async fn no_stream_is_opened_where_nothing_can_be_told_or_the_server_has_none() {
    let fake = Fake::new(|seen, before| match seen.name() {
        "initialize" => seen.initialized(json!({"tools": {}}), before),
        _ => legacy(seen, before, |_, _| status(405)),
    })
    .await;
    let client = connected(&fake).await;
    client.list_tools().await.unwrap();
    assert!(!fake.names().contains(&"GET".to_owned()));
    // One that has something to tell, but no stream.
    let fake = Fake::new(|seen, before| legacy(seen, before, |_, _| status(405))).await;
    let client = connected(&fake).await;
    client.list_tools().await.unwrap();
    let gets = fake.names();
    assert_eq!(gets.iter().filter(|name| *name == "GET").count(), 1);
    // Whoever listens is not left to wait.
    let error = client.listen(Interest::lists()).await.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
}

#[tokio::test]
async fn the_stream_of_a_request_is_resumed_when_and_where_the_server_says() {
    let fake = Fake::new(|seen, before| match seen.name() {
        "initialize" => seen.initialized(json!({}), 0),
        "tools/call" => events("id: 1\nretry: 300\ndata:\n\n"),
        "GET" if before == 0 => events(&format!("id: 2\ndata: {CHANGED}\n\n")),
        "GET" => events("id: 3\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"n\":1}}\n\n"),
        _ => status(202),
    })
    .await;
    let client = connected(&fake).await;
    let mut all = client.notifications();
    let begun = std::time::Instant::now();
    let result = client.call_tool_raw("t", json!({})).await.unwrap();
    assert_eq!(result, json!({"n": 1}));
    assert!(begun.elapsed() >= Duration::from_millis(600));
    assert_eq!(all.recv().await.unwrap().method, "notifications/tools/list_changed");
    let ids = fake.seen();
    let ids = ids.iter().filter(|seen| seen.name() == "GET");
    let ids: Vec<_> = ids.map(|seen| seen.header("last-event-id").to_owned()).collect();
    assert_eq!(ids, ["1", "2"]);
    // The answer came: nothing is cancelled.
    assert!(!fake.names().contains(&"notifications/cancelled".to_owned()));
}

#[tokio::test]
async fn a_stream_that_is_gone_is_not_asked_for_without_end() {
    let fake = Fake::new(|seen, _| match seen.name() {
        "initialize" => seen.initialized(json!({}), 0),
        "tools/call" => events("id: 1\nretry: 1\ndata:\n\n"),
        "GET" => status(400),
        _ => status(202),
    })
    .await;
    let client = connected(&fake).await;
    let error = client.call_tool_raw("t", json!({})).await.unwrap_err();
    assert_eq!(error, ClientError::Closed);
    let names = fake.names();
    assert_eq!(names.iter().filter(|name| *name == "GET").count(), 1);
}

#[tokio::test]
async fn a_lost_session_is_opened_again_once_and_has_what_the_first_one_had() {
    let fake = Fake::new(|seen, before| match seen.name() {
        "tools/list" if seen.header("mcp-session-id") == "s0" => status(404),
        "tools/call" => refusal(404),
        "resources/subscribe" | "logging/setLevel" => seen.result(json!({})),
        _ => legacy(seen, before, |_, _| open_events("")),
    })
    .await;
    let client = connected(&fake).await;
    let mut listening = client.subscribe("notes://1").await.unwrap();
    client.set_log_level(mcp_proto::LogLevel::Error).await.unwrap();
    // Two calls at once share one handshake.
    let (one, two) = tokio::join!(client.list_tools(), client.list_tools());
    assert!(one.is_ok() && two.is_ok());
    fake.wait_for("GET", 2).await;
    let seen = fake.seen();
    let with = |name: &str| {
        let of = seen.iter().filter(|seen| seen.name() == name);
        of.map(|seen| seen.header("mcp-session-id")).collect::<Vec<_>>()
    };
    assert_eq!(with("initialize"), ["", ""]);
    assert_eq!(with("resources/subscribe"), ["s0", "s1"]);
    assert_eq!(with("logging/setLevel"), ["s0", "s1"]);
    assert_eq!(with("GET"), ["s0", "s1"]);
    assert_eq!(next(&mut listening).await, "missed");
    // One that stays lost is the caller's to know.
    let error = client.call_tool_raw("t", json!({})).await.unwrap_err();
    assert_eq!(error.code(), Some(-32_600), "{error}");
    let calls = fake.names();
    assert_eq!(calls.iter().filter(|name| *name == "tools/call").count(), 2);
}

#[tokio::test]
async fn a_session_that_is_lost_while_nothing_is_asked_is_opened_again() {
    let fake = Fake::new(|seen, before| {
        legacy(seen, before, |seen, before| match before {
            0 => events("retry: 1\ndata:\n\n"),
            _ if seen.header("mcp-session-id") == "s0" => status(404),
            _ => open_events(&format!("data: {CHANGED}\n\n")),
        })
    })
    .await;
    let client = connected(&fake).await;
    let mut listening = client.listen(Interest::lists()).await.unwrap();
    assert_eq!(next(&mut listening).await, "missed");
    loop {
        match next(&mut listening).await.as_str() {
            "missed" => {}
            heard => break assert_eq!(heard, "notifications/tools/list_changed"),
        }
    }
}

#[tokio::test]
async fn in_the_modern_era_a_broken_request_is_made_again_unless_it_calls_a_tool() {
    let fake = Fake::new(|seen, before| match (seen.name(), before) {
        ("tools/list", 0) | ("tools/call", _) => events(": nothing\n\n"),
        _ => seen.result(json!({"tools": []})),
    })
    .await;
    let client = Client::http(&fake.url(), ClientConfig::new(Era::Modern)).await;
    let client = client.unwrap();
    client.list_tools().await.unwrap();
    let error = client.call_tool_raw("t", json!({})).await.unwrap_err();
    assert_eq!(error, ClientError::Closed);
    assert_eq!(fake.names(), ["tools/list", "tools/list", "tools/call"]);
    let seen = fake.seen();
    assert_ne!(seen[0].body["id"], seen[1].body["id"]);
}

fn acknowledged(seen: &Seen, rest: &str) -> String {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": seen.body["id"]});
    let params = json!({"notifications": seen.body["params"]["notifications"], "_meta": meta});
    let method = "notifications/subscriptions/acknowledged";
    let ack = json!({"jsonrpc": "2.0", "method": method, "params": params});
    let method = "notifications/tools/list_changed";
    let changed = json!({"jsonrpc": "2.0", "method": method, "params": {"_meta": meta}});
    format!("data: {ack}\n\ndata: {changed}\n\n{rest}")
}

#[tokio::test]
async fn a_listen_that_ends_is_made_again_and_says_that_something_may_be_missed() {
    let fake = Fake::new(|seen, before| match before {
        0 => events(&acknowledged(seen, "")),
        1 => status(503),
        _ => open_events(&acknowledged(seen, "")),
    })
    .await;
    let client = Client::http(&fake.url(), ClientConfig::new(Era::Modern)).await;
    let mut listening = client.unwrap().listen(Interest::new().tools()).await.unwrap();
    assert_eq!(listening.agreed(), json!({"toolsListChanged": true}));
    let changed = "notifications/tools/list_changed";
    assert_eq!(next(&mut listening).await, changed);
    let (one, two) = (next(&mut listening).await, next(&mut listening).await);
    let mut heard = [one.as_str(), two.as_str()];
    heard.sort_unstable();
    assert_eq!(heard, ["missed", changed]);
    // Each is a request of its own.
    let seen = fake.seen();
    assert_ne!(seen[0].body["id"], seen[2].body["id"]);
    drop(listening);
}

#[tokio::test]
async fn a_listen_that_is_refused_is_the_callers_to_know() {
    let fake = Fake::new(|seen, _| seen.error(404, -32_601, json!({}))).await;
    let client = Client::http(&fake.url(), ClientConfig::new(Era::Modern)).await;
    let error = client.unwrap().listen(Interest::lists()).await.unwrap_err();
    assert_eq!(error.code(), Some(-32_601));
}

#[tokio::test]
async fn whoever_lags_is_told() {
    let many = format!("data: {CHANGED}\n\n").repeat(mcp_proto_client::NOTIFICATIONS + 10);
    let fake = Fake::new(move |seen, before| match seen.name() {
        "tools/call" => {
            events(&format!("{many}data: {{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{}}}}\n\n"))
        }
        _ => legacy(seen, before, |_, _| open_events("")),
    })
    .await;
    let client = connected(&fake).await;
    let mut listening = client.listen(Interest::lists()).await.unwrap();
    let mut all = client.notifications();
    client.call_tool_raw("t", json!({})).await.unwrap();
    assert_eq!(next(&mut listening).await, "missed");
    let changed = "notifications/tools/list_changed";
    assert_eq!(next(&mut listening).await, changed);
    let lagged = tokio::sync::broadcast::error::RecvError::Lagged(10);
    assert_eq!(all.recv().await.unwrap_err(), lagged);
}

#[tokio::test]
async fn a_handle_that_is_dropped_takes_its_subscription_and_its_stream_with_it() {
    let server = offering();
    let (clients, mut served) = every_client(&server).await;
    for (way, client) in clients {
        let one = client.subscribe("notes://1").await.unwrap();
        let mut two = client.subscribe("notes://1").await.unwrap();
        drop(one);
        server.notify(Change::resource_updated("notes://1"));
        let wanted = "notifications/resources/updated notes://1";
        assert_eq!(next(&mut two).await, wanted, "{way}");
    }
    served.stop();
    // Nothing of the clients is left that would keep it.
    served.ended().await;
}
