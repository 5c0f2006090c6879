//! Signal's own export: `main.jsonl`, with one frame per line as in its backups (people and groups, chats, then their
//! messages), and the bytes of files in `files/`, named by their digests.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use data_encoding::{BASE64, HEXLOWER};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::gather;
use super::mention::{Mention, with_mentions};
use super::update::{update, words_of};
use crate::digest::digest;
use crate::event::Event;
use crate::import::lines::{Line, Lines};
use crate::import::unit::Unit;
use crate::import::{ImportError, Reading, io_at};
use crate::json::{list, number, number_or, text};
use crate::model::{
    Attachment, AttachmentKind, AttachmentPlace, Body, Chat, ChatKind, Message, Participant,
};

/// The most people, groups and chats.
const MAX_KNOWN: usize = 100_000;

/// Reads the export.
pub(in crate::import) fn read(
    unit: &Unit,
    reading: &mut Reading<'_, '_, '_>,
) -> Result<ControlFlow<()>, ImportError> {
    let path = Path::new(&unit.file);
    let mut known = BackupState { files: files(unit), ..BackupState::default() };
    unit.tree.read(&unit.file, |file, _| {
        let mut lines = Lines::new(file).map_err(io_at(path))?;
        let (mut number, mut done) = (0_u64, 0);
        while let Some(line) = lines.next().map_err(io_at(path))? {
            number += 1;
            let frame = match &line {
                Line::Text(line) if line.trim().is_empty() => continue,
                Line::Text(line) => {
                    done += line.len() as u64 + 1;
                    serde_json::from_str::<Map<String, Value>>(line).ok()
                }
                Line::TooLong => None,
            };
            let Some(frame) = frame else {
                reading
                    .skip(format_args!("{}: line {number} is not a frame: left out", unit.key()));
                continue;
            };
            for event in known.frame(&frame, reading, number) {
                if reading.take(event).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if number.is_multiple_of(512) {
                reading.report(done);
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// The paths of the files, by the digests that are their names.
fn files(unit: &Unit) -> HashMap<String, String> {
    let root = format!("{}files/", unit.folder());
    let mut files = HashMap::new();
    let digits = "0123456789abcdef";
    let pairs =
        digits.chars().flat_map(|one| digits.chars().map(move |other| format!("{one}{other}/")));
    for folder in std::iter::once(String::new()).chain(pairs) {
        for path in unit.tree.names(&format!("{root}{folder}")) {
            let name = path.rsplit('/').next().unwrap_or_default();
            let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
            files.insert(stem.to_lowercase(), format!("{}{path}", unit.prefix));
        }
    }
    files
}

/// What is known from earlier frames.
#[derive(Default)]
struct BackupState {
    people: HashMap<String, Participant>,
    /// The names and ids of groups.
    groups: HashMap<String, Chat>,
    /// The public ids of chats, by the ids in the file.
    chats: HashMap<String, String>,
    files: HashMap<String, String>,
}

impl BackupState {
    fn frame(
        &mut self,
        frame: &Map<String, Value>,
        reading: &mut Reading<'_, '_, '_>,
        number: u64,
    ) -> Vec<Event> {
        let full = self.people.len() + self.groups.len() + self.chats.len() >= MAX_KNOWN;
        if let Some(recipient) = frame.get("recipient").filter(|_| !full) {
            self.recipient(recipient, reading);
        } else if let Some(chat) = frame.get("chat").filter(|_| !full) {
            return self.chat(chat).into_iter().collect();
        } else if let Some(item) = frame.get("chatItem") {
            let chat = text(item, "chatId").and_then(|id| self.chats.get(&id).cloned());
            let message = self.message(item, None);
            match (chat, message) {
                (Some(chat), Some(message))
                    if message.expires.is_some_and(|at| at <= Timestamp::now()) =>
                {
                    reading.skip(format_args!(
                        "{chat}: line {number}: a message has disappeared: left out"
                    ));
                }
                (Some(chat), Some(message)) => {
                    return vec![Event::Message { chat, message: Box::new(message) }];
                }
                _ => reading.skip(format_args!(
                    "line {number}: a message has no chat or no time: left out"
                )),
            }
        }
        Vec::new()
    }

    fn recipient(&mut self, recipient: &Value, reading: &Reading<'_, '_, '_>) {
        let Some(id) = text(recipient, "id") else {
            return;
        };
        if let Some(group) = recipient.get("group") {
            let name = group.pointer("/snapshot/title/title").and_then(Value::as_str);
            let name = name.unwrap_or("Group").to_owned();
            // The key of a group gives access to the group; the digest of the key does not.
            let key = text(group, "masterKey").unwrap_or_else(|| name.clone());
            let chat = Chat {
                id: format!("group-{}", digest(key, 12)),
                name,
                kind: ChatKind::Group,
                participants: None,
            };
            self.groups.insert(id, chat);
            return;
        }
        let contact = recipient.get("contact");
        let is_me = recipient.get("self").is_some();
        let part = |name: &str| contact.and_then(|contact| text(contact, name));
        let joined = |names: [&str; 2]| {
            let names: Vec<String> = names.into_iter().filter_map(part).collect();
            (!names.is_empty()).then(|| names.join(" "))
        };
        let nickname = contact.and_then(|it| it.pointer("/nickname/given")).and_then(Value::as_str);
        let phone = part("e164").map(|number| format!("+{}", number.trim_start_matches('+')));
        let username = part("username");
        let name = nickname
            .map(str::to_owned)
            .or_else(|| joined(["systemGivenName", "systemFamilyName"]))
            .or_else(|| joined(["profileGivenName", "profileFamilyName"]))
            .or_else(|| phone.clone())
            .or_else(|| username.clone());
        let name = match (name, is_me) {
            (_, true) => reading.options.me.clone().unwrap_or_else(|| "Me".to_owned()),
            (Some(name), _) => name,
            (None, _) => other_kind(recipient),
        };
        let person = Participant {
            id: part("aci")
                .and_then(|aci| uuid(&aci))
                .unwrap_or_else(|| phone.clone().unwrap_or_else(|| name.clone())),
            name,
            username,
            phone,
            is_me,
        };
        self.people.insert(id, person);
    }

    fn chat(&mut self, chat: &Value) -> Option<Event> {
        let (id, recipient) = (text(chat, "id")?, text(chat, "recipientId")?);
        let new_chat = match (self.groups.get(&recipient), self.people.get(&recipient)) {
            (Some(group), _) => group.clone(),
            (None, Some(person)) => Chat {
                id: person.id.clone(),
                name: if person.is_me { "Note to Self".to_owned() } else { person.name.clone() },
                kind: ChatKind::Direct,
                participants: None,
            },
            (None, None) => return None,
        };
        self.chats.insert(id, new_chat.id.clone());
        Some(Event::Chat(new_chat))
    }

    /// A message; for a later version of an edited message, `first` is the first version.
    fn message(&self, item: &Value, first: Option<i64>) -> Option<Message> {
        let sent = number(item, "dateSent")?;
        let author = text(item, "authorId").and_then(|id| self.people.get(&id));
        let versions = list(item, "revisions");
        let begun = versions.filter_map(|version| number(version, "dateSent")).min().or(first);
        let begun = begun.map_or(sent, |begun| begun.min(sent));
        let author_id = author.map_or("", |author| author.id.as_str());
        let expires = number(item, "expiresInMs").filter(|ms: &i64| *ms > 0).and_then(|ms| {
            let begin = number(item, "expireStartDate").unwrap_or(sent);
            Timestamp::from_millisecond(begin.checked_add(ms)?).ok()
        });
        let mut message = Message {
            id: id_of(begun, author_id),
            timestamp: Timestamp::from_millisecond(begun).ok()?,
            sender: author.cloned(),
            edited: (begun != sent).then(|| Timestamp::from_millisecond(sent).ok()).flatten(),
            expires,
            ..Message::default()
        };
        let (kind, said) = item.as_object()?.iter().find(|(name, _)| {
            name.ends_with("Message")
                || matches!(name.as_str(), "paymentNotification" | "giftBadge" | "poll")
        })?;
        self.fill(&mut message, kind, said);
        Some(message)
    }

    /// The content of a message.
    fn fill(&self, message: &mut Message, kind: &str, said: &Value) {
        let body = |value: &Value| self.words(value.get("text")?);
        let by = message.sender.as_ref().map(|sender| sender.name.clone()).unwrap_or_default();
        match kind {
            "standardMessage" => {
                let mut words = body(said).unwrap_or_default();
                message.attachments =
                    list(said, "attachments").map(|file| self.attachment(file)).collect();
                if let Some(rest) = said.get("longText") {
                    words.push_str(" […]");
                    message.attachments.push(self.attachment(rest));
                }
                message.body = Body::Text(words);
                message.reply_to = said.get("quote").and_then(|quote| {
                    let author = text(quote, "authorId").and_then(|id| self.people.get(&id))?;
                    Some(id_of(number(quote, "targetSentTimestamp")?, &author.id))
                });
            }
            "directStoryReplyMessage" => {
                let words = said.pointer("/textReply/text").and_then(|text| self.words(text));
                message.body =
                    Body::Text(words.or_else(|| text(said, "emoji")).unwrap_or_default());
            }
            "contactMessage" => {
                let part =
                    |path: &str| said.pointer(path).and_then(Value::as_str).unwrap_or_default();
                let name = format!(
                    "{} {}",
                    part("/contact/name/givenName"),
                    part("/contact/name/familyName")
                );
                let phone =
                    Some(part("/contact/number/0/value").to_owned()).filter(|it| !it.is_empty());
                message.body = Body::Contact { name: name.trim().to_owned(), phone };
            }
            "stickerMessage" => {
                let emoji = said.pointer("/sticker/emoji").and_then(Value::as_str);
                let data = said.pointer("/sticker/data").map(|data| self.place(data));
                message.attachments.push(Attachment::new(
                    AttachmentKind::Sticker,
                    emoji.map(str::to_owned),
                    data.unwrap_or(AttachmentPlace::Missing(None)),
                ));
            }
            "poll" => {
                let answer = |option: &Value| {
                    let votes = u32::try_from(list(option, "votes").count()).ok();
                    Some((text(option, "option")?, votes))
                };
                message.body = Body::Poll {
                    question: text(said, "question").unwrap_or_default(),
                    answers: list(said, "options").filter_map(answer).collect(),
                };
            }
            "remoteDeletedMessage" | "adminDeletedMessage" => message.deleted = true,
            // View-once media are not kept.
            "viewOnceMessage" => message.body = Body::Unknown("[View once]".to_owned()),
            "paymentNotification" => {
                let parts = ["amountMob", "note"].into_iter().filter_map(|name| text(said, name));
                let parts: Vec<String> = parts.collect();
                message.body = Body::Unknown(
                    format!("[Payment] {}", parts.join(" MOB, ")).trim_end().to_owned(),
                );
            }
            "giftBadge" => message.body = Body::Unknown("[Donation badge]".to_owned()),
            "updateMessage" => {
                message.body = update(said, &by, &|aci| self.name_of(aci));
            }
            other => {
                let words = body(said).unwrap_or_default();
                let words = format!("[{}] {words}", words_of(other).trim_start());
                message.body = Body::Unknown(words.trim_end().to_owned());
            }
        }
        message.reactions = gather(list(said, "reactions").filter_map(|reaction| {
            let author = text(reaction, "authorId").and_then(|id| self.people.get(&id));
            Some((author.map(|it| it.name.clone()).unwrap_or_default(), text(reaction, "emoji")?))
        }));
    }

    /// The words of a text, with the names of those who are mentioned.
    fn words(&self, said: &Value) -> Option<String> {
        let mentions: Vec<Mention> = list(said, "bodyRanges")
            .filter_map(|range| {
                let aci = text(range, "mentionAci")?;
                Some(Mention {
                    // A range without a start begins with the text.
                    start: number_or(range, "start", 0)?,
                    length: number_or(range, "length", 1)?,
                    name: self.name_of(&aci).unwrap_or_else(|| "somebody".to_owned()),
                })
            })
            .collect();
        Some(with_mentions(&text(said, "body")?, mentions))
    }

    /// The name of the person with this id.
    fn name_of(&self, aci: &str) -> Option<String> {
        let id = uuid(aci)?;
        let person = self.people.values().find(|person| person.id == id);
        person.map(|person| person.name.clone())
    }

    fn attachment(&self, attachment: &Value) -> Attachment {
        let pointer = attachment.get("pointer").unwrap_or(attachment);
        let (media_type, name) = (text(pointer, "contentType"), text(pointer, "fileName"));
        let kind = media_type.as_deref().and_then(AttachmentKind::of_media_type);
        let by_name = || AttachmentKind::of_file(name.as_deref().unwrap_or_default());
        Attachment {
            kind: kind.unwrap_or_else(by_name),
            name,
            media_type,
            size: pointer.get("locatorInfo").and_then(|locator| number(locator, "size")),
            seconds: None,
            place: self.place(pointer),
            transcript: None,
        }
    }

    /// Where the bytes of a file are. It is named by the digest of its bytes, or by how it was encrypted.
    fn place(&self, pointer: &Value) -> AttachmentPlace {
        let locator = pointer.get("locatorInfo").unwrap_or(pointer);
        let digests =
            ["plaintextHash", "encryptedDigest", "digest"].into_iter().filter_map(|name| {
                let bytes = BASE64.decode(text(locator, name)?.as_bytes()).ok()?;
                self.files.get(&HEXLOWER.encode(&bytes)).cloned()
            });
        let mut paths = digests
            .chain(text(locator, "mediaName").and_then(|name| self.files.get(&name).cloned()));
        match paths.next() {
            Some(path) => AttachmentPlace::Export(path),
            None => AttachmentPlace::Missing(Some("not in files/".to_owned())),
        }
    }
}

/// The name of a recipient that is neither a contact nor a group.
fn other_kind(recipient: &Value) -> String {
    let kind = recipient.as_object().and_then(|members| members.keys().find(|key| *key != "id"));
    kind.map_or_else(|| "Unknown".to_owned(), |kind| words_of(kind))
}

/// 16 bytes as base64, written as an id of Signal's.
fn uuid(text: &str) -> Option<String> {
    let bytes = match BASE64.decode(text.as_bytes()) {
        Ok(bytes) if bytes.len() == 16 => bytes,
        // It may be written out already.
        _ => return Some(text.to_owned()),
    };
    let hex = HEXLOWER.encode(&bytes);
    Some([0..8, 8..12, 12..16, 16..20, 20..32].map(|part| known_range::text(&hex, part)).join("-"))
}

/// Signal identifies a message by its author and the time at which it was sent.
fn id_of(at: i64, author: &str) -> String {
    format!("{at}-{author}")
}
