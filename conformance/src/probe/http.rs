//! Raw requests over HTTP, and answers read whole under limits.

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderName, HeaderValue, Method, Request};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::exchange::{Exchange, QUIET};
use super::incoming::{Incoming, Stop};
use crate::error::Problem;
use crate::rpc_client::headers::{Mirror, encoded, named};
use crate::target::Target;

/// A request as a rule wants it.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    pub(crate) method: Method,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
    /// Where it goes if not to the endpoint.
    pub(crate) path: Option<String>,
}

impl Raw {
    /// A POST with the headers that every client sends.
    pub(crate) fn post(body: impl Into<Bytes>) -> Self {
        Self {
            method: Method::POST,
            headers: vec![
                ("content-type".to_owned(), "application/json".to_owned()),
                ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ],
            body: body.into(),
            path: None,
        }
    }

    /// A request without a body.
    pub(crate) fn bare(method: Method) -> Self {
        Self { method, headers: Vec::new(), body: Bytes::new(), path: None }
    }

    /// With this header, in place of one of its name.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// To this path.
    pub(crate) fn at(self, path: &str) -> Self {
        Self { path: Some(path.to_owned()), ..self }
    }

    /// With what a modern request repeats of its body in headers; `mirrors` are the arguments that a tool wants there.
    pub(crate) fn about(self, method: &str, params: &Value, mirrors: &[Mirror]) -> Self {
        let mut raw = self.with("mcp-method", method);
        if let Some(name) = named(method, params) {
            raw = raw.with("mcp-name", &encoded(name));
        }
        let arguments = params.get("arguments").unwrap_or(&Value::Null);
        for mirror in mirrors {
            let name = mirror.header();
            if let Some(value) = mirror.value(arguments)
                && HeaderName::try_from(&name).is_ok()
            {
                raw = raw.with(&name, &value);
            }
        }
        raw
    }

    /// Without the header of this name.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }
}

/// Sends it, and reads the answer to its end; of an event stream to the first response, or until it is quiet.
pub(crate) async fn send(target: &Target, raw: Raw, patience: Duration) -> Exchange {
    hold(target, raw, patience, patience).await.0
}

/// The same, and looks at what comes on an event stream after the response.
pub(super) async fn send_and_stay(target: &Target, raw: Raw, patience: Duration) -> Exchange {
    match hold(target, raw, patience, patience).await {
        (exchange, Some(mut open)) if open.streams && exchange.response().is_some() => {
            let rest = open.read(QUIET, |_| false).await;
            open.exchange.is_open = matches!(rest, Err(Stop::Late));
            open.exchange
        }
        (exchange, _) => exchange,
    }
}

/// The same; the unread rest of the answer stays open until it is dropped. The body is read for as long as `listen`.
pub(super) async fn hold(
    target: &Target,
    raw: Raw,
    patience: Duration,
    listen: Duration,
) -> (Exchange, Option<Incoming>) {
    let sent = shown(&raw);
    let failed = |sent, broken, is_late| {
        (Exchange { sent, broken: Some(broken), is_late, ..Exchange::default() }, None)
    };
    let request = match request(target, raw) {
        Ok(request) => request,
        Err(problem) => return failed(sent, problem.to_string(), false),
    };
    let end = Instant::now() + patience;
    let mut open = match timeout_at(end, Incoming::open(target, request)).await {
        Ok(Ok(open)) => open,
        Ok(Err(error)) => return failed(sent, error.to_string(), false),
        Err(_) => {
            let late = format!("no answer within {} s", patience.as_secs_f64());
            return failed(sent, late, true);
        }
    };
    open.exchange.sent = sent;
    let coding = open.exchange.headers.get(CONTENT_ENCODING).filter(|it| *it != "identity");
    if let Some(coding) = coding {
        let problem =
            format!("the answer is in the encoding {coding:?}, although identity was asked for");
        open.exchange.broken = Some(problem);
        return (open.exchange, None);
    }
    let within = listen.min(end.saturating_duration_since(Instant::now()));
    let is_over = |it: &Exchange| it.response().is_some() || it.is_acknowledged();
    open.exchange.broken = match open.read(within, is_over).await {
        Ok(()) => None,
        Err(Stop::Problem(problem)) => Some(problem),
        Err(Stop::Late) => {
            open.exchange.is_late = true;
            Some(format!("the body did not end within {} s", listen.as_secs_f64()))
        }
    };
    (open.exchange.clone(), Some(open))
}

/// The request to a server.
///
/// # Errors
/// Its path or a header cannot be sent.
pub(crate) fn request(target: &Target, raw: Raw) -> Result<Request<Bytes>, Problem> {
    let mut request = Request::new(raw.body);
    *request.method_mut() = raw.method;
    let path = raw.path.unwrap_or_else(|| target.locate("/mcp", "/mcp"));
    *request.uri_mut() =
        path.parse().map_err(|error| Problem::new(format!("{path:?} is not a path: {error}")))?;
    for (name, value) in raw.headers {
        let refused = || Problem::new(format!("{value:?} cannot be sent in the header {name}"));
        let known = HeaderName::try_from(&name).map_err(|_| refused())?;
        request.headers_mut().append(known, HeaderValue::try_from(&value).map_err(|_| refused())?);
    }
    Ok(request)
}

fn shown(raw: &Raw) -> String {
    let path = raw.path.as_deref().unwrap_or("(endpoint)");
    let mut text = format!("{} {path}\n", raw.method);
    for (name, value) in &raw.headers {
        // What is a secret there stays one.
        let shown = match value.split_once(' ') {
            Some((scheme, _)) if name == "authorization" => format!("{scheme} ***"),
            _ => value.clone(),
        };
        text.push_str(&format!("{name}: {shown}\n"));
    }
    text.push_str(&String::from_utf8_lossy(&raw.body));
    text
}
