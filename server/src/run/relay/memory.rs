//! What a relay remembers of a client: how it introduced itself, and which requests are running.

use std::collections::HashSet;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The most running requests that are remembered; when the server ends, they are told so.
const MAX_RUNNING: usize = 1_024;

#[derive(Default)]
pub(super) struct Memory {
    initialize: Option<Initialize>,
    initialized: Option<Bytes>,
    /// The ids, as JSON text, of requests without an answer.
    running: HashSet<String>,
}

/// The client's `initialize`. Its answer is told by a mark of its own, since clients may use its id again.
struct Initialize {
    line: Bytes,
    /// The id as JSON text.
    id: String,
    answered: bool,
}

/// A client's introduction, to be repeated to the next server.
pub(super) struct Handshake {
    pub(super) initialize: Bytes,
    pub(super) initialized: Option<Bytes>,
    /// Whether the client has its answer already.
    pub(super) answered: bool,
}

/// What of a request or notification is looked at.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
}

/// What of an answer is looked at.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<serde::de::IgnoredAny>,
}

/// `notifications/cancelled`, as far as it is looked at.
#[derive(Deserialize)]
struct Cancelled {
    params: CancelledParams,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelledParams {
    request_id: Value,
}

impl Memory {
    /// A line of the client's.
    pub(super) fn asked(&mut self, line: &Bytes) {
        let Ok(Envelope { id, method }) = serde_json::from_slice(line) else {
            return;
        };
        let Some(method) = method else { return };
        match (method.as_str(), &id) {
            ("initialize", Some(id)) => {
                self.initialize = Some(Initialize {
                    line: line.clone(),
                    id: id.to_string(),
                    answered: false,
                });
                self.initialized = None;
                return;
            }
            ("notifications/initialized", None) => self.initialized = Some(line.clone()),
            ("notifications/cancelled", None) => {
                // It gets no answer any more.
                if let Ok(cancelled) = serde_json::from_slice::<Cancelled>(line) {
                    self.running
                        .remove(&cancelled.params.request_id.to_string());
                }
            }
            _ => {}
        }
        if let Some(id) = id
            && self.running.len() < MAX_RUNNING
        {
            self.running.insert(id.to_string());
        }
    }

    /// A line of the server's.
    pub(super) fn answered(&mut self, line: &[u8]) {
        let waiting = self.initialize.as_mut().filter(|it| !it.answered);
        if self.running.is_empty() && waiting.is_none() {
            return;
        }
        if let Ok(Answer {
            id: Some(id),
            method: None,
        }) = serde_json::from_slice(line)
        {
            match waiting.filter(|initialize| initialize.id == id.get()) {
                Some(initialize) => initialize.answered = true,
                None => {
                    self.running.remove(id.get());
                }
            }
        }
    }

    /// What the next server has to hear first, if the client has introduced itself.
    pub(super) fn handshake(&self) -> Option<Handshake> {
        let initialize = self.initialize.as_ref()?;
        Some(Handshake {
            initialize: initialize.line.clone(),
            initialized: self.initialized.clone(),
            answered: initialize.answered,
        })
    }

    /// The requests that have lost their server, once. An unanswered `initialize` is not among them: it is repeated.
    pub(super) fn take_running(&mut self) -> HashSet<String> {
        std::mem::take(&mut self.running)
    }
}
