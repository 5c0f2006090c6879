//! `chat.md`: `[2023-01-31 18:03:01] Anna: text`, lines that go on, quotes, reactions, links to files.

use std::io::{self, Read};
use std::ops::ControlFlow;

use super::{Entry, gather, kind_of, local_time};
use crate::import::Reading;
use crate::import::lines::Lines;
use crate::model::{Attachment, AttachmentPlace};

/// What stands for a message that was taken back.
const DELETED: &str = "(This message was deleted)";

pub(super) fn read<R: Read>(
    mut lines: Lines<R>,
    prefix: &str,
    reading: &mut Reading<'_, '_, '_>,
    take: &mut dyn FnMut(&mut Reading<'_, '_, '_>, Entry) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    let mut open: Option<(Entry, Vec<String>)> = None;
    let mut number = 0_u64;
    while let Some(line) = lines.next()? {
        number += 1;
        match (header(&line), &mut open) {
            (Some((entry, text)), _) => {
                let begun = (entry, vec![text.to_owned()]);
                if let Some((entry, lines)) = open.replace(begun)
                    && take(reading, finish(entry, &lines, prefix)).is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
            }
            (None, Some((_, lines))) => lines.push(line),
            (None, None) if line.trim().is_empty() => {}
            (None, None) => {
                reading.skip(format_args!(
                    "{prefix}chat.md: line {number} belongs to no message: left out"
                ));
            }
        }
    }
    match open {
        Some((entry, lines)) => Ok(take(reading, finish(entry, &lines, prefix))),
        None => Ok(ControlFlow::Continue(())),
    }
}

/// A line that begins a message, and what stands in it.
fn header(line: &str) -> Option<(Entry, &str)> {
    let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
    let time = local_time(time)?;
    let rest = rest.trim_start();
    let (sender, text) = rest
        .split_once(": ")
        .or_else(|| Some((rest.trim_end().strip_suffix(':')?, "")))?;
    let entry = Entry {
        time,
        sender: sender.to_owned(),
        ..Entry::default()
    };
    Some((entry, text))
}

fn finish(mut entry: Entry, lines: &[String], prefix: &str) -> Entry {
    let mut text = Vec::new();
    let mut quote = Vec::new();
    let mut reactions = Vec::new();
    for line in lines {
        let line = line.trim_end();
        if let Some(quoted) = line.strip_prefix('>') {
            quote.push(quoted.trim());
        } else if let Some(found) = reactions_of(line) {
            reactions.extend(found);
        } else {
            text.push(without_files(line, prefix, &mut entry.attachments));
        }
    }
    let text = text.join("\n");
    let text = text.trim();
    entry.deleted = text == DELETED;
    entry.text = if entry.deleted {
        String::new()
    } else {
        text.to_owned()
    };
    entry.quote = (!quote.is_empty()).then(|| quote.join("\n").trim().to_owned());
    entry.reactions = gather(reactions.into_iter());
    entry
}

/// `(- Anna: 👍, Bert: 😂 -)`
fn reactions_of(line: &str) -> Option<Vec<(String, String)>> {
    let inner = line.trim().strip_prefix("(-")?.strip_suffix("-)")?;
    let pair = |pair: &str| {
        let (name, emoji) = pair.rsplit_once(':')?;
        Some((name.trim().to_owned(), emoji.trim().to_owned()))
    };
    inner.split(',').map(pair).collect()
}

/// Takes `[name](./media/…)` and `![name](./media/…)` out of a line.
fn without_files(line: &str, prefix: &str, attachments: &mut Vec<Attachment>) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some((before, from)) = rest.split_once("](./media/") {
        let link = before.rsplit_once('[').zip(from.split_once(')'));
        let Some(((before, name), (path, after))) = link else {
            break;
        };
        kept.push_str(before.strip_suffix('!').unwrap_or(before));
        let path = format!("media/{path}");
        let name = if name.is_empty() {
            path.rsplit('/').next().unwrap_or_default()
        } else {
            name
        };
        attachments.push(Attachment {
            kind: kind_of(name),
            name: Some(name.to_owned()),
            media_type: None,
            size: None,
            seconds: None,
            place: AttachmentPlace::Export(format!("{prefix}{path}")),
        });
        rest = after;
    }
    kept.push_str(rest);
    kept.trim_end().to_owned()
}
