//! One message.

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde_json::{Map, Value};

use super::text::{member, number, plain, rich};
use super::{media, service};
use crate::import::Options;
use crate::model::{Body, Message, Participant, Reaction};

/// What a name is for somebody who has deleted the account.
const DELETED: &str = "Deleted Account";

/// A message of the file; what is wrong with one that cannot be read.
pub(super) fn message(
    entry: &Map<String, Value>,
    options: &Options,
    me: Option<&str>,
) -> Result<Message, &'static str> {
    let id = number(entry, "id").ok_or("has no id")?.to_string();
    let kind = member(entry, "type").ok_or("has no type")?;
    if kind == "unsupported" {
        return Err("is of a kind that this Telegram could not export");
    }
    let timestamp = time(entry, "date", options).ok_or("has no date")?;
    let person = |name: &str, id: &str| person(entry, name, id, options, me);
    let is_service = kind == "service";
    let sender = match is_service {
        true => person("actor", "actor_id"),
        false => person("from", "from_id"),
    };
    let body = match is_service {
        true => service::body(entry, sender.as_ref()),
        false => body(entry),
    };
    let elsewhere = entry.contains_key("reply_to_peer_id");
    let reply_to = number(entry, "reply_to_message_id").filter(|_| !elsewhere);
    Ok(Message {
        id,
        timestamp,
        sender,
        body,
        reply_to: reply_to.map(|id| id.to_string()),
        forwarded_from: forwarded(entry),
        edited: time(entry, "edited", options),
        deleted: false,
        reactions: reactions(entry),
        attachments: media::attachments(entry),
    })
}

fn body(entry: &Map<String, Value>) -> Body {
    let text = entry.get("text").map(plain).unwrap_or_default();
    if let Some(body) = media::body(entry, &text) {
        return body;
    }
    match entry.get("rich_message") {
        Some(message) if text.is_empty() => Body::Text(rich(message)),
        _ => Body::Text(text),
    }
}

/// The seconds of `NAME_unixtime`, which older files lack; else the local time in `NAME`.
fn time(entry: &Map<String, Value>, name: &str, options: &Options) -> Option<Timestamp> {
    if let Some(seconds) = number(entry, &format!("{name}_unixtime")) {
        return Timestamp::from_second(seconds).ok();
    }
    let local: DateTime = member(entry, name)?.parse().ok()?;
    options.zone.to_timestamp(local).ok()
}

fn person(
    entry: &Map<String, Value>,
    name: &str,
    id: &str,
    options: &Options,
    me: Option<&str>,
) -> Option<Participant> {
    // Older files have a bare number.
    let id = match entry.get(id)? {
        Value::String(id) => id.clone(),
        Value::Number(id) => format!("user{id}"),
        _ => return None,
    };
    let name = member(entry, name).unwrap_or(DELETED).to_owned();
    let is_me = me == Some(id.as_str()) || options.me.as_deref() == Some(name.as_str());
    Some(Participant {
        id,
        name,
        username: None,
        phone: None,
        is_me,
    })
}

fn forwarded(entry: &Map<String, Value>) -> Option<String> {
    let name = |member: &str| {
        let name = entry.get(member)?;
        Some(name.as_str().unwrap_or(DELETED).to_owned())
    };
    name("forwarded_from").or_else(|| name("saved_from"))
}

fn reactions(entry: &Map<String, Value>) -> Vec<Reaction> {
    let Some(Value::Array(reactions)) = entry.get("reactions") else {
        return Vec::new();
    };
    let reaction = |reaction: &Value| {
        let reaction = reaction.as_object()?;
        let kind = member(reaction, "type").unwrap_or("emoji");
        let emoji = member(reaction, "emoji")
            .filter(|_| kind == "emoji")
            .unwrap_or(kind);
        let recent = reaction.get("recent").and_then(Value::as_array);
        let by = recent.into_iter().flatten();
        Some(Reaction {
            emoji: emoji.to_owned(),
            count: number(reaction, "count")
                .and_then(|count| u32::try_from(count).ok())
                .unwrap_or(1),
            by: by
                .filter_map(|by| by.get("from")?.as_str().map(str::to_owned))
                .collect(),
        })
    };
    reactions.iter().filter_map(reaction).collect()
}
