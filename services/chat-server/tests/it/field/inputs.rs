//! Inputs of people's reports that the files beside this one do not have: names and kinds of files, what telephones of
//! 2025 write, actions of Telegram, files that are not exports.

use chat_server::import::{ImportError, formats};
use chat_server::model::{AttachmentKind, Body, Message};
use serde_json::{Value, json};

use crate::assert_has;
use crate::import::{Read, options, read, read_text, words};
use crate::mcp::harness::zip_of;

const WITH_ANN: &str = "WhatsApp Chat with Ann.txt";

fn said(read: &Read) -> Vec<(&str, &str)> {
    let sender = |it: &Message| it.sender.is_some();
    let named = |(_, it): &'_ (String, Message)| sender(it);
    let senders = read.senders();
    let messages = read.messages.iter().zip(senders);
    messages.map(|(it, name)| (if named(it) { name } else { "" }, words(&it.1.body))).collect()
}

/// The error of a file that is not an export.
fn refused(name: &str, contents: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, contents).unwrap();
    let error: ImportError = read(&path, &options()).unwrap_err();
    error.to_string()
}

/// mtln/chat-export#9: a name with separate accents, in UTF-8 that the zip does not declare.
#[test]
fn names_in_a_zip_of_a_mac() {
    let name = "WhatsApp Chat - Ka\u{308}the.txt";
    let text = "[13.12.23, 18:05:09] Käthe: grüß dich\n";
    let mut zip = zip_of(&[(name, text.as_bytes())]);
    // The flag for UTF-8 is bit 11, in the header of the file and in the directory.
    for (mark, place) in [(b"PK\x03\x04", 7), (b"PK\x01\x02", 9)] {
        let at = zip.windows(4).position(|it| it == mark).unwrap() + place;
        zip[at] &= !0x08;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("export.zip");
    std::fs::write(&path, zip).unwrap();
    let read = read(&path, &options()).unwrap();
    assert_eq!(read.texts(), ["grüß dich"]);
    let name: String = read.chats[0].name.clone();
    assert!(["K\u{e4}the", "Ka\u{308}the"].contains(&&*name), "{name:?}");
}

/// mtln/chat-export#16, what else a Turkish iPhone writes.
#[test]
fn a_turkish_telephone() {
    let text = "[13.12.2023 18:05:09] Ann: selam \u{200e}<Bu mesaj düzenlendi>\n[13.12.2023 18:06:09] Ann: \u{200e}görüntü dahil edilmedi\n";
    let read = read_text("WhatsApp Sohbeti - Ann.txt", text);
    assert_eq!(said(&read), [("Ann", "selam"), ("Ann", "")]);
    assert!(read.messages[0].1.edited.is_some());
    assert_eq!(read.messages[1].1.attachments[0].kind, AttachmentKind::Image);
}

/// KnugiHK/WhatsApp-Chat-Exporter#210: two groups have one name.
#[test]
fn two_groups_of_one_name_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for (name, who, text) in [("Crew", "Ann", "rope"), ("Crew (1)", "Zoe", "choir")] {
        let text = format!("13/12/2023, 18:05 - {who}: {text}\n");
        std::fs::write(dir.path().join(format!("WhatsApp Chat with {name}.txt")), text).unwrap();
    }
    let read = read(dir.path(), &options()).unwrap();
    let mut found = said(&read);
    found.sort_unstable();
    assert_eq!(found, [("Ann", "rope"), ("Zoe", "choir")]);
}

/// What an iPhone of 2025 writes: each line behind the name, and the kind of message that it is.
#[test]
fn an_iphone_of_2025() {
    let text_is = |words: &'static str| {
        move |it: &Message| it.body == Body::Text(words.to_owned()) && it.attachments.is_empty()
    };
    let is_call =
        |it: &Message| matches!(&it.body, Body::Service { action, .. } if action.contains("call"));
    let is_file =
        |kind| move |it: &Message| it.attachments.first().is_some_and(|file| file.kind == kind);
    type Fits<'a> = Box<dyn Fn(&Message) -> bool + 'a>;
    let cases: Vec<(&str, Fits<'_>)> = vec![
        ("\u{200e}Voice call. \u{200e}5 min", Box::new(is_call)),
        ("\u{200e}Missed voice call. \u{200e}Tap to call back", Box::new(is_call)),
        ("\u{200e}video note omitted", Box::new(is_file(AttachmentKind::Video))),
        ("\u{200e}audio omitted", Box::new(is_file(AttachmentKind::Audio))),
        ("right \u{200e}<This message was edited>", {
            Box::new(|it| it.edited.is_some() && words(&it.body) == "right")
        }),
        ("\u{200e}This message was deleted by admin Ann.", Box::new(|it| it.deleted)),
        (
            "\u{200e}POLL:\nWhen?\n\u{200e}OPTION: Monday (\u{200e}2 votes)\n\u{200e}OPTION: Tuesday (\u{200e}0 votes)",
            {
                Box::new(|it| {
                    matches!(&it.body, Body::Poll { question, answers } if question == "When?"
                    && *answers == [("Monday".to_owned(), Some(2)), ("Tuesday".to_owned(), Some(0))])
                })
            },
        ),
        ("\u{200e}Location: https://maps.google.com/?q=60.17,24.94", {
            Box::new(|it| matches!(it.body, Body::Location { .. }))
        }),
        ("fine", Box::new(text_is("fine"))),
    ];
    for (line, fits) in cases {
        let read = read_text(
            WITH_ANN,
            &format!("[13/12/2025, 18:05:09] Ann: {line}\n[13/12/2025, 18:06:09] Bob: ok\n"),
        );
        assert!(fits(&read.messages[0].1), "{line:?}: {:?}", read.messages[0].1);
    }
    // ReagentX/imessage-exporter#214 is the same shape by another program; its own text is not one.
    let pinned = read_text(
        "WhatsApp Chat - Crew.txt",
        "[13/12/2025, 18:05:09] Ann: \u{200e}Ann pinned a message\n[13/12/2025, 18:06:09] Bob: ok\n",
    );
    assert!(matches!(pinned.messages[0].1.body, Body::Service { .. }), "{pinned:?}");
}

/// Pustur/whatsapp-chat-parser#267: a caption below its picture; and pictures that are sent twice, small and large.
#[test]
fn captions_and_pairs_of_pictures() {
    let text = "[13/12/2023, 18:05:09] Ann: \u{200e}<attached: 00000042-PHOTO-2023-12-13-18-05-09.jpg>\nour boat\n\
        [13/12/2023, 18:06:09] Ann: \u{200e}<attached: 00000043-PHOTO-2023-12-13-18-06-09.jpg>\n\
        [13/12/2023, 18:06:09] Ann: \u{200e}<attached: 00000044-PHOTO-2023-12-13-18-06-09.jpg>\n";
    let read = read_text(WITH_ANN, text);
    assert_eq!(said(&read), [("Ann", "our boat"), ("Ann", ""), ("Ann", "")]);
    let names: Vec<_> =
        read.messages.iter().map(|(_, it)| it.attachments[0].name.clone()).collect();
    assert!(names.iter().all(Option::is_some) && names[1] != names[2], "{names:?}");
    let ids: std::collections::BTreeSet<_> = read.messages.iter().map(|(_, it)| &it.id).collect();
    assert_eq!(ids.len(), 3, "both are kept");
}

/// Files of other programs: read where they have the shape of an export, refused with a reason where they have not.
#[test]
fn files_of_other_programs() {
    // KnugiHK/WhatsApp-Chat-Exporter#153: its text has the shape of an export.
    let read = read_text("Ann.txt", "[2023-12-13 18:05] Ann: hi\n[2023-12-13 18:06] You: hello\n");
    assert_eq!(said(&read), [("Ann", "hi"), ("You", "hello")]);
    for (program, name, contents, part) in [
        (
            "ReagentX/imessage-exporter, its own text",
            "Ann.txt",
            "Apr 05, 2021  1:02:03 PM (Read by them after 1 minute)\nAnn\nhello\n\nApr 05, 2021  1:03:03 PM\nMe\nhi\n",
            "no line begins as",
        ),
        (
            "KnugiHK/WhatsApp-Chat-Exporter, its JSON",
            "result.json",
            r#"{"49151@s.whatsapp.net":{"name":"Ann","type":"android","messages":{"1":{"from_me":true,"data":"hi"}}}}"#,
            "neither `chats` nor `messages`",
        ),
        (
            "iyear/tdl",
            "result.json",
            r#"{"id":123,"messages":[{"id":1,"type":"message","file":"","date":1700000000,"text":"hi"}]}"#,
            "",
        ),
        ("an array of messages", "result.json", r#"[{"id":1,"type":"message","text":"hi"}]"#, ""),
        (
            "tbvdm/sigtop, its JSON",
            "messages.json",
            r#"[{"id":"a","type":"incoming","body":"hi"}]"#,
            "",
        ),
        (
            "tbvdm/sigtop, its text",
            "messages.txt",
            "Conversation: Ann\n\nFrom: Ann\nType: incoming\nSent: Tue, 5 Apr 2021 13:02:03 +0000\n\nhi\n",
            "",
        ),
    ] {
        let problem = refused(name, contents.as_bytes());
        assert_has(&problem, &[part]);
        assert!(problem.len() > 40, "{program}: {problem}");
    }
}

fn one(members: &Value) -> Value {
    let mut message = json!({"id": 1, "type": "message", "date_unixtime": "1702487109", "from": "Anna", "from_id": "user123", "text": ""});
    message.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    message
}

fn chat(messages: &Value) -> Read {
    let export =
        format!(r#"{{"name":"Anna","type":"private_supergroup","id":123,"messages":{messages}}}"#);
    read_text("result.json", &export)
}

/// Actions of Telegram: what each says.
#[test]
fn actions_of_telegram() {
    let cases = [
        ("todo_completions", json!({"completed": [1, 2], "message_id": 5}), "todo completions"),
        ("todo_append_tasks", json!({"items": [{"id": 3, "text": "sail"}]}), "sail"),
        ("send_star_gift", json!({"stars": 50, "is_limited": true}), "stars: 50"),
        ("send_stars_gift", json!({"cost": "100", "stars": 25}), "stars: 25"),
        ("boost_apply", json!({"boosts": 4}), "boosts: 4"),
        ("suggested_post_approval", json!({"price_amount_whole": 7, "rejected": false}), "7"),
        ("suggested_post_success", json!({"price_amount_whole": 9}), "9"),
        ("paid_messages_price_change", json!({"price_stars": 12}), "price stars: 12"),
        ("paid_messages_refund", json!({"messages_count": 2, "stars_count": 6}), "stars count: 6"),
        ("giveaway_launch", json!({"stars": 3}), "stars: 3"),
        ("prize_stars", json!({"stars": 8, "boost_peer_id": 1}), "stars: 8"),
        ("set_chat_theme", json!({"emoticon": "🌊"}), "🌊"),
        ("edit_group_title", json!({"title": "New crew"}), "New crew"),
        ("phone_call", json!({"duration_seconds": 65, "discard_reason": "hangup"}), "65"),
    ];
    for (action, more, part) in cases {
        let mut members =
            json!({"type": "service", "actor": "Bob", "actor_id": "user2", "action": action});
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let read = chat(&json!([one(&members)]));
        assert_eq!(read.summary.skipped, 0, "{action}");
        assert_has(read.texts()[0], &["Bob: ", part]);
    }
}

/// telegramdesktop/tdesktop#27322: a topic that is called otherwise later.
#[test]
fn a_topic_that_is_renamed() {
    let messages = json!([
        {"id": 1, "type": "service", "date_unixtime": "1", "actor": "A", "actor_id": "user1", "action": "topic_created", "title": "Boats", "text": ""},
        one(&json!({"id": 2, "text": "a", "reply_to_message_id": 1})),
        {"id": 3, "type": "service", "date_unixtime": "2", "actor": "A", "actor_id": "user1", "action": "topic_edit", "new_title": "Ships", "reply_to_message_id": 1, "text": ""},
        one(&json!({"id": 4, "text": "b", "reply_to_message_id": 1})),
    ]);
    let read = chat(&messages);
    let topics: Vec<_> = read.messages.iter().map(|(_, it)| it.topic.clone()).collect();
    assert!(topics.iter().all(Option::is_some), "{topics:?}");
    assert_has(read.texts()[2], &["Ships"]);
}

/// Bytes that JSON does not allow cost nothing, or the message in which they are.
#[test]
fn bad_bytes_cost_one_message_at_most() {
    let message = |id: u32, text: &str| {
        format!(
            r#"{{"id":{id},"type":"message","date_unixtime":"1","from":"A","from_id":"user1","text":"{text}"}}"#
        )
    };
    for (what, bad) in [
        ("a control character", b"a\x01b".as_slice()),
        ("half a surrogate", br"a\ud83db".as_slice()),
        ("bytes that are not UTF-8", b"a\xff\xfeb".as_slice()),
        ("an escape of Telegram's own", br"a\x1fb".as_slice()),
    ] {
        let mut bytes = br#"{"name":"A","type":"personal_chat","id":1,"messages":["#.to_vec();
        bytes.extend(message(1, "one").as_bytes());
        bytes.push(b',');
        let [before, after] = ["BAD"; 2];
        let text = message(2, before);
        let (before, after) = text.split_once(after).unwrap();
        bytes.extend(before.as_bytes());
        bytes.extend(bad);
        bytes.extend(after.as_bytes());
        bytes.push(b',');
        bytes.extend(message(3, "three").as_bytes());
        bytes.extend(b"]}");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("result.json");
        std::fs::write(&path, bytes).unwrap();
        let read = read(&path, &options()).unwrap();
        let texts = read.texts();
        assert_eq!((texts[0], *texts.last().unwrap()), ("one", "three"), "{what}");
        assert_eq!(read.summary.messages + read.summary.skipped, 3, "{what}: {:?}", read.summary);
        assert!(read.summary.cut.is_empty(), "{what}: {:?}", read.summary);
    }
}

/// A zip of a large account: its text is read as it is unpacked.
#[test]
fn a_large_account_in_a_zip() {
    let messages: String = (1..=60_000)
        .map(|n| {
            let comma = if n == 1 { "" } else { "," };
            format!(r#"{comma}{{"id":{n},"type":"message","date_unixtime":"{n}","from":"A","from_id":"user1","text":"number {n}"}}"#)
        })
        .collect();
    let text = format!(r#"{{"name":"A","type":"personal_chat","id":1,"messages":[{messages}]}}"#);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("telegram.zip");
    std::fs::write(&path, zip_of(&[("DataExport/result.json", text.as_bytes())])).unwrap();
    assert_eq!(formats(&path).unwrap().len(), 1);
    assert_eq!(read(&path, &options()).unwrap().messages.len(), 60_000);
}

const HEAD: &str = r#"{"version":"1","backupTimeMs":"1700000000000"}
{"recipient":{"id":"1","self":{}}}
{"recipient":{"id":"2","contact":{"aci":"AAAAAAAAAAAAAAAAAAAAAQ==","profileGivenName":"Anna"}}}
{"recipient":{"id":"4","group":{"masterKey":"a2V5","snapshot":{"title":{"title":"Crew"}}}}}
{"chat":{"id":"5","recipientId":"2"}}
{"chat":{"id":"6","recipientId":"4"}}
"#;

fn of_signal(members: &Value) -> Read {
    let mut item =
        json!({"chatId": "6", "authorId": "2", "dateSent": "1700000000000", "incoming": {}});
    item.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    read_text("main.jsonl", &format!("{HEAD}{}\n", json!({ "chatItem": item })))
}

/// bepaald/signalbackup-tools#382, mlomb/chat-analytics#104: Signal's own export, a message of each kind.
#[test]
fn messages_of_signals_own_export() {
    type Fits = fn(&Message) -> bool;
    let cases: [(&str, Value, Fits); 9] = [
        ("a group", json!({"standardMessage": {"text": {"body": "hi"}}}), |it| {
            words(&it.body) == "hi"
        }),
        (
            "an answer",
            json!({"standardMessage": {"text": {"body": "yes"}, "quote": {"targetSentTimestamp": "1690000000000", "authorId": "2"}}}),
            |it| it.reply_to.as_deref().is_some_and(|id| id.starts_with("1690000000000-")),
        ),
        (
            "a reaction",
            json!({"standardMessage": {"text": {"body": "hi"}, "reactions": [{"emoji": "👍", "authorId": "1"}]}}),
            |it| it.reactions[0].emoji == "👍" && it.reactions[0].by == ["Me"],
        ),
        (
            "a poll",
            json!({"poll": {"question": "When?", "options": [{"option": "Mon", "votes": [{"voterId": "1"}]}, {"option": "Tue"}]}}),
            |it| matches!(&it.body, Body::Poll { answers, .. } if *answers == [("Mon".to_owned(), Some(1)), ("Tue".to_owned(), Some(0))]),
        ),
        ("a sticker", json!({"stickerMessage": {"sticker": {"emoji": "🚤"}}}), |it| {
            it.attachments[0].kind == AttachmentKind::Sticker
        }),
        (
            "a contact",
            json!({"contactMessage": {"contact": {"name": {"givenName": "Bo", "familyName": "X"}, "number": [{"value": "+1"}]}}}),
            |it| it.body == Body::Contact { name: "Bo X".to_owned(), phone: Some("+1".to_owned()) },
        ),
        (
            "a payment",
            json!({"paymentNotification": {"amountMob": "1.5", "note": "lunch"}}),
            |it| words(&it.body) == "[Payment] 1.5 MOB, lunch",
        ),
        (
            "a call",
            json!({"updateMessage": {"individualCall": {"type": "AUDIO_CALL", "direction": "INCOMING", "state": "MISSED"}}}),
            |it| matches!(&it.body, Body::Service { action, .. } if action.contains("call")),
        ),
        (
            "an edited message",
            json!({"standardMessage": {"text": {"body": "right"}}, "revisions": [{"dateSent": "1699999999000", "standardMessage": {"text": {"body": "wrong"}}}]}),
            |it| it.edited.is_some() && words(&it.body) == "right",
        ),
    ];
    for (what, members, fits) in cases {
        let read = of_signal(&members);
        assert_eq!(read.messages.len(), 1, "{what}: {read:?}");
        assert!(fits(&read.messages[0].1), "{what}: {:?}", read.messages[0].1);
    }
    let gone = of_signal(
        &json!({"expiresInMs": "1000", "expireStartDate": "1700000000000", "standardMessage": {"text": {"body": "gone"}}}),
    );
    assert_eq!((gone.messages.len(), gone.summary.skipped), (0, 1));
}
