//! The feed of a universe: order, resumption, ends, bounds.

mod frozen;

use std::time::Duration;

use http::Request;
use http_body_util::{BodyExt as _, Empty};
use mcp_proto::budget::{Bound, BudgetConfig};
use serde_json::{Value, json};
use tempfile::TempDir;
use universe_core::State;
use universe_server::commands::{CommandService, ServiceLimits};
use universe_server::http::{App, AppBody};
use universe_server::rest::RestConfig;
use universe_server::store::UniverseId;

use crate::harness::local::{app, memory};
use crate::harness::{Feed, Local, Server, add_star, soon, tick};

/// A universe with five ticks.
async fn ticked() -> (Local, String) {
    let server = Local::start().await;
    let id = server.client.create("u", json!({})).await;
    for _ in 0..5 {
        server.client.command(&id, &tick()).await;
    }
    (server, id)
}

#[tokio::test]
async fn commands_come_in_order_with_their_revisions() {
    let (server, id) = ticked().await;
    let client = server.client;
    let mut feed = client.feed(&id, None).await;
    assert_eq!(feed.block().await.as_deref(), Some("retry: 2000"));
    let mut star = add_star("sun");
    star["payload"]["name"] = json!("two\nlines\r\u{2028} and 太陽");
    client.command(&id, &star).await;
    client.command(&id, &tick()).await;
    let event = feed.event().await.unwrap();
    assert_eq!((event.kind.as_str(), event.id), ("command", Some(6)));
    assert_eq!(event.data["payload"]["name"], star["payload"]["name"]);
    assert_eq!(event.data["type"], "addStar");
    let event = feed.event().await.unwrap();
    assert_eq!((event.id, event.data), (Some(7), tick()));
}

#[tokio::test]
async fn a_reader_goes_on_where_it_was() {
    let (server, id) = ticked().await;
    let mut feeds = Vec::new();
    for last in [0, 3, 5] {
        let mut feed = server.client.feed(&id, Some(last)).await;
        for revision in last + 1..=5 {
            assert_eq!(feed.event().await.unwrap().id, Some(revision), "after {last}");
        }
        feeds.push(feed);
    }
    // From here on they all see the same.
    server.client.command(&id, &tick()).await;
    for feed in &mut feeds {
        assert_eq!(feed.event().await.unwrap().id, Some(6));
    }
}

#[tokio::test]
async fn a_reader_from_beyond_is_asked_to_read_again() {
    let (server, id) = ticked().await;
    let mut feed = server.client.feed(&id, Some(900)).await;
    let event = feed.event().await.unwrap();
    assert_eq!((event.kind.as_str(), event.id), ("reset", Some(5)));
    assert_eq!(event.data, json!({"revision": 5}));
    server.client.command(&id, &tick()).await;
    assert_eq!(feed.event().await.unwrap().id, Some(6));
}

#[tokio::test]
async fn a_reader_goes_on_after_a_restart() {
    let dir = TempDir::new().unwrap();
    let mut last = 0;
    let mut server = Server::on(dir.path()).await;
    let id = server.client.create("u", json!({})).await;
    for _ in 0..3 {
        let mut feed = server.client.feed(&id, Some(last)).await;
        for _ in 0..4 {
            server.client.command(&id, &tick()).await;
        }
        // Two of the four are seen before the server goes; the others are missed and sent by the next one.
        let missed = if last == 0 { 0 } else { 2 };
        for _ in 0..missed + 2 {
            last += 1;
            assert_eq!(feed.event().await.unwrap().id, Some(last));
        }
        server.kill().await;
        server = Server::on(dir.path()).await;
    }
}

#[tokio::test]
async fn what_is_no_revision_is_400() {
    let (server, id) = ticked().await;
    let path = format!("/universes/{id}/events");
    for wrong in ["x", "-1", "1.5", "\"1\"", "99999999999999999999"] {
        let headers = [("last-event-id", wrong)];
        let reply = server.client.call("GET", &path, &headers, &Value::Null).await;
        assert_eq!(reply.status, 400, "{wrong}");
        assert!(reply.error().starts_with("the last-event-id header must be"), "{reply:?}");
    }
}

#[tokio::test]
async fn putting_is_reported_and_deleting_ends() {
    let (server, id) = ticked().await;
    let client = server.client;
    let path = format!("/universes/{id}");
    let mut feeds = [client.feed(&id, None).await, client.feed(&id, Some(5)).await];
    client.put(&path, &json!({"name": "v"})).await;
    client.put(&path, &json!({"state": {"time": 3}})).await;
    client.put(&path, &json!({})).await;
    for feed in &mut feeds {
        let told = [
            (6, json!({"name": "v", "state": false})),
            (7, json!({"name": null, "state": true})),
            (8, json!({"name": null, "state": false})),
        ];
        for (revision, data) in told {
            let event = feed.event().await.unwrap();
            assert_eq!(
                (event.kind.as_str(), event.id, event.data),
                ("replaced", Some(revision), data)
            );
        }
    }
    client.delete(&path).await;
    for feed in &mut feeds {
        let event = feed.event().await.unwrap();
        assert_eq!((event.kind.as_str(), event.id), ("deleted", None));
        assert_eq!(event.data, json!({"id": id}));
        assert!(feed.has_ended().await);
    }
    assert_eq!(client.get(&format!("{path}/events")).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_loses_nothing() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    // Some 20 MB: far more than any socket buffers, and no client reads until all of it is written.
    let mut feed = client.feed(&id, Some(0)).await;
    let mut nebula = json!({"type": "addGroup", "id": "g", "payload": {"name": "", "children": [], "parentGroupId": null}});
    nebula["payload"]["name"] = json!("x".repeat(50_000));
    let mut connection = client.connect().await;
    let path = format!("/universes/{id}/commands?result=events");
    for n in 0..400 {
        nebula["id"] = json!(format!("g-{n}"));
        assert_eq!(connection.call("POST", &path, &[], &nebula).await.status, 200);
    }
    for n in 0..400 {
        let event = feed.event().await.unwrap();
        assert_eq!((event.id, &event.data["id"]), (Some(n + 1), &json!(format!("g-{n}"))));
    }
}

#[tokio::test]
async fn there_are_only_so_many_places() {
    let mut budget = BudgetConfig::default();
    budget.listeners = Bound { total: 9, share: 2 };
    let service = CommandService::new(memory(), ServiceLimits::default());
    let server = Local::with_budget(service, budget).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let path = format!("/universes/{id}/events");
    let first = client.feed(&id, None).await;
    let _second = client.feed(&id, None).await;
    let reply = client.get(&path).await;
    assert_eq!((reply.status, reply.header("retry-after")), (429, "1"));
    // HEAD takes no place for longer than its answer.
    let head = client.call("HEAD", &path, &[], &Value::Null).await;
    assert_eq!(head.status, 429);
    // The place is free as soon as the server sees the connection close.
    drop(first);
    soon(async {
        while client.call("HEAD", &path, &[], &Value::Null).await.status != 200 {
            tokio::task::yield_now().await;
        }
        while client.open("GET", &path, &[]).await.status() != 200 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn rest_shares_the_budget_of_mcp() {
    let mut budget = BudgetConfig::default();
    budget.request_bytes = Bound { total: 100_000, share: 20_000 };
    let service = CommandService::new(memory(), ServiceLimits::default());
    let server = Local::with_budget(service, budget).await;
    let client = server.client;
    // Few bytes, and many once they are read.
    let bomb = json!({ "name": "u", "state": { "stars": vec![json!({ "": 0 }); 100] } });
    let reply = client.post("/universes", &bomb).await;
    assert_eq!(reply.status, 413);
    // What is left of the share beside its text.
    let text = String::from_utf8_lossy(&reply.body);
    assert!(text.contains("takes more than 1") && text.contains("bytes of memory"), "{text}");
    client.create("small", json!({})).await;
}

/// Opens a feed without a socket, so that time can be paused.
async fn open(app: &App, id: &str) -> Feed<AppBody> {
    let request = Request::get(format!("/universes/{id}/events"))
        .header("host", "localhost")
        .body(Empty::<bytes::Bytes>::new())
        .unwrap();
    let response = app.handle(request).await;
    assert_eq!(response.status(), 200);
    let mut feed = Feed::new(response.into_body());
    assert_eq!(feed.block().await.as_deref(), Some(":connected"));
    assert_eq!(feed.block().await.as_deref(), Some("retry: 2000"));
    feed
}

async fn in_process() -> (App, CommandService, UniverseId) {
    let service = CommandService::new(memory(), ServiceLimits::default());
    let id = UniverseId::new("u").unwrap();
    let state = State::from_partial(json!({})).unwrap();
    service.create(id.clone(), "u".to_owned(), state).await.unwrap();
    (app(service.clone(), RestConfig::default()), service, id)
}

#[tokio::test(start_paused = true)]
async fn a_quiet_feed_beats_every_ten_seconds() {
    let (app, service, id) = in_process().await;
    let mut feed = open(&app, "u").await;
    let start = tokio::time::Instant::now();
    for beat in 1..=3 {
        assert_eq!(feed.block().await.as_deref(), Some(":heartbeat"));
        assert_eq!(start.elapsed(), Duration::from_secs(10 * beat));
    }
    let command = universe_core::Command::from_value(tick()).unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    service.process(&id, command).await.unwrap();
    assert_eq!(feed.event().await.unwrap().id, Some(1));
}

#[tokio::test]
async fn closing_the_server_ends_feeds_at_once() {
    let (app, service, id) = in_process().await;
    let mut feed = open(&app, "u").await;
    app.close();
    // With a word when to come back.
    let last = feed.block().await.unwrap();
    assert!(last.starts_with("retry: "), "{last}");
    assert!(feed.has_ended().await);
    let command = universe_core::Command::from_value(tick()).unwrap();
    service.process(&id, command).await.expect("calls go on");
    let request = Request::get("/universes/u").header("host", "localhost");
    let response = app.handle(request.body(Empty::<bytes::Bytes>::new()).unwrap()).await;
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["revision"], 1);
}
