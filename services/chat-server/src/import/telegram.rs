//! Telegram Desktop's `result.json`: the whole account or one chat, read message by message.
//!
//! Ids of chats are written as the Bot API writes them, so that they are unique and the same in both: `123` a person,
//! `-123` a group, `-100123` a supergroup or a channel. What is not kept: buttons below messages, thumbnails, the bot by
//! which a message was sent, the signature of an author in a channel, which words are bold or a mention of whom.

mod chat;
mod media;
mod message;
mod pages;
mod repair;
mod service;
mod stream;
mod text;

use std::cell::Cell;
use std::io::{BufReader, ErrorKind, Read};
use std::ops::ControlFlow;

use super::layout::Unit;
use super::{ImportError, Reading, Summary};
pub(super) use pages::{pages, read as read_pages};
use repair::Repaired;

/// The budget of bytes that one message may take, shared by the reader that counts and the parser that knows where a
/// message begins.
type Budget = Cell<usize>;

pub(super) fn read(
    unit: &Unit,
    reading: &mut Reading<'_, '_, '_>,
) -> Result<ControlFlow<()>, ImportError> {
    let walked = walk(unit, reading, None, false)?;
    if !walked.sorted {
        return Ok(walked.ended);
    }
    // Chats before the first sorted one were given already; they come once more, and count once.
    reading.summary = Summary::default();
    // What chats say of themselves stands behind their messages: once to learn it, once to read.
    let found = walk(unit, reading, None, true)?.found;
    Ok(walk(unit, reading, Some(found), false)?.ended)
}

/// What a walk has found.
struct Walked {
    sorted: bool,
    ended: ControlFlow<()>,
    found: stream::Found,
}

fn walk(
    unit: &Unit,
    reading: &mut Reading<'_, '_, '_>,
    found: Option<stream::Found>,
    survey: bool,
) -> Result<Walked, ImportError> {
    unit.tree.read(&unit.file, |file, size| {
        walk_through(file, size, unit, reading, found, survey)
    })
}

fn walk_through(
    file: &mut dyn Read,
    size: u64,
    unit: &Unit,
    reading: &mut Reading<'_, '_, '_>,
    found: Option<stream::Found>,
    survey: bool,
) -> Result<Walked, ImportError> {
    let budget = Budget::new(super::MAX_MESSAGE_BYTES);
    let done = Cell::new(0);
    let reader = Repaired::new(Counted { file, done: &done }, &budget);
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(reader));
    let prefix = format!("{}{}", unit.prefix, unit.folder());
    let mut export = stream::Export::new(reading, &budget, &done, prefix);
    if survey {
        export = export.surveying();
    }
    if let Some(found) = found {
        export = export.knowing(found);
    }
    let outcome = stream::account(&mut export, &mut json).and_then(|()| json.end());
    let (stopped, something, sorted) = (export.stopped, export.something, export.sorted);
    let found = export.found();
    let path = unit.tree.path().join(&unit.file);
    let ended = match stopped {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    match outcome {
        _ if stopped || sorted => Ok(Walked {
            sorted,
            found,
            ended,
        }),
        Ok(()) if something => Ok(Walked {
            sorted,
            found,
            ended,
        }),
        Ok(()) => Err(ImportError::Unknown {
            path,
            problem:
                "this JSON is no export of Telegram Desktop: it has neither `chats` nor `messages`"
                    .to_owned(),
        }),
        // What is too large is the file's fault, not the disk's.
        Err(error)
            if error
                .io_error_kind()
                .is_some_and(|kind| kind != ErrorKind::InvalidData) =>
        {
            Err(ImportError::Io {
                path,
                error: error.into(),
            })
        }
        Err(error) => Err(ImportError::Damaged {
            path,
            place: format!("near byte {} of {size}", done.get()),
            // The parser's words hold no value of the file but those of a type that does not fit.
            problem: error.to_string(),
        }),
    }
}

/// Counts what is read of a file.
struct Counted<'c> {
    file: &'c mut dyn Read,
    done: &'c Cell<u64>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.done.set(self.done.get() + count as u64);
        Ok(count)
    }
}
