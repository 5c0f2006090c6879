//! What a message has beside its text.

use serde_json::{Map, Value};

use super::text::{member, number, plain};
use crate::model::{Attachment, AttachmentKind, AttachmentPlace, Body};

/// The files of a message.
pub(super) fn attachments(entry: &Map<String, Value>) -> Vec<Attachment> {
    let photo = member(entry, "photo").map(|path| Attachment {
        kind: AttachmentKind::Image,
        name: file_name(path),
        media_type: None,
        size: size(entry, "photo_file_size"),
        seconds: None,
        place: place(path),
    });
    let file = member(entry, "file").map(|path| Attachment {
        kind: kind(entry),
        name: member(entry, "file_name")
            .map(str::to_owned)
            .or_else(|| file_name(path)),
        media_type: member(entry, "mime_type").map(str::to_owned),
        size: size(entry, "file_size"),
        seconds: number(entry, "duration_seconds").and_then(|seconds| u32::try_from(seconds).ok()),
        place: place(path),
    });
    let card = member(entry, "contact_vcard").map(|path| Attachment {
        kind: AttachmentKind::File,
        name: file_name(path),
        media_type: Some("text/vcard".to_owned()),
        size: size(entry, "contact_vcard_file_size"),
        seconds: None,
        place: place(path),
    });
    photo.into_iter().chain(file).chain(card).collect()
}

/// What a message says if that is no text; `text` is what stands beside it.
pub(super) fn body(entry: &Map<String, Value>, text: &str) -> Option<Body> {
    if let Some(Value::Object(poll)) = entry.get("poll") {
        return Some(self::poll(poll));
    }
    if let Some(Value::Object(contact)) = entry.get("contact_information") {
        let names =
            ["first_name", "last_name"].map(|name| member(contact, name).unwrap_or_default());
        return Some(Body::Contact {
            name: names.join(" ").trim().to_owned(),
            phone: member(contact, "phone_number").map(str::to_owned),
        });
    }
    let place = member(entry, "place_name").or_else(|| member(entry, "address"));
    if let Some(Value::Object(location)) = entry.get("location_information") {
        return Some(Body::Location {
            latitude: location.get("latitude")?.as_f64()?,
            longitude: location.get("longitude")?.as_f64()?,
            name: place.map(str::to_owned),
        });
    }
    let with_text = |what: String| match text.is_empty() {
        true => Body::Unknown(what),
        false => Body::Unknown(format!("{what}\n{text}")),
    };
    if let Some(place) = place {
        return Some(with_text(format!("[Place] {place}")));
    }
    if entry.contains_key("location_information") {
        return Some(with_text("[Location]".to_owned()));
    }
    if let Some(game) = member(entry, "game_title") {
        return Some(with_text(format!("[Game] {game}")));
    }
    for (member, what) in OTHERS {
        if let Some(value) = entry.get(member) {
            return Some(with_text(
                format!("[{what}] {}", strings(value)).trim_end().to_owned(),
            ));
        }
    }
    None
}

/// Members that make a message something of its own, and what that is.
const OTHERS: [(&str, &str); 4] = [
    ("invoice_information", "Invoice"),
    ("todo_list", "List"),
    ("giveaway_information", "Giveaway"),
    ("giveaway_results", "Giveaway results"),
];

fn poll(poll: &Map<String, Value>) -> Body {
    let answers = poll.get("answers").and_then(Value::as_array);
    let answer = |answer: &Value| {
        let answer = answer.as_object()?;
        let votes = number(answer, "voters").and_then(|votes| u32::try_from(votes).ok());
        Some((answer.get("text").map(plain)?, votes))
    };
    Body::Poll {
        question: poll.get("question").map(plain).unwrap_or_default(),
        answers: answers.into_iter().flatten().filter_map(answer).collect(),
    }
}

/// The title and the items of a list, and of anything else what is a string in it. An invoice is an object written as
/// one string.
fn strings(value: &Value) -> String {
    match value {
        Value::String(text) => text.chars().take(500).collect(),
        Value::Object(object) => {
            let title = object
                .get("title")
                .map(plain)
                .filter(|title| !title.is_empty());
            let items = object
                .get("answers")
                .or_else(|| object.get("items"))
                .and_then(Value::as_array);
            let items = items
                .into_iter()
                .flatten()
                .filter_map(|item| item.get("text").map(plain));
            title
                .into_iter()
                .chain(items)
                .collect::<Vec<_>>()
                .join("; ")
        }
        _ => String::new(),
    }
}

fn kind(entry: &Map<String, Value>) -> AttachmentKind {
    match member(entry, "media_type") {
        Some("sticker") => AttachmentKind::Sticker,
        Some("video_message" | "animation" | "video_file") => AttachmentKind::Video,
        Some("voice_message" | "audio_file") => AttachmentKind::Audio,
        _ => match member(entry, "mime_type").and_then(|kind| kind.split('/').next()) {
            Some("image") => AttachmentKind::Image,
            Some("video") => AttachmentKind::Video,
            Some("audio") => AttachmentKind::Audio,
            _ => AttachmentKind::File,
        },
    }
}

/// A file that was not exported has a sentence in parentheses for its path.
fn place(path: &str) -> AttachmentPlace {
    match path
        .strip_prefix('(')
        .and_then(|path| path.strip_suffix(')'))
    {
        Some(why) => AttachmentPlace::Missing(Some(why.to_owned())),
        None => AttachmentPlace::Export(path.to_owned()),
    }
}

fn file_name(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    (!path.starts_with('(')).then(|| name.to_owned())
}

fn size(entry: &Map<String, Value>, name: &str) -> Option<u64> {
    number(entry, name).and_then(|size| u64::try_from(size).ok())
}
