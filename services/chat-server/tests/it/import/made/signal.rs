//! As sigexport writes it, in both of its files. Lost in both: who is answered if nothing was said, when a message was
//! edited, forwards, backticks, places, cards and polls (words or nothing there), the zone.
//!
//! Lost in `chat.md`: calls are words; fractions of seconds; two blanks at the end of a line, which end it in Markdown;
//! blanks and empty lines at the beginning of a text.

use chat_server::model::{
    Attachment, AttachmentKind, AttachmentPlace, Body, Message, Participant, Reaction,
};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{FILES, PEOPLE, QUOTE, Talk, TalkMessage, What, config, talk, times_agree};
use crate::import::{options, read};

const NAMES: [&str; 3] = ["Anna", "ZoëMüller", "None"];

/// Senders as sigexport names them; the owner is "Me".
fn name(who: usize) -> &'static str {
    match who {
        0 => "Me",
        1 => "Doe, Jane",
        _ => PEOPLE[who],
    }
}

/// A text as the files have it: no backticks, nothing at the ends.
fn words(text: &str) -> String {
    let text = text.replace(QUOTE, "\n13/12/2023, 18:05 - Bob: quoted");
    text.trim().to_owned()
}

struct WrittenMessage {
    body: String,
    /// Name and path of a file, or what was left out.
    file: Option<(&'static str, bool)>,
    call: Option<bool>,
    deleted: bool,
    quote: String,
}

fn written(talk: &Talk, said: &TalkMessage) -> WrittenMessage {
    let mut written = WrittenMessage {
        body: String::new(),
        file: None,
        call: None,
        deleted: false,
        quote: String::new(),
    };
    match &said.what {
        What::Text(text) => written.body = words(text),
        What::File { file, exported, caption } => {
            written.body = words(caption);
            written.file = Some((FILES[*file], *exported));
        }
        What::Place(..) | What::Poll(_) => written.body = "https://a.example".to_owned(),
        What::Card => written.body = "card".to_owned(),
        What::Notice => {
            written.body = "Missed voice call".to_owned();
            written.call = Some(true);
        }
        What::Deleted => written.deleted = true,
    }
    if let Some(answers) = said.answers
        && let What::Text(text) = &talk.said[answers].what
        && !written.deleted
    {
        written.quote = words(text);
    }
    written
}

fn without_line_ends(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.strip_suffix("  ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

fn quote(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("\n\n> {}\n\n", text.replace('\n', "\n> "))
    }
}

fn path(file: &str) -> String {
    format!("media/{}", file.replace(' ', "%20"))
}

fn object(talk: &Talk, said: &TalkMessage, micros: bool) -> Value {
    let written = written(talk, said);
    let at = talk.zone().to_datetime(said.at);
    let reactions: Vec<Value> = said
        .reactions
        .iter()
        .flat_map(|(emoji, by)| by.iter().map(move |who| json!([name(*who), emoji])))
        .collect();
    let attachments: Vec<Value> = written
        .file
        .into_iter()
        .map(|(file, exported)| {
            if exported {
                json!({"name": file, "path": path(file), "missing_kind": null})
            } else {
                json!({"name": "", "path": "", "missing_kind": "media"})
            }
        })
        .collect();
    json!({
        "date": format!("{at}{}", if micros { ".123000" } else { "" }), "sender": name(said.who),
        "body": format!("{}  ", written.body), "quote": quote(&written.quote), "sticker": null,
        "reactions": reactions, "attachments": attachments, "deleted": written.deleted,
        "call": written.call.is_some(), "missed": written.call.unwrap_or(false),
    })
}

fn line(talk: &Talk, said: &TalkMessage) -> String {
    let written = written(talk, said);
    let at = talk.zone().to_datetime(said.at).strftime("%Y-%m-%d %H:%M:%S").to_string();
    let sender = name(said.who);
    if written.deleted {
        return format!("[{at}] {sender}: (This message was deleted)\n");
    }
    let mut body = format!("{}  ", written.body);
    let given: Vec<String> = said
        .reactions
        .iter()
        .flat_map(|(emoji, by)| by.iter().map(move |who| format!("{}: {emoji}", name(*who))))
        .collect();
    if !given.is_empty() {
        body.push_str(&format!("\n(- {} -)", given.join(", ")));
    }
    if let Some((file, exported)) = written.file {
        let image = if file.ends_with("g") && !file.ends_with("ogg") { "!" } else { "" };
        body.push_str(&if exported {
            format!("{image}[{file}](./{})  ", path(file))
        } else {
            "(media not exported)  ".to_owned()
        });
    }
    format!("[{at}] {sender}: {}{body}\n", quote(&written.quote))
}

fn expected(talk: &Talk, said: &TalkMessage, markdown: bool) -> Message {
    let mut written = written(talk, said);
    if markdown {
        written.body = without_line_ends(&written.body);
    }
    let who = name(said.who);
    let attachments = written.file.map(|(file, exported)| Attachment {
        transcript: None,
        kind: match file.rsplit_once('.').unwrap().1 {
            _ if !exported => AttachmentKind::File,
            "jpg" | "png" => AttachmentKind::Image,
            "mp4" => AttachmentKind::Video,
            "opus" => AttachmentKind::Audio,
            _ => AttachmentKind::File,
        },
        name: exported.then(|| file.to_owned()),
        media_type: None,
        size: None,
        seconds: None,
        place: if exported {
            AttachmentPlace::Export(format!("{}/media/{file}", talk.name))
        } else {
            AttachmentPlace::Missing(Some("media".to_owned()))
        },
    });
    let reactions = if written.deleted && markdown {
        Vec::new()
    } else {
        said.reactions
            .iter()
            .map(|(emoji, by)| Reaction {
                emoji: (*emoji).to_owned(),
                count: by.len() as u32,
                by: by.iter().map(|who| name(*who).to_owned()).collect(),
            })
            .collect()
    };
    Message {
        id: String::new(),
        timestamp: Timestamp::UNIX_EPOCH,
        sender: Some(Participant {
            id: who.to_owned(),
            name: who.to_owned(),
            is_me: said.who == 0,
            ..Participant::default()
        }),
        body: match written.call {
            Some(_) if !markdown => Body::Service {
                action: "missed_call".to_owned(),
                text: format!("{who}: Missed voice call"),
            },
            _ => Body::Text(written.body),
        },
        reply_to: (!written.quote.is_empty()).then(String::new),
        forwarded_from: None,
        topic: None,
        expires: None,
        edited: None,
        deleted: written.deleted,
        reactions,
        attachments: attachments.into_iter().collect(),
    }
}

fn check(talk: &Talk, markdown: bool, micros: bool) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join(talk.name);
    std::fs::create_dir(&folder).unwrap();
    let lines = talk.said.iter().map(|said| {
        if markdown { line(talk, said) } else { format!("{}\n", object(talk, said, micros)) }
    });
    let text: String = lines.collect();
    let file = if markdown { "chat.md" } else { "data.json" };
    std::fs::write(folder.join(file), &text).unwrap();
    let mut with = options();
    with.zone = talk.zone();
    let read = read(dir.path(), &with).unwrap();
    prop_assert_eq!(read.summary.skipped, 0, "{}", text);
    prop_assert_eq!(&*read.chats[0].name, talk.name);
    let sent: Vec<Timestamp> = talk.said.iter().map(|said| said.at).collect();
    let whole = |it: &Message| Timestamp::from_second(it.timestamp.as_second()).unwrap();
    let moments: Vec<Timestamp> = read.messages.iter().map(|(_, it)| whole(it)).collect();
    times_agree(&with.zone, &sent, &moments, 1)?;
    let mut last: Vec<(String, String)> = Vec::new();
    for (said, (_, read)) in talk.said.iter().zip(&read.messages) {
        let mut made = expected(talk, said, markdown);
        prop_assert_eq!(
            read.timestamp.subsec_millisecond(),
            if micros && !markdown { 123 } else { 0 }
        );
        // A quote names no message: the latest that says the same is it.
        let quoted = written(talk, said).quote;
        if made.reply_to.is_some() {
            let found = last.iter().rev().find(|(text, _)| *text == quoted);
            made.reply_to = found.map(|(_, id)| id.clone());
            prop_assert!(made.reply_to.is_some());
        }
        let text = match written(talk, said) {
            WrittenMessage { call: Some(_), .. } if !markdown => String::new(),
            written => written.body,
        };
        last.push((text, read.id.clone()));
        made.id = read.id.clone();
        made.timestamp = read.timestamp;
        prop_assert_eq!(&made, read, "{}", text_of(&made));
    }
    Ok(())
}

fn text_of(message: &Message) -> String {
    format!("{:?}", message.body)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_sigexport_writes_comes_back(talk in talk(&NAMES), markdown: bool, micros: bool) {
        check(&talk, markdown, micros)?;
    }
}
