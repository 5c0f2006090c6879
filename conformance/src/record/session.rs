//! The messages between one client and its server, on any transport.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::transcript::{Era, MAX_FILE_BYTES, MAX_STEPS};

/// One thing that was seen, in the order in which it was seen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    /// A request of the client.
    Request {
        /// A unique number: clients of one name may use the same ids.
        serial: u64,
        id: Value,
        method: String,
        params: Option<Value>,
        /// The headers that it came with and that MCP gives a meaning; none on stdio.
        headers: Headers,
    },
    /// A notification of the client.
    Notification { method: String, params: Option<Value> },
    /// The client's answer to a question of the server.
    Reply { id: Value, answer: Answer },
    /// The server's answer, and its HTTP status if it came over HTTP.
    Response {
        /// The request.
        serial: u64,
        answer: Answer,
        status: Option<u16>,
        /// The id that the answer itself names, which is null if the request could not be read.
        named: Value,
    },
    /// Another message of the server: about a request of the client, or about none.
    Server { to: Option<u64>, message: Value },
    /// The client began to listen to what answers no request.
    Listen,
    /// An HTTP exchange that carried no message.
    Plain {
        method: String,
        status: u16,
        /// The body sent, if there was one.
        sent: Option<Value>,
    },
}

/// Names, in lower case, and values.
pub(crate) type Headers = Vec<(String, String)>;

/// Whether MCP gives a header a meaning.
pub(crate) fn has_meaning(name: &str) -> bool {
    name == "accept" || name == "content-type" || name.starts_with("mcp-")
}

/// `result` or `error`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) member: &'static str,
    pub(crate) value: Value,
}

/// A session under way, bounded by what one transcript can hold.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) era: Era,
    /// Whether it goes over HTTP; else over stdio.
    pub(crate) http: bool,
    pub(crate) items: Vec<Item>,
    bytes: usize,
    /// The ids of the events seen.
    events: BTreeSet<String>,
    /// There were more messages than are kept.
    pub(crate) cut: bool,
}

impl Session {
    pub(crate) fn new(era: Era, http: bool) -> Self {
        Self { era, http, items: Vec::new(), bytes: 0, events: BTreeSet::new(), cut: false }
    }

    /// What is kept of it, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps a message of the client, and returns its number if it is a request. A message that is not JSON-RPC is left
    /// out.
    pub(crate) fn client(&mut self, message: &Value, headers: &Headers) -> Option<u64> {
        let bytes = message.to_string().len();
        let serial = self.items.len() as u64;
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let params = message.get("params").cloned();
        let item = match (method, message.get("id").cloned()) {
            (Some(method), Some(id)) => {
                Item::Request { serial, id, method, params, headers: headers.clone() }
            }
            (Some(method), None) => Item::Notification { method, params },
            (None, Some(id)) => match answer(message) {
                Some(answer) => Item::Reply { id, answer },
                None => return None,
            },
            (None, None) => return None,
        };
        let asks = matches!(item, Item::Request { .. });
        self.add(item, bytes);
        asks.then_some(serial)
    }

    /// Keeps a message of the server. `carrier` is the request whose stream or answer it came on.
    pub(crate) fn server(&mut self, message: Value, carrier: Option<u64>, status: Option<u16>) {
        let bytes = message.to_string().len();
        let item = match (message.get("method").is_some(), message.get("id").cloned()) {
            (false, id) => match answer(&message) {
                // An answer without an id is to a request that could not be read.
                Some(answer) => {
                    let asked = carrier.filter(|serial| self.has_id(*serial, id.as_ref()));
                    let Some(serial) = asked.or_else(|| self.open(id.as_ref())) else {
                        return;
                    };
                    Item::Response { serial, answer, status, named: id.unwrap_or_default() }
                }
                None => return,
            },
            (true, _) => Item::Server { to: carrier, message },
        };
        self.add(item, bytes);
    }

    /// Whether a message of a server on stdio belongs here, and to which request.
    #[expect(clippy::option_option, reason = "here, but to no request; or elsewhere")]
    pub(crate) fn carrier(&self, message: &Value) -> Option<Option<u64>> {
        let requests = || {
            self.items.iter().rev().filter_map(|item| match item {
                Item::Request { serial, params, .. } => Some((*serial, params.as_ref())),
                _ => None,
            })
        };
        if message.get("method").is_none() {
            return self.open(message.get("id")).map(Some);
        }
        let subscription = message.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId");
        if subscription.is_some() {
            return self.open(subscription).map(Some);
        }
        if let Some(token) = message.pointer("/params/progressToken") {
            return requests()
                .find(|(_, params)| {
                    params.and_then(|params| params.pointer("/_meta/progressToken")) == Some(token)
                })
                .map(|(serial, _)| Some(serial));
        }
        // Other messages belong, in the modern era, to the request that is being answered.
        match self.era {
            Era::Legacy => Some(None),
            Era::Modern => requests()
                .find(|(serial, _)| !self.is_answered(*serial))
                .map(|(serial, _)| Some(serial)),
        }
    }

    /// Whether an answer that names `id` can be to this request: one without an id is to what could not be read.
    fn has_id(&self, request: u64, id: Option<&Value>) -> bool {
        id.is_none_or(Value::is_null)
            || self.items.iter().any(|item| {
                matches!(item, Item::Request { serial, id: asked, .. } if *serial == request && Some(asked) == id)
            })
    }

    /// The last request of this id that has no answer yet.
    fn open(&self, id: Option<&Value>) -> Option<u64> {
        self.items.iter().rev().find_map(|item| match item {
            Item::Request { serial, id: asked, .. }
                if Some(asked) == id && !self.is_answered(*serial) =>
            {
                Some(*serial)
            }
            _ => None,
        })
    }

    fn is_answered(&self, request: u64) -> bool {
        let answers =
            |item: &Item| matches!(item, Item::Response { serial, .. } if *serial == request);
        self.items.iter().any(answers)
    }

    /// Whether an event of this id came before: a resumed stream may repeat events.
    pub(crate) fn is_again(&mut self, event: Option<&str>) -> bool {
        let kept = self.events.len() < MAX_STEPS;
        event.is_some_and(|id| kept && !self.events.insert(id.to_owned()))
    }

    pub(crate) fn listened(&mut self) {
        if !self.items.contains(&Item::Listen) {
            self.add(Item::Listen, 0);
        }
    }

    pub(crate) fn plain(&mut self, method: &str, status: u16, sent: Option<Value>) {
        let bytes = sent.as_ref().map_or(0, |sent| sent.to_string().len());
        let method = method.to_owned();
        self.add(Item::Plain { method, status, sent }, bytes);
    }

    /// Half of what a transcript may hold: written out, with matchers, a message is longer than it was.
    fn add(&mut self, item: Item, bytes: usize) {
        let most = usize::try_from(MAX_FILE_BYTES / 2).unwrap_or(usize::MAX);
        if self.cut || self.bytes + bytes > most || self.items.len() >= MAX_STEPS {
            self.cut = true;
            return;
        }
        self.bytes += bytes;
        self.items.push(item);
    }
}

fn answer(message: &Value) -> Option<Answer> {
    ["result", "error"].into_iter().find_map(|member| {
        let value = message.get(member)?.clone();
        Some(Answer { member, value })
    })
}

/// The era of a message of the client: modern requests say their revision themselves.
pub(crate) fn era_of(message: &Value, version_header: Option<&str>) -> Era {
    let says = message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").is_some();
    // Revisions are dates, so that they are ordered as texts.
    if says || version_header.is_some_and(|version| version >= "2026-07-28") {
        Era::Modern
    } else {
        Era::Legacy
    }
}
