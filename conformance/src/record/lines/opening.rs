//! The line that opens the client, with what it answers to the server.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Item, Scribe, Session};
use crate::transcript::Era;
use crate::transcript::format::{Action, Open, ScriptedAnswer};

/// The members of every modern request about its sender; a replay adds its own.
const SENDER: [&str; 3] = ["protocolVersion", "clientCapabilities", "clientInfo"];

impl Scribe<'_> {
    /// The number of `initialize`, and its params.
    fn initialize(&self) -> Option<(u64, Option<&Value>)> {
        self.session.items.iter().find_map(|item| match item {
            Item::Request { serial, method, params, .. } if method == "initialize" => {
                Some((*serial, params.as_ref()))
            }
            _ => None,
        })
    }

    /// The `initialize` of the client, and the client's name.
    pub(super) fn handshake(&self) -> Option<(Open, String)> {
        let params = self.initialize()?.1?;
        let text = |name: &str| params.get(name).cloned();
        let version = text("protocolVersion");
        Some(opened(version.as_ref(), text("capabilities"), text("clientInfo")))
    }

    /// The version that the server answered the handshake with: the one of every request after it.
    pub(super) fn agreed(&self) -> Option<String> {
        let (serial, _) = self.initialize()?;
        let answer = self.answers.get(&serial)?.answer;
        let version = answer.value.get("protocolVersion")?.as_str()?;
        Some(version.to_owned())
    }

    /// What the first modern request that was not refused says of its client.
    pub(super) fn introduction(&self) -> Option<(Open, String)> {
        self.session.items.iter().find_map(|item| match item {
            Item::Request { serial, params, .. } if !self.is_refused(*serial) => {
                let meta = params.as_ref()?.get("_meta")?;
                let [version, capabilities, info] =
                    SENDER.map(|name| meta.get(format!("io.modelcontextprotocol/{name}")).cloned());
                Some(opened(version.as_ref(), capabilities, info))
            }
            _ => None,
        })
    }

    pub(super) fn opening(&mut self, mut open: Open) {
        self.writer.begin();
        self.sender = sender(&open);
        open.answers = self.scripted();
        if self.session.era == Era::Legacy {
            let asked = self.initialize().map(|(serial, _)| serial);
            open.expect = asked.and_then(|serial| self.expect(serial, &[]));
        }
        self.step(Action::Open(open), None);
        let unasked = |item: &Item| matches!(item, Item::Server { to: None, message } if message.get("id").is_none());
        if !self.session.http && self.session.items.iter().any(unasked) {
            self.listen();
        }
    }

    /// The client's answers to what the server asked, in the order of the questions.
    fn scripted(&mut self) -> Vec<ScriptedAnswer> {
        let items = &self.session.items;
        let questions = items.iter().filter_map(|item| match item {
            Item::Server { message, .. } => Some((message.get("id")?, message)),
            _ => None,
        });
        let mut scripted = Vec::new();
        for (id, question) in questions {
            let method = question.get("method").and_then(Value::as_str).unwrap_or_default();
            let answer = items.iter().find_map(|item| match item {
                Item::Reply { id: to, answer } if to == id => Some(answer),
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
                params: question.get("params").map(|params| self.writer.uncaptured(&place, params)),
                result,
                error,
                optional: None,
            });
        }
        scripted
    }
}

/// What requests say of this client.
fn sender(open: &Open) -> BTreeMap<&'static str, Value> {
    let [version, capabilities, info] = SENDER;
    [
        (version, open.version.clone().map(Value::from)),
        (capabilities, open.capabilities.clone()),
        (info, open.client_info.clone()),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

fn opened(
    version: Option<&Value>,
    capabilities: Option<Value>,
    info: Option<Value>,
) -> (Open, String) {
    let text = |name: &str| info.as_ref().and_then(|info| info.get(name)).and_then(Value::as_str);
    let client =
        [text("name").unwrap_or("a client without a name"), text("version").unwrap_or_default()]
            .join(" ");
    let open = Open {
        open: "main".to_owned(),
        version: version.and_then(Value::as_str).map(str::to_owned),
        capabilities: capabilities.filter(Value::is_object),
        client_info: info.filter(Value::is_object),
        ..Open::default()
    };
    (open, client.trim_end().to_owned())
}

/// The client of a session as a part of a file's name.
pub(crate) fn client_of(session: &Session) -> String {
    let info = session.items.iter().find_map(|item| match item {
        Item::Request { params: Some(params), .. } => params
            .get("clientInfo")
            .or_else(|| params.get("_meta")?.get("io.modelcontextprotocol/clientInfo")),
        _ => None,
    });
    let name = info.and_then(|info| info.get("name")).and_then(Value::as_str).unwrap_or("client");
    let safe = name.chars().map(|letter| {
        if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' }
    });
    safe.take(40).collect()
}
