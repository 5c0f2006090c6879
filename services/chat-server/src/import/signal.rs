//! Signal: the app's own export, and the folder of `sigexport`, which has a folder for each chat with `data.json` (an
//! object a line) or only `chat.md`, in old versions `index.md`.

mod app;
mod data;
mod folder;
mod markdown;
mod mention;
mod update;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::DateTime;
use sha2::{Digest as _, Sha256};

use super::clock::Clock;
use super::identity::Identities;
use super::lines::Lines;
use super::unit::Unit;
use super::{ImportError, Reading, io_at};
use crate::event::Event;
use crate::model::{Body, Chat, ChatKind, Message, Participant, Reaction};

pub(super) use app::read as read_app;
pub(crate) use mention::{Mention, with_mentions};

use folder::Folder;

/// The owner's name in these exports.
const ME: &str = "Me";

/// The name of a sender that sigexport does not know.
const NOBODY: &str = "No-Sender";

/// How many senders are remembered to decide what kind of chat it is.
const MAX_SENDERS: usize = 1_000;

/// An entry of a chat, from either file.
#[derive(Debug, Default)]
struct SignalEntry {
    time: DateTime,
    /// The timestamp, if the file has it.
    at: Option<Timestamp>,
    sender: String,
    text: String,
    /// The text of the quoted message.
    quote: Option<String>,
    reactions: Vec<Reaction>,
    attachments: Vec<crate::model::Attachment>,
    deleted: bool,
    /// Whether earlier versions of it are known.
    edited: bool,
    /// What happened if it is not a message: a call.
    action: Option<(String, String)>,
}

/// Takes entries.
type Take<'t> = dyn FnMut(&mut Reading<'_, '_, '_>, SignalEntry) -> ControlFlow<()> + 't;

/// Whether a text begins as `chat.md` does.
pub(super) fn looks_like(text: &str) -> bool {
    text.lines().take(20).any(markdown::is_header)
}

/// Reads a chat.
pub(super) fn read(
    unit: &Unit,
    reading: &mut Reading<'_, '_, '_>,
) -> Result<ControlFlow<()>, ImportError> {
    let path = unit.tree.path().join(&unit.file);
    let name = path
        .parent()
        .and_then(Path::file_name)
        .map_or_else(|| "Signal".to_owned(), |name| name.to_string_lossy().into_owned());
    let place = Folder::new(&unit.prefix, unit.folder());
    let mut senders = BTreeSet::new();
    let entries = |reading: &mut Reading<'_, '_, '_>, take: &mut Take<'_>| {
        unit.tree.read(&unit.file, |file, _| {
            let lines = Lines::new(file).map_err(io_at(&path))?;
            if unit.file.ends_with(".json") {
                data::read(lines, &place, reading, take)
            } else {
                markdown::read(lines, &place, reading, take)
            }
            .map_err(io_at(&path))
        })
    };
    // The first pass finds the kind of chat and gives no warnings; the second one does.
    let mut ignore = |_: Event| ControlFlow::Continue(());
    let mut no_progress = |_: u64, _: u64| {};
    let mut silent = Reading {
        options: reading.options,
        take: &mut ignore,
        progress: &mut no_progress,
        summary: super::Summary::default(),
        base: 0,
        total: 0,
        before: 0,
    };
    let _all = entries(&mut silent, &mut |_, entry| {
        let is_somebody = entry.action.is_none() && entry.sender != NOBODY;
        if senders.len() < MAX_SENDERS && is_somebody {
            senders.insert(digest(&entry.sender));
        }
        ControlFlow::Continue(())
    })?;
    let chat = Chat {
        id: name.clone(),
        name,
        kind: if senders.len() > 2 { ChatKind::Group } else { ChatKind::Direct },
        participants: None,
    };
    let id = chat.id.clone();
    if reading.take(Event::Chat(chat)).is_break() {
        return Ok(ControlFlow::Break(()));
    }
    let mut known = EarlierMessages {
        clock: Clock::new(&reading.options.zone),
        identities: Identities::default(),
        recent: VecDeque::new(),
    };
    entries(reading, &mut |reading, entry| {
        let time = entry.time;
        match message(&id, entry, reading, &mut known) {
            Some(message) => {
                reading.take(Event::Message { chat: id.clone(), message: Box::new(message) })
            }
            None => {
                reading.skip(format_args!(
                    "{id}: the time {time} is impossible: a message is left out"
                ));
                ControlFlow::Continue(())
            }
        }
    })
}

/// What is known about earlier messages.
struct EarlierMessages {
    clock: Clock,
    identities: Identities,
    /// The digests of the latest texts, and their messages: a quote does not name its message.
    recent: VecDeque<([u8; 32], String)>,
}

/// How many messages back a quoted message is searched for.
const MAX_RECENT: usize = 1_000;

fn message(
    chat: &str,
    entry: SignalEntry,
    reading: &Reading<'_, '_, '_>,
    known: &mut EarlierMessages,
) -> Option<Message> {
    let timestamp = match entry.at {
        Some(at) => at,
        None => known.clock.timestamp(entry.time)?,
    };
    // Seconds and order identify messages, not their words, so that one that was edited or deleted since an earlier
    // export replaces its older version. Fractions of seconds are only in one of the two files.
    let time = entry.time.with().subsec_nanosecond(0).build().ok()?;
    let id = known.identities.next(chat, time, &entry.sender, "");
    let reply_to = entry.quote.as_ref().and_then(|quote| {
        let quoted = digest(&plain(quote));
        let mut latest = known.recent.iter().rev();
        let found = latest.find(|(text, _)| !quote.is_empty() && *text == quoted);
        found.map(|(_, id)| id.clone())
    });
    // A reply to a file or to a very old message names no message: then the quote itself is shown.
    let quote = entry.quote.filter(|quote| reply_to.is_none() && !quote.is_empty());
    let text = match quote {
        Some(quote) => format!("> {}\n{}", quote.replace('\n', "\n> "), entry.text),
        None => entry.text.clone(),
    };
    if known.recent.len() == MAX_RECENT {
        known.recent.pop_front();
    }
    known.recent.push_back((digest(&plain(&entry.text)), id.clone()));
    let is_me = entry.sender == ME || reading.options.me.as_deref() == Some(&entry.sender);
    Some(Message {
        id,
        timestamp,
        sender: (!entry.sender.is_empty() && entry.sender != NOBODY).then(|| Participant {
            id: entry.sender.clone(),
            name: entry.sender,
            is_me,
            ..Participant::default()
        }),
        body: match entry.action {
            Some((action, text)) => Body::Service { action, text },
            None => Body::Text(text),
        },
        reply_to,
        edited: entry.edited.then_some(timestamp),
        deleted: entry.deleted,
        reactions: entry.reactions,
        attachments: entry.attachments,
        ..Message::default()
    })
}

/// Merges reactions with the same emoji: the file has one for each person.
fn gather(reactions: impl Iterator<Item = (String, String)>) -> Vec<Reaction> {
    let mut gathered: Vec<Reaction> = Vec::new();
    let mut places = HashMap::new();
    for (name, emoji) in reactions {
        let place = *places.entry(emoji).or_insert_with_key(|emoji| {
            gathered.push(Reaction { emoji: emoji.clone(), count: 0, by: Vec::new() });
            gathered.len() - 1
        });
        if let Some(reaction) = gathered.get_mut(place) {
            reaction.count += 1;
            let name = Some(name).filter(|name| !name.is_empty());
            reaction.by.extend(name);
        }
    }
    gathered
}

/// Text as a quote has it: without backticks, which are left out of bodies, and blanks at the ends of lines.
fn plain(text: &str) -> String {
    let lines = text.trim().lines().map(str::trim_end);
    lines.collect::<Vec<_>>().join("\n").replace('`', "")
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// A time as these files write it: local, seconds may be missing, a comma may follow the day. With an offset it is a
/// timestamp, too.
fn moment(text: &str) -> Option<(DateTime, Option<Timestamp>)> {
    let text = text.trim().replace(", ", " ");
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some((jiff::tz::Offset::UTC.to_datetime(at), Some(at)));
    }
    // A day alone is not a time.
    let local = text.parse().ok().filter(|_| text.contains(':'))?;
    Some((local, None))
}
