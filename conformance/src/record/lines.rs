//! A session as the lines of a transcript.

mod opening;
mod request;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

pub(crate) use self::opening::client_of;
use super::flow::Flow;
use super::mask::Mask;
use super::session::{Answer, Headers, Item, Session};
use super::values::{Loosened, Writer};
use crate::transcript::Era;
use crate::transcript::format::{
    Action, Await, EraName, Expect, Header, Http, HttpRequest, Line, Mcp, Message, Step, Stream,
};

/// The stream of what answers no request.
const STANDALONE: &str = "standalone";
const MASKED_NOTE: &str = "a secret was masked here; put one in before this is replayed";

/// A session written out.
#[derive(Debug)]
pub(crate) struct TranscriptLines {
    /// The header first.
    pub(crate) lines: Vec<Line>,
    pub(crate) loosened: Vec<Loosened>,
    /// What could not be written, in words.
    pub(crate) left_out: Vec<String>,
}

/// Writes a session as a transcript called `name`; nothing if it has no client that could be opened.
pub(crate) fn write(session: &Session, mask: &Mask, name: &str) -> Option<TranscriptLines> {
    let mut scribe = Scribe::new(session, mask);
    let (open, client) = match session.era {
        Era::Legacy => scribe.handshake()?,
        Era::Modern => scribe.introduction()?,
    };
    let version = scribe.agreed().or_else(|| open.version.clone());
    let version = version.unwrap_or_default();
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
    Some(TranscriptLines {
        lines: scribe.lines,
        loosened: scribe.loosened,
        left_out: scribe.left_out,
    })
}

fn title(client: &str, cut: bool) -> String {
    let cut = if cut { "; it went on, but no more was kept" } else { "" };
    format!("recorded from {client}{cut}")
}

/// An answer, and what came around it.
#[derive(Clone, Copy)]
struct Answered<'a> {
    answer: &'a Answer,
    status: Option<u16>,
    named: &'a Value,
}

struct Scribe<'a> {
    session: &'a Session,
    writer: Writer<'a>,
    lines: Vec<Line>,
    loosened: Vec<Loosened>,
    left_out: Vec<String>,
    /// The answer to each request.
    answers: BTreeMap<u64, Answered<'a>>,
    /// What requests say of this client, by its name after `io.modelcontextprotocol/`.
    sender: BTreeMap<&'static str, Value>,
    /// Each subscription, with the name of its stream.
    subscriptions: BTreeMap<u64, String>,
}

impl<'a> Scribe<'a> {
    fn new(session: &'a Session, mask: &'a Mask) -> Self {
        let answers = session.items.iter().filter_map(|item| match item {
            Item::Response { serial, answer, status, named } => {
                Some((*serial, Answered { answer, status: *status, named }))
            }
            _ => None,
        });
        Self {
            session,
            writer: Writer::new(mask, Flow::of(&session.items)),
            lines: Vec::new(),
            loosened: Vec::new(),
            left_out: Vec::new(),
            answers: answers.collect(),
            sender: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
        }
    }

    fn item(&mut self, index: usize, version: &str) {
        let session = self.session;
        self.writer.begin();
        match session.items.get(index) {
            Some(Item::Request { serial, id, method, params, headers })
                if method != "initialize" && self.is_refused(*serial) =>
            {
                self.refused(*serial, id, method, params.as_ref(), headers);
            }
            Some(Item::Request { serial, method, params, .. })
                if method == "subscriptions/listen" =>
            {
                let name = format!("listen{}", self.subscriptions.len() + 1);
                self.subscriptions.insert(*serial, name.clone());
                let filter = params.as_ref().and_then(|params| params.get("notifications"));
                let listen = filter.map(|filter| self.writer.sent(filter).0);
                self.stream(name, listen.unwrap_or_else(|| json!({})));
            }
            Some(Item::Request { serial, method, params, .. }) if method != "initialize" => {
                self.request(index, *serial, method, params.as_ref());
            }
            Some(Item::Notification { method, params }) => match method.as_str() {
                "notifications/initialized" => {}
                // It names a request by an id that a replay does not have.
                "notifications/cancelled" => {
                    self.left_out.push(format!("{method} after line {}", self.lines.len()))
                }
                _ => {
                    let (params, masked) = self.params(params.as_ref());
                    let message =
                        Message { notify: Some(method.clone()), params, ..Message::default() };
                    self.mcp(message, None, masked);
                }
            },
            Some(Item::Listen) => self.listen(),
            Some(Item::Server { to, message }) if message.get("id").is_none() => {
                self.server_message(*to, message)
            }
            Some(Item::Response { serial, answer, .. }) => self.ended(*serial, answer),
            Some(Item::Plain { method, status, sent }) => {
                self.plain(method, *status, sent.as_ref(), version)
            }
            _ => {}
        }
    }

    fn listen(&mut self) {
        self.stream(STANDALONE.to_owned(), json!({}));
    }

    fn stream(&mut self, stream: String, listen: Value) {
        let action = Action::Stream(Stream { stream, listen: Some(listen), ..Stream::default() });
        self.step(action, None);
    }

    /// A notification that belongs to no ordinary request.
    fn server_message(&mut self, to: Option<u64>, message: &Value) {
        if to.is_none() && self.is_of_the_unanswered(message) {
            return;
        }
        let name = match to.map(|to| self.subscriptions.get(&to)) {
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
            // A replay uses different ids.
            *id = json!({"$any": true});
        }
        self.wait(name, pattern);
    }

    /// Whether it is the progress of a request that got no answer, and is left out for that.
    fn is_of_the_unanswered(&self, message: &Value) -> bool {
        let token = message.pointer("/params/progressToken");
        token.is_some()
            && self.session.items.iter().any(|item| match item {
                Item::Request { serial, params, .. } => {
                    let own =
                        params.as_ref().and_then(|params| params.pointer("/_meta/progressToken"));
                    own == token && !self.answers.contains_key(serial)
                }
                _ => false,
            })
    }

    /// A subscription that the server ended.
    fn ended(&mut self, serial: u64, answer: &Answer) {
        let Some(name) = self.subscriptions.get(&serial).cloned() else {
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
        let action =
            Action::Await(Await { r#await: name, message: Some(message), ..Await::default() });
        self.step(action, None);
    }

    fn plain(&mut self, method: &str, status: u16, sent: Option<&Value>, version: &str) {
        let mut headers = BTreeMap::from([("mcp-protocol-version".to_owned(), version.to_owned())]);
        if self.session.era == Era::Legacy {
            headers.insert("mcp-session-id".to_owned(), "${main.session}".to_owned());
        }
        headers.insert("accept".to_owned(), "application/json, text/event-stream".to_owned());
        let http = HttpRequest {
            method: method.to_owned(),
            path: "/mcp".to_owned(),
            headers,
            json: sent.map(|sent| self.writer.sent(sent).0),
            text: None,
        };
        let expect = Expect { status: Some(status.into()), ..Expect::default() };
        self.step(Action::Http(Http { http, expect }), None);
    }

    fn mcp(&mut self, mcp: Message, expect: Option<Expect>, masked: bool) {
        let note = masked.then(|| MASKED_NOTE.to_owned());
        let client = None;
        self.step(Action::Mcp(Mcp { mcp, client, expect }), note);
    }

    fn step(&mut self, action: Action, note: Option<String>) {
        let step = Step { era: None, note, action };
        self.lines.push(Line::Step(Box::new(step)));
        let line = self.lines.len();
        let loosened = self.writer.loosened();
        self.loosened.extend(loosened.into_iter().map(|place| Loosened { line, ..place }));
    }
}
