//! What a relay remembers of a client: how it introduced itself, what it subscribed to, and which requests are running.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use bytes::Bytes;
use mcp_proto::MAX_SUBSCRIPTIONS;
use serde::Deserialize;
use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The most running requests that are remembered; when the server ends, they get an error.
const MAX_RUNNING: usize = 1_024;

#[derive(Default)]
pub(super) struct Memory {
    initialize: Option<Initialize>,
    initialized: Option<Bytes>,
    /// The ids, as JSON text, of requests without an answer.
    running: HashSet<String>,
    /// The URIs that the legacy client has subscribed to, at most as many as a server accepts.
    subscriptions: BTreeSet<String>,
}

/// The client's `initialize`. Whether it was answered is kept separately, since clients may use its id again.
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
    /// What it has subscribed to.
    pub(super) subscriptions: Vec<String>,
}

/// What of a request or notification is looked at.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
}

/// The members that distinguish an answer.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Member {
    Id,
    Method,
    #[serde(alias = "error")]
    Result,
    #[serde(other)]
    Other,
}

/// Finds the id of an answer and reads no further than it must: a result may be large, and comes last.
struct AnswerId<'m>(&'m mut Option<String>);

impl<'de> Visitor<'de> for AnswerId<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(member) = members.next_key()? {
            match member {
                Member::Id => *self.0 = Some(members.next_value::<&RawValue>()?.get().to_owned()),
                Member::Method => {
                    *self.0 = None;
                    return Err(A::Error::custom("a request"));
                }
                Member::Result if self.0.is_some() => return Err(A::Error::custom("read enough")),
                Member::Result | Member::Other => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The parts of `resources/subscribe` and `resources/unsubscribe` that are read.
#[derive(Deserialize)]
struct Subscribe {
    params: SubscribeParams,
}

#[derive(Deserialize)]
struct SubscribeParams {
    uri: String,
}

/// The parts of `notifications/cancelled` that are read.
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
                self.subscriptions.clear();
                return;
            }
            ("notifications/initialized", None) => self.initialized = Some(line.clone()),
            ("notifications/cancelled", None) => {
                // It no longer gets an answer.
                if let Ok(cancelled) = serde_json::from_slice::<Cancelled>(line) {
                    self.running
                        .remove(&cancelled.params.request_id.to_string());
                }
            }
            ("resources/subscribe" | "resources/unsubscribe", Some(_)) => {
                self.subscribed(line, method == "resources/subscribe");
            }
            _ => {}
        }
        if let Some(id) = id
            && self.running.len() < MAX_RUNNING
        {
            self.running.insert(id.to_string());
        }
    }

    /// The server's answer is ignored: the next server is asked again, and decides again.
    fn subscribed(&mut self, line: &[u8], on: bool) {
        let Ok(Subscribe { params }) = serde_json::from_slice(line) else {
            return;
        };
        if !on {
            self.subscriptions.remove(&params.uri);
        } else if self.subscriptions.len() < MAX_SUBSCRIPTIONS {
            self.subscriptions.insert(params.uri);
        }
    }

    /// A line of the server's.
    pub(super) fn answered(&mut self, line: &[u8]) {
        let waiting = self.initialize.as_mut().filter(|it| !it.answered);
        if self.running.is_empty() && waiting.is_none() {
            return;
        }
        let mut id = None;
        // Where it stopped does not matter: what was found is the answer's id or nothing.
        let _stopped =
            serde_json::Deserializer::from_slice(line).deserialize_map(AnswerId(&mut id));
        let Some(id) = id else { return };
        match waiting.filter(|initialize| initialize.id == id) {
            Some(initialize) => initialize.answered = true,
            None => {
                self.running.remove(&id);
            }
        }
    }

    /// What the next server must receive first, if the client has initialized.
    pub(super) fn handshake(&self) -> Option<Handshake> {
        let initialize = self.initialize.as_ref()?;
        Some(Handshake {
            initialize: initialize.line.clone(),
            initialized: self.initialized.clone(),
            answered: initialize.answered,
            subscriptions: self.subscriptions.iter().cloned().collect(),
        })
    }

    /// The requests that have lost their server, once. An unanswered `initialize` is not among them: it is repeated.
    pub(super) fn take_running(&mut self) -> HashSet<String> {
        std::mem::take(&mut self.running)
    }
}
