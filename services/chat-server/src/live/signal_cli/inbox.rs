//! The daemon's lines on one connection: names first, then the envelopes that arrived before the names.

use serde_json::Value;

use super::envelope;
use super::names::Names;
use crate::source::Event;

/// The ids of the requests for names.
pub(super) const GROUPS: u64 = 1;
pub(super) const CONTACTS: u64 = 2;

/// The most envelopes that wait for names, and the most bytes of their lines. Beyond that all of them are handled.
const MAX_WAITING: usize = 1_000;
const MAX_WAITING_BYTES: usize = 16 * 1024 * 1024;

/// The lines of one connection, one after the other.
///
/// An envelope may leave out the name of a chat, and a chat may be denied by its name, so envelopes wait until the
/// requests for names have an answer of any kind.
#[derive(Debug)]
pub(super) struct Inbox<'a> {
    source: &'a str,
    account: Option<&'a str>,
    names: &'a mut Names,
    /// The requests without an answer yet.
    unanswered: Vec<u64>,
    /// Why the last of them was refused.
    refusal: Option<String>,
    /// Whether one was granted, or an envelope came.
    is_served: bool,
    waiting: Vec<Value>,
    waiting_bytes: usize,
}

impl<'a> Inbox<'a> {
    pub(super) fn new(source: &'a str, account: Option<&'a str>, names: &'a mut Names) -> Self {
        Self {
            source,
            account,
            names,
            unanswered: vec![GROUPS, CONTACTS],
            refusal: None,
            is_served: false,
            waiting: Vec::new(),
            waiting_bytes: 0,
        }
    }

    /// Whether envelopes wait for names.
    pub(super) fn waits(&self) -> bool {
        !self.unanswered.is_empty()
    }

    /// Whether the daemon serves the account or why it refuses all requests, once that is known. One that has a single
    /// account may refuse requests that name it, and sends its messages.
    pub(super) fn served(&self) -> Option<Result<(), &str>> {
        match &self.refusal {
            Some(why) if !self.is_served && !self.waits() => Some(Err(why)),
            _ => (self.is_served || !self.waits()).then_some(Ok(())),
        }
    }

    /// Reads a line.
    pub(super) fn line(&mut self, line: &str, events: &mut Vec<Event>) {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            let problem = "it is not JSON";
            tracing::warn!(source = self.source, problem, "passed over a line");
            return;
        };
        let id = message.get("id").and_then(Value::as_u64);
        let is_answer = id.is_some_and(|id| self.unanswered.contains(&id));
        match message.pointer("/error/message").and_then(Value::as_str) {
            Some(why) if is_answer => self.refusal = Some(why.to_owned()),
            _ => self.is_served |= is_answer || message.get("params").is_some(),
        }
        match id {
            Some(GROUPS) => self.names.groups(message.get("result"), events),
            Some(CONTACTS) => self.names.contacts(message.get("result"), events),
            Some(_) => {}
            None => {
                self.waiting.push(message);
                self.waiting_bytes += line.len();
            }
        }
        self.unanswered.retain(|one| Some(*one) != id);
        let is_full = self.waiting.len() >= MAX_WAITING || self.waiting_bytes >= MAX_WAITING_BYTES;
        if is_full || !self.waits() {
            self.wait_no_longer(events);
        }
    }

    /// Handles the waiting envelopes with the known names, and later ones at once.
    pub(super) fn wait_no_longer(&mut self, events: &mut Vec<Event>) {
        self.unanswered.clear();
        self.waiting_bytes = 0;
        for message in std::mem::take(&mut self.waiting) {
            let params = message.get("params");
            // In manual mode the envelope is one level deeper, below the number of the subscription.
            let params = params.map(|params| params.get("result").unwrap_or(params));
            let account = params.and_then(|params| params.get("account")?.as_str());
            let other = self.account.zip(account).is_some_and(|(ours, theirs)| ours != theirs);
            let envelope = params.and_then(|params| params.get("envelope")).filter(|_| !other);
            if let Some(envelope) = envelope {
                let exception = params.and_then(|params| params.get("exception"));
                envelope::read(envelope, exception, self.names, events);
            }
        }
    }
}
