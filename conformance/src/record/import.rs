//! Exchanges that something else recorded, one JSON object per line: `{"request": …, "response": …}`.

use std::cell::Cell;
use std::rc::Rc;

use serde_json::Value;

use super::session::{Headers, Session, era_of, has_meaning};
use super::{Key, Recorder, modern};
use crate::error::{Problem, TranscriptError};
use crate::rpc_client::SESSION;
use crate::sse::{Decoder, EVENT_STREAM, Event};
use crate::transcript::Era;

impl Recorder {
    /// Takes HTTP exchanges from text, in the order of its lines. A `request` has `method`, `headers` (an array of
    /// pairs, or an object) and `body`; a `response` has `status`, `headers`, and a `body` or `events`, each with its
    /// `data`. A body may be JSON or a string that holds it. Times, if there are any, are in milliseconds: `t_ms` of
    /// the exchange, and after its beginning `t_headers_ms` of the response and `t_ms` of an event. Where requests say
    /// their `path`, that of the first JSON-RPC message is the endpoint, and exchanges at other paths are left out.
    ///
    /// # Errors
    ///
    /// A line that is not such an object.
    pub fn import(&self, source: &str, text: &str) -> Result<(), TranscriptError> {
        let mut seen: Vec<(u64, SessionEvent)> = Vec::new();
        let mut endpoint = None;
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let at = |problem| TranscriptError::line(source, index + 1, problem);
            let exchange: Value = serde_json::from_str(line)
                .map_err(|error| at(Problem::new(format!("not JSON: {error}"))))?;
            let member = |name: &'static str| {
                let missing = || at(Problem::new("is missing").within(name));
                let object = exchange.get(name).filter(|value| value.is_object());
                object.ok_or_else(missing)
            };
            let (request, response) = (member("request")?, member("response")?);
            let path = request.get("path").and_then(Value::as_str);
            let path = path.map(|path| path.split_once('?').map_or(path, |(path, _)| path));
            if endpoint.is_none() && body(request).is_some_and(|it| it.get("jsonrpc").is_some()) {
                endpoint = path.map(str::to_owned);
            }
            // What went elsewhere does not belong to the protocol.
            if endpoint.as_deref().is_some_and(|own| path.is_some_and(|path| path != own)) {
                self.stray();
                continue;
            }
            self.take(&exchange, request, response, &mut seen);
        }
        // What came on a stream came between other exchanges.
        seen.sort_by_key(|(time, _)| *time);
        for (_, seen) in seen {
            if seen.begins == Some(Era::Legacy) {
                // The session before under this key is complete.
                self.end(&seen.key);
            }
            if seen.begins.is_none() && !self.knows(&seen.key) {
                self.stray();
                continue;
            }
            self.with(&seen.key, seen.era, true, seen.note);
        }
        Ok(())
    }

    fn take(
        &self,
        exchange: &Value,
        request: &Value,
        response: &Value,
        seen: &mut Vec<(u64, SessionEvent)>,
    ) {
        let mut headers = Headers::new();
        each_header(request, |name, value| {
            let name = name.to_ascii_lowercase();
            if has_meaning(&name) {
                headers.push((name, value.to_owned()));
            }
        });
        for side in [request, response] {
            each_header(side, |name, value| self.secret(name, value));
        }
        let sent = body(request);
        let number = |value: &Value, name: &str| value.get(name).and_then(Value::as_u64);
        let status = number(response, "status").and_then(|status| u16::try_from(status).ok());
        let version = header(request, "mcp-protocol-version");
        let era = sent.as_ref().map_or(Era::Legacy, |sent| era_of(sent, version));
        let session = header(response, SESSION.as_str()).or(header(request, SESSION.as_str()));
        let key = match (era, session, &sent) {
            (Era::Modern, _, Some(sent)) => modern(sent),
            (_, Some(session), _) => Key::Session(session.to_owned()),
            _ => Key::Sessionless,
        };
        let called = sent.as_ref().and_then(|sent| sent.get("method")).cloned();
        let asks = sent.as_ref().filter(|_| called.is_some());
        let carrier = asks.and_then(|sent| sent.get("id")).cloned();
        let begins = era == Era::Modern || called.is_some_and(|method| method == "initialize");
        let verb = request.get("method").and_then(Value::as_str);
        let verb = verb.unwrap_or_default().to_owned();
        let listens = verb == "GET" && status == Some(200);
        let start = number(exchange, "t_ms").or(seen.last().map(|(time, _)| *time));
        let start = start.unwrap_or_default();
        let mut add = |time: u64, begins: bool, note: Note| {
            let key = key.clone();
            let begins = begins.then_some(era);
            seen.push((time, SessionEvent { key, era, begins, note }));
        };
        let asked = sent.clone();
        let serial = Rc::new(Cell::new(None));
        let asked_as = serial.clone();
        let note = move |session: &mut Session| {
            asked_as.set(asked.and_then(|sent| session.client(&sent, &headers)));
            if listens {
                session.listened();
            }
        };
        add(start, begins, Box::new(note));
        let received = messages(response);
        if received.is_empty() && status != Some(202) && !listens {
            let sent = sent.filter(|_| carrier.is_some());
            let status = status.unwrap_or_default();
            let note = move |session: &mut Session| session.plain(&verb, status, sent);
            add(start, false, Box::new(note));
        }
        for (after, event, message) in received {
            let serial = serial.clone();
            let note = move |session: &mut Session| {
                if !session.is_again(event.as_deref()) {
                    session.server(message, serial.get(), status);
                }
            };
            add(start + after, false, Box::new(note));
        }
    }
}

type Note = Box<dyn FnOnce(&mut Session)>;

/// Something that happened in a session.
struct SessionEvent {
    key: Key,
    era: Era,
    /// The era of the session that may begin with it.
    begins: Option<Era>,
    note: Note,
}

/// The messages of an answer, whether it was a stream or not, each with the milliseconds after the request
/// and the id of its event.
fn messages(response: &Value) -> Vec<(u64, Option<String>, Value)> {
    let time =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
    let events = response.get("events").and_then(Value::as_array);
    let messages = events.into_iter().flatten().filter_map(|event| {
        let message = serde_json::from_str(event.get("data")?.as_str()?).ok()?;
        let id = event.get("id").and_then(Value::as_str).map(str::to_owned);
        Some((time(event, "t_ms"), id, message))
    });
    let whole = body(response).map(|body| (time(response, "t_headers_ms"), None, body));
    messages
        .chain(whole)
        .chain(streamed(response))
        .filter(|(_, _, message): &(u64, Option<String>, Value)| message.get("jsonrpc").is_some())
        .collect()
}

/// The messages of an event stream that was kept as one text.
fn streamed(response: &Value) -> Vec<(u64, Option<String>, Value)> {
    let stream =
        header(response, "content-type").is_some_and(|kind| kind.starts_with(EVENT_STREAM));
    let text = response.get("body").and_then(Value::as_str).filter(|_| stream);
    let message = |event: Event| Some((0, event.id, serde_json::from_str(&event.data).ok()?));
    Decoder::events(text.unwrap_or_default()).filter_map(message).collect()
}

fn body(side: &Value) -> Option<Value> {
    match side.get("body")? {
        Value::Null => None,
        Value::String(text) => serde_json::from_str(text).ok(),
        value => Some(value.clone()),
    }
}

fn header<'v>(side: &'v Value, name: &str) -> Option<&'v str> {
    let mut found = None;
    each_header(side, |header, value| {
        if header.eq_ignore_ascii_case(name) {
            found = found.or(Some(value));
        }
    });
    found
}

/// Headers are an array of pairs, or an object.
fn each_header<'v>(side: &'v Value, mut visit: impl FnMut(&'v str, &'v str)) {
    match side.get("headers") {
        Some(Value::Array(pairs)) => {
            for pair in pairs {
                let part = |index: usize| pair.get(index).and_then(Value::as_str);
                if let (Some(name), Some(value)) = (part(0), part(1)) {
                    visit(name, value);
                }
            }
        }
        Some(Value::Object(members)) => {
            for (name, value) in members {
                if let Some(value) = value.as_str() {
                    visit(name, value);
                }
            }
        }
        _ => {}
    }
}
