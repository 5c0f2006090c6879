//! What a server must never do, for any input.

use std::fmt;

use http::Method;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::error::Category;

use crate::probe::{Exchange, Raw};
use crate::replay::base::{Sent, breach};
use crate::shorten::shorten;
use crate::sse::is_event_stream;

/// The longest id that must come back whole, in bytes.
const SHORT_ID: usize = 64;
/// The longest body that must be answered rather than cut off, in bytes.
const SHORT_BODY: usize = 64 * 1024;

/// What shows that a server does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oracle {
    /// It answers with a status of 500 or more.
    ServerError,
    /// A request gets no answer in time.
    NoAnswer,
    /// A message breaks a base rule of the protocol: its frame, its id, its type.
    BaseRule,
    /// What is cut off in the middle is answered with a result.
    Truncated,
    /// It does not answer the next good request.
    Dead,
    /// Its process has ended.
    Ended,
    /// It answers the same good request otherwise than before.
    Changed,
}

impl Oracle {
    /// Its name in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ServerError => "server-error",
            Self::NoAnswer => "no-answer",
            Self::BaseRule => "base-rule",
            Self::Truncated => "truncated",
            Self::Dead => "dead",
            Self::Ended => "ended",
            Self::Changed => "changed",
        }
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A violation: the oracle, and what was seen.
pub(super) type Violation = (Oracle, String);

/// What a message is, as far as every server must read it in the same way.
pub(super) struct Reading {
    pub(super) message: Option<Value>,
    /// It is one request of ordinary length, and nothing in it can be read in two ways.
    pub(super) is_certain: bool,
    is_truncated: bool,
}

impl Reading {
    pub(super) fn of(body: &[u8], modern: bool) -> Self {
        let parsed = serde_json::from_slice::<Value>(body);
        let is_truncated = matches!(&parsed, Err(error) if error.classify() == Category::Eof);
        let message = parsed.ok();
        let is_certain = body.len() <= SHORT_BODY
            && message.as_ref().is_some_and(|it| is_plain(it, modern) && is_once(body, it));
        Self { message, is_certain, is_truncated }
    }

    /// Whether a request of this method opens a lasting stream.
    pub(super) fn listens(&self) -> bool {
        let method = self.message.as_ref().and_then(|it| it.get("method"));
        method.is_some_and(|it| it == "subscriptions/listen")
    }
}

/// Whether it is a request that has one meaning in this era.
fn is_plain(message: &Value, modern: bool) -> bool {
    let version = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
    let is_modern = message.pointer(version).is_some_and(|it| it == "2026-07-28");
    let params = message.get("params");
    let is_short = match message.get("id") {
        Some(Value::String(id)) => {
            (1..=SHORT_ID).contains(&id.len()) && !id.contains(char::is_control)
        }
        Some(Value::Number(id)) => id.as_i64().is_some_and(|id| id.unsigned_abs() < 1 << 53),
        _ => false,
    };
    is_short
        && is_modern == modern
        && message.get("jsonrpc").is_some_and(|it| it == "2.0")
        && message.get("method").is_some_and(Value::is_string)
        && message.get("result").or(message.get("error")).is_none()
        && params.is_none_or(Value::is_object)
}

/// What is wrong with an exchange, if something is.
pub(super) fn judge(
    raw: &Raw,
    reading: &Reading,
    exchange: &Exchange,
    is_http: bool,
) -> Option<Violation> {
    if let Some(status) = exchange.status {
        let is_busy = status == 503 && exchange.header("retry-after").is_some();
        let is_method = [Method::POST, Method::GET, Method::DELETE].contains(&raw.method);
        if status >= 500 && !is_busy && (status != 501 || is_method) {
            return Some((Oracle::ServerError, exchange.outcome()));
        }
    }
    if reading.is_truncated && raw.method == Method::POST && exchange.result().is_some() {
        let seen = "a truncated request got a result".to_owned();
        return Some((Oracle::Truncated, seen));
    }
    if let Some(problem) = base_rule(raw, reading, exchange) {
        return Some((Oracle::BaseRule, problem));
    }
    silence(raw, reading, exchange, is_http).map(|seen| (Oracle::NoAnswer, seen))
}

fn base_rule(raw: &Raw, reading: &Reading, exchange: &Exchange) -> Option<String> {
    // The status of an error over stdio is not known: an id that could not be read may be null there.
    let status = exchange.status.unwrap_or(200);
    let certain = reading.message.as_ref().filter(|_| {
        reading.is_certain
            && raw.method == Method::POST
            && exchange.status.is_none_or(|it| it == 200)
    });
    let sent = match certain {
        Some(message) => Sent::message(message),
        None => Sent::unknown(),
    };
    let unknown = Sent::unknown();
    let id = certain.and_then(|it| it.get("id"));
    let judged = exchange.messages.iter().find_map(|message| {
        let is_answer = message.get("method").is_none();
        let is_own = id.is_some() && message.get("id") == id;
        // On stdio, answers to other requests come in between.
        let is_other = is_answer && !is_own && exchange.status.is_none();
        breach(message, if is_other { &unknown } else { &sent }, status)
    });
    if judged.is_some() || exchange.status.is_some() {
        return judged;
    }
    let lines = exchange.received.lines().filter(|line| !line.trim().is_empty());
    let mut broken = lines.filter(|line| serde_json::from_str::<IgnoredAny>(line).is_err());
    let line = broken.next()?;
    Some(format!("a line of stdout is not JSON: {}", shorten(line, 80)))
}

fn silence(raw: &Raw, reading: &Reading, exchange: &Exchange, is_http: bool) -> Option<String> {
    let broken = exchange.broken.clone();
    if exchange.status.is_none() && is_http {
        // What is too long may be cut off before an answer is written.
        let is_long = raw.body.len() > SHORT_BODY;
        return broken.filter(|_| !is_long);
    }
    let opens_stream = raw.method != Method::POST || reading.listens();
    if opens_stream {
        return None;
    }
    let may_answer = exchange.status.is_none_or(|it| it < 300);
    if reading.is_certain && exchange.response().is_none() && may_answer {
        return Some(broken.unwrap_or_else(|| "a request got no response".to_owned()));
    }
    // A body that is not a stream must end.
    broken.filter(|_| exchange.status.is_some() && !is_event_stream(&exchange.headers))
}

/// Whether no object has a member twice: of two with one name, each reader takes another, and this one took the last.
fn is_once(body: &[u8], message: &Value) -> bool {
    // Outside of texts, each member has a colon.
    let (mut colons, mut is_text, mut is_escaped) = (0, false, false);
    for byte in body {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => is_text = !is_text,
            b':' if !is_text => colons += 1,
            _ => {}
        }
    }
    colons == members(message)
}

fn members(value: &Value) -> usize {
    match value {
        Value::Object(inner) => inner.values().map(|it| 1 + members(it)).sum(),
        Value::Array(items) => items.iter().map(members).sum(),
        _ => 0,
    }
}
