//! Telegram Desktop's `result.json`: the whole account or one chat, read message by message.
//!
//! Ids of chats are written as the Bot API writes them, so that they are unique and the same in both: `123` a person,
//! `-123` a group, `-100123` a supergroup or a channel. Not kept: buttons below messages, thumbnails, the bot
//! by which a message was sent, the signature of an author in a channel, which words are bold or a mention of whom.

mod chat;
mod entry;
mod media;
mod message;
mod pages;
mod rich;
mod scan;
mod service;
mod stream;
mod text;

use std::io::ErrorKind;
use std::ops::ControlFlow;

use super::unit::Unit;
use super::{ImportError, Reading, io_at, lines};
pub(crate) use media::describe;
pub(super) use pages::read as read_pages;
pub(crate) use rich::Rich;
use scan::{ScanError, Scanner};

pub(super) fn read(
    unit: &Unit,
    reading: &mut Reading<'_, '_, '_>,
) -> Result<ControlFlow<()>, ImportError> {
    let before = reading.summary.clone();
    let walked = walk(unit, reading, None, false)?;
    if !walked.sorted {
        return Ok(walked.ended);
    }
    // Chats before the first sorted one were sent already; they are sent again, and count once.
    reading.summary = before;
    // The description of a chat comes after its messages: one pass finds it, a second one reads the messages.
    let found = walk(unit, reading, None, true)?.found;
    Ok(walk(unit, reading, Some(found), false)?.ended)
}

/// The error for JSON that is not an export.
const NO_EXPORT: &str =
    "this JSON is not an export of Telegram Desktop: it has neither `chats` nor `messages`";

/// The result of a walk.
struct Walked {
    sorted: bool,
    ended: ControlFlow<()>,
    found: stream::FirstWalk,
}

fn walk(
    unit: &Unit,
    reading: &mut Reading<'_, '_, '_>,
    found: Option<stream::FirstWalk>,
    survey: bool,
) -> Result<Walked, ImportError> {
    unit.tree.read(&unit.file, |file, size| {
        let mut file = lines::utf8(file).map_err(io_at(&unit.tree.path().join(&unit.file)))?;
        let mut json = Scanner::new(&mut file);
        let prefix = format!("{}{}", unit.prefix, unit.folder());
        let mut export = stream::Export::new(reading, prefix, survey, found);
        let outcome = stream::account(&mut export, &mut json);
        let (something, sorted) = (export.something, export.sorted);
        let walked = |ended| Walked { sorted, found: export.found(), ended };
        let path = unit.tree.path().join(&unit.file);
        match outcome {
            Err(ScanError::Stopped) => Ok(walked(ControlFlow::Break(()))),
            _ if sorted => Ok(walked(ControlFlow::Continue(()))),
            Ok(()) if something => Ok(walked(ControlFlow::Continue(()))),
            Ok(()) => Err(ImportError::Unknown { path, problem: NO_EXPORT.to_owned() }),
            // A file that is too large is an error of the export, not of the disk.
            Err(ScanError::Io(error)) if error.kind() != ErrorKind::InvalidData => {
                Err(ImportError::Io { path, error })
            }
            Err(error) => Err(ImportError::Damaged {
                path,
                place: format!("near byte {} of {size}", json.done()),
                // The scanner's error contains nothing of the file except one character.
                problem: error.to_string(),
            }),
        }
    })
}
