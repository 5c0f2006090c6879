//! Subscriptions of the legacy era: kept in the session, heard on its GET stream by whichever instance serves it, or on
//! the pipe.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::Method;
use http_body_util::BodyExt as _;
use mcp_proto::http::{HttpConfig, ResponseBody};
use mcp_proto::session::{
    MemorySessions, Session, SessionChange, SessionId, SessionStore, SessionStoreError,
};
use mcp_proto::{Change, RequestError, Server, StreamableHttpService};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::common::{PATIENCE, Raw, every_client, messages, open_session, refused, request};
use crate::listen::{listen, open};
use crate::peer::Peer;
use crate::subscriptions::builder;

fn server() -> Server {
    builder().build().unwrap()
}

async fn open_stream(service: &StreamableHttpService, session: &str) -> ResponseBody {
    let raw =
        Raw::bare(Method::GET).set("accept", "text/event-stream").set("mcp-session-id", session);
    let reply = service.handle(raw.request()).await;
    assert_eq!(reply.status(), 200);
    reply.into_body()
}

/// The next message of a stream, comments passed over.
async fn next(stream: &mut ResponseBody) -> Value {
    let message = async {
        loop {
            let frame = stream.frame().await.unwrap().unwrap();
            if let Some(message) = messages(&frame.into_data().unwrap()).pop() {
                return message;
            }
        }
    };
    let message = tokio::time::timeout(PATIENCE, message).await;
    message.expect("no message came")
}

fn update(uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}})
}

/// `resources/subscribe` or `resources/unsubscribe`.
async fn subscribe(service: &StreamableHttpService, session: &str, method: &str, uri: &str) {
    let method = format!("resources/{method}");
    let raw = Raw::legacy(session, &method, &json!({ "uri": uri }));
    assert_eq!(raw.send(service).await.result(), json!({}));
}

/// A change that every stream hears: whatever comes before it was all that was said.
fn mark(server: &Server) -> Value {
    server.notify(Change::ToolsListChanged);
    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
}

#[tokio::test]
async fn a_get_stream_tells_its_session_of_what_it_subscribed_to_before_and_after() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    let session = open_session(&service).await;
    let other = open_session(&service).await;
    subscribe(&service, &session, "subscribe", "x:1").await;
    let mut stream = open_stream(&service, &session).await;
    let mut others = open_stream(&service, &other).await;
    subscribe(&service, &session, "subscribe", "y:9").await;
    subscribe(&service, &other, "subscribe", "x:2").await;
    for uri in ["x:1", "x:2", "y:9", "y:99"] {
        server.notify(Change::resource_updated(uri));
    }
    assert_eq!(next(&mut stream).await, update("x:1"));
    assert_eq!(next(&mut stream).await, update("y:9"));
    assert_eq!(next(&mut others).await, update("x:2"));
    subscribe(&service, &session, "unsubscribe", "x:1").await;
    // Twice, or never subscribed to: as well.
    subscribe(&service, &session, "unsubscribe", "x:1").await;
    subscribe(&service, &session, "unsubscribe", "never:1").await;
    server.notify(Change::resource_updated("x:1"));
    server.notify(Change::resource_updated("y:9"));
    let marker = mark(&server);
    assert_eq!(next(&mut stream).await, update("y:9"));
    assert_eq!(next(&mut stream).await, marker);
    assert_eq!(next(&mut others).await, marker);
}

#[tokio::test]
async fn a_new_stream_knows_what_the_session_subscribed_to() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    let session = open_session(&service).await;
    subscribe(&service, &session, "subscribe", "x:1").await;
    drop(open_stream(&service, &session).await);
    let mut stream = open_stream(&service, &session).await;
    server.notify(Change::resource_updated("x:1"));
    assert_eq!(next(&mut stream).await, update("x:1"));
}

#[tokio::test(start_paused = true)]
async fn another_instance_over_the_same_store_learns_of_a_subscription() {
    let server = server();
    let store: Arc<dyn SessionStore> = Arc::new(MemorySessions::default());
    let instance = || {
        let config = HttpConfig::default();
        StreamableHttpService::with_sessions(server.clone(), config, Arc::clone(&store))
    };
    let (here, there) = (instance(), instance());
    let session = open_session(&here).await;
    subscribe(&here, &session, "subscribe", "x:1").await;
    let mut stream = open_stream(&there, &session).await;
    server.notify(Change::resource_updated("x:1"));
    assert_eq!(next(&mut stream).await, update("x:1"));
    // While its stream is open elsewhere: from the next time on that the stream is kept alive.
    subscribe(&here, &session, "subscribe", "x:2").await;
    subscribe(&here, &session, "unsubscribe", "x:1").await;
    loop {
        let frame = stream.frame().await.unwrap().unwrap().into_data().unwrap();
        if frame.starts_with(b":") {
            break;
        }
    }
    server.notify(Change::resource_updated("x:1"));
    server.notify(Change::resource_updated("x:2"));
    assert_eq!(next(&mut stream).await, update("x:2"));
}

/// A store that gives no session while it is shut.
#[derive(Debug)]
struct Shut {
    sessions: MemorySessions,
    open: watch::Sender<bool>,
}

impl SessionStore for Shut {
    fn insert(&self, session: Session) -> BoxFuture<'_, Result<(), SessionStoreError>> {
        self.sessions.insert(session)
    }

    fn load<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<Arc<Session>>, SessionStoreError>> {
        Box::pin(async move {
            self.open.subscribe().wait_for(|open| *open).await.unwrap();
            self.sessions.load(id).await
        })
    }

    fn change<'a>(
        &'a self,
        id: &'a SessionId,
        change: &'a SessionChange,
    ) -> BoxFuture<'a, Result<Option<Arc<Session>>, SessionStoreError>> {
        self.sessions.change(id, change)
    }

    fn remove<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<bool, SessionStoreError>> {
        self.sessions.remove(id)
    }
}

#[tokio::test]
async fn nothing_is_missed_while_the_store_is_asked_what_was_subscribed_to() {
    let server = server();
    let store =
        Arc::new(Shut { sessions: MemorySessions::default(), open: watch::Sender::new(true) });
    let service =
        StreamableHttpService::with_sessions(server.clone(), HttpConfig::default(), store.clone());
    let session = open_session(&service).await;
    let mut stream = open_stream(&service, &session).await;
    let marker = mark(&server);
    assert_eq!(next(&mut stream).await, marker);
    subscribe(&service, &session, "subscribe", "x:1").await;
    store.open.send_replace(false);
    server.notify(Change::resource_updated("x:1"));
    let mut hearing = Box::pin(next(&mut stream));
    // It asks the store, which takes its time.
    assert!(hearing.as_mut().now_or_never().is_none());
    store.open.send_replace(true);
    assert_eq!(hearing.await, update("x:1"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn subscriptions_made_at_once_all_count() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    for _ in 0..20 {
        let session = open_session(&service).await;
        let mut stream = open_stream(&service, &session).await;
        let uris: Vec<_> = (0..16).map(|number| format!("y:{number}")).collect();
        let asked = uris.iter().map(|uri| {
            let raw = Raw::legacy(&session, "resources/subscribe", &json!({ "uri": uri }));
            let service = service.clone();
            tokio::spawn(async move { raw.send(&service).await.result() })
        });
        for answer in asked.collect::<Vec<_>>() {
            assert_eq!(answer.await.unwrap(), json!({}));
        }
        for uri in &uris {
            server.notify(Change::resource_updated(uri));
        }
        for uri in &uris {
            assert_eq!(next(&mut stream).await, update(uri));
        }
    }
}

#[tokio::test]
async fn what_cannot_be_subscribed_to_is_refused() {
    let (clients, _served) = every_client(&server()).await;
    let long = format!("y:{}", "a".repeat(9_000));
    for (how, client) in clients.iter().filter(|(how, _)| how.ends_with("Legacy")) {
        for (method, params, code) in [
            ("resources/subscribe", json!({"uri": "no:1"}), -32002),
            ("resources/subscribe", json!({ "uri": long }), -32002),
            ("resources/subscribe", json!({}), -32602),
            ("resources/subscribe", json!({"uri": 1}), -32602),
            ("resources/unsubscribe", json!({}), -32602),
        ] {
            let error = refused(client.request(method, params.clone()).await);
            assert_eq!(error.code, code, "{how} {params}");
            if code == -32002 {
                assert_eq!(error.data, Some(json!({"uri": params["uri"]})));
            }
        }
    }
}

#[tokio::test]
async fn a_handler_refuses_in_its_own_words() {
    let server = Server::builder("s", "1", ())
        .on_subscribe(async |(), uri: String, _| match uri.as_str() {
            "good" => Ok(()),
            "forbidden" => Err(RequestError::invalid_params("that is not yours")),
            _ => Err(RequestError::not_found("no such thing")),
        })
        .build()
        .unwrap();
    let (clients, _served) = every_client(&server).await;
    for (how, client) in clients.iter().filter(|(how, _)| how.ends_with("Legacy")) {
        let subscribe = |uri: &str| client.request("resources/subscribe", json!({ "uri": uri }));
        assert_eq!(subscribe("good").await, Ok(json!({})), "{how}");
        let error = refused(subscribe("forbidden").await);
        assert_eq!((error.code, &*error.message), (-32602, "that is not yours"));
        let error = refused(subscribe("other").await);
        assert_eq!((error.code, &*error.message), (-32002, "no such thing"));
    }
}

#[tokio::test]
async fn a_session_subscribes_to_256_resources_and_no_more() {
    let server = server();
    let (clients, _served) = every_client(&server).await;
    for (how, client) in clients.iter().filter(|(how, _)| how.ends_with("Legacy")) {
        // Some at once: none is told that it is subscribed and is not.
        let asked = (0..300).map(|number| {
            client.request("resources/subscribe", json!({"uri": format!("y:{number}")}))
        });
        let answers = futures_util::future::join_all(asked).await;
        let taken = answers.iter().filter(|answer| answer.is_ok()).count();
        assert_eq!(taken, 256, "{how}");
        for refusal in answers.into_iter().filter(Result::is_err) {
            let error = refused(refusal);
            assert_eq!(error.code, -32602, "{how}");
            assert!(error.message.contains("at most 256"), "{}", error.message);
        }
        let room = client.request("resources/unsubscribe", json!({"uri": "y:0"})).await;
        assert_eq!(room, Ok(json!({})));
        let more = json!({"uri": "x:1"});
        assert_eq!(client.request("resources/subscribe", more).await, Ok(json!({})));
    }
}

#[tokio::test]
async fn the_uris_of_a_session_or_a_listen_have_64_kib_together_and_no_more() {
    let server = server();
    let (clients, _served) = every_client(&server).await;
    // Nine of these are more than that.
    let long = |number: usize| format!("y:{number}{}", "a".repeat(7_500));
    for (how, client) in &clients {
        if how.ends_with("Legacy") {
            for number in 1..=8 {
                let params = json!({ "uri": long(number) });
                let answer = client.request("resources/subscribe", params).await;
                assert_eq!(answer, Ok(json!({})), "{how} {number}");
            }
            let ninth = json!({ "uri": long(9) });
            let error = refused(client.request("resources/subscribe", ninth).await);
            assert_eq!(error.code, -32602, "{how}");
            assert!(error.message.contains("65536 bytes"), "{}", error.message);
        } else {
            let uris: Vec<_> = (1..=9).map(long).collect();
            let params = json!({ "notifications": { "resourceSubscriptions": uris } });
            let error = refused(client.request("subscriptions/listen", params).await);
            assert_eq!(error.code, -32602, "{how}");
            assert!(error.message.contains("65536"), "{}", error.message);
        }
    }
}

#[tokio::test]
async fn none_of_many_requests_on_a_pipe_is_told_that_it_is_subscribed_and_is_not() {
    let server = server();
    let mut peer = Peer::new(server.clone());
    peer.send(&serde_json::from_slice(&Raw::initialize("2025-11-25").body).unwrap()).await;
    peer.next().await;
    let lines: String = (0..300)
        .map(|number| {
            let params = json!({ "uri": format!("y:{number}") });
            format!("{}\n", request(number, "resources/subscribe", &params))
        })
        .collect();
    // All at once: the server has many before it answers the first.
    peer.send_raw(lines.as_bytes()).await;
    let mut taken = 0;
    for _ in 0..300 {
        let answer = peer.next().await;
        if answer.get("result").is_some() {
            taken += 1;
        } else {
            assert_eq!(answer["error"]["code"], -32602);
        }
    }
    assert_eq!(taken, 256);
}

#[tokio::test]
async fn no_handler_makes_a_session_keep_what_is_longer_than_a_uri() {
    let server = Server::builder("s", "1", ())
        .on_subscribe(async |(), _: String, _| Ok(()))
        .build()
        .unwrap();
    let long = format!("y:{}", "a".repeat(9_000));
    let (clients, _served) = every_client(&server).await;
    for (how, client) in clients.iter().filter(|(how, _)| how.ends_with("Legacy")) {
        let subscribe = |uri: &str| client.request("resources/subscribe", json!({ "uri": uri }));
        assert_eq!(subscribe("anything").await, Ok(json!({})), "{how}");
        assert_eq!(refused(subscribe(&long).await).code, -32002, "{how}");
    }
    let service = StreamableHttpService::new(server.clone());
    let wish = json!({"resourceSubscriptions": ["anything", long]});
    let mut stream = open(&service, listen(7, &wish)).await;
    let agreed = next(&mut stream).await["params"]["notifications"].take();
    assert_eq!(agreed, json!({"resourceSubscriptions": ["anything"]}));
}

#[tokio::test]
async fn a_pipe_hears_of_its_subscriptions() {
    let server = server();
    let mut peer = Peer::new(server.clone());
    peer.send(&serde_json::from_slice(&Raw::initialize("2025-11-25").body).unwrap()).await;
    peer.next().await;
    let subscribe = |id: i64, method: &str, uri: &str| {
        request(id, &format!("resources/{method}"), &json!({ "uri": uri }))
    };
    peer.send(&subscribe(1, "subscribe", "x:1")).await;
    assert_eq!(peer.next().await["result"], json!({}));
    // Some clients never say that they are ready.
    server.notify(Change::resource_updated("x:1"));
    assert_eq!(peer.next().await, update("x:1"));
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    peer.send(&subscribe(2, "subscribe", "y:2")).await;
    assert_eq!(peer.next().await["id"], 2);
    for uri in ["x:1", "x:2", "y:2"] {
        server.notify(Change::resource_updated(uri));
    }
    assert_eq!(peer.next().await, update("x:1"));
    assert_eq!(peer.next().await, update("y:2"));
    peer.send(&subscribe(3, "unsubscribe", "x:1")).await;
    assert_eq!(peer.next().await["id"], 3);
    server.notify(Change::resource_updated("x:1"));
    let marker = mark(&server);
    assert_eq!(peer.next().await, marker);
    // A new handshake is a new session.
    peer.send(&serde_json::from_slice(&Raw::initialize("2025-11-25").body).unwrap()).await;
    peer.next().await;
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    peer.send(&request(4, "ping", &json!({}))).await;
    assert_eq!(peer.next().await["id"], 4);
    server.notify(Change::resource_updated("y:2"));
    let marker = mark(&server);
    assert_eq!(peer.next().await, marker);
    assert!(peer.end().await.is_empty());
}

#[tokio::test]
async fn a_get_stream_that_lags_is_told_to_read_everything_again() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    let session = open_session(&service).await;
    subscribe(&service, &session, "subscribe", "x:1").await;
    let mut stream = open_stream(&service, &session).await;
    for _ in 0..1_000 {
        server.notify(Change::resource_updated("x:2"));
    }
    for method in ["tools", "prompts", "resources"] {
        let event = next(&mut stream).await;
        assert_eq!(event["method"], format!("notifications/{method}/list_changed"));
    }
    let event = next(&mut stream).await;
    assert_eq!(event["params"]["uri"], "x:1");
    assert_eq!(event["params"]["_meta"], json!({"mcp-proto/missed": 1_000}));
    let marker = mark(&server);
    assert_eq!(next(&mut stream).await, marker);
    server.close();
    let last = stream.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(last.ends_with(b"\nretry: 1000\ndata: \n\n"), "{last:?}");
    let frame = stream.frame().await;
    assert!(frame.is_none(), "{frame:?}");
}
