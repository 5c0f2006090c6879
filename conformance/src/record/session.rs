//! What one client and its server said to each other, whatever carried it.

use serde_json::Value;

use crate::transcript::{Era, MAX_FILE_BYTES, MAX_STEPS};

/// One thing that was seen, in the order in which it was seen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    /// A request of the client.
    Asked {
        id: Value,
        method: String,
        params: Option<Value>,
        /// The headers that it came with and that MCP gives a meaning; none on pipes.
        headers: Headers,
    },
    /// A notification of the client.
    Told {
        method: String,
        params: Option<Value>,
    },
    /// The client's answer to a question of the server.
    Replied { id: Value, answer: Answer },
    /// The server's answer, and its HTTP status if it came over HTTP.
    Answered {
        id: Value,
        answer: Answer,
        status: Option<u16>,
        /// The id that the answer itself names, which is null if the request could not be read.
        named: Value,
    },
    /// What else the server said: to a request of the client, or to nobody in particular.
    Said { to: Option<Value>, message: Value },
    /// The client began to listen to what answers no request.
    Listened,
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
    /// Whether it goes over HTTP; else over pipes.
    pub(crate) http: bool,
    pub(crate) items: Vec<Item>,
    bytes: usize,
    /// More was said than is kept.
    pub(crate) cut: bool,
}

impl Session {
    pub(crate) fn new(era: Era, http: bool) -> Self {
        Self {
            era,
            http,
            items: Vec::new(),
            bytes: 0,
            cut: false,
        }
    }

    /// What is kept of it, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps a message of the client. What is no JSON-RPC message is left out.
    pub(crate) fn client(&mut self, message: &Value, headers: &Headers) {
        let bytes = message.to_string().len();
        let method = message
            .get("method")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let params = message.get("params").cloned();
        let item = match (method, message.get("id").cloned()) {
            (Some(method), Some(id)) => Item::Asked {
                id,
                method,
                params,
                headers: headers.clone(),
            },
            (Some(method), None) => Item::Told { method, params },
            (None, Some(id)) => match answer(message) {
                Some(answer) => Item::Replied { id, answer },
                None => return,
            },
            (None, None) => return,
        };
        self.add(item, bytes);
    }

    /// Keeps a message of the server. `carrier` is the request whose stream or answer it came on.
    pub(crate) fn server(&mut self, message: Value, carrier: Option<&Value>, status: Option<u16>) {
        let bytes = message.to_string().len();
        let item = match (message.get("method").is_some(), message.get("id").cloned()) {
            (false, id) => match answer(&message) {
                // An answer without an id is to a request that could not be read.
                Some(answer) => Item::Answered {
                    id: id
                        .filter(|id| !id.is_null())
                        .or(carrier.cloned())
                        .unwrap_or_default(),
                    answer,
                    status,
                    named: message.get("id").cloned().unwrap_or_default(),
                },
                None => return,
            },
            (true, _) => Item::Said {
                to: carrier.cloned(),
                message,
            },
        };
        self.add(item, bytes);
    }

    /// Whether a message of a server on pipes belongs here, and to which request.
    #[expect(
        clippy::option_option,
        reason = "here, but to no request; or elsewhere"
    )]
    pub(crate) fn carrier(&self, message: &Value) -> Option<Option<Value>> {
        let requests = || {
            self.items.iter().rev().filter_map(|item| match item {
                Item::Asked { id, params, .. } => Some((id, params)),
                _ => None,
            })
        };
        if message.get("method").is_none() {
            let id = message.get("id")?;
            return requests()
                .any(|(asked, _)| asked == id)
                .then(|| Some(id.clone()));
        }
        let subscription = message.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId");
        if let Some(id) = subscription {
            return requests()
                .any(|(asked, _)| asked == id)
                .then(|| Some(id.clone()));
        }
        if let Some(token) = message.pointer("/params/progressToken") {
            let of = |params: &Option<Value>| {
                params
                    .as_ref()
                    .and_then(|params| params.pointer("/_meta/progressToken"))
                    == Some(token)
            };
            return requests()
                .find(|(_, params)| of(params))
                .map(|(id, _)| Some(id.clone()));
        }
        // What else is said belongs, in the modern era, to the request that is being answered.
        match self.era {
            Era::Legacy => Some(None),
            Era::Modern => requests().next().map(|(id, _)| Some(id.clone())),
        }
    }

    pub(crate) fn listened(&mut self) {
        if !self.items.contains(&Item::Listened) {
            self.add(Item::Listened, 0);
        }
    }

    pub(crate) fn plain(&mut self, method: &str, status: u16, sent: Option<Value>) {
        let bytes = sent.as_ref().map_or(0, |sent| sent.to_string().len());
        let method = method.to_owned();
        self.add(
            Item::Plain {
                method,
                status,
                sent,
            },
            bytes,
        );
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
    let says = message
        .pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion")
        .is_some();
    // Revisions are dates, so that they are ordered as texts.
    match says || version_header.is_some_and(|version| version >= "2026-07-28") {
        true => Era::Modern,
        false => Era::Legacy,
    }
}
