//! Several processes that share an event store: any of them serves any session completely.

use std::sync::Arc;

use http::Method;
use mcp_proto::http::HttpConfig;
use mcp_proto::session::{EventStore, MemorySessions, SessionStore};
use mcp_proto::{Principal, Server, StreamableHttpService};
use serde_json::{Value, json};

use crate::asking_common::{asker, greet};
use crate::asking_legacy::{self, accepted};
use crate::common::{Events, Raw, builder, call, open_session, probe, request, say};
use crate::events::{Stream, get, open, stream_of, text_of};
use crate::resume::{answer_of, arguments, paced, session_of, steps_of};
use crate::shared_store::Logs;

/// Two processes with the same sessions and events, each with a server of its own.
struct Pair {
    logs: Logs,
    a: StreamableHttpService,
    b: StreamableHttpService,
}

impl Pair {
    fn new(a: Server, b: Server) -> Self {
        Self::with(a, b, &HttpConfig::default())
    }

    fn with(a: Server, b: Server, config: &HttpConfig) -> Self {
        let (logs, sessions) = (Logs::default(), Arc::new(MemorySessions::default()));
        let service = |server, number| {
            let store: Arc<dyn SessionStore> = sessions.clone();
            let events: Arc<dyn EventStore> = Arc::new(logs.process(number));
            StreamableHttpService::with_stores(server, config.clone(), store, events)
        };
        let (a, b) = (service(a, 0), service(b, 1));
        Self { logs, a, b }
    }

    /// The same server twice, of which the second runs nothing.
    fn probed() -> (Self, Events) {
        let (probe_a, events) = probe();
        let (a, b) = (builder(&probe_a), builder(&probe().0));
        (Self::new(a.build().unwrap(), b.build().unwrap()), events)
    }
}

async fn cancel(service: &StreamableHttpService, session: &str, id: i64) -> u16 {
    let params = json!({ "requestId": id });
    let raw = Raw::notification("notifications/cancelled", &params).set("mcp-session-id", session);
    raw.send(service).await.status.as_u16()
}

fn end(session: &str) -> Raw {
    Raw::bare(Method::DELETE).set("mcp-session-id", session)
}

/// Reads an event stream to its end.
async fn all(service: &StreamableHttpService, session: &str, after: &str) -> Vec<Value> {
    let mut stream = open(service, get(session, Some(after))).await;
    assert_eq!(stream.status, 200);
    stream.rest().await
}

#[tokio::test]
async fn a_quiet_call_asks_the_store_nothing() {
    let (pair, mut events) = Pair::probed();
    let session = open_session(&pair.a).await;
    let reply = Raw::legacy(&session, "tools/call", &say("hi")).send(&pair.a).await;
    assert_eq!(reply.result()["structuredContent"]["text"], "hi");
    let batching = session_of(&pair.a, "2025-03-26").await;
    let batch = json!([request(1, "tools/call", &say("one")), request(2, "ping", &json!({}))]);
    let batch = Raw::post(batch.to_string()).set("mcp-session-id", &batching);
    assert_eq!(batch.send(&pair.a).await.status, 200);
    // Nor one that runs, and is cancelled where it does.
    let hanging = Raw::legacy(&session, "tools/call", &call("hang"));
    let a = pair.a.clone();
    let running = tokio::spawn(async move { hanging.send(&a).await });
    events.expect("started").await;
    assert_eq!(cancel(&pair.a, &session, 7).await, 202);
    events.expect("dropped").await;
    running.await.unwrap();
    assert_eq!(pair.logs.asked(), 0);
}

#[tokio::test]
async fn the_answer_to_a_question_may_reach_another_process() {
    let server = || asker(greet).build().unwrap();
    let pair = Pair::new(server(), server());
    let session = asking_legacy::open_session(&pair.a).await;
    let call =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "ask" } });
    let mut stream = asking_legacy::start(&pair.a, &session, &call).await;
    let question = stream.expect().await;
    // Another session, which knows the id, answers nothing.
    let other = asking_legacy::open_session(&pair.b).await;
    let foreign = accepted(&question["id"], "Mallory");
    asking_legacy::post(&pair.b, &other, &foreign).await;
    asking_legacy::post(&pair.b, &session, &accepted(&json!("none"), "nobody")).await;
    asking_legacy::post(&pair.b, &session, &accepted(&question["id"], "Ann")).await;
    let answer = stream.expect().await;
    assert_eq!(answer["result"]["structuredContent"]["said"], "Ann");
}

#[tokio::test]
async fn a_question_is_read_and_answered_where_its_call_does_not_run() {
    let server = || asker(greet).build().unwrap();
    let pair = Pair::new(server(), server());
    let session = asking_legacy::open_session(&pair.a).await;
    let call = Raw::legacy(&session, "tools/call", &json!({ "name": "ask" }));
    let mut here = open(&pair.a, call).await;
    here.event().await.unwrap();
    let first = here.last.clone();
    drop(here);
    let mut there = open(&pair.b, get(&session, Some(&first))).await;
    let question = there.message().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    asking_legacy::post(&pair.b, &session, &accepted(&question["id"], "Ann")).await;
    let rest = there.rest().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["result"]["structuredContent"]["said"], "Ann");
}

#[tokio::test]
async fn a_cancellation_and_the_end_of_a_session_reach_the_process_that_runs_the_call() {
    let (pair, mut events) = Pair::probed();
    let session = open_session(&pair.a).await;
    let hang = || {
        let (a, raw) = (pair.a.clone(), Raw::legacy(&session, "tools/call", &call("hang")));
        tokio::spawn(async move { raw.send(&a).await })
    };
    let running = hang();
    events.expect("started").await;
    // Another call, and the same of another session, do not matter to it.
    assert_eq!(cancel(&pair.b, &session, 8).await, 202);
    let other = open_session(&pair.b).await;
    assert_eq!(cancel(&pair.b, &other, 7).await, 202);
    assert_eq!(cancel(&pair.b, &session, 7).await, 202);
    events.expect("dropped").await;
    running.await.unwrap();
    // One that was cancelled before does not end a later one of the same id.
    let running = hang();
    events.expect("started").await;
    assert!(events.none());
    assert_eq!(end(&session).send(&pair.b).await.status, 204);
    events.expect("dropped").await;
    running.await.unwrap();
    assert_eq!(cancel(&pair.a, &session, 7).await, 404);
}

#[tokio::test]
async fn a_stream_is_resumed_at_another_process_and_back_without_loss_or_repetition() {
    let (server, paces) = paced();
    let pair = Pair::new(server, paced().0);
    let session = open_session(&pair.a).await;
    let mut here = open(&pair.a, steps_of(&session, "a")).await;
    assert_eq!(here.next_text().await, "a1");
    let first = here.last.clone();
    // Its server takes the lost connection for alive.
    let mut there = open(&pair.b, get(&session, Some(&first))).await;
    assert_eq!(there.headers["content-type"], "text/event-stream");
    assert_eq!(here.event().await, None);
    paces.step("a");
    assert_eq!(there.next_text().await, "a2");
    assert_eq!(stream_of(&there.last), stream_of(&first));
    let second = there.last.clone();
    assert_ne!(second, first);
    drop(there);
    paces.step("a");
    let mut back = open(&pair.a, get(&session, Some(&second))).await;
    assert_eq!(back.next_text().await, "a3");
    let third = back.last.clone();
    drop(back);
    let mut again = open(&pair.b, get(&session, Some(&third))).await;
    paces.step("a");
    let rest = again.rest().await;
    assert_eq!((rest.len(), answer_of(&rest)), (1, "a"));
    // After its end it is the same at both, from any event of it.
    for after in [&first, &second, &third, &again.last] {
        let (one, other) =
            (all(&pair.a, &session, after).await, all(&pair.b, &session, after).await);
        assert_eq!(one, other);
    }
    assert_eq!(all(&pair.b, &session, &first).await.len(), 3);
}

#[tokio::test]
async fn a_client_that_goes_from_process_to_process_gets_every_event_once() {
    const MESSAGES: u64 = 200;
    let (server, paces) = paced();
    let pair = Pair::new(server, paced().0);
    let session = open_session(&pair.a).await;
    let params = arguments("much", &json!({"messages": MESSAGES, "bytes": 100_000}));
    let raw = Raw::legacy(&session, "tools/call", &params);
    let mut stream = open(&pair.a, raw).await;
    assert_eq!(stream.next_text().await, "first");
    paces.step("a");
    let mut turns =
        (0..).map(|turn: usize| (turn * 7 % 5 + 1, [&pair.b, &pair.b, &pair.a][turn * 11 % 7 % 3]));
    let mut said = Vec::new();
    'all: loop {
        let (events, service) = turns.next().unwrap();
        let last = stream.last.clone();
        // The connection before is not closed: its server is not to wait for it.
        let before =
            std::mem::replace(&mut stream, open(service, get(&session, Some(&last))).await);
        stream.last = last;
        for _ in 0..events {
            match stream.message().await {
                Some(message) => said.push(message),
                None => break 'all,
            }
        }
        drop(before);
    }
    assert_eq!(said.len() as u64, MESSAGES + 1);
    for (message, step) in said.iter().zip(1..=MESSAGES) {
        assert_eq!(text_of(message), step.to_string());
    }
    assert_eq!(answer_of(&said).len(), 100_000);
}

#[tokio::test]
async fn a_stream_of_another_process_is_its_sessions_and_its_principals_alone() {
    let (server, _paces) = paced();
    let pair = Pair::new(server, paced().0);
    let by = |service: &StreamableHttpService, raw: Raw, who: &str| {
        let mut request = raw.request();
        request.extensions_mut().insert(Principal(who.to_owned()));
        service.handle(request)
    };
    let reply = by(&pair.a, Raw::initialize("2025-11-25"), "anna").await;
    let session = reply.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let mut stream = Stream::of(by(&pair.a, steps_of(&session, "a"), "anna").await);
    stream.next_text().await;
    let resume = get(&session, Some(&stream.last));
    pair.logs.until(|(_, events)| events == 2).await;
    assert_eq!(by(&pair.b, resume.clone(), "bert").await.status(), 404);
    let own = open_session(&pair.b).await;
    let name = stream_of(&stream.last);
    for id in [stream.last.clone(), format!("{name}-0"), "c0000000000000000-1".to_owned()] {
        let (status, message) = open(&pair.b, get(&own, Some(&id))).await.refusal().await;
        assert_eq!(status, 400, "{id}");
        assert!(message.contains("keeps no stream"), "{message}");
    }
    assert_eq!(by(&pair.b, resume, "anna").await.status(), 200);
}

#[tokio::test]
async fn a_process_that_ends_leaves_what_was_said_and_an_error_for_what_was_not() {
    let (server, paces) = paced();
    let pair = Pair::new(server, paced().0);
    let session = open_session(&pair.a).await;
    let mut here = open(&pair.a, steps_of(&session, "a")).await;
    assert_eq!(here.next_text().await, "a1");
    let first = here.last.clone();
    let mut there = open(&pair.b, get(&session, Some(&first))).await;
    paces.step("a");
    assert_eq!(there.next_text().await, "a2");
    pair.logs.kill(0);
    drop((here, pair.a));
    let rest = there.rest().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["id"], "a");
    let message = rest[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("has ended before it answered"), "{message}");
    // It is written: a reader that comes back for the same gets the same, and then nothing.
    let again = all(&pair.b, &session, &first).await;
    assert_eq!((text_of(&again[0]), &again[1..]), ("a2", &rest[..]));
    assert!(all(&pair.b, &session, &there.last).await.is_empty());
}

#[tokio::test]
async fn an_answer_outlives_the_process_that_gave_it() {
    let (server, paces) = paced();
    let pair = Pair::new(server, paced().0);
    let session = open_session(&pair.a).await;
    let mut here = open(&pair.a, steps_of(&session, "a")).await;
    assert_eq!(here.next_text().await, "a1");
    let first = here.last.clone();
    (0..3).for_each(|_| paces.step("a"));
    assert_eq!(answer_of(&here.rest().await), "a");
    // A server that ends sees to it that what was said is written, and leaves it there.
    pair.a.close();
    pair.a.ended().await;
    drop(here);
    pair.logs.kill(0);
    drop(pair.a);
    let rest = all(&pair.b, &session, &first).await;
    assert_eq!((rest.len(), answer_of(&rest)), (3, "a"));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_kept_here_any_more_is_not_kept_there() {
    let (server, paces) = paced();
    let mut config = HttpConfig::default();
    config.legacy.max_kept_events = 2;
    let pair = Pair::with(server, paced().0, &config);
    let session = open_session(&pair.a).await;
    let mut here = open(&pair.a, steps_of(&session, "a")).await;
    here.next_text().await;
    let first = here.last.clone();
    (0..3).for_each(|_| paces.step("a"));
    assert_eq!(here.rest().await.len(), 3);
    drop(here);
    // The store has the last events of it, as its server does.
    pair.logs.until(|kept| kept == (1, 2)).await;
    assert_eq!(all(&pair.a, &session, &first).await.len(), 2);
    assert_eq!(all(&pair.b, &session, &first).await.len(), 2);
    // Until the time of the stream is over.
    tokio::time::sleep(HttpConfig::default().legacy.keep_ended_streams).await;
    pair.logs.until(|kept| kept == (0, 0)).await;
    let (status, _) = open(&pair.b, get(&session, Some(&first))).await.refusal().await;
    assert_eq!(status, 400);
    // One that is cancelled leaves nothing, and one whose session ends.
    let here = open(&pair.a, steps_of(&session, "b")).await;
    pair.logs.until(|(streams, _)| streams == 1).await;
    let cancelled = json!({ "requestId": "b" });
    let raw = Raw::notification("notifications/cancelled", &cancelled);
    let raw = raw.set("mcp-session-id", &session);
    assert_eq!(raw.send(&pair.b).await.status, 202);
    pair.logs.until(|(streams, _)| streams == 0).await;
    drop(here);
    let mut here = open(&pair.a, steps_of(&session, "c")).await;
    here.next_text().await;
    pair.logs.until(|(streams, _)| streams == 1).await;
    let mut there = open(&pair.b, get(&session, Some(&here.last))).await;
    assert_eq!(end(&session).send(&pair.b).await.status, 204);
    pair.logs.until(|(streams, _)| streams == 0).await;
    while here.event().await.is_some() {}
    while there.event().await.is_some() {}
}

#[tokio::test]
async fn what_is_too_large_for_the_store_is_at_its_own_process_alone() {
    const BYTES: usize = 5 << 20;
    let (server, paces) = paced();
    let pair = Pair::new(server, paced().0);
    let session = open_session(&pair.a).await;
    let params = arguments("much", &json!({"messages": 0, "bytes": BYTES}));
    let raw = Raw::legacy(&session, "tools/call", &params);
    let mut here = open(&pair.a, raw).await;
    assert_eq!(here.next_text().await, "first");
    let first = here.last.clone();
    pair.logs.until(|kept| kept == (1, 2)).await;
    let mut there = open(&pair.b, get(&session, Some(&first))).await;
    paces.step("a");
    // It ends there without an answer, so that the client comes back, and is refused there.
    assert_eq!(there.rest().await, Vec::<Value>::new());
    assert_eq!(pair.logs.kept(), (0, 0));
    let (status, _) = open(&pair.b, get(&session, Some(&first))).await.refusal().await;
    assert_eq!(status, 400);
    assert_eq!(answer_of(&all(&pair.a, &session, &first).await).len(), BYTES);
}

#[tokio::test(start_paused = true)]
async fn without_the_store_calls_go_on_and_are_found_again_with_it() {
    let (server, paces) = paced();
    let pair = Pair::new(server, paced().0);
    let session = open_session(&pair.a).await;
    pair.logs.kill(0);
    let mut here = open(&pair.a, steps_of(&session, "a")).await;
    here.next_text().await;
    let first = here.last.clone();
    paces.step("a");
    assert_eq!(here.next_text().await, "a2");
    // What a client sends for it to another server that is cut off is not taken for sent.
    pair.logs.kill(1);
    assert_eq!(cancel(&pair.b, &session, 9).await, 503);
    let (status, _) = open_at(&pair.b, &session, &first).await;
    assert_eq!(status, 503);
    pair.logs.heal(0);
    pair.logs.heal(1);
    pair.logs.until(|(_, events)| events == 3).await;
    drop(here);
    let mut there = open(&pair.b, get(&session, Some(&first))).await;
    assert_eq!(there.next_text().await, "a2");
    (0..2).for_each(|_| paces.step("a"));
    assert_eq!(answer_of(&there.rest().await), "a");
}

async fn open_at(service: &StreamableHttpService, session: &str, after: &str) -> (u16, String) {
    let reply = get(session, Some(after)).send(service).await;
    (reply.status.as_u16(), reply.message())
}

#[tokio::test]
async fn the_answers_of_a_batch_are_told_apart_when_its_process_ends() {
    let (server, paces) = paced();
    let pair = Pair::new(server, paced().0);
    let session = session_of(&pair.a, "2025-03-26").await;
    let of = |tag: &str| {
        let arguments = json!({ "name": "steps", "arguments": { "tag": tag }, "_meta": { "progressToken": tag } });
        request(tag, "tools/call", &arguments)
    };
    let batch = json!([of("a"), of("b")]).to_string();
    let raw = Raw::post(batch).set("mcp-session-id", &session);
    let mut here = open(&pair.a, raw).await;
    here.next_text().await;
    here.next_text().await;
    let second = here.last.clone();
    (0..3).for_each(|_| paces.step("a"));
    pair.logs.until(|(_, events)| events == 5).await;
    pair.logs.kill(0);
    drop(here);
    let rest = all(&pair.b, &session, &second).await;
    let answers: Vec<_> = rest.iter().filter(|message| message.get("id").is_some()).collect();
    assert_eq!(answers.len(), 2, "{rest:?}");
    assert_eq!((&answers[0]["id"], answers[0]["result"].is_object()), (&json!("a"), true));
    assert_eq!((&answers[1]["id"], answers[1]["error"].is_object()), (&json!("b"), true));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_lets_readers_of_other_servers_streams_go() {
    let (server, _paces) = paced();
    let pair = Pair::new(server, paced().0);
    let session = open_session(&pair.a).await;
    let mut here = open(&pair.a, steps_of(&session, "a")).await;
    here.next_text().await;
    pair.logs.until(|(_, events)| events == 2).await;
    let mut there = open(&pair.b, get(&session, Some(&here.last))).await;
    assert_eq!(there.event().await.unwrap().data, "");
    pair.b.close();
    assert_eq!(there.event().await, None);
    // The call has not noticed any of it.
    let mut back = open(&pair.a, get(&session, Some(&there.last))).await;
    assert_eq!(back.event().await.unwrap().data, "");
}
