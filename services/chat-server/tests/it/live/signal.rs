//! signal-cli, played by a daemon of our own.

use std::path::Path;
use std::sync::Arc;

use chat_server::config::SignalAddress;
use chat_server::index::MessageQuery;
use chat_server::live::signal_cli::SignalCli;
use chat_server::model::{AttachmentPlace, Body, ChatKind};
use chat_server::source::Connection;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};

use super::{Live, hear};

/// One who is connected to the daemon.
struct Daemon(UnixStream);

impl Daemon {
    /// Waits for the client and answers what it asks first.
    async fn accept(listener: &UnixListener) -> Self {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (reader, mut writer) = stream.split();
        let mut lines = BufReader::new(reader).lines();
        for _ in 0..3 {
            let request: Value =
                serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
            let answer = match request["method"].as_str().unwrap() {
                "listGroups" => json!({"id": request["id"], "result": [
                    {"id": "Zm9v", "name": "Team", "isMember": true, "members": [{}, {}, {}]}]}),
                "listContacts" => json!({"id": request["id"], "result": [
                    {"number": "+1", "uuid": "u-anna", "name": "Anna"}, {"number": "+2", "uuid": null, "name": ""}]}),
                _ => {
                    json!({"id": request["id"], "error": {"code": -1, "message": "not in manual mode"}})
                }
            };
            writer
                .write_all(format!("{answer}\n").as_bytes())
                .await
                .unwrap();
        }
        Self(stream)
    }

    async fn tell(&mut self, envelope: Value) {
        let line = json!({"jsonrpc": "2.0", "method": "receive", "params": {"envelope": envelope, "account": "+9"}});
        self.0
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }
}

fn from_anna(at: i64, data: Value) -> Value {
    let mut data = data;
    data["timestamp"] = json!(at);
    json!({"sourceNumber": "+1", "sourceUuid": "u-anna", "sourceName": "Anna", "timestamp": at, "dataMessage": data})
}

fn source(socket: &Path) -> Arc<SignalCli> {
    let address = SignalAddress::Socket(socket.to_owned());
    Arc::new(SignalCli::new(
        "signal".to_owned(),
        "Signal".to_owned(),
        address,
        None,
    ))
}

#[tokio::test]
async fn every_message_arrives_once_though_the_daemon_dies_in_the_middle() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("signal.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let live = Live::start(source(&socket));
    let mut follower = live.index.follow(Some("signal")).await.unwrap();
    let mut daemon = Daemon::accept(&listener).await;
    let message = |n: i64| {
        from_anna(
            1_700_000_000_000 + n,
            json!({"message": format!("number {n}")}),
        )
    };
    for n in 0..500 {
        daemon.tell(message(n)).await;
    }
    let mut heard = hear(&mut follower, 500).await;
    // A line that breaks off, and the daemon is gone.
    daemon
        .0
        .write_all(b"{\"jsonrpc\":\"2.0\",\"meth")
        .await
        .unwrap();
    drop(daemon);
    drop(listener);
    std::fs::remove_file(&socket).unwrap();
    live.until(|connection| matches!(connection, Connection::Disconnected(advice) if advice.contains("signal-cli daemon --socket"))).await;
    // It comes back, and tells again what it is not sure to have told.
    let listener = UnixListener::bind(&socket).unwrap();
    let mut daemon = Daemon::accept(&listener).await;
    for n in 450..1_000 {
        daemon.tell(message(n)).await;
    }
    heard.extend(hear(&mut follower, 500).await);
    assert_eq!(heard.len(), 1_000);
    assert!(heard.values().all(|times| *times == 1));
    live.connected().await;
    let page = live
        .index
        .messages(&MessageQuery {
            limit: 1_000,
            ..MessageQuery::default()
        })
        .await
        .unwrap();
    assert_eq!(page.messages.len(), 1_000);
    live.end().await;
}

#[tokio::test]
async fn what_envelopes_say() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("signal.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let live = Live::start(source(&socket));
    let mut follower = live.index.follow(None).await.unwrap();
    let mut daemon = Daemon::accept(&listener).await;
    let at = |n: i64| 1_700_000_000_000 + n;
    let group = json!({"groupId": "Zm9v", "groupName": "Team", "type": "DELIVER"});
    daemon.tell(from_anna(at(1), json!({"message": "hello \u{fffc}", "mentions": [{"name": "Bert", "start": 6, "length": 1}]}))).await;
    daemon
        .tell(from_anna(
            at(2),
            json!({"message": "to all", "groupInfo": group, "attachments": [
        {"contentType": "image/png", "filename": "a.png", "id": "x1", "size": 7}]}),
        ))
        .await;
    daemon.tell(json!({"sourceNumber": "+9", "sourceUuid": "u-me", "sourceName": "Me", "timestamp": at(3), "syncMessage": {"sentMessage":
        {"timestamp": at(3), "destinationNumber": "+1", "message": "mine", "quote": {"id": at(1), "authorNumber": "+1", "text": "hello"}}}})).await;
    daemon.tell(json!({"sourceNumber": "+1", "sourceUuid": "u-anna", "timestamp": at(4), "typingMessage": {"action": "STARTED"}})).await;
    daemon.tell(json!({"sourceNumber": "+1", "sourceUuid": "u-anna", "timestamp": at(4), "receiptMessage": {"isRead": true}})).await;
    daemon
        .tell(from_anna(at(5), json!({"message": "wrong"})))
        .await;
    daemon
        .tell(
            json!({"sourceNumber": "+1", "sourceUuid": "u-anna", "timestamp": at(6), "editMessage":
        {"targetSentTimestamp": at(5), "dataMessage": {"timestamp": at(6), "message": "right"}}}),
        )
        .await;
    daemon.tell(from_anna(at(7), json!({"reaction": {"emoji": "👍", "targetAuthorUuid": "u-me", "targetSentTimestamp": at(3), "isRemove": false}}))).await;
    daemon
        .tell(from_anna(
            at(8),
            json!({"remoteDelete": {"timestamp": at(1)}}),
        ))
        .await;
    daemon
        .tell(from_anna(at(9), json!({"message": "last"})))
        .await;
    hear(&mut follower, 5).await;
    let page = live
        .index
        .messages(&MessageQuery {
            limit: 100,
            ..MessageQuery::default()
        })
        .await
        .unwrap();
    let mut stored = page.messages;
    stored.reverse();
    let told: Vec<_> = stored
        .iter()
        .map(|it| (&*it.chat_name, &it.message.body))
        .collect();
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
    assert_eq!(
        message(1).attachments[0].place,
        AttachmentPlace::Remote("x1".to_owned())
    );
    assert!(message(2).sender.as_ref().unwrap().is_me);
    assert_eq!(message(2).reply_to.as_ref(), Some(&message(0).id));
    assert_eq!(
        (
            &*message(2).reactions[0].emoji,
            message(2).reactions[0].count
        ),
        ("👍", 1)
    );
    assert_eq!(message(3).edited.unwrap().as_millisecond(), at(6));
    let chats = live
        .index
        .chats(None, &chat_server::index::ChatFilter::default())
        .await;
    let kinds: Vec<_> = chats
        .unwrap()
        .into_iter()
        .map(|it| (it.chat.name, it.chat.kind, it.chat.participants))
        .collect();
    assert!(
        kinds.contains(&("Team".to_owned(), ChatKind::Group, Some(3))),
        "{kinds:?}"
    );
    live.end().await;
}

#[tokio::test]
async fn garbage_of_the_daemon_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("signal.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let live = Live::start(source(&socket));
    let mut follower = live.index.follow(None).await.unwrap();
    let mut daemon = Daemon::accept(&listener).await;
    let long = "x".repeat(17 * 1024 * 1024);
    for garbage in [
        "no json",
        "[]",
        "{\"method\":\"receive\"}",
        "{\"id\":77}",
        "\"x\"",
        &long,
    ] {
        daemon
            .0
            .write_all(format!("{garbage}\n").as_bytes())
            .await
            .unwrap();
    }
    daemon
        .tell(json!({"timestamp": 1, "dataMessage": {"message": "from nobody"}}))
        .await;
    daemon
        .tell(from_anna(i64::MAX, json!({"message": "at no time"})))
        .await;
    daemon.tell(from_anna(5, json!({"message": "heard"}))).await;
    assert_eq!(
        hear(&mut follower, 1).await.into_keys().collect::<Vec<_>>(),
        ["5-u-anna"]
    );
    live.end().await;
}
