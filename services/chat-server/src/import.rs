//! Exports: files and folders that a person has saved from a network, read as a stream of events in bounded memory.

mod archive;
mod clock;
mod fingerprint;
mod identity;
mod lines;
mod signal;
mod telegram;
mod whatsapp;

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;

use crate::source::Event;

pub use archive::{Attached, attachment, attachment_within};
pub use fingerprint::fingerprint;
pub use whatsapp::DayOrder;

/// The largest single message, in bytes of the export, and of what is made of it.
pub const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// The largest WhatsApp text or Signal chat, in bytes. WhatsApp exports 40,000 messages at most, a few MiB.
pub const MAX_TEXT_BYTES: u64 = 1024 * 1024 * 1024;

/// The largest texts of a zip together, unpacked, in bytes: a zip of a few MiB can be made to unpack to anything.
pub const MAX_UNPACKED_BYTES: u64 = 128 * 1024 * 1024;

/// How many warnings are kept; of further ones only the number.
pub const MAX_WARNINGS: usize = 100;

/// What kind of export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Telegram Desktop's `result.json`, of the whole account or of one chat, or the folder it is in.
    Telegram,
    /// WhatsApp's "Export chat": a text, a zip with it, or a folder of such.
    WhatsApp,
    /// The folder that `sigexport` makes.
    Signal,
}

/// What an export does not say of itself.
#[derive(Debug, Clone)]
pub struct Options {
    /// The time zone of the telephone or computer that made the export, for the times in it that have none.
    pub zone: TimeZone,
    /// Whether 3/4 is in March or in April; `None`: found out from the whole file.
    pub day_order: Option<DayOrder>,
    /// The owner's name in the export; `None`: as far as the export tells.
    pub me: Option<String>,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Chats.
    pub chats: u64,
    /// Messages.
    pub messages: u64,
    /// Entries that could not be read, and were left out.
    pub skipped: u64,
    /// The first of what was odd: where, and why; nothing of a message. At most [`MAX_WARNINGS`].
    pub warnings: Vec<String>,
}

/// An export that cannot be read. Nothing of a message is in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// No export that is known.
    #[error("{}: {problem}", path.display())]
    Unknown {
        /// The path.
        path: PathBuf,
        /// What it is instead, and what would be right.
        problem: String,
    },
    /// It breaks off or is damaged; what came before was read.
    #[error("{}: damaged {place}: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
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
        /// How many it may have.
        most: u64,
    },
    /// The disk's word.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
}

/// Takes events, and may end the reading. Events of a chat come after its [`Event::Chat`].
pub type Take<'t> = dyn FnMut(Event) -> ControlFlow<()> + 't;

/// Hears how many bytes of how many have been read.
pub type Progress<'p> = dyn FnMut(u64, u64) + 'p;

/// What kind of export is at `path`, by its contents.
///
/// # Errors
/// [`ImportError`] for what is none, in words that say what would be.
pub fn detect(path: &Path) -> Result<Format, ImportError> {
    archive::detect(path)
}

/// Reads the export at `path` from its beginning; `format` as [`detect`] finds it if `None`. Ends early, without an
/// error, when `take` breaks.
///
/// # Errors
/// [`ImportError`]; what was given to `take` before is right.
pub fn read(
    path: &Path,
    format: Option<Format>,
    options: &Options,
    take: &mut Take<'_>,
    progress: &mut Progress<'_>,
) -> Result<Summary, ImportError> {
    let format = match format {
        Some(format) => format,
        None => detect(path)?,
    };
    let mut reading = Reading {
        options,
        take,
        progress,
        summary: Summary::default(),
    };
    match format {
        Format::Telegram => telegram::read(path, &mut reading)?,
        Format::WhatsApp => whatsapp::read(path, &mut reading)?,
        Format::Signal => signal::read(path, &mut reading)?,
    }
    Ok(reading.summary)
}

/// One reading of an export: what the parsers share.
struct Reading<'r, 't, 'p> {
    options: &'r Options,
    take: &'r mut Take<'t>,
    progress: &'r mut Progress<'p>,
    summary: Summary,
}

impl Reading<'_, '_, '_> {
    /// Gives an event. A message may have grown above the bound: damaged bytes become longer ones.
    fn take(&mut self, event: Event) -> ControlFlow<()> {
        match &event {
            Event::Chat(_) => self.summary.chats += 1,
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

    /// Something is left out.
    fn skip(&mut self, why: impl fmt::Display) {
        self.summary.skipped += 1;
        self.warn(why);
    }

    fn warn(&mut self, why: impl fmt::Display) {
        if self.summary.warnings.len() < MAX_WARNINGS {
            self.summary.warnings.push(why.to_string());
        }
    }
}

impl Format {
    /// Its name in a configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Telegram => "telegram",
            Self::WhatsApp => "whatsapp",
            Self::Signal => "signal",
        }
    }
}

fn io_at(path: &Path) -> impl FnOnce(io::Error) -> ImportError + '_ {
    move |error| ImportError::Io {
        path: path.to_owned(),
        error,
    }
}
