//! A Bot API of our own.

use std::path::Path;
use std::sync::{Arc, Mutex};

use chat_server::index::MessageQuery;
use chat_server::live::telegram_bot::TelegramBot;
use chat_server::model::{AttachmentKind, AttachmentPlace, Body, ChatKind};
use chat_server::source::Connection;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{Live, hear};

/// What the API has to tell, as Telegram keeps it: an update is gone once somebody asks for what comes after it.
#[derive(Default)]
struct Api {
    updates: Vec<Value>,
    /// Answers that are given before any update.
    refusals: Vec<Value>,
    /// The paths that were asked for.
    asked: Vec<String>,
    /// Breaks the connection instead of every so many answers.
    breaks_every: usize,
}

type Shared = Arc<Mutex<Api>>;

async fn serve(api: Shared) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(answer(stream, Arc::clone(&api)));
        }
    });
    url
}

async fn answer(mut stream: TcpStream, api: Shared) {
    let mut buffer = Vec::new();
    loop {
        let head = loop {
            if let Some(end) = buffer.windows(4).position(|it| it == b"\r\n\r\n") {
                break end;
            }
            if stream.read_buf(&mut buffer).await.unwrap_or(0) == 0 {
                return;
            }
        };
        let text = String::from_utf8(buffer[..head].to_vec()).unwrap();
        let length = text.lines().find_map(|line| {
            line.to_lowercase()
                .strip_prefix("content-length: ")?
                .parse()
                .ok()
        });
        let end = head + 4 + length.unwrap_or(0);
        while buffer.len() < end {
            stream.read_buf(&mut buffer).await.unwrap();
        }
        let question: Value = serde_json::from_slice(&buffer[head + 4..end]).unwrap();
        buffer.drain(..end);
        let body = {
            let mut api = api.lock().unwrap();
            let path = text.split(' ').nth(1).unwrap().to_owned();
            api.asked.push(path);
            if api.breaks_every > 0 && api.asked.len().is_multiple_of(api.breaks_every) {
                return;
            }
            reply(&mut api, &question)
        };
        if body["result"] == json!([]) {
            // Long polling: nothing to tell just now.
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if stream
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .is_err()
        {
            return;
        }
    }
}

fn reply(api: &mut Api, question: &Value) -> Value {
    if !api.refusals.is_empty() {
        return api.refusals.remove(0);
    }
    if let Some(offset) = question["offset"].as_i64() {
        api.updates
            .retain(|update| update["update_id"].as_i64() >= Some(offset));
    }
    let limit = usize::try_from(question["limit"].as_i64().unwrap()).unwrap();
    json!({"ok": true, "result": api.updates.iter().take(limit).collect::<Vec<_>>()})
}

fn bot(url: &str, dir: &Path) -> Arc<TelegramBot> {
    let token = dir.join("token");
    std::fs::write(&token, "123:secret\n").unwrap();
    Arc::new(TelegramBot::new(
        "bot".to_owned(),
        "Bot".to_owned(),
        url.to_owned(),
        token,
    ))
}

fn update(n: i64, members: &Value) -> Value {
    let mut message = json!({
        "message_id": n, "date": 1_700_000_000 + n, "from": {"id": 5, "first_name": "Anna", "last_name": "B", "username": "anna"},
        "chat": {"id": -1007, "type": "supergroup", "title": "Team"},
    });
    for (name, value) in members.as_object().unwrap() {
        message[name] = value.clone();
    }
    json!({"update_id": 1_000 + n, "message": message})
}

#[tokio::test]
async fn a_thousand_updates_arrive_once_over_breaking_connections_and_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let api = Shared::default();
    {
        let mut api = api.lock().unwrap();
        api.updates = (0..1_000)
            .map(|n| update(n, &json!({"text": format!("number {n}")})))
            .collect();
        api.breaks_every = 4;
    }
    let url = serve(Arc::clone(&api)).await;
    let live = Live::start(bot(&url, dir.path()));
    let mut follower = live.index.follow_after("bot", 0);
    let mut heard = hear(&mut follower, 300).await;
    drop(follower);
    // The program ends and starts again on what it has kept.
    let (index, kept) = live.end().await;
    let live = Live::start_in(bot(&url, dir.path()), index, kept);
    let mut follower = live.index.follow_after("bot", 300);
    heard.extend(hear(&mut follower, 700).await);
    assert_eq!(heard.len(), 1_000);
    assert!(heard.values().all(|times| *times == 1));
    live.connected().await;
    assert!(
        api.lock()
            .unwrap()
            .asked
            .iter()
            .all(|path| path == "/bot123:secret/getUpdates")
    );
    live.end().await;
}

#[tokio::test]
async fn a_refusal_is_told_without_the_token() {
    let dir = tempfile::tempdir().unwrap();
    let api = Shared::default();
    let refusal = json!({"ok": false, "error_code": 401, "description": "Unauthorized"});
    api.lock().unwrap().refusals = vec![refusal];
    let url = serve(Arc::clone(&api)).await;
    let live = Live::start(bot(&url, dir.path()));
    live.until(|connection| match connection {
        Connection::Disconnected(advice) if advice.contains("401 Unauthorized") => {
            assert!(
                !advice.contains("secret") && advice.contains("check the token"),
                "{advice}"
            );
            true
        }
        _ => false,
    })
    .await;
    live.connected().await;
    live.end().await;
}

#[tokio::test]
async fn what_updates_say() {
    let dir = tempfile::tempdir().unwrap();
    let api = Shared::default();
    let private = json!({"id": 5, "type": "private", "first_name": "Anna"});
    api.lock().unwrap().updates = vec![
        update(
            1,
            &json!({"text": "hello", "reply_to_message": {"message_id": 9}}),
        ),
        update(
            2,
            &json!({"chat": private, "caption": "look", "photo": [{"file_id": "small"}, {"file_id": "large", "file_size": 9}]}),
        ),
        update(
            3,
            &json!({"location": {"latitude": 1.5, "longitude": 2.5}, "venue": {"title": "Pier", "location": {"latitude": 1.5, "longitude": 2.5}}}),
        ),
        update(
            4,
            &json!({"new_chat_members": [{"id": 6, "first_name": "Bert"}]}),
        ),
        json!({"update_id": 1_005, "edited_message": {"message_id": 1, "date": 1_700_000_001, "edit_date": 1_700_000_050, "text": "hello!",
            "chat": {"id": -1007, "type": "supergroup", "title": "Team"}, "from": {"id": 5, "first_name": "Anna"}}}),
        json!({"update_id": 1_006, "message_reaction": {"chat": {"id": -1007}, "message_id": 1, "user": {"id": 6, "first_name": "Bert"},
            "old_reaction": [], "new_reaction": [{"type": "emoji", "emoji": "🎉"}]}}),
        json!({"update_id": 1_007, "poll_answer": {}}),
        update(8, &json!({"text": "last"})),
    ];
    let url = serve(Arc::clone(&api)).await;
    let live = Live::start(bot(&url, dir.path()));
    let mut follower = live.index.follow_after("bot", 0);
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
    let message = |n: usize| &stored[n].message;
    assert_eq!(message(0).body, Body::Text("hello!".to_owned()));
    assert_eq!(message(0).edited.unwrap().as_second(), 1_700_000_050);
    assert_eq!(
        (
            &*message(0).reactions[0].emoji,
            &*message(0).reactions[0].by[0]
        ),
        ("🎉", "Bert")
    );
    assert_eq!(
        (&*stored[1].chat_name, &message(1).body),
        ("Anna", &Body::Text("look".to_owned()))
    );
    assert_eq!(message(1).attachments[0].kind, AttachmentKind::Image);
    assert_eq!(
        message(1).attachments[0].place,
        AttachmentPlace::Remote("large".to_owned())
    );
    assert!(matches!(&message(2).body, Body::Location { name: Some(name), .. } if name == "Pier"));
    assert!(
        matches!(&message(3).body, Body::Service { action, text } if action == "new_chat_members" && text.ends_with("Bert"))
    );
    let sender = message(4).sender.as_ref().unwrap();
    assert_eq!(
        (&*sender.id, &*sender.name, sender.username.as_deref()),
        ("user5", "Anna B", Some("anna"))
    );
    let chats = live
        .index
        .chats(None, &chat_server::index::ChatFilter::default())
        .await
        .unwrap();
    assert!(
        chats
            .iter()
            .any(|it| it.chat.id == "-1007" && it.chat.kind == ChatKind::Group)
    );
    live.end().await;
}
