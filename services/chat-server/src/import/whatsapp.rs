//! WhatsApp's "Export chat": a text of the telephone's own language and habits, alone, in a zip, or in a folder.
//!
//! The text is read twice: first to see how its dates are written and who takes part, then to take its messages.
//!
//! What the text does not tell, and so is lost: the zone, and seconds on Android; which of two equal hours it was when
//! clocks are put back, unless the order tells; where a name with a colon and a blank in it ends; a line in a message
//! that is written exactly as the headers of the file are; reactions, replies and forwards; which message of an earlier
//! export one is that was edited or taken back since: both are kept.

mod body;
mod file;
mod halves;
mod header;
mod marked;
mod names;
mod order;
mod parse;
mod survey;
mod words;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::clock::Clock;
use super::identity::Identities;
use super::{ImportError, MAX_UNPACKED_BYTES, Reading, archive, io_at};
use crate::model::Chat;
use crate::source::Event;
use parse::{Parse, Part};
use survey::Survey;

pub(super) use names::is_known as is_known_name;
pub use order::DayOrder;

/// How many lines of a file are looked at to see whether it is a chat.
const GLANCE: usize = 50;

/// What iOS calls a chat.
const IOS_FILE: &str = "_chat.txt";

/// The text of a chat, to be opened twice.
type Open<'o> = dyn FnMut(
        &mut dyn FnMut(&mut dyn Read) -> Result<ControlFlow<()>, ImportError>,
    ) -> Result<ControlFlow<()>, ImportError>
    + 'o;

/// Whether a text begins as a chat does: its first line, or one soon after it, is a header.
pub(super) fn looks_like(text: &str) -> bool {
    text.lines()
        .take(GLANCE)
        .any(|line| header::parse(line).is_some())
}

pub(super) fn read(path: &Path, reading: &mut Reading<'_, '_, '_>) -> Result<(), ImportError> {
    let is_folder = path.is_dir();
    let files = match is_folder {
        true => files_in(path)?,
        false => vec![path.to_owned()],
    };
    let size = files
        .iter()
        .filter_map(|file| file.metadata().ok())
        .map(|it| it.len())
        .sum();
    let mut done = 0;
    for file in files {
        // What lies in a zip in a folder has the zip in its path.
        let prefix = match (is_folder, file.file_name()) {
            (true, Some(name)) => format!("{}/", name.to_string_lossy()),
            _ => String::new(),
        };
        let length = file.metadata().map_err(io_at(&file))?.len();
        let part = Part {
            begin: done,
            end: done + length,
            whole: size,
            text: 0,
        };
        match read_file(&file, &prefix, part, reading) {
            // A file among others; perhaps it was sent by somebody.
            Err(ImportError::Damaged { problem, .. }) if is_folder => {
                reading.skip(format_args!("{prefix} {problem}: left out"));
            }
            Err(error) => return Err(error),
            Ok(ControlFlow::Break(())) => return Ok(()),
            Ok(ControlFlow::Continue(())) => {}
        }
        done += length;
        (reading.progress)(done, size);
    }
    Ok(())
}

/// The chats of a folder. Beside an unpacked chat of iOS other texts are what people have sent.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    let ios = folder.join(IOS_FILE);
    if ios.is_file() {
        return Ok(vec![ios]);
    }
    let files = archive::entries(folder)?.into_iter();
    Ok(files.filter(|file| archive::is_chat_file(file)).collect())
}

fn read_file(
    path: &Path,
    prefix: &str,
    part: Part,
    reading: &mut Reading<'_, '_, '_>,
) -> Result<ControlFlow<()>, ImportError> {
    if !archive::is_zip(path)? {
        let name = names::of_file(path);
        return read_chat(&name, "", part, reading, path, &mut |use_it| {
            let mut file = File::open(path).map_err(io_at(path))?;
            use_it(&mut file)
        });
    }
    let mut zip = archive::open_zip(path)?;
    let texts = archive::chat_texts(&zip);
    // Each is read twice.
    let left = Cell::new(2 * MAX_UNPACKED_BYTES);
    for text in &texts {
        let inner = Path::new(text);
        let name = match texts.len() == 1 && !names::is_known(inner) {
            true => names::of_file(path),
            false => names::of_file(inner),
        };
        let ended = read_chat(&name, prefix, part, reading, path, &mut |use_it| {
            let entry = zip
                .by_name(text)
                .map_err(|error| archive::damaged_zip(path, &error))?;
            use_it(&mut Unpacked { entry, left: &left })
        })?;
        if ended.is_break() {
            return Ok(ended);
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Reads out of a zip, as much as there may be in all of it.
struct Unpacked<'l, R> {
    entry: R,
    left: &'l Cell<u64>,
}

impl<R: Read> Read for Unpacked<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.entry.read(buffer)?;
        let left = self.left.get().checked_sub(count as u64).ok_or_else(|| {
            let problem = format!("texts of more than {MAX_UNPACKED_BYTES} bytes in one zip");
            io::Error::new(io::ErrorKind::InvalidData, problem)
        })?;
        self.left.set(left);
        Ok(count)
    }
}

fn read_chat(
    name: &str,
    prefix: &str,
    part: Part,
    reading: &mut Reading<'_, '_, '_>,
    path: &Path,
    open: &mut Open<'_>,
) -> Result<ControlFlow<()>, ImportError> {
    let mut survey = Survey::default();
    let _ended = open(&mut |text| {
        survey.walk(name, text).map_err(at(path))?;
        Ok(ControlFlow::Continue(()))
    })?;
    let Some(found) = survey.found(name) else {
        reading.skip(format_args!(
            "{name}: no line begins as a message of WhatsApp does: left out"
        ));
        return Ok(ControlFlow::Continue(()));
    };
    let chat = Chat {
        id: name.to_owned(),
        name: name.to_owned(),
        kind: found.kind,
        participants: None,
    };
    if reading.take(Event::Chat(chat)).is_break() {
        return Ok(ControlFlow::Break(()));
    }
    let options = reading.options;
    let mut parse = Parse {
        chat: name,
        shape: found.shape,
        order: options.day_order.unwrap_or(found.order),
        me: options.me.as_deref().or(found.me.as_deref()),
        prefix,
        clock: Clock::new(&options.zone),
        identities: Identities::default(),
        open: None,
        part: Part {
            text: survey.bytes,
            ..part
        },
    };
    open(&mut |text| parse.walk(text, reading).map_err(at(path)))
}

/// What is too large or cannot be unpacked is the file's fault, not the disk's.
fn at(path: &Path) -> impl FnOnce(io::Error) -> ImportError + '_ {
    move |error| match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            ImportError::Damaged {
                path: path.to_owned(),
                place: "text".to_owned(),
                problem: error.to_string(),
            }
        }
        _ => io_at(path)(error),
    }
}
