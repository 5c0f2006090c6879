//! `chat.md`: `[2023-01-31 18:03:01] Anna: text`, continued lines, quotes, reactions, links to files.
//!
//! What the format cannot distinguish: a name with a colon and a blank in it from the text after it; a line of a text
//! that looks like the head of a message, or like reactions; calls, which are words in it.

use std::io::{self, Read};
use std::ops::ControlFlow;

use super::data::missing;
use super::{Folder, SignalEntry, Take, gather, moment};
use crate::import::lines::{Line, Lines};
use crate::import::{MAX_MESSAGE_BYTES, Reading};
use crate::model::{Attachment, AttachmentKind, AttachmentPlace};

/// The text in place of a deleted message.
const DELETED: &str = "(This message was deleted)";

/// The beginning of a link's path within the export.
const LINK: &str = "](.";

/// How the link of a file continues.
const MEDIA: &str = "/media/";

/// How the link of a sticker continues.
const STICKER: &str = "./exported_stickers/";

/// The texts in place of files that were not exported, and their kinds.
const LEFT_OUT: [(&str, &str); 2] =
    [("(media not exported)", "media"), ("(attachment not exported)", "attachment")];

pub(super) fn read<R: Read>(
    mut lines: Lines<R>,
    folder: &Folder,
    reading: &mut Reading<'_, '_, '_>,
    take: &mut Take<'_>,
) -> io::Result<ControlFlow<()>> {
    let mut open: Option<(SignalEntry, String)> = None;
    let mut number = 0_u64;
    while let Some(line) = lines.next()? {
        number += 1;
        let line = match &line {
            Line::Text(line) => line.as_str(),
            Line::TooLong => {
                reading.skip(format_args!(
                    "{}chat.md: line {number} is too long: left out",
                    folder.prefix
                ));
                continue;
            }
        };
        match (header(line), &mut open) {
            (Some((entry, text)), _) => {
                let begun = (entry, text.to_owned());
                if let Some((entry, text)) = open.replace(begun)
                    && take(reading, finish(entry, &text, folder)).is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
            }
            (None, Some((_, text))) if text.len() + line.len() < MAX_MESSAGE_BYTES => {
                text.push('\n');
                text.push_str(line);
            }
            (None, None) if line.trim().is_empty() => {}
            (None, _) => {
                reading.skip(format_args!(
                    "{}chat.md: line {number} is not part of a message, or of one that is too long: left out",
                    folder.prefix
                ));
            }
        }
    }
    match open {
        Some((entry, text)) => Ok(take(reading, finish(entry, &text, folder))),
        None => Ok(ControlFlow::Continue(())),
    }
}

/// Whether a line begins a message.
pub(super) fn is_header(line: &str) -> bool {
    header(line).is_some()
}

/// A line that begins a message, and its contents.
fn header(line: &str) -> Option<(SignalEntry, &str)> {
    let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
    let (time, at) = moment(time)?;
    let rest = rest.strip_prefix(' ')?;
    let (sender, text) =
        rest.split_once(": ").or_else(|| Some((rest.trim_end().strip_suffix(':')?, "")))?;
    let entry = SignalEntry { time, at, sender: sender.to_owned(), ..SignalEntry::default() };
    Some((entry, text))
}

fn finish(mut entry: SignalEntry, text: &str, folder: &Folder) -> SignalEntry {
    if text.trim() == DELETED {
        entry.deleted = true;
        return entry;
    }
    let (quote, text) = quoted(text);
    entry.quote = quote;
    let mut kept = String::new();
    let mut reactions = Vec::new();
    for (number, line) in text.split('\n').enumerate() {
        let (found, rest) = match reactions_of(line) {
            Some((found, rest)) => (found, rest),
            None => (Vec::new(), line),
        };
        let marked = !found.is_empty() && rest.trim().is_empty();
        reactions.extend(found);
        let line = without_files(rest, folder, &mut entry.attachments);
        let line = without_words(&line, folder, &mut entry.attachments);
        if number > 0 && !marked {
            kept.push('\n');
        }
        // Two blanks end a line in Markdown.
        kept.push_str(line.strip_suffix("  ").unwrap_or(&line));
    }
    entry.text = kept.trim_end().to_owned();
    entry.reactions = gather(reactions.into_iter());
    entry
}

/// The quoted message, and the text. A quote is in separate lines, after the head.
fn quoted(text: &str) -> (Option<String>, &str) {
    let (first, below) = text.split_once('\n').unwrap_or((text, ""));
    let mut rest = below.trim_start_matches(['\n', ' ']);
    if !first.trim().is_empty() || !rest.starts_with('>') {
        return (None, text);
    }
    let mut quote = String::new();
    while let Some(line) = rest.strip_prefix('>') {
        let (line, after) = line.split_once('\n').unwrap_or((line, ""));
        let line = line.strip_prefix(' ').unwrap_or(line);
        quote.push_str(line.strip_suffix("  ").unwrap_or(line));
        quote.push('\n');
        rest = after;
    }
    let rest = rest.strip_prefix('\n').unwrap_or(rest);
    (Some(quote.trim().to_owned()), rest)
}

/// `(- Anna: 👍, Bert: 😂 -)` at the beginning of a line, and what follows it.
fn reactions_of(line: &str) -> Option<(Vec<(String, String)>, &str)> {
    let (inner, rest) = line.strip_prefix("(- ")?.split_once(" -)")?;
    let mut reactions = Vec::new();
    // A name may have a comma in it.
    let mut name = String::new();
    for part in inner.split(", ") {
        let pair = part.rsplit_once(": ");
        name.push_str(pair.map_or(part, |(end, _)| end));
        match pair {
            Some((_, emoji)) => {
                reactions.push((std::mem::take(&mut name), emoji.trim().to_owned()));
            }
            None => name.push_str(", "),
        }
    }
    name.is_empty().then_some((reactions, rest))
}

/// Removes `(( 👍 ))`, a sticker without a file, and the words for missing files from a line.
fn without_words(line: &str, folder: &Folder, attachments: &mut Vec<Attachment>) -> String {
    let inner = line.trim().strip_prefix("(( ");
    if let Some(label) = inner.and_then(|line| line.strip_suffix(" ))")) {
        attachments.push(folder.sticker(Some(label), None));
        return String::new();
    }
    for (words, kind) in LEFT_OUT {
        if let Some(before) = line.trim_end().strip_suffix(words) {
            attachments.push(missing(kind, None));
            return before.to_owned();
        }
    }
    line.to_owned()
}

/// Removes `[name](./media/…)`, `![name](./media/…)` and stickers from a line.
fn without_files(line: &str, folder: &Folder, attachments: &mut Vec<Attachment>) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some((before, from)) = rest.split_once(LINK) {
        let file = from.strip_prefix(MEDIA).map(|from| (true, from));
        let either = file.or_else(|| Some((false, from.strip_prefix(STICKER)?)));
        let Some((is_file, from)) = either else {
            kept.push_str(before);
            kept.push_str(LINK);
            rest = from;
            continue;
        };
        let Some((before, name, path, after)) = link(before, from) else {
            break;
        };
        kept.push_str(before.strip_suffix('!').filter(|_| is_file).unwrap_or(before));
        attachments.push(if is_file {
            let path = format!("media/{path}");
            let name =
                if name.is_empty() { path.rsplit('/').next().unwrap_or_default() } else { name };
            let place = AttachmentPlace::Export(folder.path(name, &path));
            Attachment::new(AttachmentKind::of_file(name), Some(name.to_owned()), place)
        } else {
            folder.sticker(Some(name).filter(|name| !name.is_empty()), Some(path))
        });
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The text before a link, its words, its path, and the text after it. A file is named in both, so brackets and
/// parentheses in its name do no harm.
fn link<'l>(before: &'l str, from: &'l str) -> Option<(&'l str, &'l str, &'l str, &'l str)> {
    let (first_before, first_name) = before.rsplit_once('[')?;
    let (mut text, mut name) = (first_before, first_name);
    // A name has few brackets.
    for _ in 0..8 {
        let path = name.replace(char::is_whitespace, "%20");
        if let Some(after) = from.strip_prefix(&*path).and_then(|rest| rest.strip_prefix(')')) {
            return Some((text, name, from.get(..path.len())?, after));
        }
        let Some((shorter, _)) = text.rsplit_once('[') else {
            break;
        };
        text = shorter;
        name = before.get(shorter.len() + 1..)?;
    }
    let (path, after) = from.split_once(')')?;
    Some((first_before, first_name, path, after))
}
