//! The parts of a message besides its text.

use serde_json::Value;

use super::text::{is_text, plain};
use crate::json::{list, member, number};
use crate::model::{Attachment, AttachmentKind, AttachmentPlace, Body};

/// A file with this path, or, in parentheses, the reason why it has no path.
pub(super) fn attachment(kind: AttachmentKind, path: &str, name: Option<String>) -> Attachment {
    Attachment::new(kind, name.or_else(|| file_name(path)), place(path))
}

/// Turns the path of a file into a path of the whole export.
pub(super) fn put_below(attachment: &mut Attachment, prefix: &str) {
    if let AttachmentPlace::Export(path) = &mut attachment.place {
        path.insert_str(0, prefix);
    }
}

/// The files of a message.
pub(super) fn attachments(entry: &Value) -> Vec<Attachment> {
    let photo = member(entry, "photo").map(|path| Attachment {
        size: number(entry, "photo_file_size"),
        ..attachment(AttachmentKind::Image, path, None)
    });
    let name = member(entry, "sticker_emoji").or_else(|| member(entry, "file_name"));
    let file = member(entry, "file").map(|path| Attachment {
        media_type: member(entry, "mime_type").map(str::to_owned),
        size: number(entry, "file_size"),
        seconds: number(entry, "duration_seconds"),
        ..attachment(kind(entry), path, name.map(str::to_owned))
    });
    let card = member(entry, "contact_vcard").map(|path| Attachment {
        media_type: Some("text/vcard".to_owned()),
        size: number(entry, "contact_vcard_file_size"),
        ..attachment(AttachmentKind::File, path, None)
    });
    photo.into_iter().chain(file).chain(card).collect()
}

/// Members of a block of a rich message that are files.
const FILES: [(&str, AttachmentKind); 5] = [
    ("video", AttachmentKind::Video),
    ("animation", AttachmentKind::Video),
    ("audio", AttachmentKind::Audio),
    ("voice", AttachmentKind::Audio),
    ("document", AttachmentKind::File),
];

/// The files of a block of a rich message.
pub(super) fn files(block: &Value) -> Vec<Attachment> {
    let files = FILES.iter().filter_map(|(name, kind)| Some((member(block, name)?, *kind)));
    let files = files.map(|(path, kind)| attachment(kind, path, None));
    attachments(block).into_iter().chain(files).collect()
}

/// The content of a message that is not text; `text` is its accompanying text.
pub(super) fn body(entry: &Value, text: &str) -> Option<Body> {
    let object = |name: &str| entry.get(name).filter(|it| it.is_object());
    if let Some(poll) = object("poll") {
        return Some(self::poll(poll));
    }
    if let Some(contact) = object("contact_information") {
        let names =
            ["first_name", "last_name"].map(|name| member(contact, name).unwrap_or_default());
        return Some(Body::Contact {
            name: names.join(" ").trim().to_owned(),
            phone: member(contact, "phone_number").map(str::to_owned),
        });
    }
    let place = ["place_name", "address"].map(|name| member(entry, name));
    let place: Vec<&str> = place.into_iter().flatten().collect();
    let place = Some(place.join(", ")).filter(|place| !place.is_empty());
    if let Some(location) = object("location_information") {
        return Some(Body::Location {
            latitude: location.get("latitude")?.as_f64()?,
            longitude: location.get("longitude")?.as_f64()?,
            name: place,
        });
    }
    let with_text = |what: String| {
        if text.is_empty() { Body::Unknown(what) } else { Body::Unknown(format!("{what}\n{text}")) }
    };
    if let Some(place) = place {
        return Some(with_text(format!("[Place] {place}")));
    }
    if entry.get("location_information").is_some() {
        return Some(with_text("[Location]".to_owned()));
    }
    if let Some(game) = member(entry, "game_title") {
        return Some(with_text(format!("[Game] {game}")));
    }
    for (member, what) in OTHERS {
        if let Some(value) = entry.get(member) {
            let described = describe(value, 0).join("; ");
            return Some(with_text(format!("[{what}] {described}").trim_end().to_owned()));
        }
    }
    None
}

/// Members that give a message a special kind, and that kind.
const OTHERS: [(&str, &str); 5] = [
    ("paid_stars_amount", "Paid media, in stars:"),
    ("invoice_information", "Invoice"),
    ("todo_list", "List"),
    ("giveaway_information", "Giveaway"),
    ("giveaway_results", "Giveaway results"),
];

fn poll(poll: &Value) -> Body {
    let answer = |answer: &Value| Some((plain(answer.get("text")?), number(answer, "voters")));
    Body::Poll {
        question: poll.get("question").map(plain).unwrap_or_default(),
        answers: list(poll, "answers").filter_map(answer).collect(),
    }
}

/// How many levels of a value are described.
const MAX_DEPTH: usize = 4;

/// The description of a value: its title and its items first, then each member with its name, without ids. An invoice
/// is an object written as one string. A file of the Bot API has only ids and numbers.
pub(crate) fn describe(value: &Value, depth: usize) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.chars().take(500).collect()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(items) if depth < MAX_DEPTH => {
            items.iter().flat_map(|item| describe(item, depth + 1)).collect()
        }
        Value::Object(object) if !object.contains_key("file_id") => {
            let named =
                ["title", "text"].into_iter().filter_map(|name| object.get(name)).map(plain);
            let lists = ["answers", "items"].into_iter().filter_map(|name| object.get(name));
            let others = object
                .iter()
                .filter(|(name, _)| {
                    let is_told = ["title", "text", "answers", "items"].contains(&name.as_str());
                    !is_told && *name != "id" && !name.ends_with("_id")
                })
                .filter_map(|(name, value)| {
                    Some(format!("{}: {}", name.replace('_', " "), scalar(value, depth + 1)?))
                });
            named
                .chain(lists.flat_map(|list| describe(list, depth + 1)))
                .chain(others)
                .filter(|part| !part.is_empty())
                .collect()
        }
        _ => Vec::new(),
    }
}

/// A value in words; `None` for an empty one.
pub(super) fn scalar(value: &Value, depth: usize) -> Option<String> {
    let described = match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.as_f64() != Some(0.0) => number.to_string(),
        value if is_text(value) => plain(value),
        Value::Array(_) | Value::Object(_) if depth < MAX_DEPTH => {
            describe(value, depth + 1).join(", ")
        }
        _ => String::new(),
    };
    (!described.is_empty()).then_some(described)
}

fn kind(entry: &Value) -> AttachmentKind {
    match member(entry, "media_type") {
        Some("sticker") => AttachmentKind::Sticker,
        Some("video_message" | "animation" | "video_file") => AttachmentKind::Video,
        Some("voice_message" | "audio_file") => AttachmentKind::Audio,
        _ => member(entry, "mime_type")
            .and_then(AttachmentKind::of_media_type)
            .unwrap_or(AttachmentKind::File),
    }
}

/// A file that was not exported has a sentence in parentheses for its path.
fn place(path: &str) -> AttachmentPlace {
    match path.strip_prefix('(').and_then(|path| path.strip_suffix(')')) {
        Some(why) => AttachmentPlace::Missing(Some(why.to_owned())),
        None => AttachmentPlace::Export(path.to_owned()),
    }
}

fn file_name(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    (!path.starts_with('(')).then(|| name.to_owned())
}
