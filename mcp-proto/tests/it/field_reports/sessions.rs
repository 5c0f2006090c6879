//! Sessions over HTTP: equal ids, ends, streams that are opened again, answers without a body.

use http::Method;
use http_body_util::BodyExt as _;
use mcp_proto::StreamableHttpService;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::{reporter, reporting};
use crate::common::{PATIENCE, Raw, Served, call, open_session, probe, say, service};
use crate::events::{get, open};
use crate::resume::session_of;

/// Starts a call with id 7.
fn start(
    service: &StreamableHttpService,
    session: &str,
    tool: &str,
) -> tokio::task::JoinHandle<crate::common::Reply> {
    let (service, raw) = (service.clone(), Raw::legacy(session, "tools/call", &call(tool)));
    tokio::spawn(async move { raw.send(&service).await })
}

fn delete(session: &str) -> Raw {
    Raw::bare(Method::DELETE).set("mcp-session-id", session)
}

/// modelcontextprotocol/python-sdk#3060, modelcontextprotocol/typescript-sdk#2433, modelcontextprotocol/go-sdk#1004,
/// anthropics/claude-code#39396
#[tokio::test]
async fn chats_that_share_a_session_and_an_id_get_their_own_answers() {
    for version in ["2025-06-18", "2025-11-25"] {
        let (probe, mut events) = probe();
        let service = StreamableHttpService::new(reporting(&probe).build().unwrap());
        let session = session_of(&service, version).await;
        let first = start(&service, &session, "gate");
        events.expect("started").await;
        let second = Raw::legacy(&session, "tools/call", &say("second")).send(&service).await;
        assert_eq!(second.result()["structuredContent"]["text"], "second");
        probe.gate.notify_one();
        events.expect("finished").await;
        assert_eq!(first.await.unwrap().result()["content"][0]["text"], "through");
        // A cancellation means both.
        let both = [start(&service, &session, "hang"), start(&service, &session, "hang")];
        events.expect("started").await;
        events.expect("started").await;
        let cancel = Raw::notification("notifications/cancelled", &json!({ "requestId": 7 }));
        cancel.set("mcp-session-id", &session).send(&service).await;
        for call in both {
            assert!(call.await.unwrap().events().is_empty());
        }
    }
}

/// modelcontextprotocol/python-sdk#1967, OpenLiberty/open-liberty#33213, supabase/mcp#400
#[tokio::test]
async fn a_deleted_session_leaves_nobody_waiting() {
    let (probe, mut events) = probe();
    let service = StreamableHttpService::new(reporting(&probe).build().unwrap());
    let session = open_session(&service).await;
    let mut stream = open(&service, get(&session, None)).await;
    let quiet = start(&service, &session, "hang");
    events.expect("started").await;
    let mut talking = open(&service, Raw::legacy(&session, "tools/call", &call("talk"))).await;
    assert!(talking.message().await.is_some());
    events.expect("started").await;
    assert_eq!(delete(&session).send(&service).await.status, 204);
    let quiet = tokio::time::timeout(PATIENCE, quiet).await.unwrap().unwrap();
    assert_eq!(quiet.refusal(), (404, -32600, Some(7.into())));
    assert!(talking.rest().await.is_empty());
    assert!(stream.rest().await.is_empty());
    let ping = Raw::legacy(&session, "ping", &json!({}));
    for raw in [delete(&session), get(&session, None), ping] {
        assert_eq!(raw.send(&service).await.refusal().0, 404);
    }
    assert_eq!(Raw::bare(Method::DELETE).send(&service).await.refusal().0, 400);
    let again = Raw::initialize("2025-11-25").set("mcp-session-id", &session).send(&service).await;
    assert_ne!(again.header("mcp-session-id"), Some(&*session));
}

/// modelcontextprotocol/rust-sdk#791, cloudflare/agents#1607, Tr3kkR/Yuzu#2785
#[tokio::test(start_paused = true)]
async fn an_answer_is_there_for_a_client_that_comes_back_late() {
    let service = service();
    let session = open_session(&service).await;
    let steps =
        json!({ "name": "progress", "arguments": { "steps": 2 }, "_meta": { "progressToken": 1 } });
    let mut stream = open(&service, Raw::legacy(&session, "tools/call", &steps)).await;
    stream.event().await.unwrap();
    let last = stream.last.clone();
    drop(stream);
    for seconds in [0, 5, 30] {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let mut stream = open(&service, get(&session, Some(&last))).await;
        let rest = stream.rest().await;
        assert_eq!(rest.last().unwrap()["result"]["structuredContent"]["done"], true);
        // After the last event there is nothing, and the stream does not stay open.
        assert!(open(&service, get(&session, Some(&stream.last))).await.rest().await.is_empty());
    }
    let beyond = last.replace("-1", "-99");
    for unknown in ["garbage", "0", &beyond] {
        assert_eq!(get(&session, Some(unknown)).send(&service).await.refusal().0, 400);
    }
}

/// marianfoo/mcp-sap-docs#75, open-webui/open-webui#30068
#[tokio::test(start_paused = true)]
async fn a_stream_has_its_first_bytes_at_once_and_others_before_a_minute() {
    let service = service();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = session_of(&service, version).await;
        let start = Instant::now();
        let mut body = service.handle(get(&session, None).request()).await.into_body();
        body.frame().await.unwrap().unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO, "{version}");
        body.frame().await.unwrap().unwrap();
        assert!(start.elapsed() <= Duration::from_secs(15), "{version}");
    }
}

/// punkpeye/fastmcp#317, cloudflare/agents#1583
#[tokio::test(start_paused = true)]
async fn a_silent_call_sends_something_before_a_proxy_gives_it_up() {
    let service = service();
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = session_of(&service, version).await;
        let hang = Raw::legacy(&session, "tools/call", &call("hang"));
        let batch = format!("[{}]", String::from_utf8_lossy(&hang.body));
        let mut calls = vec![hang.clone(), hang.clone().set("accept", "*/*"), hang.unset("accept")];
        if version == "2025-03-26" {
            calls.push(Raw::post(batch).set("mcp-session-id", &session));
        }
        calls.push(Raw::modern("tools/call", call("hang")));
        for call in calls {
            let start = Instant::now();
            let mut reply = service.handle(call.request()).await;
            assert_eq!(reply.headers()["content-type"], "text/event-stream");
            reply.body_mut().frame().await.unwrap().unwrap();
            assert!(start.elapsed() <= Duration::from_secs(20), "{version}");
        }
    }
}

/// stacklok/toolhive#5009, mark3labs/mcp-go#744
#[tokio::test]
async fn an_answer_that_nobody_waits_for_is_taken() {
    let service = service();
    let session = session_of(&service, "2025-06-18").await;
    let answers = [
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"_meta": {"a": 1}}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": null}),
        json!({"jsonrpc": "2.0", "id": "gone", "error": {"code": -1, "message": "x"}}),
    ];
    for answer in answers {
        let raw = Raw::post(answer.to_string());
        let taken = raw.clone().set("mcp-session-id", &session).send(&service).await;
        assert_eq!((taken.status.as_u16(), taken.body.len()), (202, 0));
        for refused in [raw.clone(), raw.set("mcp-protocol-version", "2026-07-28")] {
            assert_eq!(
                refused.send(&service).await.refusal(),
                (400, -32600, Some(answer["id"].clone()))
            );
        }
    }
    let both =
        json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": -1, "message": "x"}});
    let raw = Raw::post(both.to_string()).set("mcp-session-id", &session);
    assert_eq!(raw.send(&service).await.refusal().0, 400);
}

/// its-dart/dart-mcp-server#24
#[tokio::test]
async fn an_answer_without_a_body_says_so() {
    let served = Served::new(reporter()).await;
    let session = open_session(&served.service).await;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let taken = format!(
        "mcp-session-id: {session}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{note}",
        note.len()
    );
    let nothing = "\r\n".to_owned();
    let ended = format!("mcp-session-id: {session}\r\n\r\n");
    let modern = "mcp-protocol-version: 2026-07-28\r\n\r\n".to_owned();
    for (method, rest, status, has_length) in [
        ("POST", &taken, 202, true),
        ("GET", &nothing, 400, true),
        ("GET", &modern, 405, true),
        ("DELETE", &nothing, 400, true),
        ("OPTIONS", &nothing, 204, false),
        ("HEAD", &nothing, 405, true),
        ("DELETE", &ended, 204, false),
    ] {
        for version in ["1.1", "1.0"] {
            let status =
                if (method, rest, version) == ("DELETE", &ended, "1.0") { 404 } else { status };
            let head = format!("{method} /mcp HTTP/{version}\r\nhost: {}\r\n", served.address);
            let mut sent = format!("{head}{rest}");
            if version == "1.1" {
                // The connection goes on.
                sent += &format!(
                    "PUT /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
                    served.address
                );
            }
            let mut stream = TcpStream::connect(served.address).await.unwrap();
            stream.write_all(sent.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            let (head, behind) = answer.split_once("\r\n\r\n").unwrap();
            let head = head.to_lowercase();
            assert!(head.starts_with(&format!("http/{version} {status} ")), "{method} {head}");
            assert!(!head.contains("transfer-encoding"), "{head}");
            assert_eq!(head.contains("content-length: "), has_length || status == 404, "{head}");
            assert_eq!(head.contains("\r\ncontent-type: "), status >= 400, "{head}");
            assert_eq!(head.contains("allow: "), status == 405 || method == "OPTIONS", "{head}");
            if status == 202 {
                assert!(head.contains("content-length: 0"), "{head}");
            }
            assert_eq!(behind.contains("HTTP/1.1 405 "), version == "1.1", "{behind}");
        }
    }
    served.ended().await;
}

/// modelcontextprotocol/go-sdk#1175
#[tokio::test]
async fn every_reconnect_of_a_stream_is_progress() {
    let service = service();
    let session = open_session(&service).await;
    let mut last: Option<String> = None;
    for _ in 0..6 {
        let mut stream = open(&service, get(&session, last.as_deref())).await;
        assert_eq!(stream.status, 200);
        let event = stream.event().await.unwrap();
        assert!(event.id.is_some() && event.id != last && event.data.is_empty());
        last = event.id;
        drop(stream);
        // Before the stream knows that its client has left, another one would be in its way.
        tokio::task::yield_now().await;
    }
    let session = session_of(&service, "2025-06-18").await;
    let mut body = service.handle(get(&session, None).request()).await.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(Value::from(&*String::from_utf8_lossy(&first)), ": connected\n\n");
}
