//! Subscriptions to resources and lists by `subscriptions/listen`: what is agreed, who hears what, and what a listener
//! is told that cannot keep up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_proto::jsonrpc::Request;
use mcp_proto::outbox::{Outbox, OutboxReader, Outgoing};
use mcp_proto::{
    Change, Context, Principal, RequestError, Resource, ResourceContents, ResourceTemplate,
    ResourceUpdate, Server, ServerBuilder, StreamableHttpService,
};
use serde_json::{Map, Value, json};

use crate::common::{Raw, request, with_meta};
use crate::listen::{SUBSCRIPTION, listen, next, open, rest};
use crate::peer::Peer;

pub(crate) fn builder() -> ServerBuilder<()> {
    let read = async |(), _| Ok(ResourceContents::text("x:1", ""));
    Server::builder("s", "1", ())
        .resource(Resource::new("x:1", "one"), read)
        .resource(Resource::new("x:2", "two"), read)
        .resource_template(ResourceTemplate::new("y:{a}", "many"), async |(), _, _| {
            Ok(ResourceContents::text("y:1", ""))
        })
        .subscriptions()
        .tools_list_changed()
        .prompts_list_changed()
        .resources_list_changed()
}

fn uris(uris: &[&str]) -> Value {
    json!({ "resourceSubscriptions": uris })
}

/// The URI that an update is of.
#[track_caller]
fn updated(event: &Value) -> &str {
    assert_eq!(event["method"], "notifications/resources/updated", "{event}");
    event["params"]["uri"].as_str().unwrap()
}

#[tokio::test]
async fn only_what_there_is_is_agreed_to() {
    let service = StreamableHttpService::new(builder().build().unwrap());
    let everything = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["y:9", "x:1", "x:3", "x:1", "z", ""],
    });
    let long = format!("y:{}", "a".repeat(9_000));
    for (wish, agreed) in [
        (
            everything.clone(),
            json!({
                "toolsListChanged": true,
                "promptsListChanged": true,
                "resourcesListChanged": true,
                "resourceSubscriptions": ["x:1", "y:9"],
            }),
        ),
        (uris(&["x:3"]), uris(&[])),
        (uris(&[&long]), uris(&[])),
        (uris(&[]), uris(&[])),
        (json!({"resourceSubscriptions": null}), json!({})),
        (json!({"promptsListChanged": null}), json!({})),
    ] {
        let mut stream = open(&service, listen(7, &wish)).await;
        let first = next(&mut stream).await;
        assert_eq!(first["params"]["notifications"], agreed, "{wish}");
    }
    // Who cannot tell agrees to nothing, and leaves it out.
    let silent = Server::builder("s", "1", ()).build().unwrap();
    let service = StreamableHttpService::new(silent);
    let mut stream = open(&service, listen(7, &everything)).await;
    let first = next(&mut stream).await;
    assert_eq!(first["params"]["notifications"], json!({}));
}

#[tokio::test]
async fn a_listen_subscribes_to_256_resources_and_no_more() {
    let service = StreamableHttpService::new(builder().build().unwrap());
    let wish = |count: usize| {
        let uris: Vec<_> = (0..count).map(|number| format!("y:{number}")).collect();
        json!({ "resourceSubscriptions": uris })
    };
    let mut stream = open(&service, listen(7, &wish(256))).await;
    let agreed = next(&mut stream).await["params"]["notifications"].take();
    assert_eq!(agreed["resourceSubscriptions"].as_array().unwrap().len(), 256);
    let reply = listen(7, &wish(257)).send(&service).await;
    assert_eq!(reply.refusal(), (200, -32602, Some(7.into())));
    assert!(reply.message().contains("at most 256"), "{}", reply.message());
}

#[tokio::test]
async fn each_listen_hears_of_its_own_lists_and_resources() {
    let server = builder().build().unwrap();
    let service = StreamableHttpService::new(server.clone());
    let mut one = open(&service, listen(1, &uris(&["x:1", "y:9"]))).await;
    let mut text = open(&service, listen("1", &uris(&["x:2"]))).await;
    let mut lists = open(&service, listen(2, &json!({"resourcesListChanged": true}))).await;
    let mut all = open(
        &service,
        listen(
            3,
            &json!({"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["x:1"]}),
        ),
    )
    .await;
    for stream in [&mut one, &mut text, &mut lists, &mut all] {
        next(stream).await;
    }
    let meta = Map::from_iter([("com.example/revision".to_owned(), json!(5))]);
    for change in [
        Change::resource_updated("x:1"),
        Change::resource_updated("x:2"),
        Change::resource_updated("x:11"),
        Change::ResourcesListChanged,
        Change::ToolsListChanged,
        Change::PromptsListChanged,
        Change::ResourceUpdated(ResourceUpdate::new("y:9").with_meta(meta)),
    ] {
        server.notify(change);
    }
    // Only what was asked for, and each message says for whom it is, by an id as it was.
    for (mut stream, id, told) in [
        (one, json!(1), vec!["x:1", "y:9"]),
        (text, json!("1"), vec!["x:2"]),
        (lists, json!(2), vec!["notifications/resources/list_changed"]),
        (
            all,
            json!(3),
            vec!["x:1", "notifications/tools/list_changed", "notifications/prompts/list_changed"],
        ),
    ] {
        for wanted in told {
            let event = next(&mut stream).await;
            if wanted.starts_with("notifications/") {
                assert_eq!(event["method"], wanted);
            } else {
                assert_eq!(updated(&event), wanted);
            }
            assert_eq!(event["params"]["_meta"][SUBSCRIPTION], id);
            if wanted == "y:9" {
                assert_eq!(event["params"]["_meta"]["com.example/revision"], 5);
            }
        }
        // The marker is the next thing that comes: nothing else was said.
        server.notify(Change::resource_updated("x:1"));
        server.notify(Change::resource_updated("x:2"));
        server.notify(Change::ResourcesListChanged);
        let event = next(&mut stream).await;
        let marker = match id.as_i64() {
            Some(2) => event["method"] == "notifications/resources/list_changed",
            Some(_) => updated(&event) == "x:1",
            None => updated(&event) == "x:2",
        };
        assert!(marker, "{event}");
    }
}

#[tokio::test]
async fn a_matcher_decides_what_belongs_to_a_subscription() {
    let server = Server::builder("s", "1", ())
        .resource_template(
            ResourceTemplate::new("feed:{topic}{?above}", "feed"),
            async |(), _, _| Ok(ResourceContents::text("feed:x", "")),
        )
        .subscription_matcher(|subscribed, update| {
            let above =
                subscribed.split_once("above=").map(|(_, above)| above.parse::<i32>().unwrap());
            let value = update.detail.as_ref().and_then(|detail| detail.downcast_ref::<i32>());
            subscribed.starts_with(&update.uri) && value.copied() > above
        })
        .build()
        .unwrap();
    let service = StreamableHttpService::new(server.clone());
    let wish = uris(&["feed:a?above=5", "feed:a?above=50", "feed:b?above=0"]);
    let mut stream = open(&service, listen(7, &wish)).await;
    let agreed = next(&mut stream).await;
    assert_eq!(agreed["params"]["notifications"], wish);
    for value in [3, 10, 100] {
        let update = ResourceUpdate::new("feed:a").with_detail(Arc::new(value));
        server.notify(Change::ResourceUpdated(update));
    }
    // Told by the URI that was subscribed to.
    for wanted in ["feed:a?above=5", "feed:a?above=5", "feed:a?above=50"] {
        assert_eq!(updated(&next(&mut stream).await), wanted);
    }
    server.close();
    assert_eq!(rest(stream).await.len(), 1);
}

#[tokio::test]
async fn a_handler_may_decide_who_subscribes_to_what() {
    let server = Server::builder("s", "1", "state")
        .on_subscribe(async |state, uri: String, context: Context| {
            assert_eq!(state, "state");
            match (uri.as_str(), context.principal()) {
                ("of:ada", Some("ada")) | ("of:all", _) => Ok(()),
                ("forbidden", _) => Err(RequestError::invalid_params("that is not yours")),
                _ => Err(RequestError::not_found("no such thing")),
            }
        })
        .build()
        .unwrap();
    let service = StreamableHttpService::new(server.clone());
    let all = uris(&["of:ada", "of:all", "other"]);
    for (who, agreed) in [
        (Some("ada"), uris(&["of:ada", "of:all"])),
        (Some("bob"), uris(&["of:all"])),
        (None, uris(&["of:all"])),
    ] {
        let mut request = listen(7, &all).request();
        if let Some(who) = who {
            request.extensions_mut().insert(Principal(who.to_owned()));
        }
        let mut stream = service.handle(request).await.into_body();
        let first = next(&mut stream).await;
        assert_eq!(first["params"]["notifications"], agreed, "{who:?}");
        server.notify(Change::resource_updated("of:ada"));
        server.notify(Change::resource_updated("of:all"));
        let event = next(&mut stream).await;
        let heard = if who == Some("ada") { "of:ada" } else { "of:all" };
        assert_eq!(updated(&event), heard);
    }
    let reply = listen(7, &uris(&["of:all", "forbidden"])).send(&service).await;
    assert_eq!(reply.refusal().1, -32602);
    assert_eq!(reply.message(), "that is not yours");
}

/// A listen whose messages are taken one by one, so that it can be made to lag.
async fn slow(server: &Server, wish: Value) -> (tokio::task::JoinHandle<()>, OutboxReader) {
    let (outbox, reader) = Outbox::channel();
    let mut context = Context::test();
    context.outbox = outbox;
    let request = Request::new(1, "subscriptions/listen", json!({ "notifications": wish }));
    let server = server.clone();
    let task = tokio::spawn(async move {
        server.handle(request, context).await;
    });
    (task, reader)
}

async fn take(reader: &mut OutboxReader) -> Value {
    match reader.recv().await {
        Outgoing::Notification(said) => json!({"method": said.method, "params": said.params}),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_listener_that_lags_is_told_to_read_everything_again() {
    let server = builder().build().unwrap();
    let wish = json!({
        "toolsListChanged": true,
        "resourceSubscriptions": ["x:1", "x:2"],
    });
    let (task, mut reader) = slow(&server, wish).await;
    take(&mut reader).await;
    // More than are kept for it, before it runs again.
    for _ in 0..1_000 {
        server.notify(Change::resource_updated("x:1"));
    }
    let told = [take(&mut reader).await, take(&mut reader).await, take(&mut reader).await];
    assert_eq!(told[0]["method"], "notifications/tools/list_changed");
    for (event, uri) in told[1..].iter().zip(["x:1", "x:2"]) {
        assert_eq!(updated(event), uri);
        let meta = &event["params"]["_meta"];
        assert_eq!(meta["mcp-proto/missed"], 1_000, "{meta}");
        assert_eq!(meta[SUBSCRIPTION], 0);
    }
    // What is older than that is not told again; what is newer is.
    server.notify(Change::resource_updated("x:2"));
    let event = take(&mut reader).await;
    assert_eq!(updated(&event), "x:2");
    assert!(event["params"]["_meta"].get("mcp-proto/missed").is_none());
    task.abort();
}

#[tokio::test]
async fn listens_on_one_pipe_are_told_apart_and_ended_by_notification_and_result() {
    let server = builder().build().unwrap();
    let mut peer = Peer::new(server.clone());
    for (id, wish) in [(json!(1), uris(&["x:1"])), (json!("1"), uris(&["x:2", "no"]))] {
        let params = with_meta(json!({ "notifications": wish }));
        peer.send(&request(&id, "subscriptions/listen", &params)).await;
        let first = peer.next().await;
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(first["params"]["_meta"][SUBSCRIPTION], id);
    }
    server.notify(Change::resource_updated("x:2"));
    let event = peer.next().await;
    assert_eq!(updated(&event), "x:2");
    assert_eq!(event["params"]["_meta"][SUBSCRIPTION], "1");
    server.notify(Change::resource_updated("x:1"));
    let event = peer.next().await;
    assert_eq!(event["params"]["_meta"][SUBSCRIPTION], 1);
    server.close();
    for _ in 0..2 {
        let cancelled = peer.next().await;
        assert_eq!(cancelled["method"], "notifications/cancelled");
        let result = peer.next().await;
        assert_eq!(result["id"], cancelled["params"]["requestId"]);
        assert_eq!(result["id"], cancelled["params"]["_meta"][SUBSCRIPTION]);
        assert_eq!(result["result"]["resultType"], "complete");
        assert_eq!(result["result"]["_meta"][SUBSCRIPTION], result["id"]);
    }
    assert!(peer.end().await.is_empty());
}

#[tokio::test]
async fn what_was_not_declared_is_told_to_nobody() {
    let server = Server::builder("s", "1", ())
        .resource(Resource::new("x:1", "one"), async |(), _| Ok(ResourceContents::text("x:1", "")))
        .tools_list_changed()
        .build()
        .unwrap();
    let service = StreamableHttpService::new(server.clone());
    let wish = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["x:1"],
    });
    let mut stream = open(&service, listen(7, &wish)).await;
    let agreed = next(&mut stream).await;
    assert_eq!(agreed["params"]["notifications"], json!({"toolsListChanged": true}));
    for change in [
        Change::resource_updated("x:1"),
        Change::PromptsListChanged,
        Change::ResourcesListChanged,
        Change::ToolsListChanged,
    ] {
        server.notify(change);
    }
    let event = next(&mut stream).await;
    assert_eq!(event["method"], "notifications/tools/list_changed");
}

/// Counts how often it was copied.
#[derive(Default)]
struct Copied(Arc<AtomicUsize>);

impl Clone for Copied {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }
}

/// A listen to as many resources as there may be, from nobody who reads it; how often the request was copied.
async fn listen_to_all(server: &Server, meta: Map<String, Value>) -> (bool, usize) {
    let (copied, mut context) = (Copied::default(), Context::test());
    let count = Arc::clone(&copied.0);
    context.extensions.insert(copied);
    context.meta = meta;
    let all: Vec<_> = (0..256).map(|number| format!("y:{number}")).collect();
    let params = json!({ "notifications": { "resourceSubscriptions": all } });
    let request = Request::new(1, "subscriptions/listen", params);
    let outcome = server.handle(request, context).await.outcome;
    (outcome.is_ok(), count.load(Ordering::Relaxed))
}

#[tokio::test]
async fn a_listen_to_many_resources_does_not_copy_its_request_for_each() {
    let server = builder().build().unwrap();
    let (done, copies) = listen_to_all(&server, Map::new()).await;
    assert!(done && copies <= 1, "{copies}");
    // A handler gets a copy for each; so what is copied has a bound.
    let server = builder().on_subscribe(async |(), _, _| Ok(()));
    let server = server.build().unwrap();
    let meta = |count: usize| (0..count).map(|n| (format!("a{n}"), json!(n))).collect();
    assert_eq!(listen_to_all(&server, meta(100)).await, (true, 256));
    assert_eq!(listen_to_all(&server, meta(2_000)).await, (false, 0));
}

#[tokio::test]
async fn a_matcher_that_panics_ends_no_connection() {
    let server = builder()
        .subscription_matcher(|subscribed, update| {
            assert!(subscribed != "y:panic", "a matcher that did not expect it");
            subscribed == update.uri
        })
        .build()
        .unwrap();
    let mut peer = Peer::new(server.clone());
    let hello = &Raw::initialize("2025-11-25").body;
    peer.send(&serde_json::from_slice(hello).unwrap()).await;
    peer.next().await;
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let ask = |id: i64, method: &str, uri: &str| request(id, method, &json!({ "uri": uri }));
    peer.send(&ask(1, "resources/subscribe", "y:panic")).await;
    assert_eq!(peer.next().await["id"], 1);
    server.notify(Change::resource_updated("y:1"));
    peer.send(&ask(2, "resources/unsubscribe", "y:panic")).await;
    assert_eq!(peer.next().await["id"], 2);
    peer.send(&ask(3, "resources/subscribe", "y:1")).await;
    assert_eq!(peer.next().await["id"], 3);
    server.notify(Change::resource_updated("y:1"));
    assert_eq!(updated(&peer.next().await), "y:1");
}
