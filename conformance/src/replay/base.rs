//! The base rules of the protocol, checked on every message that a replay receives, even if its transcript does not
//! name them.

mod members;
mod message;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use http::{Method, Request, Response};
use http_body_util::BodyExt as _;
use serde_json::Value;

pub(crate) use self::message::{Sent, breach};
use crate::sse::is_event_stream;
use crate::sse::{Decoder, Frame};
use crate::target::Body;

/// How many breaches are kept until a step takes them.
const MAX_KEPT: usize = 20;
/// The longest body that is checked, in bytes; a longer one fails.
const MAX_BYTES: usize = 16 * 1024 * 1024;

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
pub(super) fn watch(
    request: &Request<bytes::Bytes>,
    at_endpoint: bool,
    breaches: &Breaches,
) -> Option<Watch> {
    let sent = match serde_json::from_slice::<Value>(request.body()) {
        Ok(message) if message.get("jsonrpc").is_some() => Sent::message(&message),
        _ if at_endpoint && request.method() == Method::GET => Sent::default(),
        _ => return None,
    };
    Some(Watch { sent, status: 0, streams: None, bytes: Vec::new(), breaches: breaches.clone() })
}

/// Looks at the bytes of an answer as they pass. A body is judged when it is dropped, an event when it is whole.
pub(super) struct Watch {
    sent: Sent,
    status: u16,
    streams: Option<Decoder>,
    bytes: Vec<u8>,
    breaches: Breaches,
}

impl Watch {
    /// The same answer, looked at.
    pub(super) fn over(mut self, response: Response<Body>) -> Response<Body> {
        self.status = response.status().as_u16();
        self.streams = is_event_stream(response.headers()).then(Decoder::default);
        if let Some(breach) = self.sent.head_breach(response.status(), response.headers()) {
            self.breaches.add(breach);
        }
        response.map(|body| {
            body.map_frame(move |frame| {
                if let Some(data) = frame.data_ref() {
                    self.pass(data);
                }
                frame
            })
            .boxed_unsync()
        })
    }

    fn pass(&mut self, data: &[u8]) {
        let Some(decoder) = &mut self.streams else {
            if self.bytes.len() + data.len() <= MAX_BYTES {
                self.bytes.extend_from_slice(data);
            }
            return;
        };
        let mut frames = VecDeque::new();
        // A stream that cannot be read fails where it is read.
        let _ = decoder.push(data, &mut frames);
        for frame in frames {
            if let Frame::Event(event) = frame
                && !event.data.is_empty()
            {
                match serde_json::from_str(&event.data) {
                    Ok(message) => self.judge(&message),
                    Err(error) => self.breaches.add(format!("an event holds no message: {error}")),
                }
            }
        }
    }

    fn judge(&self, message: &Value) {
        if let Some(breach) = breach(message, &self.sent, self.status) {
            self.breaches.add(breach);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.streams.is_some() || self.bytes.is_empty() {
            return;
        }
        if self.sent.is_silent() && (200..300).contains(&self.status) {
            self.breaches.add("a notification or response was answered with a body".to_owned());
        }
        // A body that is not JSON, or was not read to its end, fails where it is read.
        match serde_json::from_slice::<Value>(&self.bytes) {
            Ok(Value::Array(messages)) => messages.iter().for_each(|it| self.judge(it)),
            Ok(message) => self.judge(&message),
            Err(_) => {}
        }
    }
}
