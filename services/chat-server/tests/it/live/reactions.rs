//! Reactions as networks tell of them: beside the messages.

use std::sync::Arc;

use chat_server::index::{Index, MessageQuery};
use chat_server::live::signal_cli::SignalCli;
use chat_server::live::telegram_bot::TelegramBot;
use chat_server::model::{Message, Reaction};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{Live, collect};
use crate::fake::signal_daemon::Endpoint;

async fn first(index: &Index) -> Message {
    let query = MessageQuery::default();
    let page = index.messages(&query).await.unwrap();
    page.messages.last().unwrap().message.clone()
}

fn by(reactions: &[Reaction]) -> Vec<(&str, Vec<&str>)> {
    reactions.iter().map(|it| (&*it.emoji, it.by.iter().map(|name| &**name).collect())).collect()
}

/// In Signal each has one reaction to a message: another one takes its place without a word about the first.
#[tokio::test]
async fn a_second_reaction_of_signal_takes_the_place_of_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::unix(&dir.path().join("signal.sock"));
    let (id, name) = ("signal".to_owned(), "Signal".to_owned());
    let source = SignalCli::new(id, name, endpoint.address(), None);
    let live = Live::start(Arc::new(source));
    let mut follower = live.index.follow().await.unwrap();
    let mut daemon = endpoint.accept().await;
    let from = |who: &str, at: i64, data: Value| {
        let mut data = data;
        data["timestamp"] = json!(at);
        data["groupInfo"] = json!({"groupId": "Zm9v", "groupName": "Team"});
        let envelope =
            json!({"sourceUuid": who, "sourceName": who, "timestamp": at, "dataMessage": data});
        let line = json!({"jsonrpc": "2.0", "method": "receive", "params": {"envelope": envelope}});
        format!("{line}\n")
    };
    let reaction = |who: &str, at: i64, emoji: &str, is_remove: bool| {
        let target = json!({"emoji": emoji, "targetAuthorUuid": "Anna", "targetSentTimestamp": 1, "isRemove": is_remove});
        from(who, at, json!({ "reaction": target }))
    };
    let told = [
        from("Anna", 1, json!({"message": "hello"})),
        reaction("Bert", 2, "👍", false),
        reaction("Carl", 3, "👍", false),
        reaction("Bert", 4, "🎉", false),
        reaction("Dora", 5, "😢", false),
        reaction("Dora", 6, "😢", true),
        from("Anna", 7, json!({"message": "last"})),
    ];
    daemon.write(told.concat().as_bytes()).await;
    collect(&mut follower, 2).await;
    let message = first(&live.index).await;
    assert_eq!(by(&message.reactions), [("👍", vec!["Carl"]), ("🎉", vec!["Bert"])]);
    live.end().await;
}

/// Telegram reports an edit with the whole message, but for its reactions.
#[tokio::test]
async fn an_edit_of_a_bots_message_leaves_its_reactions() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let chat = json!({"id": -1007, "type": "supergroup", "title": "Team"});
    let message = |n: i64, text: &str, members: Value| {
        let mut message = json!({"message_id": n, "date": 1_700_000_000 + n, "text": text, "chat": chat,
            "from": {"id": 5, "first_name": "Anna"}});
        let members = members.as_object().unwrap().clone();
        message.as_object_mut().unwrap().extend(members);
        message
    };
    let reaction = json!({"chat": chat, "message_id": 1, "user": {"id": 6, "first_name": "Bert"},
        "old_reaction": [], "new_reaction": [{"type": "emoji", "emoji": "🎉"}]});
    let edit = json!({"edit_date": 1_700_000_050});
    let answer = json!({"ok": true, "result": [
        {"update_id": 1, "message": message(1, "hello", json!({}))},
        {"update_id": 2, "message_reaction": reaction},
        {"update_id": 3, "edited_message": message(1, "hello!", edit)},
        {"update_id": 4, "message": message(2, "last", json!({}))},
    ]});
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = Vec::new();
        while !asked.ends_with(b"}") {
            stream.read_buf(&mut asked).await.unwrap();
        }
        let body = answer.to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        let told = [head, body].concat();
        stream.write_all(told.as_bytes()).await.unwrap();
        // It waits for something to tell.
        std::future::pending::<()>().await;
    });
    let dir = tempfile::tempdir().unwrap();
    let token = dir.path().join("token");
    std::fs::write(&token, "123:secret\n").unwrap();
    let (id, name) = ("bot".to_owned(), "Bot".to_owned());
    let live = Live::start(Arc::new(TelegramBot::new(id, name, url, token)));
    let mut follower = live.index.follow_from_start();
    collect(&mut follower, 2).await;
    let message = first(&live.index).await;
    assert_eq!(message.edited.unwrap().as_second(), 1_700_000_050);
    assert_eq!(by(&message.reactions), [("🎉", vec!["Bert"])]);
    live.end().await;
}
