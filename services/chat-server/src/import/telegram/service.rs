//! Service messages of the network: a person joined, a call was missed.

use serde_json::Value;

use super::media;
use super::text::plain;
use crate::json::member;
use crate::model::{Body, Participant};

/// Members of an action, and the word before each in a sentence about it.
const DETAILS: [(&str, &str); 14] = [
    ("title", ""),
    ("new_title", ""),
    ("members", ""),
    ("inviter", "invited by"),
    ("message_id", "message"),
    ("discard_reason", ""),
    ("duration", "seconds:"),
    ("duration_seconds", "seconds:"),
    ("period", "seconds:"),
    ("emoticon", ""),
    ("amount", ""),
    ("currency", ""),
    ("score", "score"),
    ("game_message_id", "game"),
];

/// Members that every service message has, or that are shown elsewhere.
const COMMON: [&str; 23] = [
    "forwarded_from",
    "forwarded_from_id",
    "saved_from",
    "reply_to_peer_id",
    "via_bot",
    "inline_bot_buttons",
    "from",
    "from_id",
    "edited",
    "edited_unixtime",
    "id",
    "type",
    "date",
    "date_unixtime",
    "actor",
    "actor_id",
    "action",
    "information_text",
    "text",
    "text_entities",
    "reply_to_message_id",
    "reactions",
    "photo",
];

/// The action in words: who, what, and the members with details.
pub(super) fn body(entry: &Value, actor: Option<&Participant>) -> Body {
    let action = member(entry, "action").unwrap_or("custom");
    let mut words: Vec<String> = Vec::new();
    words.extend(actor.map(|actor| format!("{}:", actor.name)));
    match member(entry, "information_text") {
        Some(text) => words.push(text.to_owned()),
        None => words.push(action.replace('_', " ")),
    }
    for (name, before) in DETAILS {
        let Some(value) = entry.get(name) else {
            continue;
        };
        let described = detail(value);
        if !described.is_empty() {
            words.extend((!before.is_empty()).then(|| before.to_owned()));
            words.push(described);
        }
    }
    for (name, value) in entry.as_object().into_iter().flatten() {
        let is_told = DETAILS.iter().any(|(described, _)| described == name);
        if let Some(described) =
            media::scalar(value, 0).filter(|_| !is_told && !COMMON.contains(&name.as_str()))
        {
            words.push(format!("{}: {described}", name.replace('_', " ")));
        }
    }
    words.extend(entry.get("text").map(plain).filter(|text| !text.is_empty()));
    Body::Service { action: action.to_owned(), text: words.join(" ") }
}

fn detail(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        // Members; a deleted account is null.
        Value::Array(names) => {
            let names = names.iter().map(|name| name.as_str().unwrap_or("Deleted Account"));
            names.collect::<Vec<_>>().join(", ")
        }
        other => plain(other),
    }
}
