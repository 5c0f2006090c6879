//! What is alive of a legacy session ends with it, wherever it ended, and a store that does not answer holds nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, pending};
use http::Method;
use http_body_util::BodyExt as _;
use mcp_proto::http::HttpConfig;
use mcp_proto::session::{
    MemorySessions, Session, SessionChange, SessionId, SessionStore, SessionStoreError,
};
use mcp_proto::{Change, StreamableHttpService};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::common::{Events, PATIENCE, Raw, builder, call, open_session, probe, server};

type Answer<'a, T> = BoxFuture<'a, Result<T, SessionStoreError>>;

/// Sessions in memory behind a door: each answer waits for its turn.
#[derive(Debug)]
struct Slow {
    sessions: MemorySessions,
    /// Lets so many answers pass.
    turns: Semaphore,
    /// Questions that were asked and not answered.
    waiting: AtomicUsize,
    /// All questions.
    asked: AtomicUsize,
}

impl Slow {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            sessions: MemorySessions::default(),
            turns: Semaphore::new(0),
            waiting: AtomicUsize::new(0),
            asked: AtomicUsize::new(0),
        })
    }

    async fn turn(&self) {
        struct Waiting<'a>(&'a AtomicUsize);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let _waiting = Waiting(&self.waiting);
        self.turns.acquire().await.unwrap().forget();
    }
}

impl SessionStore for Slow {
    fn insert(&self, session: Session) -> Answer<'_, ()> {
        self.sessions.insert(session)
    }

    fn load<'a>(&'a self, id: &'a SessionId) -> Answer<'a, Option<Arc<Session>>> {
        Box::pin(async move {
            let loaded = self.sessions.load(id).await;
            self.turn().await;
            loaded
        })
    }

    fn change<'a>(
        &'a self,
        id: &'a SessionId,
        change: &'a SessionChange,
    ) -> Answer<'a, Option<Arc<Session>>> {
        self.sessions.change(id, change)
    }

    fn remove<'a>(&'a self, id: &'a SessionId) -> Answer<'a, bool> {
        self.sessions.remove(id)
    }
}

fn over(sessions: &Arc<MemorySessions>) -> (StreamableHttpService, Events) {
    let (probe, events) = probe();
    let server = builder(&probe).build().unwrap();
    let store: Arc<dyn SessionStore> = sessions.clone();
    (StreamableHttpService::with_sessions(server, HttpConfig::default(), store), events)
}

fn get(session: &str) -> Raw {
    Raw::bare(Method::GET).set("accept", "text/event-stream").set("mcp-session-id", session)
}

fn delete(session: &str) -> Raw {
    Raw::bare(Method::DELETE).set("mcp-session-id", session)
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ended_elsewhere_takes_its_stream_and_its_calls_with_it() {
    let sessions = Arc::new(MemorySessions::default());
    let ((one, mut events), (two, _)) = (over(&sessions), over(&sessions));
    let session = open_session(&one).await;
    let stream = one.handle(get(&session).request()).await.into_body();
    let reading = tokio::spawn(stream.collect());
    let calling = tokio::spawn({
        let (one, raw) = (one.clone(), Raw::legacy(&session, "tools/call", &call("hang")));
        async move { one.handle(raw.request()).await.into_body().collect().await }
    });
    events.expect("started").await;
    let detached = Raw::legacy(&session, "tools/call", &call("talk"));
    drop(one.handle(detached.request()).await);
    events.expect("started").await;
    assert_eq!(delete(&session).send(&two).await.status, 204);
    // Two keep-alive intervals.
    let soon = Duration::from_secs(31);
    tokio::time::timeout(soon, reading).await.expect("the stream lives on").unwrap().unwrap();
    tokio::time::timeout(soon, calling).await.expect("the call lives on").unwrap().unwrap();
    events.expect("dropped").await;
    events.expect("dropped").await;
}

#[tokio::test]
async fn a_stream_and_a_call_that_begin_while_their_session_ends_end_too() {
    for raw in [get as fn(&str) -> Raw, |session| Raw::legacy(session, "tools/call", &call("hang"))]
    {
        let store = Slow::new();
        let sessions: Arc<dyn SessionStore> = store.clone();
        let service =
            StreamableHttpService::with_sessions(server(), HttpConfig::default(), sessions);
        let session = open_session(&service).await;
        let asked = async |wanted| {
            while store.waiting.load(Ordering::SeqCst) < wanted {
                tokio::task::yield_now().await;
            }
        };
        let deleting = tokio::spawn({
            let (service, raw) = (service.clone(), delete(&session));
            async move { raw.send(&service).await.status }
        });
        asked(1).await;
        let beginning = tokio::spawn({
            let (service, raw) = (service.clone(), raw(&session));
            async move {
                let reply = service.handle(raw.request()).await;
                reply.into_body().collect().await.unwrap()
            }
        });
        asked(2).await;
        // Both have found the session; the DELETE is done before the other is told so.
        store.turns.add_permits(1);
        assert_eq!(deleting.await.unwrap(), 204);
        store.turns.add_permits(1);
        tokio::time::timeout(PATIENCE, beginning)
            .await
            .expect("it lives on without its session")
            .unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_is_asked_once_at_a_time_and_holds_no_request() {
    let store = Slow::new();
    store.turns.add_permits(1);
    let sessions: Arc<dyn SessionStore> = store.clone();
    let mut config = HttpConfig::default();
    // Longer than the keep-alive interval, so that the next question is due before the last has failed.
    config.legacy.store_timeout = Duration::from_secs(100);
    let server = server();
    let service = StreamableHttpService::with_sessions(server.clone(), config, sessions);
    let session = open_session(&service).await;
    let mut stream = service.handle(get(&session).request()).await.into_body();
    for _ in 0..50 {
        tokio::time::advance(Duration::from_secs(16)).await;
        server.notify(Change::ToolsListChanged);
        stream.frame().await.unwrap().unwrap();
        assert!(store.waiting.load(Ordering::SeqCst) <= 1);
    }
    // 800 s: one for the GET, and no other before the last has failed.
    assert!(store.asked.load(Ordering::SeqCst) <= 1 + 800 / 100);
    let started = tokio::time::Instant::now();
    let reply = Raw::legacy(&session, "ping", &json!({})).request();
    let reply = service.handle(reply).await;
    assert_eq!(reply.status(), 503);
    assert_eq!(started.elapsed(), Duration::from_secs(100));
    drop(stream);
    tokio::task::yield_now().await;
    assert_eq!(store.waiting.load(Ordering::SeqCst), 0);
    assert_eq!(HttpConfig::default().legacy.store_timeout, Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn an_insert_and_a_remove_have_a_time_limit_too() {
    #[derive(Debug)]
    struct Dead;
    impl SessionStore for Dead {
        fn insert(&self, _: Session) -> Answer<'_, ()> {
            Box::pin(pending())
        }
        fn load<'a>(&'a self, _: &'a SessionId) -> Answer<'a, Option<Arc<Session>>> {
            Box::pin(pending())
        }
        fn change<'a>(
            &'a self,
            _: &'a SessionId,
            _: &'a SessionChange,
        ) -> Answer<'a, Option<Arc<Session>>> {
            Box::pin(pending())
        }
        fn remove<'a>(&'a self, _: &'a SessionId) -> Answer<'a, bool> {
            Box::pin(pending())
        }
    }
    let service =
        StreamableHttpService::with_sessions(server(), HttpConfig::default(), Arc::new(Dead));
    for raw in [Raw::initialize("2025-11-25"), delete("x"), get("x")] {
        assert_eq!(raw.send(&service).await.refusal().0, 503);
    }
}

#[tokio::test]
async fn a_cancelled_call_of_a_client_that_takes_json_alone_is_answered_without_a_body() {
    let sessions = Arc::new(MemorySessions::default());
    let (service, mut events) = over(&sessions);
    let session = open_session(&service).await;
    let raw = Raw::legacy(&session, "tools/call", &call("hang")).set("accept", "application/json");
    let running = tokio::spawn({
        let service = service.clone();
        async move { raw.send(&service).await }
    });
    events.expect("started").await;
    let cancel = Raw::notification("notifications/cancelled", &json!({ "requestId": 7 }));
    cancel.set("mcp-session-id", &session).send(&service).await;
    let reply = running.await.unwrap();
    assert_eq!(reply.status, 204);
    assert_eq!((reply.header("content-type"), reply.body.len()), (None, 0));
}

#[tokio::test]
async fn a_session_has_a_share_of_the_calls_that_run_without_a_client() {
    let (probe, mut events) = probe();
    let mut config = HttpConfig::default();
    config.legacy.max_detached_calls_per_session = 2;
    let service = StreamableHttpService::with_config(builder(&probe).build().unwrap(), config);
    let (greedy, modest) = (open_session(&service).await, open_session(&service).await);
    for (session, runs) in [(&greedy, true), (&greedy, true), (&greedy, false), (&modest, true)] {
        let raw = Raw::legacy(session, "tools/call", &call("talk"));
        let mut stream = service.handle(raw.request()).await.into_body();
        stream.frame().await.unwrap().unwrap();
        let reading = tokio::spawn(async move { stream.frame().await });
        events.expect("started").await;
        reading.abort();
        let _aborted = reading.await;
        if !runs {
            events.expect("dropped").await;
        }
        // Whoever may run on does so when its task has seen that nobody hears it.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(events.none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_closed_service_lets_no_call_run_on_and_ends_those_that_do() {
    let sessions = Arc::new(MemorySessions::default());
    let (service, mut events) = over(&sessions);
    let session = open_session(&service).await;
    let open = async |service: &StreamableHttpService| {
        let raw = Raw::legacy(&session, "tools/call", &call("talk"));
        service.handle(raw.request()).await.into_body()
    };
    // Nothing runs: nothing to wait for.
    service.ended().await;
    drop(open(&service).await);
    events.expect("started").await;
    let late = open(&service).await;
    events.expect("started").await;
    // The task of the first call sees that nobody hears it.
    tokio::task::yield_now().await;
    let start = tokio::time::Instant::now();
    service.close();
    drop(late);
    // The call that lost its client only now.
    events.expect("dropped").await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    service.ended().await;
    assert_eq!(start.elapsed(), Duration::from_secs(5));
    events.expect("dropped").await;
}
