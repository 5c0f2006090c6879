//! WhatsApp's "Export chat": a text of the telephone's own language and habits, alone, in a zip, or in a folder.
//!
//! The text is read twice: first to see how its dates are written and who takes part, then to take its messages.

mod body;
mod header;
mod names;
mod order;
mod words;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use jiff::civil::DateTime;

use super::identity::Identities;
use super::lines::Lines;
use super::{ImportError, Reading, archive, io_at};
use crate::model::{Chat, ChatKind, Message, Participant};
use crate::source::Event;
use header::{Header, Shape};
use order::Votes;

pub use order::DayOrder;

/// How many senders of one chat are remembered to tell what kind of chat it is.
const MAX_SENDERS: usize = 2_000;

/// How many ways of writing a header are told apart in one file.
const MAX_SHAPES: usize = 16;

/// How many lines of a file are looked at to see whether it is a chat.
const GLANCE: usize = 50;

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
    let files = match path.is_dir() {
        true => archive::entries(path)?
            .into_iter()
            .filter(|file| archive::is_chat_file(file))
            .collect(),
        false => vec![path.to_owned()],
    };
    let size = files
        .iter()
        .filter_map(|file| file.metadata().ok())
        .map(|it| it.len())
        .sum();
    let mut done = 0;
    for file in files {
        if read_file(&file, reading)?.is_break() {
            return Ok(());
        }
        done += file.metadata().map_err(io_at(&file))?.len();
        (reading.progress)(done, size);
    }
    Ok(())
}

fn read_file(
    path: &Path,
    reading: &mut Reading<'_, '_, '_>,
) -> Result<ControlFlow<()>, ImportError> {
    if !archive::is_zip(path)? {
        let name = names::of_file(path);
        return read_chat(&name, reading, path, &mut |use_it| {
            let mut file = File::open(path).map_err(io_at(path))?;
            use_it(&mut file)
        });
    }
    let mut zip = archive::open_zip(path)?;
    let texts = archive::chat_texts(&zip);
    for text in &texts {
        let name = match texts.len() {
            1 => names::of_file(path),
            _ => names::of_file(Path::new(text)),
        };
        let ended = read_chat(&name, reading, path, &mut |use_it| {
            let mut entry = zip
                .by_name(text)
                .map_err(|error| archive::damaged_zip(path, &error))?;
            use_it(&mut entry)
        })?;
        if ended.is_break() {
            return Ok(ended);
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// What the first walk finds.
#[derive(Default)]
struct Survey {
    shapes: Vec<(Shape, u64, Votes)>,
    /// Senders and how often each wrote, by shape of the header, so that what is quoted does not count.
    senders: BTreeMap<(Shape, String), u64>,
}

fn read_chat(
    name: &str,
    reading: &mut Reading<'_, '_, '_>,
    path: &Path,
    open: &mut Open<'_>,
) -> Result<ControlFlow<()>, ImportError> {
    let mut survey = Survey::default();
    let _ended = open(&mut |text| {
        survey.walk(text).map_err(io_at(path))?;
        Ok(ControlFlow::Continue(()))
    })?;
    let Some((shape, _, votes)) = survey.shapes.iter().max_by_key(|(_, count, _)| *count) else {
        reading.skip(format_args!(
            "{name}: no line begins as a message of WhatsApp does: left out"
        ));
        return Ok(ControlFlow::Continue(()));
    };
    let order = reading.options.day_order.unwrap_or_else(|| votes.order());
    let senders: Vec<&str> = survey
        .senders
        .keys()
        .filter(|(of, _)| of == shape)
        .map(|(_, name)| name.as_str())
        .collect();
    let chat = Chat {
        id: name.to_owned(),
        name: name.to_owned(),
        kind: if senders.len() > 2 {
            ChatKind::Group
        } else {
            ChatKind::Direct
        },
        participants: None,
    };
    if reading.take(Event::Chat(chat)).is_break() {
        return Ok(ControlFlow::Break(()));
    }
    let mut parse = Parse {
        chat: name,
        shape: *shape,
        order,
        identities: Identities::default(),
        open: None,
    };
    open(&mut |text| parse.walk(text, reading).map_err(io_at(path)))
}

impl Survey {
    fn walk(&mut self, text: &mut dyn Read) -> io::Result<()> {
        let mut lines = Lines::new(text);
        while let Some(line) = lines.next()? {
            let Some(header) = header::parse(&line) else {
                continue;
            };
            let shape = header.shape;
            let found = match self.shapes.iter().position(|(known, ..)| *known == shape) {
                Some(found) => found,
                None if self.shapes.len() == MAX_SHAPES => continue,
                None => {
                    self.shapes.push((shape, 0, Votes::default()));
                    self.shapes.len() - 1
                }
            };
            if let Some((_, count, votes)) = self.shapes.get_mut(found) {
                *count += 1;
                votes.add(header.date);
            }
            if let Some((sender, _)) = body::split(header.rest)
                && (self.senders.len() < MAX_SENDERS
                    || self.senders.contains_key(&(shape, sender.to_owned())))
            {
                *self.senders.entry((shape, sender.to_owned())).or_default() += 1;
            }
        }
        Ok(())
    }
}

/// The second walk.
struct Parse<'c> {
    chat: &'c str,
    shape: Shape,
    order: DayOrder,
    identities: Identities,
    /// The message that may go on in the next line.
    open: Option<Begun>,
}

/// A message whose lines are being gathered.
struct Begun {
    time: DateTime,
    /// What follows the header: sender and text, or what WhatsApp says.
    text: String,
}

impl Parse<'_> {
    fn walk(
        &mut self,
        text: &mut dyn Read,
        reading: &mut Reading<'_, '_, '_>,
    ) -> io::Result<ControlFlow<()>> {
        let mut lines = Lines::new(text);
        let mut number = 0_u64;
        while let Some(line) = lines.next()? {
            number += 1;
            let header = header::parse(&line).filter(|header| header.shape == self.shape);
            let begun = header.and_then(|header| {
                let time = header.time(self.order)?;
                Some(Begun {
                    time,
                    text: header.rest.to_owned(),
                })
            });
            let ended = match (begun, &mut self.open) {
                (Some(begun), open) => open.replace(begun),
                (None, Some(open)) if open.text.len() + line.len() < super::MAX_MESSAGE_BYTES => {
                    open.text.push('\n');
                    open.text.push_str(&line);
                    None
                }
                (None, Some(_)) => {
                    reading.skip(format_args!(
                        "{}: line {number} makes a message too long: left out",
                        self.chat
                    ));
                    None
                }
                (None, None) => {
                    if !line.trim().is_empty() {
                        reading.skip(format_args!(
                            "{}: line {number} belongs to no message: left out",
                            self.chat
                        ));
                    }
                    None
                }
            };
            if let Some(ended) = ended
                && self.take(&ended, reading).is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(match self.open.take() {
            Some(last) => self.take(&last, reading),
            None => ControlFlow::Continue(()),
        })
    }

    fn take(&mut self, begun: &Begun, reading: &mut Reading<'_, '_, '_>) -> ControlFlow<()> {
        let Ok(timestamp) = reading.options.zone.to_timestamp(begun.time) else {
            reading.skip(format_args!(
                "{}: the time {} cannot be: left out",
                self.chat, begun.time
            ));
            return ControlFlow::Continue(());
        };
        let said = body::read(&begun.text);
        let sender = said.sender.unwrap_or_default();
        let id = self
            .identities
            .next(self.chat, begun.time, sender, &said.identity);
        let is_me = said.sender.is_some() && said.sender == reading.options.me.as_deref();
        let message = Message {
            id,
            timestamp,
            sender: said.sender.map(|name| Participant {
                id: name.to_owned(),
                // A number instead of a name: nobody whom the telephone knows.
                phone: names::is_phone(name).then(|| name.to_owned()),
                name: name.to_owned(),
                username: None,
                is_me,
            }),
            body: said.body,
            reply_to: None,
            forwarded_from: None,
            edited: said.edited.then_some(timestamp),
            deleted: said.deleted,
            reactions: Vec::new(),
            attachments: said.attachments,
        };
        reading.take(Event::Message {
            chat: self.chat.to_owned(),
            message: Box::new(message),
        })
    }
}

impl Header<'_> {
    /// `None` for a day that there is not.
    fn time(&self, order: DayOrder) -> Option<DateTime> {
        let (year, month, day) = order::date(self.date, order)?;
        let [hour, minute, second] = self.clock;
        DateTime::new(year, month, day, hour, minute, second, 0).ok()
    }
}
