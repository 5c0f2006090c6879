//! Parsing of one envelope: a message, an edit, a reaction, a deletion. Receipts and typing indicators are ignored.

use jiff::Timestamp;
use serde_json::Value;

use super::names::Names;
use crate::import::{Mention, with_mentions};
use crate::json::{is_true, list, member, number, number_or};
use crate::model::{Attachment, AttachmentKind, AttachmentPlace, Body, Message, Participant};
use crate::source::{Change, Event};

/// Reads one envelope; `exception` says why signal-cli itself could not read it.
pub(super) fn read(
    envelope: &Value,
    exception: Option<&Value>,
    names: &mut Names,
    events: &mut Vec<Event>,
) {
    let author = names.person(
        member(envelope, "sourceUuid"),
        member(envelope, "sourceNumber")
            .or_else(|| member(envelope, "source").filter(|it| it.starts_with('+'))),
        member(envelope, "sourceName"),
    );
    let Some(author) = author else { return };
    let is_call = envelope.pointer("/callMessage/offerMessage").is_some();
    // What comes twice was read, and may not be replaced. What is sent again replaces its trace.
    let fault = exception.and_then(|exception| member(exception, "type"));
    let is_unread = fault.is_some_and(|fault| !fault.contains("Duplicate"));
    let said = |data, edited| DataMessage { data, edited, author: author.clone(), mine: None };
    if let Some(data) = envelope.get("dataMessage") {
        said(data, None).read(envelope, names, events);
    } else if let Some(edit) = envelope.get("editMessage") {
        if let Some(data) = edit.get("dataMessage") {
            said(data, number(edit, "targetSentTimestamp")).read(envelope, names, events);
        }
    } else if let Some(sent) = envelope.pointer("/syncMessage/sentMessage") {
        // The owner's own message, from another of his devices.
        let other = names.person(
            member(sent, "destinationUuid"),
            member(sent, "destinationNumber")
                .or_else(|| member(sent, "destination").filter(|it| it.starts_with('+'))),
            None,
        );
        let edit = sent.get("editMessage");
        let said = DataMessage {
            data: edit.and_then(|edit| edit.get("dataMessage")).unwrap_or(sent),
            edited: edit.and_then(|edit| number(edit, "targetSentTimestamp")),
            author: Participant { is_me: true, ..author },
            mine: Some(other),
        };
        said.read(envelope, names, events);
    } else if is_call || is_unread {
        let Some(at) = number(envelope, "timestamp") else {
            return;
        };
        let unread = ("unreadable", "signal-cli could not read a message");
        let (action, words) = if is_call { ("call", "call") } else { unread };
        names.direct(&author.id, &author.name, events);
        let text = format!("{}: {words}", author.name);
        let body = Body::Service { action: action.to_owned(), text };
        if let Some(message) = message(at, author.clone(), body) {
            push(&author.id, message, events);
        }
    }
}

/// A data message, and its sender.
struct DataMessage<'e> {
    data: &'e Value,
    /// The time of the message that this one replaces.
    edited: Option<i64>,
    author: Participant,
    /// For the owner's own messages: the other person, unless the chat is a group.
    mine: Option<Option<Participant>>,
}

impl DataMessage<'_> {
    fn read(self, envelope: &Value, names: &mut Names, events: &mut Vec<Event>) {
        let Some(chat) = self.chat(names, events) else {
            return;
        };
        let data = self.data;
        let Some(at) = number(data, "timestamp").or_else(|| number(envelope, "timestamp")) else {
            return;
        };
        if let Some(target) = self.edited {
            let text = body_text(data);
            if let Ok(at) = Timestamp::from_millisecond(at) {
                let id = id_of(target, &self.author.id);
                events.push(Event::Changed { chat, id, change: Change::Edited { text, at } });
            }
        } else if let Some(reaction) = data.get("reaction") {
            let target = names.person(
                member(reaction, "targetAuthorUuid"),
                member(reaction, "targetAuthorNumber"),
                None,
            );
            let target = target.zip(number(reaction, "targetSentTimestamp"));
            if let (Some((author, at)), Some(emoji)) = (target, member(reaction, "emoji")) {
                let is_removed = is_true(reaction, "isRemove");
                let (id, by) = (id_of(at, &author.id), &self.author.name);
                events.extend(Event::only_reaction(&chat, &id, by, emoji, is_removed));
            }
        } else if let Some(deleted) = data.get("remoteDelete") {
            if let Some(at) = number(deleted, "timestamp") {
                let id = id_of(at, &self.author.id);
                events.push(Event::Changed { chat, id, change: Change::Deleted });
            }
        } else if let Some(deleted) = data.get("adminDelete") {
            // A group admin deletes the message of another member.
            let author = names.person(
                member(deleted, "targetAuthorUuid"),
                member(deleted, "targetAuthorNumber").or_else(|| member(deleted, "targetAuthor")),
                None,
            );
            if let Some((author, at)) = author.zip(number(deleted, "targetSentTimestamp")) {
                let id = id_of(at, &author.id);
                events.push(Event::Changed { chat, id, change: Change::Deleted });
            }
        } else if let Some(vote) = data.get("pollVote") {
            if let Some(id) = target_of(vote, &self.author, names) {
                let options = list(vote, "optionIndexes").filter_map(Value::as_u64);
                let options = options.filter_map(|option| usize::try_from(option).ok()).collect();
                let change = Change::Voted { by: self.author.name, options };
                events.push(Event::Changed { chat, id, change });
            }
        } else if let Some((action, words, about)) = notice(data) {
            let body = Body::Service {
                action: action.to_owned(),
                text: format!("{}: {words}", self.author.name),
            };
            let target = target_of(about, &self.author, names);
            if let Some(mut message) = message(at, self.author, body) {
                message.reply_to = target;
                push(&chat, message, events);
            }
        } else if let Some(body) = body(data, &self.author) {
            let Some(mut message) = message(at, self.author, body) else {
                return;
            };
            message.reply_to = data.get("quote").and_then(|quote| {
                let author = names.person(
                    member(quote, "authorUuid"),
                    member(quote, "authorNumber"),
                    None,
                )?;
                Some(id_of(number(quote, "id")?, &author.id))
            });
            // View-once media are not kept.
            if !is_true(data, "viewOnce") {
                message.attachments = attachments(data);
            }
            let seconds = number(data, "expiresInSeconds").filter(|seconds: &i64| *seconds > 0);
            message.expires = seconds.and_then(|seconds| {
                Timestamp::from_millisecond(at.saturating_add(seconds.saturating_mul(1_000))).ok()
            });
            push(&chat, message, events);
        }
    }

    fn chat(&self, names: &mut Names, events: &mut Vec<Event>) -> Option<String> {
        if let Some(group) = self.data.get("groupInfo") {
            let id = member(group, "groupId")?;
            names.group(id, member(group, "groupName"), events);
            return Some(id.to_owned());
        }
        let other = match &self.mine {
            Some(other) => other.as_ref()?,
            None => &self.author,
        };
        names.direct(&other.id, &other.name, events);
        Some(other.id.clone())
    }
}

/// What happened to another message: the action, its words, and the member about it.
fn notice(data: &Value) -> Option<(&'static str, &'static str, &Value)> {
    let kinds = [
        ("pollTerminate", "poll_end", "ended the poll"),
        ("pinMessage", "pin_message", "pinned a message"),
        ("unpinMessage", "unpin_message", "unpinned a message"),
    ];
    kinds.into_iter().find_map(|(member, action, words)| Some((action, words, data.get(member)?)))
}

/// The id of the message that a vote, a pin or an end of a poll is about. A poll is ended by its author.
fn target_of(about: &Value, by: &Participant, names: &mut Names) -> Option<String> {
    let of = |names: [&str; 2]| names.into_iter().find_map(|name| member(about, name));
    let author = names.person(
        of(["targetAuthorUuid", "authorUuid"]),
        of(["targetAuthorNumber", "authorNumber"]),
        None,
    );
    let author = author.map_or_else(|| by.id.clone(), |author| author.id);
    Some(id_of(number(about, "targetSentTimestamp")?, &author))
}

/// Its content; `None` if nothing of it is kept.
fn body(data: &Value, author: &Participant) -> Option<Body> {
    if let Some(poll) = data.get("pollCreate") {
        let answer =
            |option: &Value| option.as_str().or_else(|| member(option, "text")).map(str::to_owned);
        return Some(Body::Poll {
            question: member(poll, "question").unwrap_or_default().to_owned(),
            answers: list(poll, "options").filter_map(answer).map(|it| (it, None)).collect(),
        });
    }
    if let Some(contact) = list(data, "contacts").next() {
        let name = |name: &str| {
            contact.get("name").and_then(|names| member(names, name)).unwrap_or_default()
        };
        let names = [name("given"), name("family")].join(" ");
        let phone = contact.pointer("/phone/0/value").and_then(Value::as_str);
        return Some(Body::Contact {
            name: names.trim().to_owned(),
            phone: phone.map(str::to_owned),
        });
    }
    if is_true(data, "isExpirationUpdate") {
        let seconds: u64 = number(data, "expiresInSeconds").unwrap_or(0);
        return Some(Body::Service {
            action: "set_messages_ttl".to_owned(),
            text: format!("{}: messages disappear after {seconds} s", author.name),
        });
    }
    if is_true(data, "viewOnce") {
        return Some(Body::Unknown("[View once]".to_owned()));
    }
    if let Some(payment) = data.get("payment") {
        let note = member(payment, "note").unwrap_or_default();
        return Some(Body::Unknown(format!("[Payment] {note}").trim_end().to_owned()));
    }
    let text = body_text(data);
    let has_files = list(data, "attachments").next().is_some();
    if text.is_empty() && !has_files && data.get("sticker").is_none() {
        let updated = data.pointer("/groupInfo/type").and_then(Value::as_str) == Some("UPDATE");
        return updated.then(|| Body::Service {
            action: "edit_group".to_owned(),
            text: format!("{}: changed the group", author.name),
        });
    }
    Some(Body::Text(text))
}

/// The text, with the names of those who are mentioned in the places that Signal leaves for them.
fn body_text(data: &Value) -> String {
    let message = member(data, "message").unwrap_or_default();
    // An object replacement character marks each mention. One without its place has the next of these.
    let mut marks = message.encode_utf16().zip(0_u64..).filter(|(unit, _)| *unit == 0xFFFC);
    let mentions: Vec<Mention> = list(data, "mentions")
        .filter_map(|mention| {
            let mark = marks.next().map(|(_, at)| at);
            Some(Mention {
                start: number(mention, "start").or(mark)?,
                length: number_or(mention, "length", 1)?,
                name: member(mention, "name").or_else(|| member(mention, "number"))?.to_owned(),
            })
        })
        .collect();
    with_mentions(message, mentions)
}

fn attachments(data: &Value) -> Vec<Attachment> {
    let attachment = |file: &Value| {
        let media_type = member(file, "contentType");
        Attachment {
            kind: media_type
                .and_then(AttachmentKind::of_media_type)
                .unwrap_or(AttachmentKind::File),
            name: member(file, "filename").map(str::to_owned),
            media_type: media_type.map(str::to_owned),
            size: number(file, "size"),
            seconds: None,
            place: member(file, "id").map_or(AttachmentPlace::Missing(None), |id| {
                AttachmentPlace::Remote(id.to_owned())
            }),
            transcript: None,
        }
    };
    let missing = AttachmentPlace::Missing(None);
    let sticker =
        data.get("sticker").map(|_| Attachment::new(AttachmentKind::Sticker, None, missing));
    list(data, "attachments").map(attachment).chain(sticker).collect()
}

/// A message of this author, sent at this time in milliseconds.
pub(super) fn message(at: i64, author: Participant, body: Body) -> Option<Message> {
    Some(Message {
        id: id_of(at, &author.id),
        timestamp: Timestamp::from_millisecond(at).ok()?,
        sender: Some(author),
        body,
        ..Message::default()
    })
}

/// Signal identifies a message by its author and the time at which it was sent.
fn id_of(at: i64, author: &str) -> String {
    format!("{at}-{author}")
}

fn push(chat: &str, message: Message, events: &mut Vec<Event>) {
    events.push(Event::Message { chat: chat.to_owned(), message: Box::new(message) });
}
