//! As Telegram Desktop writes it. Everything comes back but: which pieces of a text are marked how, and what a message
//! says that Telegram could not export. Without `date_unixtime`, moments come back as far as the clock shows them.

use std::fmt::Write as _;

use chat_server::model::{
    Attachment, AttachmentKind, AttachmentPlace, Body, ChatKind, Message, Participant, Reaction,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{FILES, PEOPLE, QUOTE, Talk, TalkMessage, What, config, talk, times_agree};
use crate::import::{options, read};

const NAMES: [&str; 5] = ["Anna", "a: b/c", "Zoë 🎉", "קבוצה", "*"];

/// How the file is written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Form {
    pub(super) account: bool,
    pub(super) pieces: bool,
    pub(super) unixtime: bool,
    /// Before 2021 ids were numbers, with 2³² added.
    pub(super) numbers: bool,
    /// Some tools sort members.
    pub(super) sorted: bool,
    pub(super) escapes: bool,
}

fn form() -> impl Strategy<Value = Form> {
    any::<[bool; 6]>().prop_map(|[account, pieces, unixtime, numbers, sorted, escapes]| Form {
        account,
        pieces,
        unixtime,
        numbers,
        sorted,
        escapes,
    })
}

fn words(text: &str, form: Form) -> String {
    let text = text.replace(QUOTE, "\n[13/12/2023, 18:05:09] Bob: quoted");
    if form.escapes { format!("\u{1}{text}\u{1f}") } else { text }
}

/// What a text is in the file: a string, or pieces.
fn text_of(text: &str, form: Form) -> Value {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    if form.pieces {
        json!([text[..middle], {"type": "bold", "text": text[middle..]}, {"type": "custom_emoji", "text": "", "document_id": "x"}])
    } else {
        json!(text)
    }
}

fn kind_of(file: &str) -> (AttachmentKind, Option<&str>, &str) {
    match file.rsplit_once('.').unwrap().1 {
        "mp4" => (AttachmentKind::Video, Some("video_file"), "video/mp4"),
        "opus" => (AttachmentKind::Audio, Some("voice_message"), "audio/ogg"),
        "png" => (AttachmentKind::Image, None, "image/png"),
        _ => (AttachmentKind::File, None, "application/pdf"),
    }
}

fn attachment(
    kind: AttachmentKind,
    name: Option<&str>,
    path: &str,
    exported: bool,
    media_type: Option<&str>,
) -> Attachment {
    Attachment {
        transcript: None,
        kind,
        name: name.map(str::to_owned),
        media_type: media_type.map(str::to_owned),
        size: Some(10),
        seconds: None,
        place: if exported {
            AttachmentPlace::Export(path.to_owned())
        } else {
            AttachmentPlace::Missing(Some(path.to_owned()))
        },
    }
}

/// A message in the file, and what is to be read; nothing for one that Telegram could not export.
pub(super) fn written(
    talk: &Talk,
    number: usize,
    said: &TalkMessage,
    form: Form,
) -> (Value, Option<Message>) {
    let zone = talk.zone();
    let mut entry = Map::new();
    let mut put = |name: &str, value: Value| entry.insert(name.to_owned(), value);
    put("id", json!(number));
    if matches!(said.what, What::Deleted) {
        put("type", json!("unsupported"));
        return (Value::Object(entry), None);
    }
    let is_service = matches!(said.what, What::Notice);
    put("type", json!(if is_service { "service" } else { "message" }));
    let local = |at| zone.to_datetime(at).to_string();
    put("date", json!(local(said.at)));
    let (name, id) = if is_service { ("actor", "actor_id") } else { ("from", "from_id") };
    put(name, json!(PEOPLE[said.who]));
    let number_of = |who: usize| (1_u64 << 32) + 100 + who as u64;
    put(
        id,
        if form.numbers {
            json!(number_of(said.who))
        } else {
            json!(format!("user{}", 100 + said.who))
        },
    );
    let edited = said.at + jiff::SignedDuration::from_secs(60);
    if form.unixtime {
        put("date_unixtime", json!(said.at.as_second().to_string()));
    }
    if said.edited {
        put("edited", json!(local(edited)));
        if form.unixtime {
            put("edited_unixtime", json!(edited.as_second().to_string()));
        }
    } else if form.numbers {
        put("edited", json!("1970-01-01T01:00:00"));
    }
    if let Some(answers) = said.answers {
        put("reply_to_message_id", json!(answers));
    }
    if said.forwarded {
        put("forwarded_from", json!(PEOPLE[0]));
    }
    if !said.reactions.is_empty() {
        let reaction = |(emoji, by): &(&str, Vec<usize>)| {
            let recent: Vec<Value> = by.iter().map(|who| json!({"from": PEOPLE[*who], "from_id": format!("user{}", 100 + who), "date": local(edited)})).collect();
            json!({"type": "emoji", "emoji": emoji, "count": by.len(), "recent": recent})
        };
        put("reactions", said.reactions.iter().map(reaction).collect::<Value>());
    }
    let mut attachments = Vec::new();
    let mut text = String::new();
    let body = match &said.what {
        What::Text(said) => {
            text = words(said, form);
            Body::Text(text.clone())
        }
        What::File { file, exported, caption } => {
            text = words(caption, form);
            let name = FILES[*file];
            let why = "File not included. Change data exporting settings to download.";
            if name.ends_with(".jpg") {
                let path = format!("photos/{name}");
                put("photo", json!(if *exported { path.clone() } else { format!("({why})") }));
                put("photo_file_size", json!(10));
                attachments.push(attachment(
                    AttachmentKind::Image,
                    exported.then_some(name),
                    if *exported { &path } else { why },
                    *exported,
                    None,
                ));
            } else {
                let (kind, media, mime) = kind_of(name);
                let path = format!("files/{name}");
                put("file", json!(if *exported { path.clone() } else { format!("({why})") }));
                put("file_name", json!(name));
                put("file_size", json!(10));
                put("mime_type", json!(mime));
                if let Some(media) = media {
                    put("media_type", json!(media));
                }
                attachments.push(attachment(
                    kind,
                    Some(name),
                    if *exported { &path } else { why },
                    *exported,
                    Some(mime),
                ));
            }
            Body::Text(text.clone())
        }
        What::Place(latitude, longitude) => {
            put("location_information", json!({"latitude": latitude, "longitude": longitude}));
            Body::Location { latitude: *latitude, longitude: *longitude, name: None }
        }
        What::Card => {
            put(
                "contact_information",
                json!({"first_name": "Cleo", "last_name": "X", "phone_number": "+1"}),
            );
            put("contact_vcard", json!("contacts/contact_1.vcf"));
            put("contact_vcard_file_size", json!(10));
            attachments.push(attachment(
                AttachmentKind::File,
                Some("contact_1.vcf"),
                "contacts/contact_1.vcf",
                true,
                Some("text/vcard"),
            ));
            Body::Contact { name: "Cleo X".to_owned(), phone: Some("+1".to_owned()) }
        }
        What::Poll(votes) => {
            let answers: Vec<Value> = votes
                .iter()
                .enumerate()
                .map(|(at, votes)| json!({"text": text_of(&format!("answer {at}"), form), "voters": votes, "chosen": false}))
                .collect();
            put(
                "poll",
                json!({"question": text_of("When: now?", form), "closed": false, "total_voters": 3, "answers": answers}),
            );
            let answers = votes.iter().enumerate();
            Body::Poll {
                question: "When: now?".to_owned(),
                answers: answers
                    .map(|(at, votes)| (format!("answer {at}"), Some(*votes)))
                    .collect(),
            }
        }
        What::Notice => {
            put("action", json!("invite_members"));
            put("members", json!([PEOPLE[1], null]));
            Body::Service {
                action: "invite_members".to_owned(),
                text: format!(
                    "{}: invite members {}, Deleted Account",
                    PEOPLE[said.who], PEOPLE[1]
                ),
            }
        }
        What::Deleted => unreachable!("told above"),
    };
    put("text", text_of(&text, form));
    put("text_entities", json!([{"type": "plain", "text": text}]));
    let message = Message {
        id: number.to_string(),
        timestamp: said.at,
        sender: Some(Participant {
            id: format!("user{}", 100 + said.who),
            name: PEOPLE[said.who].to_owned(),
            // Only the file of an account shows who its owner is.
            is_me: form.account && said.who == 0,
            ..Participant::default()
        }),
        body,
        reply_to: said.answers.map(|id| id.to_string()),
        topic: None,
        expires: None,
        forwarded_from: said.forwarded.then(|| PEOPLE[0].to_owned()),
        edited: said.edited.then_some(edited),
        deleted: false,
        reactions: said
            .reactions
            .iter()
            .map(|(emoji, by)| Reaction {
                emoji: (*emoji).to_owned(),
                count: by.len() as u32,
                by: by.iter().map(|who| PEOPLE[*who].to_owned()).collect(),
            })
            .collect(),
        attachments,
    };
    (Value::Object(entry), Some(message))
}

/// `\u001f` as Telegram writes it.
fn with_escapes(json: &str) -> String {
    let mut text = String::new();
    let mut rest = json;
    while let Some((before, from)) = rest.split_once('\\') {
        text.push_str(before);
        match from.strip_prefix("u00") {
            Some(digits) => {
                text.push_str("\\x");
                rest = digits;
            }
            None => {
                text.push('\\');
                let kind = from.chars().next().unwrap();
                text.push(kind);
                rest = &from[kind.len_utf8()..];
            }
        }
    }
    text + rest
}

pub(super) fn chat_json(talk: &Talk, id: usize, messages: &[Value], form: Form) -> String {
    let (name, messages) = (json!(talk.name), Value::from(messages));
    let kind = json!("private_supergroup");
    if form.sorted {
        format!(r#"{{"id":{id},"messages":{messages},"name":{name},"type":{kind}}}"#)
    } else {
        format!(r#"{{"name":{name},"type":{kind},"id":{id},"messages":{messages}}}"#)
    }
}

fn check(talks: &[Talk], form: Form) -> Result<(), TestCaseError> {
    let talks = &talks[..if form.account { talks.len() } else { 1 }];
    let mut made: Vec<(String, Message)> = Vec::new();
    let mut unsupported = 0;
    let mut chats = Vec::new();
    for (id, talk) in talks.iter().enumerate() {
        let mut values = Vec::new();
        for (number, said) in talk.said.iter().enumerate() {
            let (value, message) = written(talk, number, said, form);
            values.push(value);
            match message {
                Some(message) => made.push((format!("-100{id}"), message)),
                None => unsupported += 1,
            }
        }
        chats.push(chat_json(talk, id, &values, form));
    }
    let mut file = String::new();
    if form.account {
        let (first, left) = chats.split_at(chats.len() / 2);
        write!(
            file,
            r#"{{"about":"{{[","personal_information":{{"user_id":100}},"contacts":{{"list":[{{"messages":[1]}}]}},"chats":{{"about":"","list":[{}]}},"left_chats":{{"about":"","list":[{}]}}}}"#,
            first.join(","),
            left.join(",")
        )
        .unwrap();
    } else {
        file.push_str(&chats[0]);
    }
    let file = with_escapes(&file);
    prop_assert_eq!(file.contains("\\x01"), form.escapes && file.contains("\\x1f"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.json");
    std::fs::write(&path, file).unwrap();
    let mut with = options();
    with.zone = talks[0].zone();
    let read = read(&path, &with).unwrap();
    prop_assert_eq!(read.summary.skipped, unsupported);
    prop_assert_eq!(read.summary.messages, made.len() as u64);
    prop_assert_eq!(read.chats.len(), talks.len());
    for (chat, talk) in read.chats.iter().zip(talks) {
        prop_assert_eq!((&*chat.name, chat.kind), (talk.name, ChatKind::Group));
    }
    if !form.unixtime {
        for chat in &read.chats {
            let of = |all: &[(String, Message)]| -> Vec<_> {
                all.iter().filter(|(id, _)| *id == chat.id).map(|(_, it)| it.timestamp).collect()
            };
            times_agree(&with.zone, &of(&made), &of(&read.messages), 1)?;
        }
        for ((_, made), (_, read)) in made.iter_mut().zip(&read.messages) {
            made.timestamp = read.timestamp;
            prop_assert_eq!(made.edited.is_some(), read.edited.is_some());
            made.edited = read.edited;
        }
    }
    prop_assert_eq!(made, read.messages);
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_telegram_exports_comes_back(mut talks in proptest::collection::vec(talk(&NAMES), 1..4), form in form()) {
        // One computer exports all chats.
        let zone = talks[0].zone;
        talks.iter_mut().for_each(|talk| talk.zone = zone);
        check(&talks, form)?;
    }
}
