//! The body of an answer on its way to the client, read while it passes.

use http::Method;
use http::response::Parts;
use serde_json::Value;

use crate::probe::Incoming;
use crate::record::session::Session;
use crate::record::{Key, Recorder};
use crate::serving::Body;
use crate::transcript::Era;

/// Whose answer it is, and to what.
pub(super) struct Watch {
    pub(super) recorder: Recorder,
    pub(super) key: Key,
    pub(super) era: Era,
    /// The number of the request.
    pub(super) carrier: Option<u64>,
    pub(super) status: u16,
    pub(super) method: Method,
    /// The request.
    pub(super) sent: Option<Value>,
}

impl Watch {
    /// The same body, which is kept while the client reads it.
    pub(super) fn over(self, head: &Parts, body: Body) -> Body {
        let answer = Incoming::of(head.clone(), body);
        let streams = answer.streams;
        if streams && self.method == Method::GET && self.status == 200 {
            self.note(|session| session.listened());
        }
        let watched = answer.watched(move |data, id| match serde_json::from_slice(data) {
            Ok(message) if streams => self.event(message, id),
            Err(_) if streams => {}
            body => self.whole(body.ok()),
        });
        watched.passed_on()
    }

    fn whole(&self, body: Option<Value>) {
        match body {
            Some(Value::Array(batch)) => {
                batch.into_iter().for_each(|message| self.message(message));
            }
            Some(message) if message.get("jsonrpc").is_some() && self.carrier.is_some() => {
                self.message(message);
            }
            // An accepted notification, or answer, has no body.
            _ if self.status == 202 => {}
            _ => {
                let (method, sent) = (self.method.as_str(), self.sent.clone());
                let status = self.status;
                self.note(|session| session.plain(method, status, sent));
            }
        }
    }

    fn event(&self, message: Value, id: Option<&str>) {
        if self.note(|session| session.is_again(id)) == Some(false) {
            self.message(message);
        }
    }

    fn message(&self, message: Value) {
        let (carrier, status) = (self.carrier, Some(self.status));
        self.note(|session| session.server(message, carrier, status));
    }

    fn note<R>(&self, note: impl FnOnce(&mut Session) -> R) -> Option<R> {
        self.recorder.with(&self.key, self.era, true, note)
    }
}
