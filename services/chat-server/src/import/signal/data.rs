//! `data.json`: one object per line, in spite of its name.

use std::io::{self, Read};
use std::ops::ControlFlow;

use serde_json::Value;

use super::{Folder, SignalEntry, Take, gather, moment};
use crate::import::Reading;
use crate::import::lines::{Line, Lines};
use crate::json::{list, member};
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
            Line::Text(line) => serde_json::from_str::<Value>(line).ok().filter(Value::is_object),
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

fn entry_of(object: &Value, folder: &Folder) -> Option<SignalEntry> {
    let text = |name: &str| member(object, name);
    let flag = |name: &str| {
        object.get(name).is_some_and(|value| value.as_bool().unwrap_or(!value.is_null()))
    };
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
        list(object, "attachments").filter_map(|it| attachment(it, folder)).collect();
    attachments.extend(sticker(object.get("sticker"), folder));
    let (time, at) = moment(text("date")?)?;
    Some(SignalEntry {
        time,
        at,
        text: if deleted || action.is_some() { String::new() } else { body },
        quote: text("quote").map(unquoted),
        reactions: gather(list(object, "reactions").filter_map(reaction)),
        attachments,
        deleted,
        edited: list(object, "edits").next().is_some(),
        action,
        sender,
    })
}

/// A person and an emoji: `["Anna", "👍"]`, or an object with these names. A person without a name is null.
fn reaction(reaction: &Value) -> Option<(String, String)> {
    let part = |name: &str, at: usize| reaction.get(name).or_else(|| reaction.get(at))?.as_str();
    Some((part("name", 0).unwrap_or_default().to_owned(), part("emoji", 1)?.to_owned()))
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
    let member = |name: &str| member(attachment, name);
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
    let member = |name: &str| member(sticker, name);
    let path = member("packId")
        .zip(member("id"))
        .zip(member("extension"))
        .map(|((pack, id), end)| format!("{pack}/{id}.{end}"));
    Some(folder.sticker(sticker.as_str().or_else(|| member("emoji")), path.as_deref()))
}
