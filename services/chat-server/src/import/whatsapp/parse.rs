//! The second walk through a chat: its messages.

use std::io::{self, Read};
use std::ops::ControlFlow;

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::body::{self, Writer};
use super::header::{self, Header, Shape};
use super::names;
use super::order::{self, Decision};
use crate::event::Event;
use crate::import::clock::Clock;
use crate::import::identity::Identities;
use crate::import::lines::{Line, Lines};
use crate::import::{MAX_MESSAGE_BYTES, Reading};
use crate::model::{AttachmentPlace, Body, Message, Participant};

/// How many lines between two reports of progress.
const LINES_A_STEP: u64 = 512;

/// The second walk.
pub(super) struct Parse<'c> {
    pub(super) chat: &'c str,
    /// The shapes of its headers, and the orders of their dates.
    pub(super) shapes: Vec<(Shape, Decision)>,
    /// The shape of headers that count only behind CRLF or at the beginning.
    pub(super) crlf: Option<Shape>,
    /// What is known about the file; each message says whether an iPhone has written it.
    pub(super) writer: Writer<'c>,
    /// Later times are in the future.
    pub(super) now: Timestamp,
    pub(super) me: Option<&'c str>,
    /// The prefix that turns file names into paths of the export.
    pub(super) prefix: &'c str,
    pub(super) clock: Clock,
    pub(super) identities: Identities,
    /// The message that may continue in the next line.
    pub(super) open: Option<Begun>,
    /// Which part of the export this is.
    pub(super) part: ChatSize,
}

/// The size of a chat, in bytes of its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChatSize {
    pub(super) size: u64,
    /// About how many bytes of text are in it, unpacked.
    pub(super) text: u64,
}

impl ChatSize {
    /// Reports how far it is read.
    fn report(self, read: u64, reading: &mut Reading<'_, '_, '_>) {
        let done = (u128::from(self.size) * u128::from(read)).checked_div(u128::from(self.text));
        reading.report(u64::try_from(done.unwrap_or(0)).unwrap_or(self.size));
    }
}

/// A message whose lines are being gathered.
pub(super) struct Begun {
    time: DateTime,
    /// Whether an iPhone has written it.
    ios: bool,
    /// The text after the header: sender and text, or a notice of WhatsApp.
    text: String,
}

impl Parse<'_> {
    pub(super) fn walk(
        &mut self,
        text: &mut dyn Read,
        reading: &mut Reading<'_, '_, '_>,
    ) -> io::Result<ControlFlow<()>> {
        let mut lines = Lines::new(text)?;
        let (mut number, mut read) = (0_u64, 0);
        while let Some(line) = lines.next()? {
            number += 1;
            if let Line::Text(line) = &line {
                read += line.len() as u64 + 1;
            }
            if number.is_multiple_of(LINES_A_STEP) {
                self.part.report(read, reading);
            }
            let ended = match line {
                Line::Text(line) => {
                    let bare = lines.is_behind_lf();
                    self.line(&line, number, bare, reading)
                }
                Line::TooLong => {
                    self.skip(number, "is too long", reading);
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

    /// Takes a line, and sends the message that it ends.
    fn line(
        &mut self,
        line: &str,
        number: u64,
        bare: bool,
        reading: &mut Reading<'_, '_, '_>,
    ) -> Option<Begun> {
        let begun = header::parse(line).and_then(|header| {
            if bare && self.crlf == Some(header.shape) {
                reading.warn(format_args!(
                    "{}: line {number} looks like a message of its own and is read as text: it stands behind a line \
                     break within a message",
                    self.chat
                ));
                return None;
            }
            let (shape, order) = self.shapes.iter().find(|(shape, _)| *shape == header.shape)?;
            let time = time(&header, order);
            if time.is_none() {
                reading.warn(format_args!(
                    "{}: line {number} has a date that does not exist, and is read as part of the message before: \
                     look at `day_order`",
                    self.chat
                ));
            }
            Some(Begun {
                time: time?,
                ios: shape.is_ios(),
                text: header.rest.to_owned(),
            })
        });
        match (begun, &mut self.open) {
            (Some(begun), open) => return open.replace(begun),
            (None, Some(open)) if open.text.len() + line.len() < MAX_MESSAGE_BYTES => {
                open.text.push('\n');
                open.text.push_str(line);
            }
            (None, Some(_)) => self.skip(number, "makes a message too long", reading),
            (None, None) if line.trim().is_empty() => {}
            (None, None) => self.skip(number, "is not part of a message", reading),
        }
        None
    }

    fn skip(&self, number: u64, why: &str, reading: &mut Reading<'_, '_, '_>) {
        reading.skip(format_args!("{}: line {number} {why}: left out", self.chat));
    }

    fn take(&mut self, begun: &Begun, reading: &mut Reading<'_, '_, '_>) -> ControlFlow<()> {
        let Some(timestamp) = self.clock.timestamp(begun.time) else {
            reading
                .skip(format_args!("{}: the time {} cannot be: left out", self.chat, begun.time));
            return ControlFlow::Continue(());
        };
        if timestamp > self.now {
            reading.skip(format_args!(
                "{}: the time {} lies in the future: left out; look at `day_order` and `zone`",
                self.chat, begun.time
            ));
            return ControlFlow::Continue(());
        }
        let mut said = body::read(&begun.text, Writer { ios: begun.ios, ..self.writer });
        // Only some telephones write a name before a notice.
        let is_notice = matches!(said.body, Body::Service { .. });
        let sender = said.sender.filter(|_| !is_notice).unwrap_or_default();
        let time = without_seconds(without_order(begun.time));
        let id = self.identities.next(self.chat, time, sender, &said.identity);
        for attachment in &mut said.attachments {
            if let AttachmentPlace::Export(path) = &mut attachment.place {
                path.insert_str(0, self.prefix);
            }
        }
        let is_me = said.sender.is_some() && said.sender == self.me;
        let message = Message {
            id,
            timestamp,
            sender: said.sender.map(|name| Participant {
                id: name.to_owned(),
                // A number instead of a name: not in the contacts.
                phone: names::is_phone(name).then(|| name.to_owned()),
                name: name.to_owned(),
                username: None,
                is_me,
            }),
            body: said.body,
            edited: said.edited.then_some(timestamp),
            deleted: said.deleted,
            attachments: said.attachments,
            ..Message::default()
        };
        reading.take(Event::Message { chat: self.chat.to_owned(), message: Box::new(message) })
    }
}

/// The time with the lower of day and month as the month. So a message has the same id in each date order, and a wrong
/// date is corrected without duplicating the message.
fn without_order(time: DateTime) -> DateTime {
    let (day, month) = (time.day(), time.month());
    let swapped = time.with().month(month.min(day)).day(month.max(day));
    // It does not fail: swapped numbers are at most 12, and every month has these days.
    swapped.build().unwrap_or(time)
}

/// The time without seconds, which some telephones do not write. So exports of one chat from two telephones give the
/// same ids.
fn without_seconds(time: DateTime) -> DateTime {
    time.with().second(0).build().unwrap_or(time)
}

/// `None` for a day that does not exist.
fn time(header: &Header<'_>, decided: &Decision) -> Option<DateTime> {
    let date = order::date(header.date.numbers, decided.order, decided.years)?;
    let [hour, minute, second] = header.clock;
    Some(date.at(hour, minute, second, 0))
}
