//! Bytes of an event stream (WHATWG HTML, "Server-sent events"): what we write, and a bounded reader of it.

use bytes::Bytes;
use serde::Serialize;

use crate::json;
use crate::jsonrpc::Response;

/// The comment line that keeps a quiet stream alive.
pub(crate) const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// How an event with a message begins, and how each event ends.
const BEGIN_TEXT: &[u8] = b"event: message\ndata: ";
const END_TEXT: &[u8] = b"\n\n";
pub(super) const BEGIN: Bytes = Bytes::from_static(BEGIN_TEXT);
pub(super) const END: Bytes = Bytes::from_static(END_TEXT);

/// Some clients refuse larger events, such as mcp for Python 2.3 (its `max_sse_event_size`).
const COMMONLY_TAKEN: usize = 1024 * 1024;

/// The byte order mark that a stream may begin with.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A notification or a request as an event.
pub(crate) fn message(message: &impl Serialize) -> Bytes {
    message_after(Vec::with_capacity(256), message).into()
}

/// An answer as an event.
pub(crate) fn answer(answer: &Response) -> Bytes {
    answer_after(Vec::new(), answer).into()
}

/// Reports an event that some clients refuse. An answer is one only if something was sent before it, or if its client
/// does not accept JSON.
pub(super) fn report_large(bytes: usize) {
    if bytes > COMMONLY_TAKEN {
        tracing::warn!(bytes, "an event of more than 1 MiB was written, which some clients refuse");
    }
}

/// The size of an event with a message of this size, without further lines.
const fn event_size(message: usize) -> usize {
    BEGIN_TEXT.len() + message + END_TEXT.len()
}

/// A notification or a request as an event, after lines that belong to it. JSON text has no line break outside strings
/// and none inside, so one `data` line is enough.
pub(crate) fn message_after(mut lines: Vec<u8>, message: &impl Serialize) -> Vec<u8> {
    lines.extend_from_slice(BEGIN_TEXT);
    match json::to_json(message) {
        Ok(message) => lines.extend_from_slice(message.as_bytes()),
        // Messages are made of strings and JSON values; this cannot fail short of a bug.
        Err(error) => {
            tracing::error!(%error, "a message could not be serialised");
            return KEEP_ALIVE.into();
        }
    }
    lines.extend_from_slice(END_TEXT);
    report_large(lines.len());
    lines
}

/// A message that is already JSON as an event, after lines that belong to it.
pub(crate) fn text_after(mut lines: Vec<u8>, message: &[u8]) -> Vec<u8> {
    lines.reserve(event_size(message.len()));
    for part in [BEGIN_TEXT, message, END_TEXT] {
        lines.extend_from_slice(part);
    }
    lines
}

/// An answer as an event, after lines that belong to it.
pub(crate) fn answer_after(mut lines: Vec<u8>, answer: &Response) -> Vec<u8> {
    lines.reserve(event_size(answer.size_hint()));
    lines.extend_from_slice(BEGIN_TEXT);
    answer.append_to(&mut lines);
    lines.extend_from_slice(END_TEXT);
    report_large(lines.len());
    lines
}

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The `event` field; empty when absent, which readers take as `message`.
    pub event: String,
    /// The `data` lines, joined by line feeds.
    pub data: String,
    /// The `id` field.
    pub id: Option<String>,
    /// The `retry` field: how many milliseconds to wait before reconnecting.
    pub retry: Option<u64>,
}

/// Cuts a stream of bytes into [`Event`]s. Accepts LF, CRLF and CR, a byte order mark at the beginning, and
/// chunks cut anywhere.
#[derive(Debug)]
pub struct EventReader {
    /// The first line has been read.
    begun: bool,
    line: Vec<u8>,
    current: Event,
    has_data: bool,
    after_cr: bool,
    size: usize,
    max_event_bytes: usize,
}

/// An event is larger than the reader takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {0} bytes")]
pub struct EventTooLarge(pub usize);

impl EventReader {
    /// A reader of events of at most `max_event_bytes`.
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            begun: false,
            line: Vec::new(),
            current: Event::default(),
            has_data: false,
            after_cr: false,
            size: 0,
            max_event_bytes,
        }
    }

    /// Reads a chunk and returns the events that it completes.
    ///
    /// # Errors
    /// [`EventTooLarge`]. The stream cannot be read further after it.
    pub fn push(&mut self, chunk: &[u8]) -> Result<Vec<Event>, EventTooLarge> {
        let mut events = Vec::new();
        for &byte in chunk {
            let after_cr = std::mem::take(&mut self.after_cr);
            match byte {
                b'\n' if after_cr => {}
                b'\n' | b'\r' => {
                    self.after_cr = byte == b'\r';
                    events.extend(self.end_line());
                }
                _ => {
                    self.size += 1;
                    if self.size > self.max_event_bytes {
                        return Err(EventTooLarge(self.max_event_bytes));
                    }
                    self.line.push(byte);
                }
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<Event> {
        if !std::mem::replace(&mut self.begun, true) && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        if self.line.is_empty() {
            self.size = 0;
            let event = std::mem::take(&mut self.current);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        if self.line.first() == Some(&b':') {
            // A comment is part of no event, however many keep a quiet stream alive.
            self.size = self.size.saturating_sub(self.line.len());
            self.line.clear();
            return None;
        }
        let line = String::from_utf8_lossy(&self.line).into_owned();
        self.line.clear();
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.current.data.push('\n');
                }
                self.current.data.push_str(value);
                self.has_data = true;
            }
            "event" => value.clone_into(&mut self.current.event),
            // An id that a header cannot carry back is ignored.
            "id" if !value.contains('\0') => self.current.id = Some(value.to_owned()),
            // Digits alone: `parse` would take a sign.
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.current.retry = value.parse().ok().or(self.current.retry);
            }
            _ => {}
        }
        None
    }
}
