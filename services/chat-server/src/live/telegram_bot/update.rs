//! One update in terms of the common model.

use jiff::Timestamp;
use serde_json::Value;

use crate::import::{Rich, describe};
use crate::json::{is_true, list, member, number, text};
use crate::model::{
    Attachment, AttachmentKind, AttachmentPlace, Body, Chat, ChatKind, Message, Participant,
    Reaction,
};
use crate::source::{Change, Event};

/// Members of a message that are files, and what kind.
const FILES: [(&str, AttachmentKind); 9] = [
    ("document", AttachmentKind::File),
    ("animation", AttachmentKind::Video),
    ("video", AttachmentKind::Video),
    ("video_note", AttachmentKind::Video),
    ("voice", AttachmentKind::Audio),
    ("voice_note", AttachmentKind::Audio),
    ("audio", AttachmentKind::Audio),
    ("sticker", AttachmentKind::Sticker),
    ("photo", AttachmentKind::Image),
];

/// Members of a service message about an event.
const SERVICES: [&str; 16] = [
    "new_chat_members",
    "left_chat_member",
    "new_chat_title",
    "new_chat_photo",
    "delete_chat_photo",
    "group_chat_created",
    "supergroup_chat_created",
    "channel_chat_created",
    "migrate_to_chat_id",
    "migrate_from_chat_id",
    "pinned_message",
    "message_auto_delete_timer_changed",
    "video_chat_started",
    "video_chat_ended",
    "forum_topic_created",
    "forum_topic_edited",
];

/// Members with parts that are around the content of a message.
const AROUND: &str = "from sender_chat sender_business_bot chat forward_origin external_reply reply_to_message \
                      reply_to_story quote via_bot entities caption_entities reply_markup link_preview_options \
                      direct_messages_topic suggested_post_info";

/// Reads one update.
pub(super) fn read(update: &Value, events: &mut Vec<Event>) {
    let new = ["message", "channel_post"].iter().find_map(|name| update.get(name));
    let edited = ["edited_message", "edited_channel_post"].iter().find_map(|name| update.get(name));
    if let Some(message) = new.or(edited)
        && let Some(chat) = chat(message.get("chat"))
        && let Some(read) = message_of(message)
    {
        let (id, message) = (chat.id.clone(), Box::new(read));
        events.push(Event::Chat(chat));
        // An edited message arrives whole, and replaces its older version. Reactions have separate updates.
        events.push(match new {
            Some(_) => Event::Message { chat: id, message },
            None => Event::Revised { chat: id, message },
        });
    }
    if let Some(reaction) = update.get("message_reaction") {
        reactions(reaction, events);
    }
}

fn chat(chat: Option<&Value>) -> Option<Chat> {
    let chat = chat?;
    let id = chat.get("id")?.as_i64()?;
    let kind = match member(chat, "type") {
        Some("private") => ChatKind::Direct,
        Some("group" | "supergroup") => ChatKind::Group,
        Some("channel") => ChatKind::Channel,
        _ => ChatKind::Unknown,
    };
    let name = member(chat, "title").map(str::to_owned).or_else(|| full_name(chat));
    Some(Chat {
        id: id.to_string(),
        name: name.unwrap_or_else(|| format!("Chat {id}")),
        kind,
        participants: (kind == ChatKind::Direct).then_some(2),
    })
}

fn message_of(message: &Value) -> Option<Message> {
    let seconds = |name: &str| Timestamp::from_second(number(message, name)?).ok();
    let sender = person(message.get("from")).or_else(|| channel(message.get("sender_chat")));
    let rich = Rich::of(message, files);
    let root = message.get("reply_to_message");
    // In a topic whatever answers nothing answers the message that has created it.
    let opened = root.and_then(|root| root.get("forum_topic_created"));
    let is_root = is_true(message, "is_topic_message")
        && root.and_then(|root| root.get("message_id")) == message.get("message_thread_id");
    let topic = opened.or_else(|| message.get("forum_topic_created"));
    let service = SERVICES.iter().find(|name| message.get(name).is_some());
    let body = match service {
        Some(action) => {
            let who = sender.as_ref().map_or("", |sender| &*sender.name);
            let what = detail(message.get(action));
            let text = format!("{who}: {} {what}", action.replace('_', " "));
            Body::Service { action: (*action).to_owned(), text: text.trim().to_owned() }
        }
        None => body(message, &rich),
    };
    Some(Message {
        id: text(message, "message_id")?,
        timestamp: seconds("date")?,
        sender,
        body,
        reply_to: root
            .filter(|_| opened.is_none() && !is_root)
            .and_then(|it| text(it, "message_id")),
        forwarded_from: forwarded(message),
        edited: seconds("edit_date"),
        attachments: files(message).into_iter().chain(rich.attachments).collect(),
        topic: topic.and_then(|topic| member(topic, "name")).map(str::to_owned),
        ..Message::default()
    })
}

fn body(message: &Value, rich: &Rich) -> Body {
    let degrees = |value: &Value, name: &str| value.get(name).and_then(Value::as_f64);
    let location = message.pointer("/venue/location").or_else(|| message.get("location"));
    if let Some((latitude, longitude)) = location.and_then(|location| {
        Some((degrees(location, "latitude")?, degrees(location, "longitude")?))
    }) {
        let name = message.get("venue").and_then(|venue| member(venue, "title"));
        return Body::Location { latitude, longitude, name: name.map(str::to_owned) };
    }
    if let Some(contact) = message.get("contact") {
        return Body::Contact {
            name: full_name(contact).unwrap_or_default(),
            phone: member(contact, "phone_number").map(str::to_owned),
        };
    }
    if let Some(poll) = message.get("poll") {
        let answer = |option: &Value| {
            Some((member(option, "text")?.to_owned(), number(option, "voter_count")))
        };
        return Body::Poll {
            question: member(poll, "question").unwrap_or_default().to_owned(),
            answers: list(poll, "options").filter_map(answer).collect(),
        };
    }
    // A text beside a rich message stands in for it.
    let words = ["text", "caption"].iter().find_map(|name| member(message, name));
    let text = Some(rich.text()).filter(|text| !text.is_empty());
    let text = text.or_else(|| words.map(str::to_owned));
    if text.is_some() || !rich.attachments.is_empty() || !files(message).is_empty() {
        return Body::Text(text.unwrap_or_default());
    }
    let others = message.as_object().into_iter().flatten().filter(|(name, value)| {
        (value.is_object() || value.is_array()) && AROUND.split(' ').all(|around| around != *name)
    });
    let others = others.map(|(name, value)| {
        let described = describe(value, 0).join("; ");
        format!("[{}] {described}", name.replace('_', " ")).trim_end().to_owned()
    });
    let others = others.collect::<Vec<_>>().join("\n");
    Body::Unknown(if others.is_empty() { "[unsupported]".to_owned() } else { others })
}

/// The first file of a message or of a block.
fn files(of: &Value) -> Vec<Attachment> {
    FILES.iter().filter_map(|(name, kind)| attachment(of, name, *kind)).take(1).collect()
}

/// Of a picture in several sizes, the largest.
fn attachment(message: &Value, name: &str, kind: AttachmentKind) -> Option<Attachment> {
    let file = message.get(name)?;
    let file = file.as_array().map_or(Some(file), |sizes| sizes.last())?;
    Some(Attachment {
        kind,
        name: member(file, "file_name").or_else(|| member(file, "emoji")).map(str::to_owned),
        media_type: member(file, "mime_type").map(str::to_owned),
        size: number(file, "file_size"),
        seconds: number(file, "duration"),
        place: AttachmentPlace::Remote(member(file, "file_id")?.to_owned()),
        transcript: None,
    })
}

fn person(user: Option<&Value>) -> Option<Participant> {
    let user = user?;
    let id = user.get("id")?.as_i64()?;
    Some(Participant {
        // The form of exports, so that a person is the same in both.
        id: format!("user{id}"),
        name: full_name(user).unwrap_or_else(|| format!("user{id}")),
        username: member(user, "username").map(str::to_owned),
        phone: None,
        is_me: false,
    })
}

fn channel(chat: Option<&Value>) -> Option<Participant> {
    let chat = chat?;
    let id = chat.get("id")?.as_i64()?.to_string();
    Some(Participant {
        name: member(chat, "title").unwrap_or(&id).to_owned(),
        username: member(chat, "username").map(str::to_owned),
        phone: None,
        is_me: false,
        id: format!("channel{}", id.strip_prefix("-100").unwrap_or(&id)),
    })
}

fn forwarded(message: &Value) -> Option<String> {
    let origin = message.get("forward_origin")?;
    let name = |value: Option<&Value>| {
        full_name(value?).or_else(|| Some(member(value?, "title")?.to_owned()))
    };
    name(origin.get("sender_user"))
        .or_else(|| name(origin.get("chat")))
        .or_else(|| name(origin.get("sender_chat")))
        .or_else(|| Some(member(origin, "sender_user_name")?.to_owned()))
}

fn reactions(reaction: &Value, events: &mut Vec<Event>) {
    let chat = reaction.pointer("/chat/id").and_then(Value::as_i64);
    let id = reaction.get("message_id").and_then(Value::as_i64);
    let (Some(chat), Some(id)) = (chat, id) else {
        return;
    };
    let by = person(reaction.get("user")).or_else(|| channel(reaction.get("actor_chat")));
    let emoji = |name: &str| {
        let emoji = list(reaction, name)
            .filter_map(|it| member(it, "emoji").or_else(|| member(it, "type")));
        emoji.map(str::to_owned).collect::<Vec<_>>()
    };
    let (old, new) = (emoji("old_reaction"), emoji("new_reaction"));
    let mut report = |emoji: &String, removed| {
        let by = by.iter().map(|by| by.name.clone()).collect();
        let reaction = Reaction { emoji: emoji.clone(), count: 1, by };
        let change = Change::Reacted { reaction, removed };
        events.push(Event::changed(&chat.to_string(), &id.to_string(), change));
    };
    old.iter().filter(|emoji| !new.contains(emoji)).for_each(|emoji| report(emoji, true));
    new.iter().filter(|emoji| !old.contains(emoji)).for_each(|emoji| report(emoji, false));
}

fn detail(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(people)) => {
            people.iter().filter_map(full_name).collect::<Vec<_>>().join(", ")
        }
        Some(object @ Value::Object(_)) => full_name(object)
            .or_else(|| member(object, "name").map(str::to_owned))
            .unwrap_or_default(),
        _ => String::new(),
    }
}

fn full_name(user: &Value) -> Option<String> {
    let first = member(user, "first_name")?;
    Some(match member(user, "last_name") {
        Some(last) => format!("{first} {last}"),
        None => first.to_owned(),
    })
}
