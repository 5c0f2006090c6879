//! A bot of Telegram, under a Bot API of our own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chat_server::live::telegram_bot::TelegramBot;
use chat_server::model::{AttachmentKind, AttachmentPlace, Body, ChatKind};
use chat_server::source::Connection;
use serde_json::json;
use tokio::net::TcpSocket;
use tokio::time::Instant;

use super::{LONG, Live, collect};
use crate::fake::bot_api::{BotApi, Fault, numbered, update};

fn bot(url: &str, dir: &Path) -> Arc<TelegramBot> {
    let token = dir.join("token");
    std::fs::write(&token, "123:secret\n").unwrap();
    Arc::new(TelegramBot::new("bot".to_owned(), "Bot".to_owned(), url.to_owned(), token))
}

#[tokio::test]
async fn a_thousand_updates_arrive_once_over_breaking_connections_and_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let api = BotApi::start().await;
    let faults = [Fault::Reset, Fault::Again, Fault::Cut, Fault::BadGateway];
    api.push((0..1_000).map(numbered), &faults);
    let live = Live::start(bot(&api.url, dir.path()));
    let mut follower = live.index.follow_from_start();
    collect(&mut follower, 300).await;
    drop(follower);
    // The program ends and starts again on what it has kept.
    let (index, kept) = live.end().await;
    api.push([], &faults);
    let live = Live::start_in(bot(&api.url, dir.path()), index, kept);
    let mut follower = live.index.follow_from_start();
    let received = collect(&mut follower, 1_000).await;
    assert_eq!(received.len(), 1_000);
    assert!(received.values().all(|times| *times == 1));
    live.connected().await;
    assert!(api.state().asked.iter().all(|path| path == "/bot123:secret/getUpdates"));
    live.end().await;
}

/// After a week without any update Telegram numbers on from anywhere, lower numbers too.
#[tokio::test]
async fn updates_whose_numbers_begin_anew_are_heard() {
    let dir = tempfile::tempdir().unwrap();
    let api = BotApi::start().await;
    api.push([numbered(900)], &[]);
    let live = Live::start(bot(&api.url, dir.path()));
    let mut follower = live.index.follow_from_start();
    collect(&mut follower, 1).await;
    taken(&api).await;
    api.state().is_lenient = true;
    for n in 10..14 {
        api.push([numbered(n)], &[]);
        let received = collect(&mut follower, 1).await;
        assert_eq!(received.into_keys().collect::<Vec<_>>(), [n.to_string()]);
    }
    // It does not tell them again and again.
    taken(&api).await;
    live.end().await;
}

/// Waits until Telegram knows that all is kept.
async fn taken(api: &BotApi) {
    let taken = async {
        while !api.state().updates.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, taken).await.unwrap();
}

#[tokio::test]
async fn an_answer_without_numbers_is_a_failure_and_is_not_asked_for_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let api = BotApi::start().await;
    let nonsense = json!({"ok": true, "result": [{}, 7]});
    api.state().refusals.push_back(nonsense);
    api.push([numbered(1)], &[]);
    let live = Live::start(bot(&api.url, dir.path()));
    live.until(|connection| {
        matches!(connection, Connection::Disconnected(advice) if advice.contains("without a number"))
    })
    .await;
    live.connected().await;
    live.end().await;
}

#[tokio::test]
async fn a_refusal_is_told_without_the_token() {
    let dir = tempfile::tempdir().unwrap();
    let api = BotApi::start().await;
    let refusal = json!({"ok": false, "error_code": 401, "description": "Unauthorized"});
    api.state().refusals.push_back(refusal);
    api.push([numbered(1)], &[]);
    let live = Live::start(bot(&api.url, dir.path()));
    live.until(|connection| match connection {
        Connection::Disconnected(advice) if advice.contains("401 Unauthorized") => {
            assert!(!advice.contains("secret") && advice.contains("check the token"), "{advice}");
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
    let api = BotApi::start().await;
    let private = json!({"id": 5, "type": "private", "first_name": "Anna"});
    let updates = vec![
        update(1, &json!({"text": "hello", "reply_to_message": {"message_id": 9}})),
        update(
            2,
            &json!({"chat": private, "caption": "look", "photo": [{"file_id": "small"}, {"file_id": "large", "file_size": 9}]}),
        ),
        update(
            3,
            &json!({"location": {"latitude": 1.5, "longitude": 2.5}, "venue": {"title": "Pier", "location": {"latitude": 1.5, "longitude": 2.5}}}),
        ),
        update(4, &json!({"new_chat_members": [{"id": 6, "first_name": "Bert"}]})),
        json!({"update_id": 1_005, "edited_message": {"message_id": 1, "date": 1_700_000_001, "edit_date": 1_700_000_050, "text": "hello!",
            "chat": {"id": -1007, "type": "supergroup", "title": "Team"}, "from": {"id": 5, "first_name": "Anna"}}}),
        json!({"update_id": 1_006, "message_reaction": {"chat": {"id": -1007}, "message_id": 1, "user": {"id": 6, "first_name": "Bert"},
            "old_reaction": [], "new_reaction": [{"type": "emoji", "emoji": "🎉"}]}}),
        json!({"update_id": 1_007, "poll_answer": {}}),
        update(8, &json!({"sticker": {"file_id": "s", "emoji": "🎉"}})),
    ];
    api.push(updates, &[]);
    let live = Live::start(bot(&api.url, dir.path()));
    let mut follower = live.index.follow_from_start();
    collect(&mut follower, 5).await;
    let mut stored = live.stored().await;
    stored.reverse();
    let message = |n: usize| &stored[n].message;
    assert_eq!(message(0).body, Body::Text("hello!".to_owned()));
    assert_eq!(message(0).edited.unwrap().as_second(), 1_700_000_050);
    assert_eq!((&*message(0).reactions[0].emoji, &*message(0).reactions[0].by[0]), ("🎉", "Bert"));
    assert_eq!((&*stored[1].chat_name, &message(1).body), ("Anna", &Body::Text("look".to_owned())));
    assert_eq!(message(1).attachments[0].kind, AttachmentKind::Image);
    assert_eq!(message(1).attachments[0].place, AttachmentPlace::Remote("large".to_owned()));
    assert!(matches!(&message(2).body, Body::Location { name: Some(name), .. } if name == "Pier"));
    assert!(
        matches!(&message(3).body, Body::Service { action, text } if action == "new_chat_members" && text.ends_with("Bert"))
    );
    assert_eq!(message(4).attachments[0].name.as_deref(), Some("🎉"));
    let sender = message(4).sender.as_ref().unwrap();
    assert_eq!(
        (&*sender.id, &*sender.name, sender.username.as_deref()),
        ("user5", "Anna B", Some("anna"))
    );
    let chats = live.index.chats(None).await.unwrap();
    assert!(chats.iter().any(|it| it.chat.id == "-1007" && it.chat.kind == ChatKind::Group));
    live.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_api_that_does_not_let_in_or_does_not_answer_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let _waits = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    for seconds in [30, 55] {
        let start = Instant::now();
        let live = Live::start(bot(&url, dir.path()));
        live.until(|connection| {
            matches!(connection, Connection::Disconnected(advice) if advice.contains("check the token"))
        })
        .await;
        let took = start.elapsed();
        let right = Duration::from_secs(seconds)..Duration::from_secs(seconds + 1);
        assert!(right.contains(&took), "{took:?}");
        live.end().await;
        // The next one is let in, and not answered.
        let _let_in = listener.accept().await.unwrap();
    }
}
