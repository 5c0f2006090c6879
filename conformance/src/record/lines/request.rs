//! The line of a request, with what was answered.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Answered, Headers, Item, MASKED_NOTE, Scribe};
use crate::transcript::Era;
use crate::transcript::format::{Action, Expect, Http, HttpRequest, Message};

impl Scribe<'_> {
    pub(super) fn request(
        &mut self,
        index: usize,
        serial: u64,
        method: &str,
        params: Option<&Value>,
    ) {
        let notifications: Vec<&Value> = self
            .session
            .items
            .iter()
            .skip(index)
            .filter_map(|item| match item {
                Item::Server { to: Some(to), message }
                    if *to == serial && message.get("id").is_none() =>
                {
                    Some(message)
                }
                _ => None,
            })
            .collect();
        let (params, masked) = self.params(params);
        match self.expect(serial, &notifications) {
            Some(expect) => {
                let message =
                    Message { method: Some(method.to_owned()), params, ..Message::default() };
                self.mcp(message, Some(expect), masked);
            }
            None => self
                .left_out
                .push(format!("{method} after line {}, which got no answer", self.lines.len())),
        }
    }

    /// What the answer to a request was, and the notifications before it; `None` without an answer.
    pub(super) fn expect(&mut self, serial: u64, notifications: &[&Value]) -> Option<Expect> {
        let Answered { answer, status, .. } = self.answers.get(&serial).copied()?;
        let mut expect = Expect::default();
        let usual = answer.member == "result" && status.is_none_or(|status| status == 200);
        expect.status = status.filter(|_| !usual).map(Value::from);
        if !notifications.is_empty() {
            let notifications: Vec<Value> =
                notifications.iter().map(|message| (*message).clone()).collect();
            expect.notifications =
                Some(self.writer.expected("/notifications", &notifications.into()));
        }
        match answer.member {
            "result" => expect.result = Some(self.writer.expected("/result", &answer.value)),
            _ => expect.error = Some(self.writer.expected("/error", &answer.value)),
        }
        Some(expect)
    }

    /// What the client sent, without what a replay says itself, and whether a secret was taken out.
    pub(super) fn params(&self, params: Option<&Value>) -> (Option<Value>, bool) {
        let Some(params) = params else {
            return (None, false);
        };
        let mut params = params.clone();
        if let (Era::Modern, Some(members)) = (self.session.era, params.as_object_mut()) {
            let meta = members.get_mut("_meta").and_then(Value::as_object_mut);
            let empty = meta.is_some_and(|meta| {
                meta.retain(|name, value| {
                    let own = name.strip_prefix("io.modelcontextprotocol/");
                    !own.is_some_and(|name| self.sender.get(name) == Some(value))
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

    /// Whether the answer to a request has the status of an HTTP error.
    pub(super) fn is_refused(&self, serial: u64) -> bool {
        let answered = self.answers.get(&serial);
        answered.and_then(|answered| answered.status).is_some_and(|status| status >= 400)
    }

    /// A request that HTTP refuses, with just the headers it came with: they may be the reason.
    pub(super) fn refused(
        &mut self,
        serial: u64,
        id: &Value,
        method: &str,
        params: Option<&Value>,
        sent: &Headers,
    ) {
        let Some(Answered { answer, status, named }) = self.answers.get(&serial).copied() else {
            return;
        };
        let mut headers: BTreeMap<String, String> = sent.iter().cloned().collect();
        let own = self.is_own_session(sent);
        if let Some(session) = headers.get_mut("mcp-session-id").filter(|_| own) {
            "${main.session}".clone_into(session);
        }
        let mut message = Map::from_iter([
            ("jsonrpc".to_owned(), "2.0".into()),
            ("id".to_owned(), id.clone()),
            ("method".to_owned(), method.into()),
        ]);
        let mut masked = false;
        if let Some(params) = params {
            let (params, secret) = self.writer.sent(params);
            message.insert("params".to_owned(), params);
            masked = secret;
        }
        let http = HttpRequest {
            method: "POST".to_owned(),
            path: "/mcp".to_owned(),
            headers,
            json: Some(message.into()),
            text: None,
        };
        let place = format!("/message/{}", answer.member);
        let value = self.writer.expected(&place, &answer.value);
        let named = match named {
            Value::Null => json!({"$optional": null}),
            named => named.clone(),
        };
        let expect = Expect {
            status: status.map(Value::from),
            message: Some(json!({"jsonrpc": "2.0", "id": named, answer.member: value})),
            ..Expect::default()
        };
        let note = masked.then(|| MASKED_NOTE.to_owned());
        self.step(Action::Http(Http { http, expect }), note);
    }

    /// Whether a request names the session that this is: one that names another does so on purpose.
    fn is_own_session(&self, headers: &Headers) -> bool {
        let of = |headers: &Headers| {
            let named = headers.iter().find(|(name, _)| name == "mcp-session-id");
            named.map(|(_, value)| value.clone())
        };
        let own = self.session.items.iter().find_map(|item| match item {
            Item::Request { headers, method, .. } if method != "initialize" => of(headers),
            _ => None,
        });
        of(headers) == own
    }
}
