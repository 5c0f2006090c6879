//! Each message of the server, in its order and with the request that it belongs to, alike for both transports.

use serde_json::Value;

use super::verdict::{Finding, Outcome, Verdict, unclear};
use crate::probe::{Bench, Exchange, Line, Logged, Revision, Talk};

/// A longer line is not expected to be understood.
const LONG: usize = 64 * 1024;

/// A message of the server, or a line that is not one.
pub(super) struct Heard<'a> {
    pub(super) revision: Revision,
    pub(super) talk: &'a Talk,
    /// What came before it in the same exchange or from the same program.
    before: &'a [Line],
    pub(super) line: &'a Line,
    /// The message; null for a line that is not JSON.
    pub(super) message: &'a Value,
}

/// What was seen first, and how often.
#[derive(Default)]
struct Sightings {
    first: Option<Finding>,
    count: usize,
}

/// What `wrong` says of each message in the log, put together.
pub(super) fn every(bench: &Bench, wrong: impl Fn(&Heard<'_>) -> Option<String>) -> Outcome {
    let log = bench.log.as_ref().ok_or_else(|| unclear("nothing was logged"))?;
    let logged = log.read();
    let mut sightings = Sightings::default();
    for talk in &logged.talks {
        for (index, line) in talk.lines.iter().enumerate().filter(|(_, line)| !line.is_sent) {
            let before = talk.lines.get(..index).unwrap_or_default();
            let none = [Value::Null];
            for message in line.messages.as_deref().unwrap_or(&none) {
                let heard = Heard { revision: bench.revision, talk, before, line, message };
                if let Some(seen) = wrong(&heard) {
                    sightings.add(seen, || heard.exchange());
                }
            }
        }
    }
    sightings.outcome()?;
    if logged.is_cut {
        return Err(unclear("the server sent more than is kept; in what is kept, it holds"));
    }
    Ok(())
}

/// What `wrong` finds of whole exchanges in the log, put together.
pub(super) fn exchanges(
    bench: &Bench,
    wrong: impl Fn(&Logged) -> Vec<(String, &Exchange)>,
) -> Outcome {
    let mut sightings = Sightings::default();
    if let Some(log) = &bench.log {
        for (seen, exchange) in wrong(&log.read()) {
            sightings.add(seen, || exchange.clone());
        }
    }
    sightings.outcome()
}

impl Sightings {
    fn add(&mut self, seen: String, exchange: impl FnOnce() -> Exchange) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(Finding { seen, exchange: exchange() });
        }
    }

    fn outcome(self) -> Outcome {
        let Some(mut first) = self.first else { return Ok(()) };
        if self.count > 1 {
            first.seen = format!("{} (the first of {} times)", first.seen, self.count);
        }
        Err(Verdict::Finding(first.into()))
    }
}

impl<'a> Heard<'a> {
    /// Whether it is a JSON-RPC response.
    pub(super) fn is_response(&self) -> bool {
        let is_other = self.is_free() && self.message.get("id").is_none();
        Exchange::is_response(self.message) && !is_other
    }

    /// Whether it is a refusal over HTTP that is no JSON-RPC error, and need not be one, such as
    /// `{"error":"invalid_token"}`.
    pub(super) fn is_free(&self) -> bool {
        let status = self.talk.http.as_ref().and_then(|exchange| exchange.status);
        status.is_some_and(|it| it >= 300) && self.message.get("jsonrpc").is_none()
    }

    /// Its id; null without one.
    pub(super) fn id(&self) -> &'a Value {
        self.message.get("id").unwrap_or(&Value::Null)
    }

    fn sent(&self) -> impl DoubleEndedIterator<Item = &'a Line> {
        self.before.iter().filter(|line| line.is_sent)
    }

    /// The messages that were sent before it.
    pub(super) fn asked(&self) -> impl DoubleEndedIterator<Item = &'a Value> {
        self.sent().flat_map(|line| line.messages.iter().flatten())
    }

    /// The last message that was sent before it.
    pub(super) fn last(&self) -> Option<&'a Value> {
        self.asked().next_back()
    }

    /// The request that has its id.
    pub(super) fn request(&self) -> Option<&'a Value> {
        let id = self.id();
        self.asked().rev().find(|it| it.get("id") == Some(id) && it.get("method").is_some())
    }

    /// The method of that request, if it has one. A line with the same id that is not JSON may be what is answered.
    pub(super) fn method(&self) -> Option<&'a str> {
        self.request().filter(|_| self.unread(self.id()) == 0)?.get("method")?.as_str()
    }

    /// Whether as many responses as requests with its id came before it.
    pub(super) fn is_surplus(&self) -> bool {
        answers(self.before, self.id()) >= self.requests(self.id())
    }

    /// Whether a response with this id came before it.
    pub(super) fn is_answered(&self, id: &Value) -> bool {
        answers(self.before, id) > 0
    }

    /// The id of a request before it that has no response of its own, not even later.
    pub(super) fn pending(&self) -> Option<&'a Value> {
        let ids = self.asked().filter(|it| it.get("method").is_some());
        let mut ids = ids.filter_map(|it| it.get("id"));
        let asked = |id: &Value| self.asked().filter(|it| it.get("id") == Some(id)).count();
        ids.find(|id| !id.is_null() && answers(&self.talk.lines, id) < asked(id))
    }

    /// The last notification that was sent before it.
    pub(super) fn notification(&self) -> Option<&'a str> {
        let mut all = self.asked().rev().filter(|it| it.get("id").is_none());
        all.find_map(|it| it.get("method")?.as_str())
    }

    /// How many messages have this id. A server may read more than is JSON.
    pub(super) fn requests(&self, id: &Value) -> usize {
        self.asked().filter(|it| it.get("id") == Some(id)).count() + self.unread(id)
    }

    /// How many lines have this id and are not JSON for this program: not UTF-8, or nested too deeply.
    fn unread(&self, id: &Value) -> usize {
        let written = format!("\"id\":{id}");
        let has_text = |line: &&Line| line.messages.is_none() && line.text.contains(&written);
        self.sent().filter(has_text).count()
    }

    /// Whether it refuses something that is not JSON. A server may have read an id in it nevertheless.
    pub(super) fn may_be_of_garbage(&self) -> bool {
        self.message.get("error").is_some() && self.sent().any(|line| line.messages.is_none())
    }

    /// Whether its id may be missing: it refuses what could not be read, or was not taken.
    pub(super) fn may_lack_id(&self) -> bool {
        let is_batch = |line: &Line| line.messages.as_ref().is_some_and(|it| it.len() > 1);
        let code = self.message.pointer("/error/code").and_then(Value::as_i64);
        let Some(code) = code.filter(|_| self.id().is_null()) else {
            // Whether a batch is taken at all is another rule.
            return self.id().is_null() && self.talk.http.is_some() && self.sent().any(is_batch);
        };
        let is_odd = |line: &Line| {
            let messages = line.messages.as_deref();
            line.text.len() > LONG || messages.is_none_or(|it| it.len() != 1)
        };
        match self.talk.http.as_ref().and_then(|exchange| exchange.status) {
            // A method is known to be unknown only once the request was read.
            Some(status) if status >= 400 && code != -32601 => true,
            _ => self.sent().any(is_odd),
        }
    }

    /// Its request and itself; over HTTP the whole exchange.
    fn exchange(&self) -> Exchange {
        if let Some(exchange) = &self.talk.http {
            return exchange.clone();
        }
        let id = self.id();
        let own = self.sent().rfind(|line| !id.is_null() && line.has(id));
        let sent = own.or_else(|| self.sent().next_back());
        Exchange {
            sent: sent.map(|line| line.text.clone()).unwrap_or_default(),
            received: self.line.text.clone(),
            ..Exchange::default()
        }
    }
}

/// How many responses with this id came.
fn answers(lines: &[Line], id: &Value) -> usize {
    let came = lines.iter().filter(|line| !line.is_sent);
    let came = came.flat_map(|line| line.messages.iter().flatten());
    came.filter(|it| it.get("id") == Some(id) && Exchange::is_response(it)).count()
}
