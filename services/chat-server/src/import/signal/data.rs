//! `data.json`: one object per line, in spite of its name.

use std::io::{self, Read};
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::{Folder, SignalEntry, Take, gather, moment};
use crate::import::Reading;
use crate::import::lines::{Line, Lines};
use crate::model::{Attachment, AttachmentKind, AttachmentPlace};

pub(super) fn read<R: Read>(
    mut lines: Lines<R>,
    folder: &Folder,
    reading: &mut Reading<'_, '_, '_>,
    take: &mut Take<'_>,
) -> io::Result<ControlFlow<()>> {
    let mut number = 0_u64;
    while let Some(line) = lines.next()? {
        number += 1;
        let entry = match &line {
            Line::Text(line) if line.trim().is_empty() => continue,
            Line::Text(line) => serde_json::from_str::<Map<String, Value>>(line).ok(),
            Line::TooLong => None,
        };
        match entry.and_then(|object| entry_of(&object, folder)) {
            Some(entry) => {
                if take(reading, entry).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            None => reading.skip(format_args!(
                "{}data.json: line {number} is not a message: left out",
                folder.prefix
            )),
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn entry_of(object: &Map<String, Value>, folder: &Folder) -> Option<SignalEntry> {
    let text = |name: &str| object.get(name).and_then(said);
    let flag = |name: &str| {
        object.get(name).is_some_and(|value| value.as_bool().unwrap_or(!value.is_null()))
    };
    let list = |name: &str| object.get(name).and_then(Value::as_array).into_iter().flatten();
    let sender = text("sender").unwrap_or_default().to_owned();
    let body = text("body").unwrap_or_default().trim_end().to_owned();
    let deleted = flag("deleted");
    let action = flag("call").then(|| {
        let (action, words) =
            if flag("missed") { ("missed_call", "missed call") } else { ("call", "call") };
        let words = if body.is_empty() { words } else { &body };
        (action.to_owned(), format!("{sender}: {words}"))
    });
    let mut attachments: Vec<Attachment> =
        list("attachments").filter_map(|it| attachment(it, folder)).collect();
    attachments.extend(sticker(object.get("sticker"), folder));
    let (time, at) = moment(text("date")?)?;
    Some(SignalEntry {
        time,
        at,
        text: if deleted || action.is_some() { String::new() } else { body },
        quote: text("quote").map(unquoted),
        reactions: gather(list("reactions").filter_map(reaction)),
        attachments,
        deleted,
        edited: list("edits").next().is_some(),
        action,
        sender,
    })
}

/// A string that is not empty.
fn said(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

/// A person and an emoji: `["Anna", "👍"]`, or an object with these names. A person without a name is null.
fn reaction(reaction: &Value) -> Option<(String, String)> {
    let member = |name: &str, at: usize| reaction.get(name).or_else(|| reaction.get(at));
    let name = member("name", 0).and_then(said).unwrap_or_default();
    Some((name.to_owned(), member("emoji", 1)?.as_str()?.to_owned()))
}

/// Quotes are written as Markdown.
fn unquoted(quote: &str) -> String {
    let lines = quote.lines().map(|line| {
        let line = line.strip_prefix('>').unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn attachment(attachment: &Value, folder: &Folder) -> Option<Attachment> {
    let member = |name: &str| attachment.get(name).and_then(said);
    // If all attachments are missing, one without a name and of this kind stands for them.
    if let Some(why) = member("missing_kind") {
        let name = member("name").or_else(|| member("path")?.rsplit('/').next());
        return Some(missing(why, name));
    }
    let path = member("path")?;
    let name = member("name").or_else(|| path.rsplit('/').next())?;
    let place = AttachmentPlace::Export(folder.path(name, path.trim_start_matches("./")));
    Some(Attachment::new(AttachmentKind::of_file(name), Some(name.to_owned()), place))
}

/// What was left out: `media` (pictures, films), `attachment`, or a reason that some versions give.
pub(super) fn missing(why: &str, name: Option<&str>) -> Attachment {
    let kind = name.map_or(AttachmentKind::File, AttachmentKind::of_file);
    let place = AttachmentPlace::Missing(Some(why.to_owned()));
    Attachment::new(kind, name.map(str::to_owned), place)
}

/// A sticker is an object with its pack, its number in it, and an emoji; older versions have the emoji alone.
fn sticker(sticker: Option<&Value>, folder: &Folder) -> Option<Attachment> {
    let sticker = sticker.filter(|value| !value.is_null() && value.as_str() != Some(""))?;
    let member = |name: &str| sticker.get(name).and_then(said);
    let path = member("packId")
        .zip(member("id"))
        .zip(member("extension"))
        .map(|((pack, id), end)| format!("{pack}/{id}.{end}"));
    Some(folder.sticker(sticker.as_str().or_else(|| member("emoji")), path.as_deref()))
}
