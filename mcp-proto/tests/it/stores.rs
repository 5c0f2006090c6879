//! Session stores that fail, or answer in another order than they were asked: nothing is run, lost or ended by that.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mcp_proto::http::HttpConfig;
use mcp_proto::session::{
    MemorySessions, Session, SessionChange, SessionId, SessionStore, SessionStoreError,
};
use mcp_proto::{Change, Resource, ResourceContents, Server, StreamableHttpService};
use serde_json::json;
use tokio::sync::oneshot;

use crate::common::{Raw, builder, call, open_session, probe, request, server};
use crate::events::{get, open};
use crate::resume::session_of;

type Answer<'a, T> = BoxFuture<'a, Result<T, SessionStoreError>>;

/// Sessions in memory, of which the test says when and how well they are loaded.
#[derive(Debug, Default)]
struct Moody {
    sessions: MemorySessions,
    /// How often a session was asked for.
    loads: AtomicUsize,
    /// The numbers, counted from 1, of the questions that fail.
    fails: Mutex<Vec<usize>>,
    /// Whether questions wait until the test answers them.
    waits: AtomicBool,
    waiting: Mutex<Vec<oneshot::Sender<()>>>,
}

impl Moody {
    /// Lets the last question that waits be answered.
    fn answer_last(&self) {
        let last = self.waiting.lock().unwrap().pop();
        last.unwrap().send(()).unwrap();
    }

    /// Lets the question fail that comes `after` so many others.
    fn fail(&self, after: usize) {
        let number = self.loads.load(Ordering::SeqCst) + 1 + after;
        self.fails.lock().unwrap().push(number);
    }
}

impl SessionStore for Moody {
    fn insert(&self, session: Session) -> Answer<'_, ()> {
        self.sessions.insert(session)
    }

    fn load<'a>(&'a self, id: &'a SessionId) -> Answer<'a, Option<Arc<Session>>> {
        let number = self.loads.fetch_add(1, Ordering::SeqCst) + 1;
        let wait = self.waits.load(Ordering::SeqCst).then(|| {
            let (answer, answered) = oneshot::channel();
            self.waiting.lock().unwrap().push(answer);
            answered
        });
        Box::pin(async move {
            if let Some(answered) = wait {
                answered.await.unwrap();
            }
            if self.fails.lock().unwrap().contains(&number) {
                return Err(SessionStoreError::Unavailable("down".to_owned()));
            }
            self.sessions.load(id).await
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

fn over(server: &Server) -> (StreamableHttpService, Arc<Moody>) {
    let store = Arc::new(Moody::default());
    let sessions: Arc<dyn SessionStore> = store.clone();
    let config = HttpConfig::default();
    let service = StreamableHttpService::with_sessions(server.clone(), config, sessions);
    (service, store)
}

/// Lets every task go as far as it can.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_batch_that_is_refused_runs_nothing() {
    let (probe, mut events) = probe();
    let (service, store) = over(&builder(&probe).build().unwrap());
    let session = session_of(&service, "2025-03-26").await;
    let batch = json!([request(1, "tools/call", &call("hang"))]).to_string();
    let batch = Raw::post(batch).set("mcp-session-id", &session);
    for after in [0, 1] {
        store.fail(after);
        assert_eq!(batch.clone().send(&service).await.refusal().0, 503);
        settle().await;
        assert!(events.none(), "{after}");
    }
    tokio::spawn(async move { batch.send(&service).await });
    events.expect("started").await;
}

#[tokio::test]
async fn of_two_gets_at_once_the_second_has_the_stream_whichever_is_answered_first() {
    let server = server();
    let (service, store) = over(&server);
    let session = open_session(&service).await;
    store.waits.store(true, Ordering::SeqCst);
    let begin = || {
        let (service, raw) = (service.clone(), get(&session, None));
        tokio::spawn(async move { open(&service, raw).await })
    };
    let asked = async |wanted| {
        while store.waiting.lock().unwrap().len() < wanted {
            tokio::task::yield_now().await;
        }
    };
    let first = begin();
    asked(1).await;
    let second = begin();
    asked(2).await;
    store.answer_last();
    store.answer_last();
    let mut old = first.await.unwrap();
    assert_eq!(old.status, 200);
    // It has waited for the first to leave, and asks again.
    asked(1).await;
    store.waits.store(false, Ordering::SeqCst);
    store.answer_last();
    let mut stream = second.await.unwrap();
    assert_eq!(stream.status, 200);
    server.notify(Change::ToolsListChanged);
    assert!(stream.message().await.is_some());
    assert_eq!(old.message().now_or_never(), None);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_of_which_the_store_did_not_tell_is_heard_of_once_it_does() {
    let server = Server::builder("s", "1", ())
        .resource(Resource::new("x:1", "one"), async |(), _| Ok(ResourceContents::text("x:1", "")))
        .subscriptions()
        .build()
        .unwrap();
    let (service, store) = over(&server);
    let session = open_session(&service).await;
    let mut stream = open(&service, get(&session, None)).await;
    stream.event().await.unwrap();
    let subscribe = Raw::legacy(&session, "resources/subscribe", &json!({"uri": "x:1"}));
    // The request is served; the stream that asks what to tell from now on is not answered.
    store.fail(1);
    subscribe.clone().send(&service).await.result();
    settle().await;
    server.notify(Change::resource_updated("x:1"));
    // That of the next keep-alive.
    let later = HttpConfig::default().keep_alive + Duration::from_secs(1);
    let heard = tokio::time::timeout(later, stream.message()).await;
    assert_eq!(heard.expect("lost").unwrap()["params"]["uri"], "x:1");
    // A server that closes ends it, whatever the store says.
    store.fail(1);
    subscribe.send(&service).await.result();
    settle().await;
    server.close();
    let ended = tokio::time::timeout(Duration::from_secs(1), stream.message()).await;
    assert!(ended.expect("it lives on").is_none());
}
