//! What a relay remembers of a client: how it introduced itself, what it subscribed to, and which requests are running.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use bytes::Bytes;
use mcp_proto::lifecycle::MAX_SUBSCRIPTIONS;
use serde::Deserialize;
use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The most running requests that are remembered. When the server ends, they are answered with errors.
const MAX_RUNNING: usize = 1_024;

#[derive(Default)]
pub(super) struct Memory {
    initialize: Option<Initialize>,
    initialized: Option<Bytes>,
    /// The ids of unanswered requests, as JSON text.
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

/// A client's handshake, to be repeated to the next server.
pub(super) struct Handshake {
    pub(super) initialize: Bytes,
    pub(super) initialized: Option<Bytes>,
    /// Whether the client has received its answer.
    pub(super) answered: bool,
    /// The URIs that the client has subscribed to.
    pub(super) subscriptions: Vec<String>,
}

/// The members of a request or notification that are read.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
}

/// The members that identify an answer.
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

/// Finds the id of an answer without reading further than necessary, because a result may be large and is the last
/// member.
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
    /// Records a line from the client.
    pub(super) fn asked(&mut self, line: &Bytes) {
        let Ok(Envelope { id, method }) = serde_json::from_slice(line) else {
            return;
        };
        let Some(method) = method else { return };
        match (method.as_str(), &id) {
            ("initialize", Some(id)) => {
                self.initialize =
                    Some(Initialize { line: line.clone(), id: id.to_string(), answered: false });
                self.initialized = None;
                self.subscriptions.clear();
                return;
            }
            ("notifications/initialized", None) => self.initialized = Some(line.clone()),
            ("notifications/cancelled", None) => {
                // The request no longer gets an answer.
                if let Ok(cancelled) = serde_json::from_slice::<Cancelled>(line) {
                    self.running.remove(&cancelled.params.request_id.to_string());
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

    /// The server's answer is ignored, because the next server is asked again and decides itself.
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

    /// Records a line from the server.
    pub(super) fn answered(&mut self, line: &[u8]) {
        let waiting = self.initialize.as_mut().filter(|it| !it.answered);
        if self.running.is_empty() && waiting.is_none() {
            return;
        }
        let mut id = None;
        // The parser's result does not matter: the id was either found or not.
        let _ = serde_json::Deserializer::from_slice(line).deserialize_map(AnswerId(&mut id));
        let Some(id) = id else { return };
        match waiting.filter(|initialize| initialize.id == id) {
            Some(initialize) => initialize.answered = true,
            None => {
                self.running.remove(&id);
            }
        }
    }

    /// The lines for the next server to receive first, if the client has initialized.
    pub(super) fn handshake(&self) -> Option<Handshake> {
        let initialize = self.initialize.as_ref()?;
        Some(Handshake {
            initialize: initialize.line.clone(),
            initialized: self.initialized.clone(),
            answered: initialize.answered,
            subscriptions: self.subscriptions.iter().cloned().collect(),
        })
    }

    /// Takes the requests whose server ended. An unanswered `initialize` is not included, because it is repeated.
    pub(super) fn take_running(&mut self) -> HashSet<String> {
        std::mem::take(&mut self.running)
    }
}
