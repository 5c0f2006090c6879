//! What one client cannot take from the others: sessions, memory for bodies, calls, places to listen.

use std::convert::Infallible;
use std::num::NonZero;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt as _, stream};
use http::Request;
use http_body::Frame;
use http_body_util::StreamBody;
use mcp_proto::StreamableHttpService;
use mcp_proto::blocking::run_long;
use mcp_proto::budget::Bound;
use mcp_proto::http::{HttpConfig, Peer, Proxies};
use mcp_proto::session::{MemorySessions, MemorySessionsConfig};
use serde_json::json;

use crate::common::{
    PATIENCE, Raw, builder, call, open_session, probe, request, say, server, with_meta,
};
use crate::resume::session_of;

async fn ping(service: &StreamableHttpService, session: &str) -> u16 {
    let reply = Raw::legacy(session, "ping", &json!({})).send(service).await;
    reply.status.as_u16()
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_openings_ends_none_that_is_in_use() {
    let mut config = MemorySessionsConfig::default();
    config.max_sessions = 80;
    let sessions = Arc::new(MemorySessions::new(config));
    let service =
        StreamableHttpService::with_sessions(server(), HttpConfig::default(), sessions.clone());
    let mut in_use = Vec::new();
    for _ in 0..40 {
        in_use.push(open_session(&service).await);
        assert_eq!(ping(&service, in_use.last().unwrap()).await, 200);
    }
    for _ in 0..1_000 {
        open_session(&service).await;
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    assert_eq!(sessions.len(), 80);
    for session in &in_use {
        assert_eq!(ping(&service, session).await, 200);
    }
    // Those that are used as soon as they are open stay too; in the end there is no room for more.
    let opening = async || Raw::initialize("2025-11-25").send(&service).await;
    let refused = loop {
        let reply = opening().await;
        if reply.status != 200 {
            break reply;
        }
        in_use.push(reply.header("mcp-session-id").unwrap().to_owned());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(ping(&service, in_use.last().unwrap()).await, 200);
        assert!(in_use.len() <= 80);
    };
    assert_eq!(refused.refusal().0, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    for session in &in_use {
        assert_eq!(ping(&service, session).await, 200);
    }
    tokio::time::advance(MemorySessionsConfig::default().in_use).await;
    assert_eq!(opening().await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_client_with_its_share_of_sessions_pushes_out_its_own_alone() {
    let mut config = MemorySessionsConfig::default();
    (config.max_sessions, config.max_sessions_per_client) = (100, 50);
    let sessions = Arc::new(MemorySessions::new(config));
    let service =
        StreamableHttpService::with_sessions(server(), HttpConfig::default(), sessions.clone());
    let (greedy, other) = ([127, 0, 0, 2], [127, 0, 0, 1]);
    let open = async |address| {
        let response = service.handle(from(address, Raw::initialize("2025-11-25"))).await;
        let id = response.headers().get("mcp-session-id");
        let id = id.map(|id| id.to_str().unwrap().to_owned());
        (response.status().as_u16(), id)
    };
    let (_, victim) = open(other).await;
    let victim = victim.unwrap();
    // Openings that are not used push each other out.
    for _ in 0..200 {
        assert_eq!(open(greedy).await.0, 200);
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    assert_eq!(sessions.len(), 51);
    assert_eq!(ping(&service, &victim).await, 200);
    // Those that are used do not: the client is refused.
    let mut used = Vec::new();
    while let (200, Some(session)) = open(greedy).await {
        assert_eq!(ping(&service, &session).await, 200);
        used.push(session);
        assert!(used.len() <= 50);
    }
    assert_eq!(open(greedy).await.0, 429);
    assert_eq!(open(other).await.0, 200);
    for session in used.iter().chain([&victim]) {
        assert_eq!(ping(&service, session).await, 200);
    }
}

#[tokio::test]
async fn bodies_that_are_being_read_share_a_bounded_memory() {
    let small = || Raw::modern("tools/call", say("x"));
    let mut config = HttpConfig::default();
    config.budget.request_bytes = Bound::of(100_000);
    let service = StreamableHttpService::with_config(server(), config);
    let slow = || {
        let (head, _) = small().request().into_parts();
        let (sender, chunks) = tokio::sync::mpsc::unbounded_channel::<Bytes>();
        let frames = stream::unfold(chunks, |mut chunks| async {
            let chunk = chunks.recv().await?;
            Some((Ok::<_, Infallible>(Frame::data(chunk)), chunks))
        });
        let request = Request::from_parts(head, StreamBody::new(Box::pin(frames)));
        let service = service.clone();
        (sender, tokio::spawn(async move { service.handle(request).await }))
    };
    let (holding, held) = slow();
    holding.send(Bytes::from_static(&[b' '; 50_000])).unwrap();
    holding.send(Bytes::from_static(&[b' '; 49_990])).unwrap();
    let full = async {
        while small().send(&service).await.status == 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, full).await.unwrap();
    assert_eq!(small().send(&service).await.refusal(), (503, -32603, None));
    holding.send(small().body).unwrap();
    drop(holding);
    // The one that grows over the bound is refused, not those that came before it.
    assert_eq!(held.await.unwrap().status(), 503);
    assert_eq!(small().send(&service).await.status, 200);
    // What a call has ended with is held no more.
    let (holding, held) = slow();
    holding.send(small().body).unwrap();
    drop(holding);
    assert_eq!(held.await.unwrap().status(), 200);
    assert_eq!(small().send(&service).await.status, 200);
}

#[tokio::test]
async fn a_running_call_holds_the_memory_of_its_request() {
    let (probe, mut events) = probe();
    let raw = || Raw::modern("tools/call", call("hang"));
    let mut config = HttpConfig::default();
    config.budget.request_bytes = Bound::of(20_000);
    let service = StreamableHttpService::with_config(builder(&probe).build().unwrap(), config);
    let mut running = Vec::new();
    let refused = loop {
        let mut call = Box::pin(service.handle(raw().request()));
        if let Some(refused) = futures_util::FutureExt::now_or_never(&mut call) {
            break refused;
        }
        events.expect("started").await;
        running.push(call);
        assert!(running.len() < 100);
    };
    assert!(running.len() > 1);
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["retry-after"], "1");
    for call in running {
        drop(call);
        events.expect("dropped").await;
    }
    let small = Raw::modern("tools/call", say("x")).send(&service).await;
    assert_eq!(small.status, 200);
}

/// A request as it comes from an address.
fn from(address: [u8; 4], raw: Raw) -> Request<http_body_util::Full<Bytes>> {
    let mut request = raw.request();
    request.extensions_mut().insert(Peer::new(address.into()));
    request
}

#[tokio::test]
async fn a_client_that_has_its_share_leaves_the_rest_to_others() {
    let (probe, mut events) = probe();
    let mut config = HttpConfig::default();
    config.budget.calls = Bound::of(40);
    config.budget.listeners = Bound::of(4);
    let service = StreamableHttpService::with_config(builder(&probe).build().unwrap(), config);
    let (greedy, other) = ([127, 0, 0, 2], [127, 0, 0, 1]);
    let mut running = Vec::new();
    for _ in 0..20 {
        let request = from(greedy, Raw::modern("tools/call", call("hang")));
        let service = service.clone();
        running.push(tokio::spawn(async move { service.handle(request).await }));
        events.expect("started").await;
    }
    let refused = service.handle(from(greedy, Raw::modern("tools/call", say("x")))).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["retry-after"], "1");
    // So is a batch of which no call finds a place.
    let session = session_of(&service, "2025-03-26").await;
    let calls = json!([request(1, "tools/call", &say("x")), request(2, "ping", &json!({}))]);
    let batch = Raw::post(calls.to_string()).set("mcp-session-id", &session);
    let refused = service.handle(from(greedy, batch)).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["retry-after"], "1");
    let served = service.handle(from(other, Raw::modern("tools/call", say("x")))).await;
    assert_eq!(served.status(), 200);
    for call in running {
        call.abort();
        events.expect("dropped").await;
    }
    // Listens count too.
    let listen = || {
        Raw::modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
    };
    let mut open = Vec::new();
    for _ in 0..2 {
        let response = service.handle(from(greedy, listen())).await;
        assert_eq!(response.status(), 200);
        open.push(response);
    }
    let refused = service.handle(from(greedy, listen())).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(service.handle(from(other, listen())).await.status(), 200);
    open.clear();
    assert_eq!(service.handle(from(greedy, listen())).await.status(), 200);
}

#[tokio::test]
async fn clients_behind_a_named_proxy_have_shares_of_their_own() {
    let (probe, mut events) = probe();
    let proxy = [10, 0, 0, 7];
    let mut config = HttpConfig::default();
    config.budget.calls = Bound { total: 10, share: 1 };
    config.proxies = Proxies::from_names(&["10.0.0.0/8".to_owned()]).unwrap();
    let service = StreamableHttpService::with_config(builder(&probe).build().unwrap(), config);
    let status = async |by: [u8; 4], client: &str| {
        let mut request = from(by, Raw::modern("tools/call", say("x")));
        let client = client.parse().unwrap();
        request.headers_mut().insert("x-forwarded-for", client);
        service.handle(request).await.status()
    };
    let mut hanging = from(proxy, Raw::modern("tools/call", call("hang")));
    let client = "192.0.2.1".parse().unwrap();
    hanging.headers_mut().insert("x-forwarded-for", client);
    let running = tokio::spawn({
        let service = service.clone();
        async move { service.handle(hanging).await }
    });
    events.expect("started").await;
    assert_eq!(status(proxy, "192.0.2.1").await, 429);
    assert_eq!(status(proxy, "192.0.2.2").await, 200);
    // One that is not named is believed nothing.
    assert_eq!(status([203, 0, 113, 9], "192.0.2.1").await, 200);
    running.abort();
    events.expect("dropped").await;
}

#[tokio::test]
async fn calls_of_all_clients_are_bounded_together() {
    let (probe, mut events) = probe();
    let mut config = HttpConfig::default();
    config.budget.calls = Bound::of(2);
    let service = StreamableHttpService::with_config(builder(&probe).build().unwrap(), config);
    let session = open_session(&service).await;
    let start = |raw: Raw| {
        let service = service.clone();
        tokio::spawn(async move { service.handle(raw.request()).await })
    };
    let modern = start(Raw::modern("tools/call", call("hang")));
    events.expect("started").await;
    // Without its client it is still a call.
    let legacy = start(Raw::legacy(&session, "tools/call", &call("hang")));
    events.expect("started").await;
    legacy.abort();
    let _aborted = legacy.await;
    for raw in [Raw::modern("tools/call", say("x")), Raw::legacy(&session, "tools/call", &say("x"))]
    {
        let reply = raw.send(&service).await;
        assert_eq!(reply.refusal(), (503, -32603, Some(7.into())));
        assert_eq!(
            reply.message(),
            "2 calls are running for all clients together: try again later"
        );
    }
    modern.abort();
    events.expect("dropped").await;
    assert_eq!(Raw::modern("tools/call", say("x")).send(&service).await.status, 200);
}

#[tokio::test]
async fn a_message_that_costs_more_than_a_share_is_too_large_and_not_too_early() {
    let mut config = HttpConfig::default();
    config.budget.request_bytes = Bound::of(1 << 20);
    let service = StreamableHttpService::with_config(server(), config);
    let costly = with_meta(json!({ "x": vec![json!({ "": 0 }); 2_000] }));
    for address in [[127, 0, 0, 1], [127, 0, 0, 2]] {
        let refused =
            service.handle(from(address, Raw::modern("tools/list", costly.clone()))).await;
        assert_eq!(refused.status(), 413);
    }
}

/// Its client has the work that comes first in its turn, and then does not read.
#[tokio::test]
async fn a_call_that_is_not_polled_keeps_no_turn() {
    let service = StreamableHttpService::new(server());
    let (head, ()) = Request::new(()).into_parts();
    let client = service.client(&head);
    let turns = (thread::available_parallelism().map_or(1, NonZero::get) / 2).max(1);
    let (go, release): (Vec<_>, Vec<_>) = (0..turns).map(|_| mpsc::channel::<()>()).unzip();
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let mut begun = Vec::new();
    for wait in release {
        let (client, started) = (client.clone(), started.clone());
        let work = move || started.send(()).is_ok() && wait.recv().is_err();
        begun.push(tokio::spawn(async move { run_long(Some(&client), work).await }));
        starts.recv().await.unwrap();
    }
    let mut unpolled: Vec<_> =
        (0..turns).map(|_| Box::pin(run_long(Some(&client), || ()))).collect();
    for call in &mut unpolled {
        assert_eq!(call.as_mut().now_or_never(), None);
    }
    // Each has its place behind those that run.
    tokio::task::yield_now().await;
    drop(go);
    for done in begun {
        assert_eq!(done.await.unwrap(), Ok(true));
    }
    let next = run_long(Some(&client), || "done");
    assert_eq!(tokio::time::timeout(Duration::from_secs(20), next).await, Ok(Ok("done")));
}
