//! Many at once: each gets its own answer back.

use futures_util::future::join_all;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::rt::TokioExecutor;
use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};

use crate::common::{Raw, Served, every_client, open_session, request, say, server, service};

const CALLS: usize = 1_000;

fn to(served: &Served, raw: Raw) -> Request<Full<bytes::Bytes>> {
    let mut request = raw.unset("host").request();
    *request.uri_mut() = served.url().parse().unwrap();
    request
}

/// A thousand calls with the same id, `at_once` of them at a time on one HTTP/1 connection each.
async fn all_with_id_1(http2: bool, connections: usize, era: Era) {
    let served = Served::new(server()).await;
    let session = open_session(&served.service).await;
    let client: HyperClient<_, Full<bytes::Bytes>> =
        HyperClient::builder(TokioExecutor::new()).http2_only(http2).build_http();
    let calls = |lane: usize| {
        let (client, served, session) = (&client, &served, &session);
        async move {
            for index in (lane..CALLS).step_by(connections) {
                let said = format!("text {index}");
                let raw = match era {
                    Era::Modern => Raw::modern_id(1, "tools/call", say(&said)),
                    Era::Legacy => {
                        let body = request(1, "tools/call", &say(&said)).to_string();
                        Raw { body: body.into(), ..Raw::legacy(session, "", &json!({})) }
                    }
                };
                let reply = client.request(to(served, raw)).await.unwrap();
                let body = reply.into_body().collect().await.unwrap().to_bytes();
                let answer: Value = serde_json::from_slice(&body).unwrap();
                assert_eq!(answer["id"], 1);
                assert_eq!(answer["result"]["structuredContent"]["text"], said);
            }
        }
    };
    join_all((0..connections).map(calls)).await;
}

#[tokio::test]
async fn a_thousand_modern_calls_with_one_id_over_http1() {
    all_with_id_1(false, 32, Era::Modern).await;
}

#[tokio::test]
async fn a_thousand_modern_calls_with_one_id_over_one_http2_connection() {
    all_with_id_1(true, 128, Era::Modern).await;
}

#[tokio::test]
async fn a_thousand_calls_with_one_id_in_one_legacy_session() {
    all_with_id_1(true, 128, Era::Legacy).await;
}

#[tokio::test]
async fn a_thousand_calls_at_once_in_one_legacy_session_in_process() {
    let service = service();
    let session = open_session(&service).await;
    let calls =
        (0..CALLS).map(|index| {
            let said = format!("text {index}");
            let raw = Raw::legacy(&session, "tools/call", &say(&said));
            let service = &service;
            async move {
                assert_eq!(raw.send(service).await.result()["structuredContent"]["text"], said)
            }
        });
    join_all(calls).await;
}

#[tokio::test]
async fn many_calls_at_once_on_one_client() {
    let (clients, _served) = every_client(&server()).await;
    for (way, client) in clients {
        let calls = (0..200).map(|index| {
            let (client, said) = (&client, format!("text {index}"));
            async move {
                let result = client.call_tool_raw("echo", json!({ "text": said })).await.unwrap();
                assert_eq!(result["structuredContent"]["text"], said);
            }
        });
        join_all(calls).await;
        client.close().await.unwrap_or_else(|error| panic!("{way}: {error}"));
    }
}

#[tokio::test]
async fn one_client_speaks_http2_on_one_connection() {
    let served = Served::new(server()).await;
    let mut config = ClientConfig::new(Era::Modern);
    config.network.http2 = true;
    let client = Client::http(&served.url(), config).await.unwrap();
    let results =
        join_all((0..100).map(|_| client.call_tool_raw("echo", json!({"text": "x"})))).await;
    assert!(
        results.iter().all(|result| result.as_ref().unwrap()["structuredContent"]["text"] == "x")
    );
}
