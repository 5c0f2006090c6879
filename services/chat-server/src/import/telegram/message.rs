//! One message.

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde_json::Value;

use super::rich::Rich;
use super::text::plain;
use super::{media, service};
use crate::import::Options;
use crate::import::clock::Clock;
use crate::json::{list, member, number, text};
use crate::model::{Body, Message, Participant, Reaction};

/// The name of a deleted account.
const DELETED: &str = "Deleted Account";

/// Older than any message of Telegram: 1980.
const NEVER: Timestamp = Timestamp::constant(315_532_800, 0);

/// A message of the file, or why it cannot be read.
pub(super) fn message(
    entry: &Value,
    options: &Options,
    clock: &mut Clock,
    me: Option<&str>,
) -> Result<Message, &'static str> {
    let id = number::<i64>(entry, "id").ok_or("has no id")?.to_string();
    let kind = member(entry, "type").ok_or("has no type")?;
    if kind == "unsupported" {
        return Err("is of a kind that this Telegram could not export");
    }
    let timestamp = time(entry, "date", clock).ok_or("has no date")?;
    let person = |name: &str, id: &str| person(entry, name, id, options, me);
    let is_service = kind == "service";
    let sender = if is_service { person("actor", "actor_id") } else { person("from", "from_id") };
    let rich = Rich::of(entry, media::files);
    let body = if is_service { service::body(entry, sender.as_ref()) } else { body(entry, &rich) };
    let mut attachments = media::attachments(entry);
    attachments.extend(rich.attachments);
    let body = match body {
        // View-once pictures are not exported.
        Body::Text(text)
            if text.is_empty()
                && attachments.is_empty()
                && entry.get("self_destruct_period_seconds").is_some() =>
        {
            Body::Unknown("[Self-destructing media]".to_owned())
        }
        body => body,
    };
    // Old files have a time in 1970 for messages that were never edited.
    let edited = time(entry, "edited", &mut clock.clone()).filter(|at| *at > NEVER);
    let elsewhere = entry.get("reply_to_peer_id").is_some();
    let reply_to = text(entry, "reply_to_message_id").filter(|_| !elsewhere);
    Ok(Message {
        id,
        timestamp,
        sender,
        body,
        reply_to,
        forwarded_from: forwarded(entry),
        edited,
        deleted: false,
        reactions: reactions(entry),
        attachments,
        topic: member(entry, "title")
            .filter(|_| member(entry, "action") == Some("topic_created"))
            .map(str::to_owned),
        ..Message::default()
    })
}

fn body(entry: &Value, rich: &Rich) -> Body {
    let text = entry.get("text").map(plain).unwrap_or_default();
    let text = match entry.get("text_entities") {
        Some(pieces) if text.is_empty() => plain(pieces),
        _ => text,
    };
    if let Some(body) = media::body(entry, &text) {
        return body;
    }
    Body::Text(if text.is_empty() { rich.text() } else { text })
}

/// The seconds of `NAME_unixtime`, which older files lack; else the local time in `NAME`.
fn time(entry: &Value, name: &str, clock: &mut Clock) -> Option<Timestamp> {
    let known = number(entry, &format!("{name}_unixtime"))
        .and_then(|seconds| Timestamp::from_second(seconds).ok());
    let local = || member(entry, name)?.parse::<DateTime>().ok();
    known.or_else(|| clock.timestamp(local()?))
}

fn person(
    entry: &Value,
    name: &str,
    id: &str,
    options: &Options,
    me: Option<&str>,
) -> Option<Participant> {
    let name = member(entry, name);
    let id = match entry.get(id) {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => old_id(id.as_u64()?),
        _ => name?.to_owned(),
    };
    let name = name.unwrap_or(DELETED).to_owned();
    let is_me = me == Some(id.as_str()) || options.me.as_deref() == Some(name.as_str());
    Some(Participant { id, name, username: None, phone: None, is_me })
}

/// Before 2021 an id was a bare number: at first that of a user; then with 2³² added to it, or 2³³ for a group or a
/// channel. Numbers of users were below 2³² then.
fn old_id(id: u64) -> String {
    let number = id & u64::from(u32::MAX);
    match id >> 32 {
        0 | 1 => format!("user{number}"),
        2 => format!("chat{number}"),
        _ => format!("user{id}"),
    }
}

fn forwarded(entry: &Value) -> Option<String> {
    let name = |member: &str| {
        let name = entry.get(member)?;
        Some(name.as_str().unwrap_or(DELETED).to_owned())
    };
    name("forwarded_from").or_else(|| name("saved_from"))
}

fn reactions(entry: &Value) -> Vec<Reaction> {
    let reaction = |reaction: &Value| {
        let kind = member(reaction, "type").unwrap_or("emoji");
        // A custom emoji has only the file in which it is, if that was exported.
        let custom = member(reaction, "document_id").filter(|id| !id.starts_with('('));
        let emoji = match (kind, member(reaction, "emoji"), custom) {
            ("emoji", Some(emoji), _) => emoji.to_owned(),
            (kind, _, Some(id)) => format!("{kind}:{}", id.rsplit('/').next().unwrap_or(id)),
            (kind, ..) => kind.to_owned(),
        };
        let by = list(reaction, "recent");
        Reaction {
            emoji,
            count: number(reaction, "count").unwrap_or(1),
            by: by.filter_map(|by| by.get("from")?.as_str().map(str::to_owned)).collect(),
        }
    };
    list(entry, "reactions").filter(|it| it.is_object()).map(reaction).collect()
}
