//! Exports of Telegram.

use chat_server::import::formats;
use chat_server::model::{AttachmentPlace, Body, ChatKind};
use serde_json::{Value, json};

use crate::assert_has;
use crate::import::{Read, options, read, read_text, words};

fn chat(messages: &Value) -> Read {
    let export = json!({"name": "Anna", "type": "personal_chat", "id": 123, "messages": messages});
    read_text("result.json", &export.to_string())
}

fn one(members: &Value) -> Value {
    let mut message = json!({
        "id": 1, "type": "message", "date_unixtime": "1702487109", "from": "Anna", "from_id": "user123", "text": "",
    });
    for (name, value) in members.as_object().unwrap() {
        message[name] = value.clone();
    }
    message
}

/// mlomb/chat-analytics#142: blocks in their order, pieces joined, marks, rows, links, files.
#[test]
fn rich_messages_keep_their_structure() {
    let plain = |text: &str| json!({"type": "plain", "text": text});
    let blocks = json!([
        {"type": "heading", "text": plain("Trip")},
        {"type": "paragraph", "text": {"type": "concat", "text": [
            plain("Buy un"), {"type": "bold", "text": plain("believably")}, plain(" long rope at "),
            {"type": "text_link", "href": "https://shop.example", "text": plain("the shop")}, plain("."),
            {"type": "math", "source": "x^2"}]}},
        {"type": "list", "items": [
            {"task_state": "checked", "content": "text", "text": plain("anchor")},
            {"task_state": "unchecked", "content": "text", "text": plain("sail")},
            {"content": "blocks", "blocks": [{"type": "paragraph", "text": plain("old")}]}]},
        {"type": "table", "title": plain("Costs"), "rows": [
            {"cells": [{"text": plain("rope")}, {"text": plain("40 EUR")}]}]},
        {"type": "math", "formula": "a+b"},
        {"type": "quote", "text": plain("quoted words"), "caption": plain("by Bo")},
        {"type": "details", "title": plain("More"), "blocks": [{"type": "paragraph", "text": plain("hidden part")}]},
        {"type": "photo", "photo": "photos/1.jpg", "caption": {"text": plain("the pier"), "credit": plain("Ann")}},
        {"type": "code", "text": "ls -l"},
    ]);
    let rich = json!({"rtl": false, "part": true, "blocks": blocks});
    let mut message = one(&json!({"rich_message": rich}));
    message.as_object_mut().unwrap().remove("text");
    let read = chat(&json!([message]));
    assert_eq!(
        read.texts(),
        ["Trip\nBuy unbelievably long rope at the shop (https://shop.example).x^2\n\
          [x] anchor\n[ ] sail\n- old\nCosts\nrope | 40 EUR\na+b\n> quoted words\n> by Bo\nMore\nhidden part\n\
          the pier\nAnn\nls -l\n[The rest of this message is not in the export]"]
    );
    let files = &read.messages[0].1.attachments;
    assert_eq!(files[0].place, AttachmentPlace::Export("photos/1.jpg".to_owned()));
}

/// telegramdesktop/tdesktop#28781: two members `text`, of which the later one is empty.
#[test]
fn doubled_members_keep_what_is_said() {
    let service = r#""id":1,"type":"service","date_unixtime":"1702487109","actor":"Bob","actor_id":"user2","action":"send_star_gift""#;
    let export = format!(
        r#"{{"name":"A","type":"personal_chat","id":1,"messages":[{{{service},"text":"happy day","stars":5,"text":""}}]}}"#
    );
    let read = read_text("result.json", &export);
    assert!(read.texts()[0].contains("happy day"), "{read:?}");
}

/// C11: texts in pieces and nested members of actions that are not known.
#[test]
fn actions_keep_their_words() {
    let service = |more: &Value| {
        let mut members = json!({"type": "service", "actor": "Bob", "actor_id": "user2"});
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let read = chat(&json!([one(&members)]));
        read.texts()[0].to_owned()
    };
    let gift = json!({"action": "send_star_gift", "gift_text": [
        {"type": "plain", "text": "happy "}, {"type": "bold", "text": "bday"}]});
    assert!(service(&gift).contains("gift text: happy bday"), "{}", service(&gift));
    let theme = json!({"action": "set_new_theme", "theme": {"name": "Sea"}});
    assert!(service(&theme).contains("Sea"), "{}", service(&theme));
}

fn account(chats: &[Value]) -> String {
    json!({"chats": {"about": "", "list": chats}}).to_string()
}

/// C12: one chat of a kind that the exporter did not know, and one without an id.
#[test]
fn one_bad_chat_costs_itself() {
    let good = |id: u32| json!({"name": "Good", "type": "personal_chat", "id": id, "messages": [one(&json!({"text": "hi"}))]});
    let strange =
        json!({"name": "New", "type": null, "id": 7, "messages": [one(&json!({"text": "new"}))]});
    let broken = json!({"name": "No id", "type": "personal_chat", "id": null, "messages": [one(&json!({"text": "lost"}))]});
    // In the order in which Telegram writes them.
    let text = account(&[good(1), strange, broken, good(2)]);
    let read = read_text("result.json", &text);
    assert_eq!(read.summary.messages, 3, "{read:?}");
    assert_eq!(read.summary.skipped, 1);
    assert!(read.chats.iter().any(|chat| chat.kind == ChatKind::Unknown && chat.name == "New"));
}

/// C12: a quote that is not escaped.
#[test]
fn one_bad_quote_costs_one_message() {
    let mut text =
        "{\n \"name\": \"Anna\",\n \"type\": \"personal_chat\",\n \"id\": 1,\n \"messages\": ["
            .to_owned();
    for n in 1..=50 {
        let said = if n == 25 { "a 5\" nail" } else { "fine" };
        let comma = if n == 1 { "" } else { "," };
        text.push_str(&format!(
            "{comma}\n  {{\n   \"id\": {n},\n   \"type\": \"message\",\n   \"date_unixtime\": \"{n}\",\n   \"from\": \"Anna\",\n   \"from_id\": \"user1\",\n   \"text\": \"{said}\"\n  }}"
        ));
    }
    text.push_str("\n ]\n}");
    let read = read_text("result.json", &text);
    assert_eq!((read.summary.messages, read.summary.skipped), (49, 1), "{:?}", read.summary);
    assert_has(&read.summary.warnings[0], &["a message before byte ", " is damaged"]);
    assert!(read.summary.cut.is_empty());
}

/// C12: an export that is still running, or a full disk.
#[test]
fn a_cut_file_is_read_and_marked() {
    let text = format!(
        r#"{{"name":"Anna","type":"personal_chat","id":1,"messages":{}}}"#,
        json!([
            one(&json!({"text": "one"})),
            one(&json!({"id": 2, "text": "two"})),
            one(&json!({"id": 3}))
        ])
    );
    for share in [75, 90, 99] {
        let cut = &text[..text.len() * share / 100];
        let read = read_text("result.json", cut);
        assert!(
            read.summary.messages >= 1 && read.summary.cut.len() == 1,
            "{share}: {:?}",
            read.summary
        );
    }
}

/// C19, KnugiHK/WhatsApp-Chat-Exporter#157: a file for each chat, in a folder.
#[test]
fn files_of_chats_may_have_any_name() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["Ann", "Bob"] {
        let export = json!({"name": name, "type": "personal_chat", "id": name.len() * 7 + name.bytes().map(usize::from).sum::<usize>(),
            "messages": [one(&json!({"text": name}))]});
        std::fs::write(dir.path().join(format!("{name}.json")), export.to_string()).unwrap();
    }
    std::fs::write(dir.path().join("package.json"), "{\"messages\": 1}").unwrap();
    assert_eq!(formats(dir.path()).unwrap().len(), 1);
    let read = read(dir.path(), &options()).unwrap();
    assert_eq!(read.texts(), ["Ann", "Bob"]);
    assert_eq!(read.summary.skipped, 0);
}

/// An editor has saved it as UTF-16.
#[test]
fn other_encodings() {
    let text = json!({"name": "Ännä", "type": "personal_chat", "id": 1, "messages": [one(&json!({"text": "schön"}))]});
    for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let bytes: Vec<u8> = [0xfeff]
            .into_iter()
            .chain(text.to_string().encode_utf16())
            .flat_map(to_bytes)
            .collect();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("result.json"), bytes).unwrap();
        let read = read(dir.path(), &options()).unwrap();
        assert_eq!((read.texts(), &*read.chats[0].name), (vec!["schön"], "Ännä"));
    }
}

/// What was read well before, each in one message: the thread, its members, and what it says.
#[test]
fn messages_of_every_kind() {
    let cases = [
        (
            "mlomb/chat-analytics#141",
            json!({"poll": {"question": [{"type": "plain", "text": "When?"}], "answers": [{"text": ["Mon", {"type": "bold", "text": "day"}], "voters": 2}]}}),
            "When?",
        ),
        (
            "checklists",
            json!({"todo_list": {"title": "Trip", "answers": [{"id": 1, "text": "ropes"}]}}),
            "[List] Trip; ropes",
        ),
        ("paid media", json!({"paid_stars_amount": 5}), "[Paid media, in stars:] 5"),
        ("giveaway", json!({"giveaway_information": {"quantity": 2}}), "[Giveaway] quantity: 2"),
        (
            "a file that was left out",
            json!({"file": "(File not included. Change data exporting settings to download.)"}),
            "",
        ),
        (
            "a place",
            json!({"location_information": {"latitude": 1.5, "longitude": 2.0}}),
            "[place]",
        ),
        (
            "a contact",
            json!({"contact_information": {"first_name": "Bo", "last_name": "", "phone_number": "+1"}}),
            "Bo",
        ),
    ];
    for (thread, members, expected) in cases {
        let read = chat(&json!([one(&members)]));
        assert_eq!(words(&read.messages[0].1.body), expected, "{thread}");
    }
    let reactions = json!({"text": "hi", "reactions": [{"type": "paid", "count": 3}, {"type": "custom_emoji", "count": 1, "document_id": "stickers/a.webp"}]});
    let read = chat(&json!([one(&reactions)]));
    let found: Vec<&str> = read.messages[0].1.reactions.iter().map(|it| &*it.emoji).collect();
    assert_eq!(found, ["paid", "custom_emoji:a.webp"]);
    // tdesktop#27322: topics through chains of replies.
    let topic = json!([
        {"id": 1, "type": "service", "date_unixtime": "1", "actor": "A", "actor_id": "user1", "action": "topic_created", "title": "Boats", "text": ""},
        one(&json!({"id": 2, "text": "a", "reply_to_message_id": 1})), one(&json!({"id": 3, "text": "b", "reply_to_message_id": 2})),
    ]);
    let read = chat(&topic);
    assert!(read.messages.iter().all(|(_, it)| it.topic.as_deref() == Some("Boats")));
    assert!(matches!(read.messages[1].1.body, Body::Text(_)));
}
