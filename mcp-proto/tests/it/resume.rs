//! Streams that are resumed by `Last-Event-ID`: exactly the rest of exactly that stream, of nobody else's.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use mcp_proto::http::{HttpConfig, ServeConfig};
use mcp_proto::session::{MemorySessions, SessionStore};
use mcp_proto::{CallToolResult, Change, Context, Principal, Server, StreamableHttpService, Tool};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use crate::common::{Raw, Served, open_session, request, with_meta};
use crate::events::{dial, get, open, stream_of, text_of};

/// Lets the calls of a tag take a step.
#[derive(Debug, Clone)]
pub(crate) struct Paces(Arc<HashMap<&'static str, Semaphore>>);

impl Paces {
    pub(crate) fn step(&self, tag: &str) {
        self.0[tag].add_permits(1);
    }
}

/// A server with a tool that says something for each step and answers with the third, one that says and answers much,
/// and one that lets its connection go.
pub(crate) fn paced() -> (Server, Paces) {
    let tags = ["a", "b", "c"];
    let paces = Paces(Arc::new(tags.map(|tag| (tag, Semaphore::new(0))).into()));
    let object = || json!({"type": "object"});
    let server = Server::builder("paced", "1", paces.clone())
        .raw_tool(Tool::new("steps", "").with_input_schema(object()), steps)
        .raw_tool(Tool::new("much", "").with_input_schema(object()), much)
        .raw_tool(Tool::new("leave", "").with_input_schema(object()), leave)
        .tools_list_changed()
        .build()
        .unwrap();
    (server, paces)
}

type Done = Result<CallToolResult, mcp_proto::ToolError>;

async fn steps(paces: Paces, arguments: Map<String, Value>, context: Context) -> Done {
    let tag = arguments["tag"].as_str().unwrap();
    for step in 1..=3 {
        if step > 1 {
            paces.0[tag].acquire().await.unwrap().forget();
        }
        let message = format!("{tag}{step}");
        context.progress(f64::from(step), None, Some(&message)).await;
    }
    paces.0[tag].acquire().await.unwrap().forget();
    Ok(CallToolResult::text(tag))
}

async fn much(paces: Paces, arguments: Map<String, Value>, context: Context) -> Done {
    context.progress(0.0, None, Some("first")).await;
    paces.0["a"].acquire().await.unwrap().forget();
    for step in 1..=arguments["messages"].as_u64().unwrap() {
        let message = step.to_string();
        context.progress(step as f64, None, Some(&message)).await;
    }
    let bytes = arguments["bytes"].as_u64().unwrap();
    Ok(CallToolResult::text("x".repeat(bytes as usize)))
}

async fn leave(paces: Paces, _: Map<String, Value>, context: Context) -> Done {
    context.release_connection(Duration::from_millis(500)).await;
    paces.0["a"].acquire().await.unwrap().forget();
    context.progress(1.0, None, Some("while away")).await;
    Ok(CallToolResult::text("reconnected"))
}

pub(crate) fn arguments(tool: &str, arguments: &Value) -> Value {
    json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "p" } })
}

/// A call of `steps` with this tag as its id.
pub(crate) fn steps_of(session: &str, tag: &str) -> Raw {
    let body = request(tag, "tools/call", &arguments("steps", &json!({ "tag": tag })));
    Raw { body: body.to_string().into(), ..Raw::legacy(session, "", &json!({})) }
}

pub(crate) async fn session_of(service: &StreamableHttpService, version: &str) -> String {
    let reply = Raw::initialize(version).send(service).await;
    assert_eq!(reply.result()["protocolVersion"], version);
    reply.header("mcp-session-id").unwrap().to_owned()
}

pub(crate) fn answer_of(rest: &[Value]) -> &str {
    rest.last().unwrap()["result"]["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_resume_in_the_middle_of_a_call_gets_exactly_the_rest_of_it() {
    let (server, paces) = paced();
    let served = Served::new(server.clone()).await;
    let session = open_session(&served.service).await;
    let mut a = dial(&served, steps_of(&session, "a")).await;
    let mut b = dial(&served, steps_of(&session, "b")).await;
    let mut outside = dial(&served, get(&session, None)).await;
    assert_eq!((a.next_text().await, b.next_text().await), ("a1".into(), "b1".into()));
    server.notify(Change::ToolsListChanged);
    let change = outside.message().await.unwrap();
    assert_eq!(change["method"], "notifications/tools/list_changed");
    // The client misses what comes between the first and the last drop.
    let first = a.last.clone();
    paces.step("a");
    assert_eq!(a.next_text().await, "a2");
    drop(a);
    paces.step("b");
    assert_eq!(b.next_text().await, "b2");
    server.notify(Change::ToolsListChanged);
    let mut a = dial(&served, get(&session, Some(&first))).await;
    assert_eq!(a.headers["content-type"], "text/event-stream");
    assert_eq!(a.next_text().await, "a2");
    // Live from here on.
    paces.step("a");
    assert_eq!(a.next_text().await, "a3");
    paces.step("a");
    let rest = a.rest().await;
    assert_eq!((rest.len(), &rest[0]["id"], answer_of(&rest)), (1, &json!("a"), "a"));
    // The others went on as if nothing had happened.
    paces.step("b");
    paces.step("b");
    let rest = b.rest().await;
    assert_eq!((text_of(&rest[0]), answer_of(&rest)), ("b3", "b"));
    assert!(outside.message().await.is_some());
    // And after its end, from any event of it: the reference server replays other streams here.
    for (after, wanted) in [(&first, 3), (&a.last, 0)] {
        let mut again = dial(&served, get(&session, Some(after))).await;
        let rest = again.rest().await;
        assert_eq!(rest.len(), wanted, "{rest:?}");
        assert!(rest.iter().all(|message| !message.to_string().contains('b')));
    }
    drop(outside);
    served.ended().await;
}

#[tokio::test]
async fn every_event_of_a_session_has_an_id_that_names_its_stream() {
    let (server, paces) = paced();
    let service = StreamableHttpService::new(server.clone());
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = session_of(&service, version).await;
        let mut outside = open(&service, get(&session, None)).await;
        server.notify(Change::ToolsListChanged);
        let mut ids = Vec::new();
        let mut names = HashSet::new();
        for tag in ["a", "b"] {
            let mut stream = open(&service, steps_of(&session, tag)).await;
            (0..3).for_each(|_| paces.step(tag));
            let mut data = Vec::new();
            while let Some(event) = stream.event().await {
                ids.push(event.id.unwrap());
                data.push(event.data);
            }
            // Only clients of the newest revision take an event without data.
            let primed = version == "2025-11-25";
            assert_eq!(data[0].is_empty(), primed, "{version}");
            assert!(data[1..].iter().all(|data| !data.is_empty()));
            assert_eq!(data.len(), if primed { 5 } else { 4 });
            names.insert(stream_of(&stream.last).to_owned());
        }
        let event = outside.event().await.unwrap();
        assert_eq!(event.data.is_empty(), version == "2025-11-25");
        names.insert(stream_of(&outside.last).to_owned());
        ids.push(event.id.unwrap());
        assert_eq!(names.len(), 3);
        assert!(names.iter().all(|name| name.len() > 16), "{names:?}");
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    }
}

#[tokio::test]
async fn no_event_of_the_modern_wire_has_an_id() {
    let (server, paces) = paced();
    let service = StreamableHttpService::new(server.clone());
    let params = with_meta(arguments("steps", &json!({"tag": "a"})));
    (0..3).for_each(|_| paces.step("a"));
    let mut stream = open(&service, Raw::modern("tools/call", params)).await;
    let mut events = Vec::new();
    while let Some(event) = stream.event().await {
        events.push(event);
    }
    let listen =
        Raw::modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let mut listening = open(&service, listen).await;
    events.push(listening.event().await.unwrap());
    server.notify(Change::ToolsListChanged);
    events.push(listening.event().await.unwrap());
    assert_eq!(events.len(), 6);
    assert!(events.iter().all(|event| event.id.is_none() && event.retry.is_none()));
    // Nor does a modern call let its connection go.
    paces.step("a");
    let params = with_meta(arguments("leave", &json!({})));
    let reply = Raw::modern("tools/call", params).send(&service).await;
    assert!(!String::from_utf8_lossy(&reply.body).contains("id: "));
    assert_eq!(answer_of(&reply.events()), "reconnected");
}

#[tokio::test]
async fn an_id_of_another_session_or_stream_replays_nothing_of_it() {
    let (server, _paces) = paced();
    let service = StreamableHttpService::new(server.clone());
    let (own, other) = (open_session(&service).await, open_session(&service).await);
    let mut call = open(&service, steps_of(&other, "a")).await;
    let mut outside = open(&service, get(&other, None)).await;
    call.next_text().await;
    server.notify(Change::ToolsListChanged);
    outside.message().await.unwrap();
    let name = stream_of(&call.last).to_owned();
    for (id, what) in [
        (call.last.clone(), "keeps no stream"),
        // Never given.
        (format!("{name}-0"), "keeps no stream"),
        ("c0000000000000000-1".to_owned(), "keeps no stream"),
        ("nonsense".to_owned(), "not an event id"),
        (name.clone(), "not an event id"),
        (format!("{name}-01"), "not an event id"),
        (format!("{name}-99999999999999999999"), "not an event id"),
        (format!("{name}-1-1"), "not an event id"),
        ("\u{e9}".to_owned(), "not an event id"),
    ] {
        let (status, message) = open(&service, get(&own, Some(&id))).await.refusal().await;
        assert_eq!(status, 400, "{id}");
        assert!(message.contains(what), "{id}: {message}");
    }
    // An event of the own stream that is still to come.
    for number in [0, 3, 4, u64::MAX] {
        let id = format!("{name}-{number}");
        let (status, _) = open(&service, get(&other, Some(&id))).await.refusal().await;
        assert_eq!(status, 400, "{id}");
    }
    // A lost standalone stream is opened anew: nothing of another one is on it.
    let foreign = outside.last.clone();
    let mut fresh = open(&service, get(&own, Some(&foreign))).await;
    assert_eq!(fresh.event().await.unwrap().data, "");
    assert_ne!(stream_of(&fresh.last), stream_of(&foreign));
    server.notify(Change::ToolsListChanged);
    fresh.message().await.unwrap();
    assert!(fresh.last.ends_with("-2"));
    // Two ids are none.
    let twice = get(&own, Some("c0000000000000000-1")).add("last-event-id", "c0000000000000000-1");
    let (status, message) = open(&service, twice).await.refusal().await;
    assert_eq!((status, message.contains("twice")), (400, true), "{message}");
}

#[tokio::test]
async fn a_session_is_needed_and_its_owner() {
    let (server, _paces) = paced();
    let service = StreamableHttpService::new(server);
    let by = |raw: Raw, who: &str| {
        let mut request = raw.request();
        request.extensions_mut().insert(Principal(who.to_owned()));
        service.handle(request)
    };
    let reply = by(Raw::initialize("2025-11-25"), "anna").await;
    let session = reply.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let stream = by(steps_of(&session, "a"), "anna").await;
    let body = http_body_util::BodyExt::frame(&mut stream.into_body()).await;
    let opening = body.unwrap().unwrap().into_data().unwrap();
    let id = std::str::from_utf8(&opening).unwrap().lines().next().unwrap();
    let resume = get(&session, id.strip_prefix("id: "));
    assert_eq!(by(resume.clone(), "bert").await.status(), 404);
    assert_eq!(by(resume.clone(), "anna").await.status(), 200);
    let (status, _) = open(&service, resume.clone().unset("mcp-session-id")).await.refusal().await;
    assert_eq!(status, 400);
    let (status, _) = open(&service, resume.set("mcp-session-id", "none")).await.refusal().await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn the_newer_connection_takes_a_stream_over() {
    let (server, paces) = paced();
    let served = Served::new(server.clone()).await;
    let session = open_session(&served.service).await;
    // The old connections are open: nobody has noticed yet that the client gave them up.
    let mut old = dial(&served, steps_of(&session, "a")).await;
    old.next_text().await;
    let mut new = dial(&served, get(&session, Some(&old.last))).await;
    assert_eq!(old.event().await, None);
    (0..3).for_each(|_| paces.step("a"));
    assert_eq!(answer_of(&new.rest().await), "a");

    let mut older = dial(&served, get(&session, None)).await;
    assert_eq!(older.event().await.unwrap().data, "");
    // Without an event id after a moment.
    let mut old = dial(&served, get(&session, None)).await;
    // What the older one was sent may be lost.
    old.message().await.unwrap();
    server.notify(Change::ToolsListChanged);
    old.message().await.unwrap();
    let mut new = dial(&served, get(&session, Some(&old.last))).await;
    server.notify(Change::ToolsListChanged);
    new.message().await.unwrap();
    assert_eq!(stream_of(&new.last), stream_of(&old.last));
}

#[tokio::test(start_paused = true)]
async fn two_services_over_one_store_keep_streams_of_their_own() {
    let sessions = Arc::new(MemorySessions::default());
    let (server, paces) = paced();
    let over = || {
        let store: Arc<dyn SessionStore> = sessions.clone();
        StreamableHttpService::with_sessions(server.clone(), HttpConfig::default(), store)
    };
    let (one, two) = (over(), over());
    let session = open_session(&one).await;
    let mut stream = open(&one, steps_of(&session, "a")).await;
    stream.next_text().await;
    let id = stream.last.clone();
    drop(stream);
    (0..3).for_each(|_| paces.step("a"));
    let (status, _) = open(&two, get(&session, Some(&id))).await.refusal().await;
    assert_eq!(status, 400);
    assert_eq!(open(&one, get(&session, Some(&id))).await.rest().await.len(), 3);
    // A GET stream that was lost there is opened anew here.
    let mut there = open(&one, get(&session, None)).await;
    there.event().await;
    let mut here = open(&two, get(&session, Some(&there.last))).await;
    assert_eq!(here.event().await.unwrap().data, "");
    // The end of the session is noticed here by whoever comes next.
    let delete = Raw::bare(Method::DELETE).set("mcp-session-id", &session);
    assert_eq!(delete.send(&two).await.status, 204);
    let (status, _) = open(&one, get(&session, Some(&id))).await.refusal().await;
    assert_eq!(status, 404);
    assert_eq!((there.event().await, here.event().await), (None, None));
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_its_call_up_and_not_the_server() {
    let (server, paces) = paced();
    let served = Served::with(server, HttpConfig::default(), ServeConfig::default()).await;
    let session = open_session(&served.service).await;
    let params = arguments("much", &json!({"messages": 100_000, "bytes": 1}));
    let mut lazy = dial(&served, Raw::legacy(&session, "tools/call", &params)).await;
    lazy.next_text().await;
    let first = lazy.last.clone();
    paces.step("a");
    // It is answered nevertheless, by a connection that reads.
    let mut eager = dial(&served, get(&session, Some(&first))).await;
    let rest = eager.rest().await;
    assert_eq!(answer_of(&rest), "x");
    // Without a gap from where the ring began: what the first connection was given before that may be gone.
    let messages = &rest[..rest.len() - 1];
    for (message, step) in messages.iter().rev().zip((1..=100_000).rev()) {
        assert_eq!(text_of(message), step.to_string());
    }
    assert!(messages.len() > 10_000, "{}", messages.len());
    drop(lazy);
}
