//! Exports: files and folders that a person has saved from a network, read as a stream of events in bounded memory.

mod archive;
mod clock;
mod identity;
mod layout;
mod lines;
mod signal;
mod telegram;
mod tree;
mod unit;
mod whatsapp;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use unit::{Layout, Unit};

use crate::event::Event;

pub use archive::attachment;
pub use layout::{Plan, plan};
pub use lines::decoded;
pub(crate) use signal::{Mention, with_mentions};
pub(crate) use telegram::{Rich, describe};
pub use whatsapp::{DayOrder, without_number};

/// The largest single message, in bytes of the export and in bytes of the resulting event.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// The largest WhatsApp text or Signal chat, in bytes. WhatsApp exports 40,000 messages at most, a few MiB.
pub const MAX_TEXT_BYTES: u64 = 1024 * 1024 * 1024;

/// The largest total of the texts in a zip, unpacked, in bytes: a zip of a few MiB can unpack to any size.
pub const MAX_UNPACKED_BYTES: u64 = 128 * 1024 * 1024;

/// How many warnings are kept; further ones are only counted.
pub const MAX_WARNINGS: usize = 100;

/// How many chats with doubtful dates are kept.
pub const MAX_DOUBTS: usize = 10_000;

/// The kind of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Telegram Desktop's `result.json`, of the whole account or of one chat, or the folder it is in.
    Telegram,
    /// WhatsApp's "Export chat": a text, a zip with the text, or a folder of these.
    WhatsApp,
    /// The folder that `sigexport` makes.
    Signal,
}

/// Facts that an export does not contain.
#[derive(Debug, Clone)]
pub struct Options {
    /// The time zone of the telephone or computer that made the export, for the times in it that have none.
    pub zone: TimeZone,
    /// Whether 3/4 is in March or in April; `None`: detected from the whole file.
    pub day_order: Option<DayOrder>,
    /// The owner's name in the export; `None`: taken from the export, if it contains the name.
    pub me: Option<String>,
}

/// The result of reading an export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of chats.
    pub chats: u64,
    /// The number of messages.
    pub messages: u64,
    /// The number of entries that could not be read and were left out.
    pub skipped: u64,
    /// The first warnings: where and why, without contents of messages. At most [`MAX_WARNINGS`].
    pub warnings: Vec<String>,
    /// Chats whose dates can be read in two ways; at most [`MAX_DOUBTS`].
    pub doubts: Vec<Doubt>,
    /// The ids of the chats that were read.
    pub chats_read: BTreeSet<String>,
    /// The files that were read, by their paths within the export.
    pub units_read: BTreeSet<String>,
    /// Those of them that end too early or are damaged, and where. What comes before was read.
    pub cut: BTreeMap<String, String>,
    /// The languages of the telephones, by their codes, as far as the names of the files show them.
    pub languages: BTreeSet<String>,
}

/// A chat whose dates can be read in two ways.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Doubt {
    /// The id of the chat.
    pub chat: String,
    /// How its dates are read.
    pub order: DayOrder,
    /// The other way in which they could be read.
    pub alternative: DayOrder,
    /// `likely` or `guess`.
    pub confidence: String,
    /// The evidence for the order.
    pub why: String,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { chat, order, alternative, confidence, why } = self;
        write!(
            f,
            "{chat}: dates are read {} ({confidence}: {why}), but could be {}",
            order.name(),
            alternative.name()
        )
    }
}

/// An export that cannot be read. The error contains nothing of a message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Not a known kind of export.
    #[error("{}: {problem}", path.display())]
    Unknown {
        /// The path.
        path: PathBuf,
        /// What it is instead, and what is expected.
        problem: String,
    },
    /// The file is truncated or damaged; the part before that was read.
    #[error("{}: damaged {place}: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The position in the file.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// A file of a message is larger than it may be.
    #[error("{}: {size} bytes are more than the {most} that are given out", path.display())]
    TooLarge {
        /// The file, within the export.
        path: PathBuf,
        /// How many bytes it has.
        size: u64,
        /// How many bytes it may have.
        most: u64,
    },
    /// An I/O error.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

/// Receives events, and may end the reading. Events of a chat come after its [`Event::Chat`].
pub type Take<'t> = dyn FnMut(Event) -> ControlFlow<()> + 't;

/// Receives how many bytes of how many have been read.
pub type Progress<'p> = dyn FnMut(u64, u64) + 'p;

/// The kinds of the exports at `path`, by their contents.
///
/// # Errors
/// [`ImportError`] if there is nothing to read; it names what was looked for and what was found.
pub fn formats(path: &Path) -> Result<BTreeSet<Format>, ImportError> {
    layout::formats(path)
}

/// Reads all exports of one kind at `path` from their beginning; if `format` is `None`, of the first kind found.
/// Ends early, without an error, when `take` breaks.
///
/// # Errors
/// [`ImportError`]; the events that `take` received before are valid.
pub fn read(
    path: &Path,
    format: Option<Format>,
    options: &Options,
    take: &mut Take<'_>,
    progress: &mut Progress<'_>,
) -> Result<Summary, ImportError> {
    carry_out(&plan(path, format, options, None)?, options, take, progress)
}

/// Reads the new exports of a plan. If one of several cannot be read, it is left out and named.
///
/// # Errors
/// [`ImportError`] of the first new export, if none of them can be read.
pub fn carry_out(
    plan: &Plan,
    options: &Options,
    take: &mut Take<'_>,
    progress: &mut Progress<'_>,
) -> Result<Summary, ImportError> {
    let new = || plan.units.iter().filter(|(_, is_new)| *is_new);
    let mut reading = Reading {
        options,
        take,
        progress,
        summary: Summary::default(),
        base: 0,
        total: new().map(|(unit, _)| unit.size()).sum(),
        before: 0,
    };
    for (name, why) in &plan.others {
        reading.skip(format_args!("{name}: {why}: left out"));
    }
    let (mut failed, mut good) = (None, 0);
    let mut note = |reading: &mut Reading<'_, '_, '_>,
                    unit: &Unit,
                    read: Result<ControlFlow<()>, ImportError>| {
        let ended = match read {
            Ok(ended) => {
                good += 1;
                ended
            }
            // A part of an export is better than nothing, and it is marked.
            Err(ImportError::Damaged { place, problem, .. })
                if reading.summary.messages > reading.before =>
            {
                good += 1;
                reading.cut(unit, format!("{place}: {problem}"));
                ControlFlow::Continue(())
            }
            Err(error) if plan.units.len() > 1 => {
                reading.skip(format_args!("{}: {error}: left out", unit.key()));
                failed.get_or_insert(error);
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        };
        reading.summary.units_read.insert(unit.key());
        reading.before = reading.summary.messages;
        reading.base += unit.size();
        reading.report(0);
        ended
    };
    if plan.units.iter().any(|(unit, _)| unit.layout == Layout::WhatsApp) {
        let _ = whatsapp::read(&plan.units, &mut reading, &mut note);
    } else {
        for (unit, _) in new() {
            let read = match unit.layout {
                Layout::TelegramJson => telegram::read(unit, &mut reading),
                Layout::TelegramHtml => telegram::read_pages(unit, &mut reading),
                Layout::SignalApp => signal::read_app(unit, &mut reading),
                Layout::SignalChat | Layout::WhatsApp => signal::read(unit, &mut reading),
            };
            if note(&mut reading, unit, read).is_break() {
                break;
            }
        }
    }
    match failed {
        Some(error) if good == 0 => Err(error),
        _ => Ok(reading.summary),
    }
}

/// The state of one reading of an export, which the parsers share.
struct Reading<'r, 't, 'p> {
    options: &'r Options,
    take: &'r mut Take<'t>,
    progress: &'r mut Progress<'p>,
    summary: Summary,
    /// The bytes of the exports before this one, and of all.
    base: u64,
    total: u64,
    /// How many messages were read before the current export.
    before: u64,
}

impl Reading<'_, '_, '_> {
    /// Sends an event. A message may have grown above the bound, since the replacement of a damaged byte is longer.
    fn take(&mut self, event: Event) -> ControlFlow<()> {
        match &event {
            Event::Chat(chat) => {
                self.summary.chats += u64::from(self.summary.chats_read.insert(chat.id.clone()))
            }
            Event::Message { chat, message } if message.bytes() > MAX_MESSAGE_BYTES => {
                let size = message.bytes();
                self.skip(format_args!(
                    "{chat}: a message of {size} bytes is larger than {MAX_MESSAGE_BYTES}: left out"
                ));
                return ControlFlow::Continue(());
            }
            Event::Message { .. } => self.summary.messages += 1,
            _ => {}
        }
        (self.take)(event)
    }

    /// Sets how many bytes of the current export are read.
    fn report(&mut self, done: u64) {
        (self.progress)((self.base + done).min(self.total), self.total);
    }

    /// Records that an entry was left out.
    fn skip(&mut self, why: impl fmt::Display) {
        self.summary.skipped += 1;
        self.warn(why);
    }

    /// Records that a file ends too early.
    fn cut(&mut self, unit: &Unit, why: String) {
        self.skip(format_args!("{}: damaged {why}: what follows is missing", unit.key()));
        self.summary.cut.insert(unit.key(), why);
    }

    /// Records that a chat's dates can be read in two ways.
    fn doubt(&mut self, doubt: Doubt) {
        if self.summary.doubts.len() < MAX_DOUBTS {
            self.summary.doubts.push(doubt);
        }
    }

    fn warn(&mut self, why: impl fmt::Display) {
        if self.summary.warnings.len() < MAX_WARNINGS {
            self.summary.warnings.push(why.to_string());
        }
    }
}

impl Format {
    /// Its name in a configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Telegram => "telegram",
            Self::WhatsApp => "whatsapp",
            Self::Signal => "signal",
        }
    }
}

fn io_at(path: &Path) -> impl FnOnce(io::Error) -> ImportError + '_ {
    move |error| ImportError::Io { path: path.to_owned(), error }
}
