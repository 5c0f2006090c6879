//! What is wrong with one message, or with the head of the answer that holds it.

use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;

use super::members::missing;

/// What is known about the message that an answer is for.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    method: String,
    /// The id of a request that a server can read.
    id: Option<Value>,
    /// It is a notification or a response.
    silent: bool,
    modern: bool,
}

impl Sent {
    pub(crate) fn message(message: &Value) -> Self {
        let id = message.get("id");
        let method = message.get("method").and_then(Value::as_str);
        let version = message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
        let is_response = message.get("result").or(message.get("error")).is_some();
        Self {
            method: method.unwrap_or_default().to_owned(),
            id: id.filter(|_| method.is_some()).filter(is_id).cloned(),
            silent: method.is_some() && id.is_none() || method.is_none() && is_response,
            modern: version.is_some_and(|it| it == "2026-07-28"),
        }
    }

    /// A request of this method with this id.
    pub(crate) fn request(method: &str, id: u64, modern: bool) -> Self {
        Self { method: method.to_owned(), id: Some(id.into()), silent: false, modern }
    }

    /// Something that servers may read in several ways: of its answer only the form is known.
    pub(crate) fn unknown() -> Self {
        Self::default()
    }

    /// Whether no answer is due.
    pub(crate) fn is_silent(&self) -> bool {
        self.silent
    }

    /// What is wrong with the head.
    pub(crate) fn head_breach(&self, status: u16, headers: &HeaderMap) -> Option<String> {
        if self.silent && (200..300).contains(&status) && status != 202 {
            let status = described(status);
            return Some(format!(
                "a notification or response was answered with {status} instead of 202"
            ));
        }
        if self.id.is_none() || status != 200 {
            return None;
        }
        let kind = headers.get(CONTENT_TYPE).map(|it| it.as_bytes());
        let kind = String::from_utf8_lossy(kind.unwrap_or_default()).to_ascii_lowercase();
        let media = kind.split(';').next().unwrap_or_default().trim();
        let good = matches!(media, "application/json" | "text/event-stream");
        (!good).then(|| format!("the answer to {} has the content-type {kind:?} instead of application/json or text/event-stream", self.method))
    }

    fn name(&self) -> String {
        match self.method.as_str() {
            "" => "an open stream".to_owned(),
            method => format!("the answer to {method}"),
        }
    }
}

/// A status with its name.
pub(crate) fn described(status: u16) -> String {
    let known = StatusCode::from_u16(status).ok();
    let name = known.and_then(|it| it.canonical_reason()).unwrap_or_default();
    format!("{status} {name}").trim_end().to_owned()
}

fn is_id(id: &&Value) -> bool {
    id.is_string() || id.is_number()
}

/// What is wrong with a message that came, if something is.
pub(crate) fn breach(message: &Value, sent: &Sent, status: u16) -> Option<String> {
    let failed = status >= 400;
    // A proxy's own refusal is not a message.
    if failed && message.get("jsonrpc").is_none() {
        return None;
    }
    let problem = if !message.is_object() {
        Some("a message is not an object".to_owned())
    } else if message.get("jsonrpc").is_none_or(|it| it != "2.0") {
        Some("jsonrpc is not \"2.0\"".to_owned())
    } else if let Some(method) = message.get("method") {
        question(message, method)
    } else {
        response(message, sent, failed)
    };
    problem.map(|problem| format!("{}: {problem}", sent.name()))
}

/// A request or notification of the server.
fn question(message: &Value, method: &Value) -> Option<String> {
    let has = |member: &str| message.get(member).is_some();
    let problem = match () {
        () if !method.is_string() => "its method is not a string",
        () if has("result") || has("error") => "it has a method, and a result or an error",
        () if message.get("id").is_some_and(|id| !is_id(&id)) => "its id is not a string or number",
        () if message.get("params").is_some_and(|it| !it.is_object()) => {
            "its params is not an object"
        }
        () => return None,
    };
    Some(format!("a message {method}: {problem}"))
}

fn response(message: &Value, sent: &Sent, failed: bool) -> Option<String> {
    let id = message.get("id");
    let is_unknown = failed && id.is_none_or(Value::is_null);
    if let Some(wanted) = &sent.id
        && id != Some(wanted)
        && !is_unknown
    {
        let got = id.map_or("no id".to_owned(), Value::to_string);
        return Some(format!("its id is {got} instead of {wanted}"));
    }
    let problem = match (message.get("result"), message.get("error")) {
        (Some(_), Some(_)) => "it has both a result and an error",
        (None, None) => "it has neither a result nor an error",
        (Some(result), None) => return self::result(result, sent),
        (None, Some(error)) if !error.get("code").is_some_and(Value::is_i64) => {
            "the code of its error is not an integer"
        }
        (None, Some(error)) if !error.get("message").is_some_and(Value::is_string) => {
            "its error has no message"
        }
        (None, Some(_)) => return None,
    };
    Some(problem.to_owned())
}

fn result(result: &Value, sent: &Sent) -> Option<String> {
    let kind = result.get("resultType");
    let problem = match sent.method.as_str() {
        _ if !result.is_object() => "its result is not an object",
        _ if sent.modern && !kind.is_some_and(Value::is_string) => "its result has no resultType",
        _ if result.get("_meta").is_some_and(|it| !it.is_object()) => "its _meta is not an object",
        method if method.ends_with("/list") && !cursor_fits(result) => {
            "its nextCursor is not a string"
        }
        method => {
            let missing = missing(method, result)?;
            return Some(format!("in its result {missing}"));
        }
    };
    Some(problem.to_owned())
}

fn cursor_fits(result: &Value) -> bool {
    result.get("nextCursor").is_none_or(Value::is_string)
}
