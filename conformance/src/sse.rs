//! Reads event streams (`text/event-stream`, WHATWG HTML §9.2.6) from bytes in pieces of any size.

use std::collections::VecDeque;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};

/// The media type of an event stream.
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// The longest line and the longest event data accepted, in bytes.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// One thing an event stream says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A dispatched event.
    Event(Event),
    /// A comment line, without its colon and one leading space. Servers send them as keep-alives.
    Comment(String),
}

impl Frame {
    /// The frame as a stream writes it.
    pub fn to_bytes(&self) -> Bytes {
        let mut text = String::new();
        match self {
            Self::Comment(comment) => text.push_str(&format!(":{comment}\n")),
            Self::Event(Event { event, id, data, retry }) => {
                for (name, value) in [("event", event), ("id", id)] {
                    text.extend(value.iter().map(|value| format!("{name}: {value}\n")));
                }
                text.extend(retry.map(|retry| format!("retry: {retry}\n")));
                text.extend(data.split('\n').map(|line| format!("data: {line}\n")));
            }
        }
        text.push('\n');
        text.into()
    }
}

/// An event. Unlike in a browser, `id` is that of this event itself, not the last id of the stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// The `event` field; `None` means `message`.
    pub event: Option<String>,
    /// The `id` field.
    pub id: Option<String>,
    /// The `data` fields, joined by line feeds.
    pub data: String,
    /// The `retry` field in milliseconds.
    pub retry: Option<u64>,
}

/// Why a stream cannot be read further.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A line or an event's data is longer than [`MAX_EVENT_BYTES`].
    #[error("an event is longer than {MAX_EVENT_BYTES} bytes")]
    TooLong,
    /// A line is not UTF-8, which event streams always are.
    #[error("a line of the event stream is not valid UTF-8")]
    NotUtf8,
}

/// Turns bytes into [`Frame`]s. Lines may end in LF, CRLF or CR; a byte order mark at the start is passed over; an
/// event that is not finished by a blank line is never dispatched.
#[derive(Debug, Default)]
pub struct Decoder {
    line: Vec<u8>,
    /// The last byte was a CR: a LF that follows belongs to it.
    after_cr: bool,
    past_first_line: bool,
    event: Event,
    /// An event is dispatched only if it had a `data` field, even an empty one.
    has_data: bool,
}

impl Decoder {
    /// Adds bytes and appends the frames they complete to `frames`.
    ///
    /// # Errors
    ///
    /// See [`DecodeError`]; what was complete before is in `frames`. The stream cannot be continued.
    pub fn push(&mut self, bytes: &[u8], frames: &mut VecDeque<Frame>) -> Result<(), DecodeError> {
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, tail) = rest.split_at(end);
            self.extend_line(line)?;
            rest = match tail {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => tail,
            };
            self.end_line(frames)?;
        }
        self.extend_line(rest)
    }

    /// The events in a text, as far as it can be decoded.
    pub(crate) fn events(text: &str) -> impl Iterator<Item = Event> {
        let mut frames = VecDeque::new();
        // After a fault, a client sees no more events either.
        let _ = Self::default().push(text.as_bytes(), &mut frames);
        frames.into_iter().filter_map(|frame| match frame {
            Frame::Event(event) => Some(event),
            Frame::Comment(_) => None,
        })
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        if self.line.len() + bytes.len() > MAX_EVENT_BYTES {
            return Err(DecodeError::TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, frames: &mut VecDeque<Frame>) -> Result<(), DecodeError> {
        let mut bytes = std::mem::take(&mut self.line);
        self.read_line(&bytes, frames)?;
        bytes.clear();
        self.line = bytes;
        Ok(())
    }

    fn read_line(&mut self, line: &[u8], frames: &mut VecDeque<Frame>) -> Result<(), DecodeError> {
        let mut line = std::str::from_utf8(line).map_err(|_| DecodeError::NotUtf8)?;
        if !self.past_first_line {
            self.past_first_line = true;
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                frames.push_back(Frame::Event(event));
            }
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" => frames.push_back(Frame::Comment(value.to_owned())),
            "event" => self.event.event = Some(value.to_owned()).filter(|name| !name.is_empty()),
            "data" => self.add_data(value)?,
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.event.retry = value.parse().ok().or(self.event.retry);
            }
            _ => {}
        }
        Ok(())
    }

    fn add_data(&mut self, value: &str) -> Result<(), DecodeError> {
        if self.event.data.len() + value.len() >= MAX_EVENT_BYTES {
            return Err(DecodeError::TooLong);
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.event.data.push('\n');
        }
        self.event.data.push_str(value);
        Ok(())
    }
}

/// Whether these headers announce an event stream.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case(EVENT_STREAM))
}
