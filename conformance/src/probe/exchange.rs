//! One exchange with a server, as it was on the wire: what reports show, and what rules judge.

use std::fmt;
use std::time::Duration;

use http::header::HeaderMap;
use serde_json::Value;

use crate::shorten::excerpt;

/// How long a rule waits for what should not come.
pub(crate) const QUIET: Duration = Duration::from_millis(300);
/// How much of a text a report shows, in characters.
const SHOWN: usize = 2_000;

/// Why an answer cannot be read. A rule of its own finds it.
pub(crate) const NOT_JSON: &str = "the answer is not valid JSON";

/// What was sent, and what came back.
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    /// The request: its line and headers over HTTP, and its body.
    pub sent: String,
    /// The status over HTTP.
    pub status: Option<u16>,
    /// The headers over HTTP.
    pub headers: HeaderMap,
    /// What came back: the body, or the lines.
    pub received: String,
    /// The messages in it.
    pub messages: Vec<Value>,
    /// Why nothing more came, if it did not end normally.
    pub broken: Option<String>,
    /// Whether that is because the time was over.
    pub(crate) is_late: bool,
    /// Whether the program has written nothing yet, in answer to this or to anything before.
    pub(crate) is_unheard: bool,
    /// Whether an event stream was still open after its response.
    pub(crate) is_open: bool,
    /// Whether the body is not UTF-8. What is shown of it was mended.
    pub(crate) is_garbled: bool,
}

/// What was seen on a subscription that was watched.
#[derive(Debug)]
pub(crate) enum Watched {
    /// A comment came.
    Comment,
    /// Only events came.
    Events,
    /// It ended.
    Ended,
    /// Nothing came since this.
    Silent(Exchange),
}

impl Exchange {
    /// One that did not get further than this.
    pub(crate) fn failed(why: impl Into<String>) -> Self {
        Self { broken: Some(why.into()), ..Self::default() }
    }

    /// The JSON-RPC response among the messages.
    pub(crate) fn response(&self) -> Option<&Value> {
        self.messages.iter().find(|it| Self::is_response(it))
    }

    /// Whether a message is a JSON-RPC response, be it a wrong one. Any other JSON, such as a null, is not.
    pub(crate) fn is_response(message: &Value) -> bool {
        let has = |member: &&str| message.get(member).is_some();
        message.get("method").is_none() && ["jsonrpc", "id", "result", "error"].iter().any(has)
    }

    /// Why it shows nothing of how the server treats the request, if so: no answer came, the server is busy, or its
    /// error does not say what is wrong.
    pub(crate) fn shows_nothing(&self) -> Option<String> {
        let code = self.response().and_then(|it| it.pointer("/error/code"));
        if let Some(code) = code.filter(|code| code.as_i64().is_none()) {
            return Some(format!("the code of the error is {code}, see messages.schema"));
        }
        let is_taken = self.status.is_none_or(|status| (200..300).contains(&status));
        let is_answered = self.response().is_some() || self.is_acknowledged();
        let is_silent = self.broken.is_some() && is_taken && !is_answered;
        (self.is_busy() || is_silent).then(|| self.outcome())
    }

    /// Whether the server says that it has too much to do.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.status, Some(429 | 503))
    }

    /// Whether it shows nothing of what the server can: no answer came in time, the server was busy, ended or could not
    /// be connected to.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_late || self.is_busy() || self.status.is_none() && self.response().is_none()
    }

    /// Whether a subscription was acknowledged, which has no response while it lasts.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.acknowledgement().is_some()
    }

    /// What acknowledges a subscription.
    pub(crate) fn acknowledgement(&self) -> Option<&Value> {
        let method = "notifications/subscriptions/acknowledged";
        let mut messages = self.messages.iter();
        messages.find(|it| it.get("method").is_some_and(|it| it == method))
    }

    /// Its result.
    pub(crate) fn result(&self) -> Option<&Value> {
        self.response()?.get("result")
    }

    /// Whether its result says that a tool failed.
    pub(crate) fn is_failure(&self) -> bool {
        self.result().is_some_and(|it| it.get("isError") == Some(&Value::Bool(true)))
    }

    /// Whether a tool did what it was called for.
    pub(crate) fn is_done(&self) -> bool {
        self.result().is_some() && !self.is_failure()
    }

    /// The code of its error.
    pub(crate) fn code(&self) -> Option<i64> {
        self.response()?.get("error")?.get("code")?.as_i64()
    }

    /// The text of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// What came back, in a few words.
    pub(crate) fn outcome(&self) -> String {
        let status = self.status.map(|status| format!("status {status}"));
        let what = match (self.result(), self.code(), &self.broken) {
            (Some(_), ..) => "a result".to_owned(),
            (_, Some(code), _) => format!("error {code}"),
            (.., Some(broken)) => broken.clone(),
            _ if self.received.is_empty() => "no body".to_owned(),
            _ => "no JSON-RPC response".to_owned(),
        };
        status.into_iter().chain([what]).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in excerpt(&self.sent, SHOWN).lines() {
            writeln!(formatter, "> {line}")?;
        }
        if let Some(status) = self.status {
            writeln!(formatter, "< HTTP {status}")?;
        }
        for (name, value) in &self.headers {
            writeln!(formatter, "< {name}: {}", String::from_utf8_lossy(value.as_bytes()))?;
        }
        for line in excerpt(&self.received, SHOWN).lines() {
            writeln!(formatter, "< {line}")?;
        }
        match &self.broken {
            Some(broken) => writeln!(formatter, "! {broken}"),
            None => Ok(()),
        }
    }
}

/// Whether a line that is not JSON was meant to be a message.
pub(crate) fn is_like_a_message(line: &str) -> bool {
    line.trim_start().starts_with('{') && line.contains("\"jsonrpc\"")
}
