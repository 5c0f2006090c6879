//! All that went over the wire to a server in one revision, in its order: what the rules about every message look at.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::exchange::Exchange;
use crate::json::messages;
use crate::sse::{Decoder, Event, is_event_stream};

/// The most bytes that are kept of one revision. What comes later is not looked at, and the report says so.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Shared by all connections and programs of one revision.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<Logged>);

/// What was logged.
#[derive(Debug, Default)]
pub(crate) struct Logged {
    /// The exchanges over HTTP, and the programs.
    pub(crate) talks: Vec<Talk>,
    /// Well-formed requests that were never answered.
    pub(crate) unanswered: Vec<Exchange>,
    /// After which rules the session or the program was gone, and what shows it.
    pub(crate) lost: Vec<(&'static str, Exchange)>,
    /// Whether something is missing.
    pub(crate) is_cut: bool,
    bytes: usize,
}

/// One exchange over HTTP, or everything between this program and one that it started.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    /// The exchange over HTTP.
    pub(crate) http: Option<Exchange>,
    pub(crate) lines: Vec<Line>,
}

/// What one side sent in one piece: a line on stdio, and over HTTP a body or an event.
#[derive(Debug)]
pub(crate) struct Line {
    /// Whether this program sent it, and not the server.
    pub(crate) is_sent: bool,
    pub(crate) text: String,
    /// The name of the event.
    pub(crate) event: Option<String>,
    /// The messages in it, several if it is a batch; nothing if it is not JSON.
    pub(crate) messages: Option<Vec<Value>>,
}

impl Log {
    pub(crate) fn read(&self) -> MutexGuard<'_, Logged> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number by which the lines of another program are logged.
    pub(super) fn program(&self) -> usize {
        let mut logged = self.read();
        logged.talks.push(Talk::default());
        logged.talks.len() - 1
    }

    /// Whether a message with this id was sent to a program, or may have been.
    pub(super) fn has_sent(&self, program: usize, id: &Value) -> bool {
        let logged = self.read();
        let mut lines = logged.talks.get(program).into_iter().flat_map(|talk| &talk.lines);
        logged.is_cut || lines.any(|line| line.is_sent && line.has(id))
    }

    /// Logs a line to or from a program.
    pub(super) fn line(&self, program: usize, is_sent: bool, line: &[u8]) {
        let mut logged = self.read();
        if !logged.has_space(line.len()) {
            return;
        }
        if let Some(talk) = logged.talks.get_mut(program) {
            talk.lines.push(Line::new(is_sent, line));
        }
    }

    /// Logs an exchange over HTTP, whose request had this body.
    pub(super) fn http(&self, sent: &[u8], exchange: &Exchange) {
        let mut logged = self.read();
        if !logged.has_space(sent.len() + exchange.received.len()) {
            return;
        }
        let mut lines = Vec::new();
        if !sent.is_empty() {
            lines.push(Line::new(true, sent));
        }
        lines.extend(received(exchange));
        logged.talks.push(Talk { http: Some(exchange.clone()), lines });
    }
}

impl Logged {
    fn has_space(&mut self, more: usize) -> bool {
        self.bytes += more;
        self.is_cut |= self.bytes > MAX_BYTES;
        !self.is_cut
    }
}

impl Line {
    /// Whether one of its messages has this id.
    pub(crate) fn has(&self, id: &Value) -> bool {
        self.messages.iter().flatten().any(|message| message.get("id") == Some(id))
    }

    fn new(is_sent: bool, line: &[u8]) -> Self {
        let text = String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).to_owned();
        let messages = serde_json::from_slice(line).ok().map(messages);
        Self { is_sent, text, event: None, messages }
    }
}

/// The messages in a body. A refusal may have a body of any kind.
fn received(exchange: &Exchange) -> Vec<Line> {
    if is_event_stream(&exchange.headers) {
        // Servers send an event without data so that a client can resume from its id.
        let events = Decoder::events(&exchange.received).filter(|it| !it.data.is_empty());
        let line = |it: Event| Line { event: it.event, ..Line::new(false, it.data.as_bytes()) };
        return events.map(line).collect();
    }
    let is_refused = exchange.status.is_some_and(|status| status >= 300);
    let is_json = exchange.header("content-type").is_some_and(|it| it.contains("json"));
    let line = Line::new(false, exchange.received.as_bytes());
    let is_wanted = line.messages.is_some() || is_json && !is_refused && !line.text.is_empty();
    is_wanted.then_some(line).into_iter().collect()
}
