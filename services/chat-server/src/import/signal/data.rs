//! `data.json`: an object a line, in spite of its name.

use std::io::{self, Read};
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::{Entry, gather, local_time};
use crate::import::Reading;
use crate::import::lines::Lines;
use crate::model::{Attachment, AttachmentKind, AttachmentPlace};

pub(super) fn read<R: Read>(
    mut lines: Lines<R>,
    prefix: &str,
    reading: &mut Reading<'_, '_, '_>,
    take: &mut dyn FnMut(&mut Reading<'_, '_, '_>, Entry) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    let mut number = 0_u64;
    while let Some(line) = lines.next()? {
        number += 1;
        if line.trim().is_empty() {
            continue;
        }
        let entry = serde_json::from_str::<Map<String, Value>>(&line).ok();
        match entry.and_then(|object| entry_of(&object, prefix)) {
            Some(entry) => {
                if take(reading, entry).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            None => reading.skip(format_args!(
                "{prefix}data.json: line {number} is no message: left out"
            )),
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn entry_of(object: &Map<String, Value>, prefix: &str) -> Option<Entry> {
    let text = |name: &str| {
        object
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let flag = |name: &str| {
        object
            .get(name)
            .is_some_and(|value| value.as_bool().unwrap_or(!value.is_null()))
    };
    let list = |name: &str| {
        object
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let sender = text("sender").unwrap_or_default().to_owned();
    let call = flag("call").then(|| match flag("missed") {
        true => ("missed_call".to_owned(), format!("{sender}: missed call")),
        false => ("call".to_owned(), format!("{sender}: call")),
    });
    let reaction = |reaction: &Value| {
        let member = |name: &str| Some(reaction.get(name)?.as_str()?.to_owned());
        Some((member("name")?, member("emoji")?))
    };
    let mut attachments: Vec<Attachment> = list("attachments")
        .filter_map(|it| attachment(it, prefix))
        .collect();
    attachments.extend(sticker(object.get("sticker")));
    Some(Entry {
        time: local_time(text("date")?)?,
        text: text("body").unwrap_or_default().trim_end().to_owned(),
        quote: text("quote").map(unquoted),
        reactions: gather(list("reactions").filter_map(reaction)),
        attachments,
        deleted: flag("deleted"),
        action: call,
        sender,
    })
}

/// Quotes are written as Markdown.
fn unquoted(quote: &str) -> String {
    let lines = quote
        .lines()
        .map(|line| line.trim_start_matches('>').trim());
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn attachment(attachment: &Value, prefix: &str) -> Option<Attachment> {
    let member = |name: &str| {
        attachment
            .get(name)
            .and_then(Value::as_str)
            .filter(|it| !it.is_empty())
    };
    let name = member("name").or_else(|| member("path")?.rsplit('/').next())?;
    let place = match (member("path"), member("missing_kind")) {
        (Some(path), None) => {
            AttachmentPlace::Export(format!("{prefix}{}", path.trim_start_matches("./")))
        }
        (_, why) => AttachmentPlace::Missing(why.map(str::to_owned)),
    };
    Some(Attachment {
        kind: kind_of(name),
        name: Some(name.to_owned()),
        media_type: None,
        size: None,
        seconds: None,
        place,
    })
}

fn sticker(sticker: Option<&Value>) -> Option<Attachment> {
    let sticker = sticker.filter(|value| !value.is_null() && value.as_str() != Some(""))?;
    Some(Attachment {
        kind: AttachmentKind::Sticker,
        name: sticker.as_str().map(str::to_owned),
        media_type: None,
        size: None,
        seconds: None,
        place: AttachmentPlace::Missing(None),
    })
}

/// By the end of its name.
pub(in crate::import) fn kind_of(name: &str) -> AttachmentKind {
    let end = name
        .rsplit_once('.')
        .map(|(_, end)| end.to_ascii_lowercase());
    match end.as_deref() {
        Some("jpg" | "jpeg" | "png" | "gif" | "heic" | "bmp" | "tiff") => AttachmentKind::Image,
        Some("webp") => AttachmentKind::Sticker,
        Some("mp4" | "mov" | "3gp" | "mkv" | "webm" | "avi") => AttachmentKind::Video,
        Some("opus" | "ogg" | "m4a" | "mp3" | "aac" | "wav" | "amr") => AttachmentKind::Audio,
        _ => AttachmentKind::File,
    }
}
