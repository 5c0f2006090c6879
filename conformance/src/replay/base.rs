//! The base rules of the protocol, checked on every message that a replay receives, even if its transcript does not
//! name them.

mod members;
mod message;

use std::sync::{Arc, Mutex, PoisonError};

use http::Method;
use serde_json::Value;

pub(super) use self::message::described;
pub(crate) use self::message::{Sent, breach};
use crate::probe::{Incoming, Raw};

/// How many breaches are kept until a step takes them.
const MAX_KEPT: usize = 20;

/// What was seen that no server may do.
#[derive(Debug, Clone, Default)]
pub(super) struct Breaches(Arc<Mutex<Vec<String>>>);

impl Breaches {
    fn add(&self, breach: String) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MAX_KEPT {
            kept.push(breach);
        }
    }

    /// Those since this was last asked.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What an answer must keep to; nothing if the request is not one of the protocol. `at_endpoint` says where it goes.
pub(super) fn watch(raw: &Raw, at_endpoint: bool, breaches: &Breaches) -> Option<Watch> {
    let sent = match serde_json::from_slice::<Value>(&raw.body) {
        Ok(message) if message.get("jsonrpc").is_some() => Sent::message(&message),
        _ if at_endpoint && raw.method == Method::GET => Sent::default(),
        _ => return None,
    };
    Some(Watch { sent, breaches: breaches.clone() })
}

/// Looks at an answer as it comes: its head, and then its body, or each event.
pub(super) struct Watch {
    sent: Sent,
    breaches: Breaches,
}

impl Watch {
    /// The same answer, looked at.
    pub(super) fn over(self, answer: Incoming) -> Incoming {
        let (status, streams) = (answer.exchange.status.unwrap_or_default(), answer.streams);
        if let Some(breach) = self.sent.head_breach(status, &answer.exchange.headers) {
            self.breaches.add(breach);
        }
        answer.watched(move |data, _| {
            if !streams && self.sent.is_silent() && (200..300).contains(&status) {
                self.breaches.add("a notification or response was answered with a body".to_owned());
            }
            match serde_json::from_slice(data) {
                Ok(Value::Array(messages)) if !streams => {
                    messages.iter().for_each(|it| self.judge(it, status));
                }
                Ok(message) => self.judge(&message, status),
                Err(error) if streams => {
                    self.breaches.add(format!("an event holds no message: {error}"));
                }
                // A body that is not JSON fails where it is read.
                Err(_) => {}
            }
        })
    }

    fn judge(&self, message: &Value, status: u16) {
        if let Some(breach) = breach(message, &self.sent, status) {
            self.breaches.add(breach);
        }
    }
}
