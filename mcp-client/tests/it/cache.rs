//! What the client keeps of a server's answers, for how long, and when it drops them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcp_proto::input::ElicitResult;
use mcp_proto::{CacheHint, Change, Era, Resource, ResourceContents, Server};
use mcp_proto_client::{Client, ClientConfig, Interest};
use serde_json::{Map, Value, json};

use crate::common::{PATIENCE, Served};
use crate::fake::{Fake, Seen, events, open_events};

/// Answers with this much time to live, and a number that tells one answer from the next.
fn timed(seen: &Seen, before: usize, ttl: &Value) -> crate::fake::Answer {
    let mut result = match seen.name() {
        "resources/read" => json!({"contents": [{"uri": "x:1", "text": before.to_string()}]}),
        _ => json!({"prompts": [{"name": before.to_string()}]}),
    };
    if !ttl.is_null() {
        result["ttlMs"] = ttl.clone();
        result["cacheScope"] = json!("private");
    }
    seen.result(result)
}

async fn modern(fake: &Fake, change: impl FnOnce(&mut ClientConfig)) -> Client {
    let mut config = ClientConfig::new(Era::Modern);
    change(&mut config);
    Client::http(&fake.url(), config).await.unwrap()
}

async fn name(client: &Client) -> String {
    client.list_prompts().await.unwrap()[0].name.clone()
}

#[tokio::test]
async fn an_answer_is_kept_as_long_as_it_says_and_no_longer() {
    let fake = Fake::new(|seen, before| timed(seen, before, &json!(60_000))).await;
    let client = modern(&fake, |_| {}).await;
    for _ in 0..3 {
        assert_eq!(name(&client).await, "0");
        let read = client.read_resource("x:1").await.unwrap();
        assert_eq!(read.contents[0].text.as_deref(), Some("0"));
    }
    assert_eq!(fake.names(), ["prompts/list", "resources/read"]);
    // Other params are another answer.
    client.read_resource("x:2").await.unwrap();
    // The raw call asks.
    client.request("prompts/list", json!({})).await.unwrap();
    assert_eq!(fake.names().len(), 4);
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(60_001)).await;
    tokio::time::resume();
    assert_eq!(name(&client).await, "2");
    // Nobody asks in the background.
    assert_eq!(fake.names().len(), 5);
}

#[tokio::test]
async fn what_has_no_time_or_no_room_is_not_kept() {
    for ttl in [json!(null), json!(0), json!(-1), json!("60000"), json!(1.5)] {
        let shown = ttl.clone();
        let fake = Fake::new(move |seen, before| timed(seen, before, &ttl)).await;
        let client = modern(&fake, |_| {}).await;
        for wanted in ["0", "1"] {
            assert_eq!(name(&client).await, wanted, "{shown}");
        }
    }
    for bytes in [0, 20] {
        let fake = Fake::new(|seen, before| timed(seen, before, &json!(60_000))).await;
        let client = modern(&fake, |config| config.cache_bytes = bytes).await;
        for wanted in ["0", "1"] {
            assert_eq!(name(&client).await, wanted);
        }
    }
}

#[tokio::test]
async fn what_changed_is_dropped_and_nothing_else() {
    let server = Server::builder("s", "1", ())
        .resource(Resource::new("x:1", "one"), async |(), _| Ok(ResourceContents::text("x:1", "")))
        .subscriptions()
        .tools_list_changed()
        .prompts_list_changed()
        .resources_list_changed()
        .list_cache(CacheHint::public(Duration::from_secs(60)))
        .build()
        .unwrap();
    let served = Served::new(server.clone()).await;
    let client = Client::http(&served.url(), ClientConfig::default()).await.unwrap();
    let interest = Interest::lists().resource("x:1");
    let mut listening = client.listen(interest).await.unwrap();
    client.list_resources().await.unwrap();
    server.notify(Change::ResourcesListChanged);
    server.notify(Change::resource_updated("x:1"));
    for _ in 0..2 {
        let heard = tokio::time::timeout(PATIENCE, listening.next()).await;
        assert!(heard.unwrap().is_some());
    }
    let fake = Fake::new(|seen, before| match seen.name() {
        "subscriptions/listen" => {
            let meta = json!({"io.modelcontextprotocol/subscriptionId": seen.body["id"]});
            let told = |method: &str, params: Value| {
                let mut params = params;
                params["_meta"] = meta.clone();
                let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
                format!("data: {message}\n\n")
            };
            open_events(
                &[
                    told("notifications/subscriptions/acknowledged", json!({"notifications": {}})),
                    told("notifications/prompts/list_changed", json!({})),
                    told("notifications/resources/updated", json!({"uri": "x:"})),
                ]
                .concat(),
            )
        }
        _ => timed(seen, before, &json!(60_000)),
    })
    .await;
    let client = modern(&fake, |_| {}).await;
    let read = async || client.read_resource("x:1").await.unwrap().contents[0].text.clone();
    assert_eq!((name(&client).await.as_str(), read().await.as_deref()), ("0", Some("0")));
    client.read_resource("y:1").await.unwrap();
    let mut listening = client.listen(Interest::lists().resource("x:")).await.unwrap();
    for _ in 0..2 {
        let heard = tokio::time::timeout(PATIENCE, listening.next()).await;
        assert!(heard.unwrap().is_some());
    }
    assert_eq!(name(&client).await, "1");
    assert_eq!(read().await.as_deref(), Some("2"));
    let before = fake.names().len();
    client.read_resource("y:1").await.unwrap();
    assert_eq!(fake.names().len(), before);
}

#[tokio::test]
async fn the_answer_to_a_retry_is_not_kept() {
    let fake = Fake::new(|seen, before| match seen.body["params"].get("requestState") {
        None => seen.result(json!({
            "resultType": "input_required",
            "requestState": "s",
            "inputRequests": {"k": {"method": "elicitation/create", "params": {
                "message": "?", "requestedSchema": {"type": "object", "properties": {}},
            }}},
        })),
        Some(state) => {
            assert_eq!(state, "s");
            timed(seen, before, &json!(60_000))
        }
    })
    .await;
    let config = ClientConfig::new(Era::Modern);
    let config = config.with_elicitation(async |_| ElicitResult::accept(Map::new()));
    let client = Client::http(&fake.url(), config).await.unwrap();
    for _ in 0..2 {
        client.read_resource("x:1").await.unwrap();
    }
    assert_eq!(fake.names().len(), 4);
}

#[tokio::test]
async fn a_change_under_way_wins_over_the_answer() {
    // The notification comes on the stream of the very answer that it makes old.
    let told = Arc::new(AtomicBool::new(false));
    let fake = Fake::new(move |seen, before| {
        if told.swap(true, Ordering::SeqCst) {
            return timed(seen, before, &json!(60_000));
        }
        let changed = json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"});
        let result = json!({"prompts": [{"name": "old"}], "ttlMs": 60_000});
        let answer = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result});
        events(&format!("data: {changed}\n\ndata: {answer}\n\n"))
    })
    .await;
    let client = modern(&fake, |_| {}).await;
    assert_eq!(name(&client).await, "old");
    assert_eq!(name(&client).await, "1");
    assert_eq!(name(&client).await, "1");
}
