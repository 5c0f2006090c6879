//! Telegram Desktop: both roots, both texts, every kind of entry.

use chat_server::import::formats;
use chat_server::model::{AttachmentKind, AttachmentPlace, Body, ChatKind};
use serde_json::{Value, json};

use super::{Read, options, read, read_text, read_text_with};

/// A chat of these messages as the root of the file.
fn chat(messages: &Value) -> Read {
    let export = json!({"name": "Anna", "type": "personal_chat", "id": 123, "messages": messages});
    read_text("result.json", &export.to_string())
}

fn message(members: &Value) -> Value {
    let mut message = json!({
        "id": 1, "type": "message", "date": "2023-12-13T18:05:09", "date_unixtime": "1702487109",
        "from": "Anna", "from_id": "user123", "text": "hello",
    });
    for (name, value) in members.as_object().unwrap() {
        message[name] = value.clone();
    }
    message
}

#[test]
fn a_whole_account_has_chats_and_left_chats() {
    let export = json!({
        "about": "…", "personal_information": {"user_id": 7, "first_name": "Me"},
        "contacts": {"about": "", "list": [{"user_id": 1, "messages": "no chat"}]},
        "chats": {"about": "", "list": [
            {"name": "Anna", "type": "personal_chat", "id": 123, "messages": [
                message(&json!({"from_id": "user7", "from": "Myself"})), message(&json!({"id": 2}))]},
            {"type": "saved_messages", "id": 7, "messages": []},
            {"name": null, "type": "personal_chat", "id": 9, "messages": [message(&json!({"from": null, "from_id": "user9"}))]},
        ]},
        "left_chats": {"about": "", "list": [
            {"name": "Team", "type": "private_group", "id": 123, "messages": [message(&json!({}))]},
            {"name": "News", "type": "public_channel", "id": 5, "messages": []},
        ]},
    });
    let read = read_text("result.json", &export.to_string());
    let chats: Vec<_> = read.chats.iter().map(|it| (&*it.id, &*it.name, it.kind)).collect();
    assert_eq!(
        chats,
        [
            ("123", "Anna", ChatKind::Direct),
            ("7", "Saved Messages", ChatKind::Direct),
            ("9", "Deleted Account", ChatKind::Direct),
            ("-123", "Team", ChatKind::Group),
            ("-1005", "News", ChatKind::Channel),
        ]
    );
    let mine: Vec<bool> =
        read.messages.iter().map(|(_, it)| it.sender.as_ref().unwrap().is_me).collect();
    assert_eq!(mine, [true, false, false, false]);
    assert_eq!(
        read.messages.iter().map(|(chat, _)| &**chat).collect::<Vec<_>>(),
        ["123", "123", "9", "-123"]
    );
    assert_eq!(read.senders()[2], "Deleted Account");
}

#[test]
fn control_characters_as_telegram_writes_them() {
    let text = r#"{"name":"A\x01","type":"personal_chat","id":1,"messages":[
        {"id":1,"type":"message","date_unixtime":"1","from":"Anna","from_id":"user1","text":"a\x1fb \\x41 \"\x7f"}]}"#;
    let read = read_text("result.json", text);
    assert_eq!(read.texts(), ["a\u{1f}b \\x41 \"\u{7f}"]);
    assert_eq!(read.chats[0].name, "A\u{1}");
}

#[test]
fn both_forms_of_text_say_the_same() {
    let pieces = json!(["see ", {"type": "bold", "text": "this"}, " ", {"type": "text_link", "text": "page", "href": "https://a.example"},
        {"type": "link", "text": " https://b.example"}]);
    let read = chat(&json!([
        message(&json!({"text": pieces})),
        message(&json!({"id": -2, "text": null}))
    ]));
    assert_eq!(read.texts(), ["see this page (https://a.example) https://b.example", ""]);
    assert_eq!(read.messages[1].1.id, "-2");
}

#[test]
fn times_without_seconds_of_the_epoch_are_the_computers_own() {
    let mut old = message(&json!({"edited": "2023-12-13T19:00:00"}));
    old.as_object_mut().unwrap().remove("date_unixtime");
    let export = json!({"name": "Anna", "type": "personal_chat", "id": 1, "messages": [old]});
    let mut zone = options();
    zone.zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(2));
    let read = read_text_with("result.json", &export.to_string(), &zone);
    assert_eq!(read.times(), ["2023-12-13T16:05:09Z"]);
    assert_eq!(read.messages[0].1.edited.unwrap().to_string(), "2023-12-13T17:00:00Z");
}

#[test]
fn replies_forwards_reactions_and_files() {
    let read = chat(&json!([
        message(&json!({
            "reply_to_message_id": 5, "forwarded_from": null, "photo": "photos/1.jpg", "photo_file_size": 10,
            "reactions": [{"type": "emoji", "emoji": "👍", "count": 2, "recent": [{"from": "Bert", "from_id": "user2"}]},
                {"type": "custom_emoji", "document_id": "x", "count": 1}],
        })),
        message(&json!({
            "id": 2, "reply_to_message_id": 5, "reply_to_peer_id": "user9", "media_type": "voice_message", "duration_seconds": 3,
            "mime_type": "audio/ogg", "file": "(File not included. Change data exporting settings to download.)",
        }))
    ]));
    let (_, first) = &read.messages[0];
    assert_eq!(first.reply_to.as_deref(), Some("5"));
    assert_eq!(first.forwarded_from.as_deref(), Some("Deleted Account"));
    assert_eq!(first.attachments[0].place, AttachmentPlace::Export("photos/1.jpg".to_owned()));
    assert_eq!(
        first.reactions.iter().map(|it| (&*it.emoji, it.count)).collect::<Vec<_>>(),
        [("👍", 2), ("custom_emoji:x", 1)]
    );
    assert_eq!(first.reactions[0].by, ["Bert"]);
    let (_, second) = &read.messages[1];
    assert_eq!(second.reply_to, None, "what is answered is in another chat");
    assert_eq!(
        (second.attachments[0].kind, second.attachments[0].seconds),
        (AttachmentKind::Audio, Some(3))
    );
    assert!(
        matches!(&second.attachments[0].place, AttachmentPlace::Missing(Some(why)) if why.starts_with("File not included"))
    );
}

#[test]
fn places_contacts_polls_and_what_else_there_is() {
    let read = chat(&json!([
        message(
            &json!({"location_information": {"latitude": 1.5, "longitude": 2.5}, "place_name": "Pier", "text": ""})
        ),
        message(
            &json!({"contact_information": {"first_name": "Cleo", "last_name": "", "phone_number": "+1"}, "text": ""})
        ),
        message(
            &json!({"poll": {"question": "When?", "answers": [{"text": [{"type": "plain", "text": "Now"}], "voters": 2}]}, "text": ""})
        ),
        message(&json!({"game_title": "Chess", "text": ""})),
        message(
            &json!({"type": "service", "actor": "Anna", "actor_id": "user123", "action": "invite_members", "members": ["Bert", null], "text": ""})
        ),
    ]));
    assert_eq!(
        read.messages[0].1.body,
        Body::Location { latitude: 1.5, longitude: 2.5, name: Some("Pier".to_owned()) }
    );
    assert_eq!(
        read.messages[1].1.body,
        Body::Contact { name: "Cleo".to_owned(), phone: Some("+1".to_owned()) }
    );
    assert!(
        matches!(&read.messages[2].1.body, Body::Poll { answers, .. } if *answers == [("Now".to_owned(), Some(2))])
    );
    assert_eq!(read.texts()[3], "[Game] Chess");
    assert!(matches!(&read.messages[4].1.body, Body::Service { action, text }
        if action == "invite_members" && text == "Anna: invite members Bert, Deleted Account"));
}

#[test]
fn a_message_that_cannot_be_read_is_left_out_and_counted() {
    let read = chat(&json!([{"id": 4, "type": "unsupported"}, 17, message(&json!({"id": 5}))]));
    assert_eq!((read.messages.len(), read.summary.skipped), (1, 2));
    assert!(!read.summary.warnings.iter().any(|warning| warning.contains("hello")));
}

#[test]
fn a_file_that_breaks_off_says_where_and_keeps_what_came_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.json");
    let whole = json!({"name": "Anna", "type": "personal_chat", "id": 1, "messages": [message(&json!({})), message(&json!({"id": 2}))]});
    // In the order in which Telegram writes them.
    let text = format!(
        r#"{{"name":"Anna","type":"personal_chat","id":1,"messages":{}}}"#,
        whole["messages"]
    );
    std::fs::write(&path, &text[..text.len() - 60]).unwrap();
    let mut seen = 0;
    let mut take = |_| {
        seen += 1;
        std::ops::ControlFlow::Continue(())
    };
    let read =
        chat_server::import::read(&path, None, &options(), &mut take, &mut |_, _| {}).unwrap();
    assert!(read.cut["result.json"].starts_with("near byte"), "{read:?}");
    assert_eq!((read.messages, read.skipped, seen), (1, 1, 2));
}

#[test]
fn what_is_no_export_is_told_what_would_be() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text, word) in [
        ("a.json", "{\"some\": 1}", "neither `chats` nor `messages`"),
        ("a.html", "<!DOCTYPE html><html>", "not Telegram's messages.html"),
        ("a.txt", "a shopping list", "no line begins as"),
        ("b.txt", "", "empty"),
    ] {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        let error = read(&path, &options()).unwrap_err();
        assert!(error.to_string().contains(word), "{name}: {error}");
    }
    assert!(formats(&dir.path().join("missing")).is_err());
}
