//! signal-cli, played by a daemon of our own.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chat_server::index::MessageQuery;
use chat_server::live::signal_cli::SignalCli;
use chat_server::model::{AttachmentPlace, Body, ChatKind};
use chat_server::source::{Batch, ChatSource as _, Connection, Event, Sink, SourceError};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::net::TcpSocket;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{LONG, Live, collect};
use crate::fake::signal_daemon::{Endpoint, Gone, from_anna, numbered, receive};

fn source(endpoint: &Endpoint) -> Arc<SignalCli> {
    Arc::new(SignalCli::new("signal".to_owned(), "Signal".to_owned(), endpoint.address(), None))
}

async fn every_message_once(endpoint: Endpoint) {
    let live = Live::start(source(&endpoint));
    let mut follower = live.index.follow().await.unwrap();
    let mut daemon = endpoint.accept().await;
    // At once, and few enough that all are on their way when it is gone.
    let lines: Vec<u8> = (0..100).flat_map(|n| receive(&numbered(n))).collect();
    daemon.write(&lines).await;
    daemon.die().await;
    let gone = endpoint.gone();
    let mut received = collect(&mut follower, 100).await;
    if matches!(gone, Gone::Unix(_)) {
        live.until(|connection| matches!(connection, Connection::Disconnected(advice) if advice.contains("signal-cli daemon --socket"))).await;
    }
    // It comes back, and sends again what it is not sure to have sent.
    let endpoint = gone.back();
    let mut daemon = endpoint.accept().await;
    for n in 50..1_000 {
        daemon.send(numbered(n)).await;
    }
    received.extend(collect(&mut follower, 900).await);
    assert_eq!(received.len(), 1_000);
    assert!(received.values().all(|times| *times == 1));
    live.connected().await;
    assert_eq!(live.stored().await.len(), 1_000);
    live.end().await;
}

#[tokio::test]
async fn every_message_arrives_once_though_the_daemon_dies_in_the_middle() {
    let dir = tempfile::tempdir().unwrap();
    every_message_once(Endpoint::unix(&dir.path().join("signal.sock"))).await;
}

#[tokio::test]
async fn every_message_arrives_once_though_the_connection_is_reset() {
    every_message_once(Endpoint::tcp().await).await;
}

#[tokio::test]
async fn what_has_arrived_when_the_program_ends_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::unix(&dir.path().join("signal.sock"));
    let live = Live::start(source(&endpoint));
    let mut daemon = endpoint.accept().await;
    live.connected().await;
    let lines: Vec<u8> = (0..200).flat_map(|n| receive(&numbered(n))).collect();
    daemon.write(&lines).await;
    let (index, _dir) = live.end().await;
    let query = MessageQuery { limit: 1_000, ..MessageQuery::default() };
    assert_eq!(index.messages(&query).await.unwrap().messages.len(), 200);
}

#[tokio::test]
async fn what_envelopes_say() {
    let dir = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::unix(&dir.path().join("signal.sock"));
    let live = Live::start(source(&endpoint));
    let mut follower = live.index.follow().await.unwrap();
    let mut daemon = endpoint.accept().await;
    let at = |n: i64| 1_700_000_000_000 + n;
    let group = json!({"groupId": "Zm9v", "groupName": "Team", "type": "DELIVER"});
    daemon.send(from_anna(at(1), json!({"message": "hello \u{fffc}", "mentions": [{"name": "Bert", "start": 6, "length": 1}]}))).await;
    daemon
        .send(from_anna(
            at(2),
            json!({"message": "to all", "groupInfo": group, "attachments": [
        {"contentType": "image/png", "filename": "a.png", "id": "x1", "size": 7}]}),
        ))
        .await;
    daemon.send(json!({"sourceNumber": "+9", "sourceUuid": "u-me", "sourceName": "Me", "timestamp": at(3), "syncMessage": {"sentMessage":
        {"timestamp": at(3), "destinationNumber": "+1", "message": "mine", "quote": {"id": at(1), "authorNumber": "+1", "text": "hello"}}}})).await;
    daemon.send(json!({"sourceNumber": "+1", "sourceUuid": "u-anna", "timestamp": at(4), "typingMessage": {"action": "STARTED"}})).await;
    daemon.send(json!({"sourceNumber": "+1", "sourceUuid": "u-anna", "timestamp": at(4), "receiptMessage": {"isRead": true}})).await;
    daemon.send(from_anna(at(5), json!({"message": "wrong"}))).await;
    daemon
        .send(
            json!({"sourceNumber": "+1", "sourceUuid": "u-anna", "timestamp": at(6), "editMessage":
        {"targetSentTimestamp": at(5), "dataMessage": {"timestamp": at(6), "message": "right"}}}),
        )
        .await;
    daemon.send(from_anna(at(7), json!({"reaction": {"emoji": "👍", "targetAuthorUuid": "u-me", "targetSentTimestamp": at(3), "isRemove": false}}))).await;
    daemon.send(from_anna(at(8), json!({"remoteDelete": {"timestamp": at(1)}}))).await;
    daemon.send(from_anna(at(9), json!({"message": "last"}))).await;
    collect(&mut follower, 5).await;
    let mut stored = live.stored().await;
    stored.reverse();
    let told: Vec<_> = stored.iter().map(|it| (&*it.chat_name, &it.message.body)).collect();
    let text = |words: &str| Body::Text(words.to_owned());
    assert_eq!(
        told,
        [
            ("Anna", &text("")),
            ("Team", &text("to all")),
            ("Anna", &text("mine")),
            ("Anna", &text("right")),
            ("Anna", &text("last"))
        ]
    );
    let message = |n: usize| &stored[n].message;
    assert!(message(0).deleted);
    assert_eq!(message(1).attachments[0].place, AttachmentPlace::Remote("x1".to_owned()));
    assert!(message(2).sender.as_ref().unwrap().is_me);
    assert_eq!(message(2).reply_to.as_ref(), Some(&message(0).id));
    assert_eq!((&*message(2).reactions[0].emoji, message(2).reactions[0].count), ("👍", 1));
    assert_eq!(message(3).edited.unwrap().as_millisecond(), at(6));
    let chats = live.index.chats(None).await;
    let kinds: Vec<_> = chats
        .unwrap()
        .into_iter()
        .map(|it| (it.chat.name, it.chat.kind, it.chat.participants))
        .collect();
    assert!(kinds.contains(&("Team".to_owned(), ChatKind::Group, Some(3))), "{kinds:?}");
    live.end().await;
}

#[tokio::test]
async fn garbage_of_the_daemon_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::unix(&dir.path().join("signal.sock"));
    let live = Live::start(source(&endpoint));
    let mut follower = live.index.follow().await.unwrap();
    let mut daemon = endpoint.accept().await;
    let long = "x".repeat(17 * 1024 * 1024);
    for garbage in ["no json", "[]", "{\"method\":\"receive\"}", "{\"id\":77}", "\"x\"", &long] {
        daemon.write(format!("{garbage}\n").as_bytes()).await;
    }
    daemon.write(b"\xff\xfe\n").await;
    daemon.send(json!({"timestamp": 1, "dataMessage": {"message": "from nobody"}})).await;
    daemon.send(from_anna(i64::MAX, json!({"message": "at no time"}))).await;
    daemon.send(from_anna(5, json!({"message": "heard"}))).await;
    assert_eq!(collect(&mut follower, 1).await.into_keys().collect::<Vec<_>>(), ["5-u-anna"]);
    live.end().await;
}

/// Waits on a clock that goes on by itself for what keeps the source from being connected; how long that took.
async fn given_up(live: &Live, problem: &str) -> Duration {
    let start = Instant::now();
    live.until(|connection| {
        matches!(connection, Connection::Disconnected(advice) if advice.contains(problem))
    })
    .await;
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_does_not_let_in_or_does_not_answer_is_given_thirty_seconds() {
    let right = Duration::from_secs(30)..Duration::from_secs(31);
    // As long as no client is let in there is room for one to wait.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let _waits = std::net::TcpStream::connect(address).unwrap();
    let endpoint = Endpoint::Tcp(listener, address);
    let live = Live::start(source(&endpoint));
    let took = given_up(&live, "no connection within 30 s").await;
    assert!(right.contains(&took), "{took:?}");
    live.end().await;

    let dir = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::unix(&dir.path().join("signal.sock"));
    let live = Live::start(source(&endpoint));
    let took = given_up(&live, "does not answer within 30 s").await;
    assert!(right.contains(&took), "{took:?}");
    live.end().await;
}

/// Everything a source says, in order.
#[derive(Default)]
struct CollectingSink(Mutex<Vec<Event>>);

impl Sink for CollectingSink {
    fn keep(&self, batch: Batch) -> BoxFuture<'_, Result<(), SourceError>> {
        self.0.lock().unwrap().extend(batch.events);
        ready(Ok(())).boxed()
    }

    fn mark(&self) -> BoxFuture<'_, Result<Option<String>, SourceError>> {
        ready(Ok(None)).boxed()
    }
}

/// A chat may be denied by its name: a message that does not say it is not told before the name is known, and is told
/// although the daemon dies before it says a name.
#[tokio::test]
async fn what_comes_before_the_names_waits_for_them() {
    let dir = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::unix(&dir.path().join("signal.sock"));
    let (said, stop) = (Arc::new(CollectingSink::default()), CancellationToken::new());
    let run = tokio::spawn(source(&endpoint).run(said.clone(), stop.clone()));
    let to_team = |at: i64| {
        let group = json!({"groupId": "Zm9v", "type": "DELIVER"});
        from_anna(at, json!({"message": "to all", "groupInfo": group}))
    };
    let mut daemon = endpoint.meet().await;
    daemon.send(to_team(1_700_000_000_001)).await;
    daemon.answer().await;
    drop(daemon);
    let mut daemon = endpoint.meet().await;
    daemon.requests().await;
    daemon.send(to_team(1_700_000_000_002)).await;
    drop(daemon);
    let _daemon = endpoint.accept().await;
    stop.cancel();
    tokio::time::timeout(LONG, run).await.unwrap().unwrap().unwrap();

    let said = said.0.lock().unwrap();
    let told: Vec<_> = said
        .iter()
        .filter_map(|event| match event {
            Event::Chat(chat) if chat.id == "Zm9v" => Some(chat.name.clone()),
            Event::Message { chat, message } if chat == "Zm9v" => Some(message.id.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[0], "Team");
    assert!(told[1].contains("1700000000001") && told[2].contains("1700000000002"), "{told:?}");
}
