//! As WhatsApp exports a chat. Lost: replies, reactions, forwards, when a message was edited, the kind of a file that
//! Android left out, the number on a card, seconds on Android, and moments as far as the clock does not tell them.

use chat_server::model::{
    Attachment, AttachmentKind, AttachmentPlace, Body, ChatKind, Message, Participant,
};
use jiff::Timestamp;
use proptest::prelude::*;

use super::whatsapp_style::{Phone, Style, style};
use super::{FILES, PEOPLE, QUOTE, Talk, TalkMessage, What, config, talk, times_agree};
use crate::import::{options, read};

const NAMES: [&str; 4] = ["Cleo", "Zoë 🎉", "דוד וחברים", "Team 3 - north"];

/// A text as WhatsApp keeps it: without blanks at its end.
fn words(text: &str, style: &Style) -> String {
    text.replace(QUOTE, style.quote()).trim_end().to_owned()
}

fn kind_of(file: &str) -> (AttachmentKind, usize) {
    match file.rsplit_once('.').unwrap().1 {
        "jpg" | "png" => (AttachmentKind::Image, 0),
        "mp4" => (AttachmentKind::Video, 1),
        "opus" => (AttachmentKind::Audio, 2),
        _ => (AttachmentKind::File, 3),
    }
}

fn file(kind: AttachmentKind, name: Option<&str>) -> Attachment {
    Attachment {
        transcript: None,
        kind,
        name: name.map(str::to_owned),
        media_type: None,
        size: None,
        seconds: None,
        place: match name {
            Some(name) => AttachmentPlace::Export(name.to_owned()),
            None => AttachmentPlace::Missing(None),
        },
    }
}

/// What stands behind the header, and what is to be read; the id and the moment are not known.
fn written(talk: &Talk, said: &TalkMessage, style: &Style) -> (String, Message) {
    let ios = style.phone != Phone::Android;
    let mut sender = Some(PEOPLE[said.who]);
    let mut attachments = Vec::new();
    let mut deleted = false;
    let exported = |name: &str| match style.phone {
        Phone::Android => format!("\u{200e}{name} ({})", style.words.attached),
        Phone::Ios => format!("\u{200e}<{}: {name}>", style.words.ios_attached),
        Phone::OldIos => format!("{name} <\u{200e}{}>", style.words.ios_attached),
    };
    let (text, body) = match &said.what {
        What::Text(text) => {
            let text = words(text, style);
            // Nobody sends nothing.
            let text = if text.is_empty() { "x".to_owned() } else { text };
            (text.clone(), Body::Text(text))
        }
        What::File { file: index, exported: there, caption } => {
            let name = FILES[*index];
            let (kind, word) = kind_of(name);
            let line = match (there, style.phone) {
                (true, _) => exported(name),
                (false, Phone::Android) => format!("<{}>", style.words.omitted),
                (false, _) => format!("\u{200e}{}", style.words.ios_omitted[word]),
            };
            attachments.push(match (there, style.phone) {
                (true, _) => file(kind, Some(name)),
                (false, Phone::Android) => file(AttachmentKind::File, None),
                (false, _) => file(kind, None),
            });
            let caption = words(caption, style);
            // Blanks and marks at the beginning of a caption are not distinguished from those of WhatsApp.
            let caption =
                caption.trim_matches(|c: char| c.is_whitespace() || c == '\u{200f}').to_owned();
            let text = match (caption.is_empty(), style.phone) {
                (true, _) => line,
                (false, Phone::Ios) => format!("{caption} {line}"),
                (false, _) => format!("{line}\n{caption}"),
            };
            (text, Body::Text(caption))
        }
        What::Place(latitude, longitude) => (
            format!(
                "{}{}: https://maps.google.com/?q={latitude},{longitude}",
                if ios { "\u{200e}" } else { "" },
                style.words.place
            ),
            Body::Location { latitude: *latitude, longitude: *longitude, name: None },
        ),
        What::Card => {
            let name = match style.phone {
                Phone::Android => "Cleo X.vcf",
                _ => "00000007-Cleo X.vcf",
            };
            attachments.push(file(AttachmentKind::File, Some(name)));
            let name_on_it = "Cleo X".to_owned();
            let body = Body::Contact { name: name_on_it, phone: None };
            (exported(name), body)
        }
        What::Poll(votes) => {
            let mark = if ios { "\u{200e}" } else { "" };
            let mut text = format!("{mark}{}:\nWhen: now?\n", style.words.poll);
            let mut answers = Vec::new();
            for (at, count) in votes.iter().enumerate() {
                text.push_str(&format!(
                    "{mark}{}: answer ({at}) ({mark}{count} {})\n",
                    style.words.option, style.words.votes
                ));
                answers.push((format!("answer ({at})"), Some(*count)));
            }
            let question = "When: now?".to_owned();
            (text, Body::Poll { question, answers })
        }
        What::Notice => {
            let text = format!("{} created group \"Topic: one\"", PEOPLE[said.who]);
            sender = ios.then_some(talk.name);
            let line = if ios { format!("\u{200e}{text}") } else { text.clone() };
            let action = "notice".to_owned();
            (line, Body::Service { action, text })
        }
        What::Deleted => {
            deleted = true;
            let mark = if ios { "\u{200e}" } else { "" };
            let text = format!("{mark}{}", style.words.deleted);
            (text, Body::Text(String::new()))
        }
    };
    let edited = said.edited && matches!(said.what, What::Text(_));
    let text = if edited { format!("{text} \u{200e}<{}>", style.words.edited) } else { text };
    // iOS sets its mark before the name in right-to-left languages; a tilde is before names of strangers' own.
    let line = match sender {
        Some(name) if name == PEOPLE[1] => format!("~\u{a0}{name}: {text}"),
        Some(name) if name == PEOPLE[2] => format!("\u{200f}{name}: {text}"),
        Some(name) => format!("{name}: {text}"),
        None => text,
    };
    let message = Message {
        id: String::new(),
        timestamp: Timestamp::UNIX_EPOCH,
        sender: sender.map(|name| Participant {
            id: name.to_owned(),
            name: name.to_owned(),
            username: None,
            phone: name.starts_with('+').then(|| name.to_owned()),
            is_me: name == PEOPLE[0],
        }),
        body,
        reply_to: None,
        forwarded_from: None,
        topic: None,
        expires: None,
        // Only that it was, not when.
        edited: edited.then_some(Timestamp::UNIX_EPOCH),
        deleted,
        reactions: Vec::new(),
        attachments,
    };
    (line, message)
}

fn check(talk: &Talk, style: &Style) -> Result<(), TestCaseError> {
    let zone = talk.zone();
    let end = if style.crlf { "\r\n" } else { "\n" };
    let mut text = String::from(if style.bom { "\u{feff}" } else { "" });
    let mut made = Vec::new();
    for said in &talk.said {
        let (line, message) = written(talk, said, style);
        let own = line.contains('\u{200e}') && style.phone == Phone::Ios;
        text.push_str(if own { "\u{200e}" } else { "" });
        text.push_str(&style.header(zone.to_datetime(said.at)));
        text.push_str(&line.replace('\n', end));
        text.push_str(end);
        made.push(message);
    }
    let dir = tempfile::tempdir().unwrap();
    let name = format!("{}{}", style.words.file, talk.name);
    let path = dir.path().join(format!("{name}.{}", if style.zip { "zip" } else { "txt" }));
    if style.zip {
        let inner = match style.phone {
            Phone::Android => format!("{name}.txt"),
            _ => "_chat.txt".to_owned(),
        };
        let zip = crate::mcp::harness::zip_of(&[(&inner, text.as_bytes())]);
        std::fs::write(&path, zip).unwrap();
    } else {
        std::fs::write(&path, &text).unwrap();
    }
    let mut with = options();
    with.zone = zone.clone();
    with.me = Some(PEOPLE[0].to_owned());
    let mut days = talk.said.iter().map(|said| zone.to_datetime(said.at).day());
    if style.told || !style.tells_order(&mut days) {
        with.day_order = Some(style.order);
    }
    let mut read = read(&path, &with).unwrap();
    prop_assert_eq!(read.summary.skipped, 0);
    prop_assert_eq!(&*read.chats[0].name, talk.name);
    let mut senders: Vec<&str> =
        made.iter().filter_map(|it| Some(&*it.sender.as_ref()?.name)).collect();
    senders.sort_unstable();
    senders.dedup();
    let kind = if senders.len() > 2 { ChatKind::Group } else { ChatKind::Direct };
    prop_assert_eq!(read.chats[0].kind, kind);
    let grain = if style.phone == Phone::Android { 60 } else { 1 };
    let moments =
        |read: &[(String, Message)]| read.iter().map(|(_, it)| it.timestamp).collect::<Vec<_>>();
    let sent: Vec<Timestamp> = talk.said.iter().map(|said| said.at).collect();
    times_agree(&zone, &sent, &moments(&read.messages), grain)?;
    let mut ids: Vec<String> = read.messages.iter().map(|(_, it)| it.id.clone()).collect();
    ids.sort_unstable();
    ids.dedup();
    prop_assert_eq!(ids.len(), made.len(), "ids are unique");
    for (_, message) in &mut read.messages {
        prop_assert!(message.edited.is_none_or(|at| at == message.timestamp));
        message.id.clear();
        message.timestamp = Timestamp::UNIX_EPOCH;
        message.edited = message.edited.map(|_| Timestamp::UNIX_EPOCH);
    }
    let read: Vec<Message> = read.messages.into_iter().map(|(_, message)| message).collect();
    prop_assert_eq!(made, read, "{}", text);
    Ok(())
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 4 * config().cases, ..config() })]

    #[test]
    fn what_whatsapp_exports_comes_back(talk in talk(&NAMES), style in style()) {
        check(&talk, &style)?;
    }
}
