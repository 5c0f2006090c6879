//! The endpoint behind axum and layers of tower, as `examples/axum.rs` has it, and as a tower service by itself.

#[path = "../../examples/axum.rs"]
#[expect(dead_code, reason = "its main is the example's own")]
mod example;

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use mcp_proto::{Era, StreamableHttpService};
use mcp_proto_client::{Client, ClientConfig, ClientError};
use serde_json::{Value, json};
use tower_http::timeout::TimeoutLayer;

use crate::common::{PATIENCE, Raw, builder, call, open_session, probe, service};

/// An app on a socket of this machine, until the test ends.
async fn serve(app: Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async { axum::serve(listener, app).await });
    address
}

/// What a POST of a good call gets there.
async fn post(address: SocketAddr, raw: Raw) -> (StatusCode, Value) {
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let stream = hyper_util::rt::TokioIo::new(stream);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let answer = tokio::time::timeout(PATIENCE, sender.send_request(raw.request()));
    let (head, body) = answer.await.unwrap().unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status, serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test]
async fn the_example_serves_both_dialects_behind_one_middleware() {
    let server = example::server().unwrap();
    let address = serve(example::app(server)).await;
    for (token, name) in [("ann", "ann"), ("bob", "bob")] {
        let bearer = format!("Bearer {token}-token");
        let hello = Raw::modern("tools/call", json!({"name": "hello", "arguments": {}}));
        let (status, answer) = post(address, hello.set("authorization", &bearer)).await;
        assert_eq!(status, 200);
        let text = &answer["result"]["structuredContent"]["text"];
        assert_eq!(*text, format!("Hello, {name}!"));
    }
    let hello = Raw::modern("tools/call", json!({"name": "hello", "arguments": {}}));
    assert_eq!(post(address, hello).await.0, 401);
}

#[tokio::test]
async fn both_eras_work_through_axum_with_streams_and_sessions() {
    let (probe, _events) = probe();
    let mcp = StreamableHttpService::new(builder(&probe).build().unwrap());
    let address = serve(Router::new().route_service("/mcp", mcp)).await;
    for era in [Era::Modern, Era::Legacy] {
        let url = format!("http://{address}/mcp");
        let client = Client::http(&url, ClientConfig::new(era)).await.unwrap();
        // It reports progress, so the answer is an event stream.
        let params =
            json!({"name": "progress", "arguments": {"steps": 3}, "_meta": {"progressToken": "p"}});
        let answer = client.request("tools/call", params).await.unwrap();
        assert_eq!(answer["structuredContent"]["done"], true, "{era:?}");
    }
}

#[tokio::test]
async fn a_timeout_layer_ends_a_call_and_its_handler() {
    let (probe, mut events) = probe();
    let mcp = StreamableHttpService::new(builder(&probe).build().unwrap());
    let limit =
        TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, Duration::from_millis(100));
    let app = Router::new().route_service("/mcp", mcp).layer(limit);
    let address = serve(app).await;
    let (status, _) = post(address, Raw::modern("tools/call", call("hang"))).await;
    assert_eq!(status, 408);
    events.expect("started").await;
    events.expect("dropped").await;
    let url = format!("http://{address}/mcp");
    let client = Client::http(&url, ClientConfig::new(Era::Modern)).await.unwrap();
    let answer = client.request("tools/call", call("hang")).await;
    assert!(!matches!(answer, Ok(_) | Err(ClientError::Rpc(_))), "{answer:?}");
}

#[tokio::test]
async fn it_is_a_tower_service_of_any_body() {
    use tower_service::Service;

    let mut service = service();
    let session = open_session(&service).await;
    for raw in
        [Raw::modern("tools/list", json!({})), Raw::legacy(&session, "tools/list", &json!({}))]
    {
        let request: Request<Body> = raw.request().map(Body::new);
        std::future::poll_fn(|context| Service::<Request<Body>>::poll_ready(&mut service, context))
            .await
            .unwrap();
        let answer = Service::call(&mut service, request).await.unwrap();
        assert_eq!(answer.status(), 200);
    }
}
