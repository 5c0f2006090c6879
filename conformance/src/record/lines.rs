//! A session as the lines of a transcript.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::flow::Flow;
use super::mask::Mask;
use super::session::{Answer, Item, Session};
use super::values::{Loosened, Writer};
use crate::transcript::Era;
use crate::transcript::format::{
    Action, Await, EraName, Expect, Header, Http, HttpRequest, Line, Mcp, Message, Open,
    ScriptedAnswer, Step, Stream,
};

/// What every modern request says of its sender; a replay says it itself.
const SENDER: [&str; 3] = ["protocolVersion", "clientCapabilities", "clientInfo"];
/// The stream of what answers no request.
const STANDALONE: &str = "standalone";
const MASKED_NOTE: &str = "a secret was masked here; put one in before this is replayed";

/// A session written out.
#[derive(Debug)]
pub(crate) struct Written {
    /// The header first.
    pub(crate) lines: Vec<Line>,
    pub(crate) loosened: Vec<Loosened>,
    /// What could not be written, in words.
    pub(crate) left_out: Vec<String>,
}

/// Writes a session as a transcript called `name`; nothing if it has no client that could be opened.
pub(crate) fn write(session: &Session, mask: &Mask, name: &str) -> Option<Written> {
    let mut scribe = Scribe::new(session, mask);
    let (open, client) = match session.era {
        Era::Legacy => scribe.handshake()?,
        Era::Modern => scribe.introduction()?,
    };
    let version = open.version.clone().unwrap_or_default();
    let header = Header {
        transcript: 1,
        name: name.to_owned(),
        title: title(&client, session.cut),
        requirements: None,
        eras: vec![match session.era {
            Era::Legacy => EraName::Legacy,
            Era::Modern => EraName::Modern,
        }],
        fixture: None,
        endpoint: None,
    };
    scribe.lines.push(Line::Header(header));
    scribe.opening(open);
    for index in 0..session.items.len() {
        scribe.item(index, &version);
    }
    Some(Written {
        lines: scribe.lines,
        loosened: scribe.loosened,
        left_out: scribe.left_out,
    })
}

fn title(client: &str, cut: bool) -> String {
    let cut = if cut {
        "; it went on, but no more was kept"
    } else {
        ""
    };
    format!("recorded from {client}{cut}")
}

struct Scribe<'a> {
    session: &'a Session,
    writer: Writer<'a>,
    lines: Vec<Line>,
    loosened: Vec<Loosened>,
    left_out: Vec<String>,
    /// The answer to each request, by its id as JSON.
    answers: BTreeMap<String, (&'a Answer, Option<u16>)>,
    /// The id of each open subscription, with the name of its stream.
    subscriptions: BTreeMap<String, String>,
}

impl<'a> Scribe<'a> {
    fn new(session: &'a Session, mask: &'a Mask) -> Self {
        let answers = session.items.iter().filter_map(|item| match item {
            Item::Answered { id, answer, status } => Some((id.to_string(), (answer, *status))),
            _ => None,
        });
        Self {
            session,
            writer: Writer::new(mask, Flow::of(&session.items)),
            lines: Vec::new(),
            loosened: Vec::new(),
            left_out: Vec::new(),
            answers: answers.collect(),
            subscriptions: BTreeMap::new(),
        }
    }

    /// What `initialize` said, and who the client is.
    fn handshake(&self) -> Option<(Open, String)> {
        self.session.items.iter().find_map(|item| match item {
            Item::Asked { method, params, .. } if method == "initialize" => {
                let params = params.as_ref()?;
                let text = |name: &str| params.get(name).cloned();
                let version = text("protocolVersion");
                Some(opened(version, text("capabilities"), text("clientInfo")))
            }
            _ => None,
        })
    }

    /// What the first modern request says of its client.
    fn introduction(&self) -> Option<(Open, String)> {
        self.session.items.iter().find_map(|item| match item {
            Item::Asked { params, .. } => {
                let meta = params.as_ref()?.get("_meta")?;
                let [version, capabilities, info] =
                    SENDER.map(|name| meta.get(format!("io.modelcontextprotocol/{name}")).cloned());
                Some(opened(version, capabilities, info))
            }
            _ => None,
        })
    }

    fn opening(&mut self, mut open: Open) {
        self.writer.begin();
        open.answers = self.scripted();
        if self.session.era == Era::Legacy {
            let id = self.session.items.iter().find_map(|item| match item {
                Item::Asked { id, method, .. } if method == "initialize" => Some(id.to_string()),
                _ => None,
            });
            open.expect = id.and_then(|id| self.expect(&id, &[]));
        }
        self.step(Action::Open(open), None);
        let unasked = |item: &Item| matches!(item, Item::Said { to: None, message } if message.get("id").is_none());
        if !self.session.http && self.session.items.iter().any(unasked) {
            self.listen();
        }
    }

    /// The client's answers to what the server asked, in the order of the questions.
    fn scripted(&mut self) -> Vec<ScriptedAnswer> {
        let items = &self.session.items;
        let questions = items.iter().filter_map(|item| match item {
            Item::Said { message, .. } => Some((message.get("id")?, message)),
            _ => None,
        });
        let mut scripted = Vec::new();
        for (id, question) in questions {
            let method = question
                .get("method")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let answer = items.iter().find_map(|item| match item {
                Item::Replied { id: to, answer } if to == id => Some(answer),
                _ => None,
            });
            let Some(answer) = answer.filter(|_| method != "ping") else {
                continue;
            };
            let (value, _) = self.writer.sent(&answer.value);
            let place = format!("/answers/{}/params", scripted.len());
            let (result, error) = match answer.member {
                "result" => (Some(value), None),
                _ => (None, Some(value)),
            };
            scripted.push(ScriptedAnswer {
                method: method.to_owned(),
                params: question
                    .get("params")
                    .map(|params| self.writer.uncaptured(&place, params)),
                result,
                error,
                optional: None,
            });
        }
        scripted
    }

    fn item(&mut self, index: usize, version: &str) {
        let session = self.session;
        self.writer.begin();
        match session.items.get(index) {
            Some(Item::Asked { id, method, params }) if method == "subscriptions/listen" => {
                let name = format!("listen{}", self.subscriptions.len() + 1);
                self.subscriptions.insert(id.to_string(), name.clone());
                let filter = params
                    .as_ref()
                    .and_then(|params| params.get("notifications"));
                let listen = filter.map(|filter| self.writer.sent(filter).0);
                self.stream(name, listen.unwrap_or_else(|| json!({})));
            }
            Some(Item::Asked { id, method, params }) if method != "initialize" => {
                self.request(index, id, method, params.as_ref());
            }
            Some(Item::Told { method, params }) => match method.as_str() {
                "notifications/initialized" => {}
                // It names a request by an id that a replay does not have.
                "notifications/cancelled" => self
                    .left_out
                    .push(format!("line after {}: {method}", self.lines.len())),
                _ => {
                    let (params, masked) = self.params(params.as_ref());
                    let message = Message {
                        notify: Some(method.clone()),
                        params,
                        ..Message::default()
                    };
                    self.mcp(message, None, masked);
                }
            },
            Some(Item::Listened) => self.listen(),
            Some(Item::Said { to, message }) if message.get("id").is_none() => {
                self.said(to.as_ref(), message)
            }
            Some(Item::Answered { id, answer, .. }) => self.ended(id, answer),
            Some(Item::Plain {
                method,
                status,
                sent,
            }) => self.plain(method, *status, sent.as_ref(), version),
            _ => {}
        }
    }

    fn request(&mut self, index: usize, id: &Value, method: &str, params: Option<&Value>) {
        let key = id.to_string();
        let said: Vec<&Value> = self
            .session
            .items
            .iter()
            .skip(index)
            .filter_map(|item| match item {
                Item::Said {
                    to: Some(to),
                    message,
                } if to == id && message.get("id").is_none() => Some(message),
                _ => None,
            })
            .collect();
        let (params, masked) = self.params(params);
        match self.expect(&key, &said) {
            Some(expect) => {
                let message = Message {
                    method: Some(method.to_owned()),
                    params,
                    ..Message::default()
                };
                self.mcp(message, Some(expect), masked);
            }
            None => self.left_out.push(format!(
                "line after {}: {method}, which got no answer",
                self.lines.len()
            )),
        }
    }

    /// What the answer to a request was, and the notifications before it; nothing if there was none.
    fn expect(&mut self, id: &str, said: &[&Value]) -> Option<Expect> {
        let (answer, status) = self.answers.get(id).copied()?;
        let mut expect = Expect::default();
        let usual = answer.member == "result" && status.is_none_or(|status| status == 200);
        expect.status = status.filter(|_| !usual).map(Value::from);
        if !said.is_empty() {
            let said: Vec<Value> = said.iter().map(|message| (*message).clone()).collect();
            expect.notifications = Some(self.writer.expected("/notifications", &said.into()));
        }
        match answer.member {
            "result" => expect.result = Some(self.writer.expected("/result", &answer.value)),
            _ => expect.error = Some(self.writer.expected("/error", &answer.value)),
        }
        Some(expect)
    }

    /// What the client sent, without what a replay says itself, and whether a secret was taken out.
    fn params(&self, params: Option<&Value>) -> (Option<Value>, bool) {
        let Some(params) = params else {
            return (None, false);
        };
        let mut params = params.clone();
        if let (Era::Modern, Some(members)) = (self.session.era, params.as_object_mut()) {
            let meta = members.get_mut("_meta").and_then(Value::as_object_mut);
            let empty = meta.is_some_and(|meta| {
                meta.retain(|name, _| {
                    let own = name.strip_prefix("io.modelcontextprotocol/");
                    !own.is_some_and(|name| SENDER.contains(&name))
                });
                meta.is_empty()
            });
            if empty {
                members.remove("_meta");
            }
        }
        let (params, masked) = self.writer.sent(&params);
        let nothing = self.session.era == Era::Modern && params == json!({});
        ((!nothing).then_some(params), masked)
    }

    fn listen(&mut self) {
        self.stream(STANDALONE.to_owned(), json!({}));
    }

    fn stream(&mut self, stream: String, listen: Value) {
        let action = Action::Stream(Stream {
            stream,
            http: None,
            listen: Some(listen),
            client: None,
            ignore: None,
            expect: None,
        });
        self.step(action, None);
    }

    /// A notification that belongs to no ordinary request.
    fn said(&mut self, to: Option<&Value>, message: &Value) {
        let name = match to.map(|to| self.subscriptions.get(&to.to_string())) {
            Some(Some(name)) => name.clone(),
            // It stands with the answer to its request.
            Some(None) => return,
            None => STANDALONE.to_owned(),
        };
        let mut pattern = self.writer.expected("/message", message);
        if to.is_some()
            && let Some(id) =
                pattern.pointer_mut("/params/_meta/io.modelcontextprotocol~1subscriptionId")
        {
            // A replay has ids of its own.
            *id = json!({"$any": true});
        }
        self.wait(name, pattern);
    }

    /// A subscription that the server ended.
    fn ended(&mut self, id: &Value, answer: &Answer) {
        let Some(name) = self.subscriptions.remove(&id.to_string()) else {
            return;
        };
        let mut result = self.writer.expected("/message/result", &answer.value);
        if let Some(id) = result.pointer_mut("/_meta/io.modelcontextprotocol~1subscriptionId") {
            *id = json!({"$any": true});
        }
        let message = Map::from_iter([
            ("jsonrpc".to_owned(), "2.0".into()),
            ("id".to_owned(), json!({"$any": true})),
            (answer.member.to_owned(), result),
        ]);
        self.wait(name, message.into());
    }

    fn wait(&mut self, name: String, message: Value) {
        let action = Action::Await(Await {
            r#await: name,
            message: Some(message),
            ..Await::default()
        });
        self.step(action, None);
    }

    fn plain(&mut self, method: &str, status: u16, sent: Option<&Value>, version: &str) {
        let mut headers = BTreeMap::from([("mcp-protocol-version".to_owned(), version.to_owned())]);
        if self.session.era == Era::Legacy {
            headers.insert("mcp-session-id".to_owned(), "${main.session}".to_owned());
        }
        headers.insert(
            "accept".to_owned(),
            "application/json, text/event-stream".to_owned(),
        );
        let http = HttpRequest {
            method: method.to_owned(),
            path: "/mcp".to_owned(),
            headers,
            json: sent.map(|sent| self.writer.sent(sent).0),
            text: None,
        };
        let expect = Expect {
            status: Some(status.into()),
            ..Expect::default()
        };
        self.step(Action::Http(Http { http, expect }), None);
    }

    fn mcp(&mut self, mcp: Message, expect: Option<Expect>, masked: bool) {
        let note = masked.then(|| MASKED_NOTE.to_owned());
        let client = None;
        self.step(
            Action::Mcp(Mcp {
                mcp,
                client,
                expect,
            }),
            note,
        );
    }

    fn step(&mut self, action: Action, note: Option<String>) {
        let step = Step {
            era: None,
            note,
            action,
        };
        self.lines.push(Line::Step(Box::new(step)));
        let line = self.lines.len();
        let loosened = self.writer.loosened();
        self.loosened
            .extend(loosened.into_iter().map(|place| Loosened { line, ..place }));
    }
}

fn opened(
    version: Option<Value>,
    capabilities: Option<Value>,
    info: Option<Value>,
) -> (Open, String) {
    let text = |name: &str| {
        info.as_ref()
            .and_then(|info| info.get(name))
            .and_then(Value::as_str)
    };
    let client = [
        text("name").unwrap_or("a client without a name"),
        text("version").unwrap_or_default(),
    ]
    .join(" ");
    let open = Open {
        open: "main".to_owned(),
        version: version.as_ref().and_then(Value::as_str).map(str::to_owned),
        capabilities: capabilities.filter(Value::is_object),
        client_info: info.filter(Value::is_object),
        ..Open::default()
    };
    (open, client.trim_end().to_owned())
}

/// The client of a session as a part of a file's name.
pub(crate) fn client_of(session: &Session) -> String {
    let info = session.items.iter().find_map(|item| match item {
        Item::Asked {
            params: Some(params),
            ..
        } => params.get("clientInfo").or_else(|| {
            params
                .get("_meta")?
                .get("io.modelcontextprotocol/clientInfo")
        }),
        _ => None,
    });
    let name = info
        .and_then(|info| info.get("name"))
        .and_then(Value::as_str)
        .unwrap_or("client");
    let safe = name
        .chars()
        .map(|letter| match letter.is_ascii_alphanumeric() {
            true => letter.to_ascii_lowercase(),
            false => '-',
        });
    safe.take(40).collect()
}
