//! `subscriptions/listen`: acknowledged first, told only what it asked for, ended gracefully, and bounded in number.

use http::Method;
use http_body_util::BodyExt as _;
use mcp_proto::http::ResponseBody;
use mcp_proto::{Change, RequestError, Resource, ResourceContents, StreamableHttpService};
use serde_json::{Value, json};

use crate::common::{PATIENCE, Raw, builder, messages, open_session, probe, server};

pub(crate) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

pub(crate) fn listen(id: impl serde::Serialize, filter: &Value) -> Raw {
    Raw::modern_id(id, "subscriptions/listen", json!({ "notifications": filter }))
}

pub(crate) async fn open(service: &StreamableHttpService, raw: Raw) -> ResponseBody {
    let reply = service.handle(raw.request()).await;
    assert_eq!(reply.headers()["content-type"], "text/event-stream");
    reply.into_body()
}

/// The next message of a stream.
pub(crate) async fn next(stream: &mut ResponseBody) -> Value {
    let frame = tokio::time::timeout(PATIENCE, stream.frame()).await.unwrap();
    let data = frame.unwrap().unwrap().into_data().unwrap();
    messages(&data).remove(0)
}

/// Everything until the stream ends.
pub(crate) async fn rest(stream: ResponseBody) -> Vec<Value> {
    let rest = tokio::time::timeout(PATIENCE, stream.collect()).await.unwrap();
    messages(&rest.unwrap().to_bytes())
}

#[tokio::test]
async fn the_acknowledgement_comes_first_and_tells_what_is_agreed() {
    let service = StreamableHttpService::new(server());
    for (asked, agreed) in [
        (json!({"toolsListChanged": true}), json!({"toolsListChanged": true})),
        (json!({"toolsListChanged": false}), json!({})),
        (json!({}), json!({})),
        (
            json!({"promptsListChanged": true, "resourcesListChanged": true, "unheardOf": 1}),
            json!({}),
        ),
    ] {
        let mut stream = open(&service, listen(7, &asked)).await;
        let first = next(&mut stream).await;
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(first["params"]["notifications"], agreed, "{asked}");
        assert_eq!(first["params"]["_meta"][SUBSCRIPTION], 7);
    }
}

#[tokio::test]
async fn several_listens_hear_each_their_own() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    let wanted = json!({"toolsListChanged": true});
    let mut number = open(&service, listen(7, &wanted)).await;
    let mut text = open(&service, listen("7", &wanted)).await;
    let mut deaf = open(&service, listen(8, &json!({}))).await;
    for stream in [&mut number, &mut text, &mut deaf] {
        next(stream).await;
    }
    server.notify(Change::ToolsListChanged);
    for (stream, id) in [(&mut number, json!(7)), (&mut text, json!("7"))] {
        let event = next(stream).await;
        assert_eq!(event["method"], "notifications/tools/list_changed");
        assert_eq!(event["params"]["_meta"], json!({ SUBSCRIPTION: id }));
    }
    server.close();
    for (stream, id) in [(number, json!(7)), (text, json!("7")), (deaf, json!(8))] {
        let rest = rest(stream).await;
        assert_eq!(rest.len(), 1, "{rest:?}");
        assert_eq!(rest[0]["id"], id);
        assert_eq!(rest[0]["result"]["resultType"], "complete");
        assert_eq!(rest[0]["result"]["_meta"][SUBSCRIPTION], id);
    }
}

#[tokio::test]
async fn a_listener_that_lags_is_told_once_that_everything_may_have_changed() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    let mut stream = open(&service, listen(7, &json!({"toolsListChanged": true}))).await;
    next(&mut stream).await;
    for _ in 0..10_000 {
        server.notify(Change::ToolsListChanged);
    }
    server.close();
    let told = rest(stream).await;
    assert!(
        told.len() < 300,
        "{} messages were kept for a listener that does not read",
        told.len()
    );
}

#[tokio::test]
async fn a_client_that_takes_json_alone_cannot_listen() {
    let service = StreamableHttpService::new(server());
    let raw = listen(7, &json!({})).set("accept", "application/json");
    let reply = raw.send(&service).await;
    assert_eq!(reply.refusal(), (406, -32600, Some(7.into())));
    assert_eq!(reply.message(), "the Accept header must allow text/event-stream");
}

#[tokio::test]
async fn places_are_bounded_and_a_dropped_listen_frees_its_own() {
    let server = builder(&probe().0).max_listeners(2).build().unwrap();
    let service = StreamableHttpService::new(server);
    let wanted = json!({"toolsListChanged": true});
    let one = open(&service, listen(1, &wanted)).await;
    let _two = open(&service, listen(2, &wanted)).await;
    let reply = listen(7, &wanted).send(&service).await;
    assert_eq!(reply.refusal(), (503, -32603, Some(7.into())));
    assert_eq!(reply.message(), "too many listeners are open: try again later");
    // One status for one refusal.
    let session = open_session(&service).await;
    let get = || {
        Raw::bare(http::Method::GET)
            .set("accept", "text/event-stream")
            .set("mcp-session-id", &session)
    };
    assert_eq!(get().send(&service).await.refusal(), (503, -32603, None));
    // Whoever wants to hear of nothing takes no place.
    let mut deaf = open(&service, listen(4, &json!({}))).await;
    assert_eq!(next(&mut deaf).await["params"]["_meta"][SUBSCRIPTION], 4);
    drop(one);
    let mut three = open(&service, listen(3, &wanted)).await;
    assert_eq!(next(&mut three).await["params"]["_meta"][SUBSCRIPTION], 3);
}

#[tokio::test]
async fn a_get_stream_of_a_server_that_tells_nothing_takes_no_place() {
    let server = mcp_proto::Server::builder("quiet", "1", ()).max_listeners(0).build().unwrap();
    let service = StreamableHttpService::new(server.clone());
    let session = open_session(&service).await;
    let get = Raw::bare(http::Method::GET)
        .set("accept", "text/event-stream")
        .set("mcp-session-id", &session);
    let stream = open(&service, get).await;
    server.close();
    assert!(rest(stream).await.is_empty());
}

#[tokio::test]
async fn a_malformed_wish_is_an_error() {
    let service = StreamableHttpService::new(server());
    for wish in [
        json!({"resourceSubscriptions": 5}),
        json!({"resourceSubscriptions": ["a", 5]}),
        json!({"toolsListChanged": "yes"}),
    ] {
        let reply = listen(7, &wish).send(&service).await;
        assert_eq!(reply.refusal().1, -32602, "{wish}");
    }
    let good = json!({"resourceSubscriptions": ["universe://sol"]});
    next(&mut open(&service, listen(7, &good)).await).await;
}

#[tokio::test]
async fn a_closed_server_ends_a_new_listen_at_once() {
    let server = server();
    server.close();
    let service = StreamableHttpService::new(server);
    let told = rest(open(&service, listen(7, &json!({}))).await).await;
    assert_eq!(told.len(), 2);
    assert_eq!(told[1]["result"]["resultType"], "complete");
}

/// An update may be saved while nobody can hear of it.
#[tokio::test]
async fn a_server_knows_whether_anybody_has_subscribed() {
    const URI: &str = "thing://one";
    let server = builder(&probe().0)
        .resource(Resource::new(URI, "one"), async |_, _| {
            Ok::<_, RequestError>(ResourceContents::text(URI, "1"))
        })
        .subscriptions()
        .build()
        .unwrap();
    let service = StreamableHttpService::new(server.clone());
    let session = open_session(&service).await;
    let get =
        Raw::bare(Method::GET).set("accept", "text/event-stream").set("mcp-session-id", &session);
    let mut legacy = open(&service, get).await;
    let connected = legacy.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(messages(&connected).is_empty());
    assert!(!server.has_subscribers(), "it listens, and to no resource");
    let subscribe = Raw::legacy(&session, "resources/subscribe", &json!({ "uri": URI }));
    assert_eq!(subscribe.send(&service).await.status, 200);
    assert!(server.has_subscribers());
    server.notify(Change::resource_updated(URI));
    // What comes first is the new filter, which says nothing.
    let mut said = Vec::new();
    while said.is_empty() {
        let frame = tokio::time::timeout(PATIENCE, legacy.frame()).await.unwrap();
        said = messages(&frame.unwrap().unwrap().into_data().unwrap());
    }
    assert_eq!(said[0]["params"]["uri"], URI);
    // A stream whose client may come back goes on to listen; that of a session that ended does not.
    drop(legacy);
    assert!(server.has_subscribers());
    let end = Raw::bare(Method::DELETE).set("mcp-session-id", &session);
    assert_eq!(end.send(&service).await.status, 204);
    let gone = async {
        while server.has_subscribers() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("nobody listens");

    let wanted = json!({ "resourceSubscriptions": [URI] });
    let mut modern = open(&service, listen(1, &wanted)).await;
    next(&mut modern).await;
    assert!(server.has_subscribers());
    let weak = server.downgrade();
    weak.upgrade().unwrap().notify(Change::resource_updated(URI));
    assert_eq!(next(&mut modern).await["params"]["uri"], URI);
    drop((modern, service, server));
    assert!(weak.upgrade().is_none());
}
