//! Streams whose clients do not reconnect leave nothing behind. The tests use the service and inspect the tables.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Map, Value, json};

use super::{Reader, Stream};
use crate::budget::{Bound, Kind};
use crate::context::Context;
use crate::http::{HttpConfig, ResponseBody, StreamableHttpService};
use crate::legacy::http::event_id::StreamName;
use crate::legacy::session::SessionId;
use crate::locked::Locked as _;
use crate::server::Server;
use crate::tool::{CallToolResult, Tool, ToolError};

/// Sends large messages, releases its connection and continues to send if asked to, waits for its seconds, and answers.
async fn talk(
    (): (),
    arguments: Map<String, Value>,
    context: Context,
) -> Result<CallToolResult, ToolError> {
    context.progress(1.0, None, Some(&"x".repeat(1_000))).await;
    if arguments.contains_key("leaves") {
        context.release_connection(Duration::from_secs(1)).await;
        for step in 2..5_000 {
            let message = "x".repeat(1_000);
            context.progress(f64::from(step), None, Some(&message)).await;
        }
    }
    let seconds = arguments["seconds"].as_u64().unwrap();
    if seconds > 0 {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
    Ok(CallToolResult::text("y".repeat(1_000)))
}

fn service(config: HttpConfig) -> StreamableHttpService {
    let tool = Tool::new("talk", "").with_input_schema(json!({"type": "object"}));
    let server = Server::builder("talker", "1", ())
        .raw_tool(tool, talk)
        .tools_list_changed()
        .build()
        .unwrap();
    StreamableHttpService::with_config(server, config)
}

async fn send(
    service: &StreamableHttpService,
    method: Method,
    session: Option<&str>,
    body: &Value,
) -> Response<ResponseBody> {
    let mut request = Request::new(Full::<bytes::Bytes>::from(body.to_string()));
    *request.method_mut() = method;
    let headers = request.headers_mut();
    headers.insert("host", HeaderValue::from_static("localhost"));
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    if let Some(session) = session {
        headers.insert("mcp-session-id", session.parse().unwrap());
    }
    service.handle(request).await
}

async fn session(service: &StreamableHttpService) -> String {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let response = send(service, Method::POST, None, &body).await;
    let session = response.headers()["mcp-session-id"].to_str().unwrap();
    session.to_owned()
}

async fn call(service: &StreamableHttpService, session: &str, seconds: u64) -> ResponseBody {
    let params =
        json!({"name": "talk", "arguments": {"seconds": seconds}, "_meta": {"progressToken": 1}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let response = send(service, Method::POST, Some(session), &body).await;
    response.into_body()
}

/// Sessions with streams, streams that are kept, bytes of events.
fn sizes(service: &StreamableHttpService) -> (usize, usize, usize) {
    let streams = &service.legacy().0.streams;
    let (sessions, kept) = streams.table.locked().sizes();
    (sessions, kept, amount(service, Kind::KeptBytes))
}

fn listeners(service: &StreamableHttpService) -> usize {
    amount(service, Kind::Listeners)
}

/// The amount that the one client of the tests holds.
fn amount(service: &StreamableHttpService, kind: Kind) -> usize {
    let (head, ()) = Request::new(()).into_parts();
    service.client(&head).amount(kind)
}

/// Lets every task continue as far as it can at this instant.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_dropped_streams_leave_bounded_memory_and_then_nothing() {
    let config = HttpConfig::default();
    let max = config.legacy.max_kept_streams_per_session;
    let service = service(config);
    let sessions = [session(&service).await, session(&service).await];
    for at in 0..1_000 {
        let mut body = call(&service, &sessions[at % 2], 0).await;
        // Some are read to their end, some in part, most not at all.
        match at % 10 {
            0 => drop(body.collect().await),
            1 => drop(body.frame().await),
            _ => drop(body),
        }
    }
    settle().await;
    let (listed, kept, bytes) = sizes(&service);
    assert_eq!((listed, kept), (2, 2 * max));
    // One kilobyte each for the messages and the answer, and their overhead.
    assert!((kept * 2_000..kept * 3_000).contains(&bytes), "{bytes}");
    tokio::time::sleep(HttpConfig::default().legacy.keep_ended_streams).await;
    settle().await;
    assert_eq!(sizes(&service), (0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn streams_that_lose_their_clients_while_they_run_leave_nothing_in_the_end() {
    let mut config = HttpConfig::default();
    config.legacy.kept_streams = Bound::of(10);
    let service = service(config);
    let mut left = Vec::new();
    for at in 0..50 {
        let session = session(&service).await;
        drop(call(&service, &session, 60).await);
        drop(send(&service, Method::GET, Some(&session), &Value::Null).await);
        left.push((at, session));
    }
    settle().await;
    // Of those that only listen, the last ten do so still; the calls run.
    assert_eq!((sizes(&service).0, sizes(&service).1), (50, 10));
    tokio::time::sleep(Duration::from_secs(61)).await;
    settle().await;
    // The calls have ended: their streams have taken those places.
    assert_eq!((sizes(&service).0, sizes(&service).1), (10, 10));
    tokio::time::sleep(Duration::from_secs(300)).await;
    settle().await;
    assert_eq!(sizes(&service), (0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn delete_and_the_end_of_the_service_leave_nothing() {
    let service = service(HttpConfig::default());
    let (one, two) = (session(&service).await, session(&service).await);
    let mut open = Vec::new();
    for session in [&one, &two] {
        drop(call(&service, session, 0).await);
        drop(call(&service, session, 60).await);
        open.push(call(&service, session, 60).await);
        drop(send(&service, Method::GET, Some(session), &Value::Null).await);
    }
    settle().await;
    assert_eq!((sizes(&service).0, sizes(&service).1), (2, 4));
    let response = send(&service, Method::DELETE, Some(&one), &Value::Null).await;
    assert_eq!(response.status(), 204);
    assert_eq!((sizes(&service).0, sizes(&service).1), (1, 2));
    settle().await;
    // When an ended session is requested, everything that is left of it is removed.
    service.legacy().0.sessions.remove(&SessionId::from_header(&two)).await.unwrap();
    let response = send(&service, Method::GET, Some(&two), &Value::Null).await;
    assert_eq!(response.status(), 404);
    drop(open);
    settle().await;
    assert_eq!(sizes(&service), (0, 0, 0));

    let three = session(&service).await;
    drop(call(&service, &three, 0).await);
    settle().await;
    let streams = std::sync::Arc::downgrade(&service.legacy().0.streams);
    drop(service);
    settle().await;
    assert!(streams.upgrade().is_none(), "kept for nobody");
}

/// A connection that is to be closed and is not read delays nothing, and nothing is kept for it beyond the bounds.
#[tokio::test(start_paused = true)]
async fn a_connection_that_was_let_go_and_does_not_read_keeps_no_more_than_others() {
    let config = HttpConfig::default();
    let (max_events, max_bytes) =
        (config.legacy.max_kept_events, config.legacy.max_kept_bytes_per_stream);
    let service = service(config);
    let session = session(&service).await;
    let params = json!({"name": "talk", "arguments": {"seconds": 0, "leaves": true}, "_meta": {"progressToken": 1}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let unread = send(&service, Method::POST, Some(&session), &body).await;
    // The call has ended, and its answer is kept.
    while sizes(&service).1 == 0 {
        tokio::task::yield_now().await;
    }
    let (_, _, bytes) = sizes(&service);
    assert!((max_events * 1_000..max_bytes).contains(&bytes), "{bytes}");
    let rest = tokio::time::timeout(Duration::from_secs(1), unread.into_body().collect());
    let rest = rest.await.expect("it does not end").unwrap().to_bytes();
    assert!(!String::from_utf8_lossy(&rest).contains("result"));
}

/// What listens for a session holds a place among the listeners, which must be free once the session has ended.
#[tokio::test(start_paused = true)]
async fn a_session_that_ends_ends_what_listens_for_it() {
    let service = service(HttpConfig::default());
    for is_polled in [true, false] {
        let session = session(&service).await;
        let open = send(&service, Method::GET, Some(&session), &Value::Null).await;
        let mut body = open.into_body();
        body.frame().await.unwrap().unwrap();
        assert_eq!(listeners(&service), 1);
        let response = send(&service, Method::DELETE, Some(&session), &Value::Null).await;
        assert_eq!(response.status(), 204);
        if is_polled {
            assert!(body.frame().await.is_none());
        }
        drop(body);
        settle().await;
        assert_eq!(listeners(&service), 0, "{is_polled}");
    }
}

/// One task listens for a session, whether or not there is a connection.
#[tokio::test(start_paused = true)]
async fn a_client_that_comes_and_goes_leaves_one_task() {
    let service = service(HttpConfig::default());
    let session = session(&service).await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let get = || send(&service, Method::GET, Some(&session), &Value::Null);
    for settles in [true, false] {
        for _ in 0..20 {
            let open = get().await;
            assert_eq!(open.status(), 200);
            if settles {
                settle().await;
                assert_eq!(tasks(), before + 1);
            }
        }
        settle().await;
        assert_eq!(tasks(), before + 1);
    }
    let response = send(&service, Method::DELETE, Some(&session), &Value::Null).await;
    assert_eq!(response.status(), 204);
    settle().await;
    assert_eq!((tasks(), listeners(&service)), (before, 0));
}

/// A reader that waits is woken for an event, for the reader that replaces it, and for the end.
#[tokio::test(start_paused = true)]
async fn a_reader_that_waits_is_woken_for_all_that_concerns_it() {
    let service = service(HttpConfig::default());
    let (head, ()) = Request::new(()).into_parts();
    let name = StreamName::of_calls();
    let stream = Arc::new(Stream::new(name, &service.client(&head)));
    let push = |event: &str| stream.push(|_| event.into(), &service.legacy().0.streams.bounds);
    let read = |reader: Reader| {
        let read = reader.into_body().collect();
        tokio::spawn(tokio::time::timeout(Duration::from_secs(1), read))
    };

    let first = read(Reader::take_up(Arc::clone(&stream)).unwrap());
    settle().await;
    push("one");
    settle().await;
    push("two");
    settle().await;
    let second = read(Reader::resume(Arc::clone(&stream), 1).unwrap());
    let first = first.await.unwrap().expect("it was not woken");
    assert_eq!(first.unwrap().to_bytes(), "onetwo");
    settle().await;
    push("three");
    settle().await;
    stream.end();
    let second = second.await.unwrap().expect("it was not woken");
    assert_eq!(second.unwrap().to_bytes(), "twothree");
}

#[tokio::test(start_paused = true)]
async fn a_get_for_no_session_leaves_nothing() {
    let service = service(HttpConfig::default());
    for _ in 0..100 {
        let response = send(&service, Method::GET, Some("none"), &Value::Null).await;
        assert_eq!(response.status(), 404);
    }
    assert_eq!(sizes(&service), (0, 0, 0));
}
