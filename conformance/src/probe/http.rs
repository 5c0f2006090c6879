//! Raw requests over HTTP, and answers read whole under limits.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::exchange::{Exchange, NOT_JSON, QUIET, is_like_a_message};
use crate::sse::{Decoder, Frame, is_event_stream};
use crate::target::{Body, Target};

/// The most bytes of an answer that are read.
const MAX_BYTES: usize = 4 * 1024 * 1024;

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
    let (mut exchange, body) = hold(target, raw, patience, patience).await;
    if let Some(mut body) = body
        && is_event_stream(&exchange.headers)
        && exchange.response().is_some()
    {
        let end = Instant::now() + QUIET;
        let rest = read(&mut exchange, &mut body, end, |_| false).await;
        exchange.is_open = matches!(rest, Err(Stop::Late));
    }
    exchange
}

/// The same; the unread rest of the answer stays open until it is dropped. The body is read for as long as `listen`.
pub(crate) async fn hold(
    target: &Target,
    raw: Raw,
    patience: Duration,
    listen: Duration,
) -> (Exchange, Option<Body>) {
    let mut exchange = Exchange { sent: shown(&raw), ..Exchange::default() };
    let Some(request) = request(target, raw) else {
        exchange.broken = Some("the request cannot be sent".to_owned());
        return (exchange, None);
    };
    let end = Instant::now() + patience;
    let response = match timeout_at(end, target.send(request)).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => {
            exchange.broken = Some(error.to_string());
            return (exchange, None);
        }
        Err(_) => {
            exchange.broken = Some(format!("no answer within {} s", patience.as_secs_f64()));
            exchange.is_late = true;
            return (exchange, None);
        }
    };
    let end = end.min(Instant::now() + listen);
    let (head, mut body) = response.into_parts();
    exchange.status = Some(head.status.as_u16());
    exchange.headers = head.headers;
    let is_over = |it: &Exchange| it.response().is_some() || it.is_acknowledged();
    exchange.broken = match read(&mut exchange, &mut body, end, is_over).await {
        Ok(()) => None,
        Err(Stop::Problem(problem)) => Some(problem),
        Err(Stop::Late) => {
            let waited = listen.as_secs_f64();
            exchange.is_late = true;
            Some(format!("the body did not end within {waited} s"))
        }
    };
    (exchange, Some(body))
}

/// Why a body was not read to its end.
pub(super) enum Stop {
    /// The time was over.
    Late,
    /// It broke off, or is too long.
    Problem(String),
}

/// Reads on in a body, of an event stream until it is enough, and adds what comes to the exchange.
pub(super) async fn read(
    exchange: &mut Exchange,
    body: &mut Body,
    end: Instant,
    is_enough: impl Fn(&Exchange) -> bool,
) -> Result<(), Stop> {
    let streams = is_event_stream(&exchange.headers);
    let (mut decoder, mut frames) = (Decoder::default(), VecDeque::new());
    let mut bytes = Vec::new();
    let outcome = loop {
        let frame = match timeout_at(end, body.frame()).await {
            Ok(None) => break Ok(()),
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(error))) => {
                let problem = format!("the body broke off: {error}");
                break Err(Stop::Problem(problem));
            }
            Err(_) => break Err(Stop::Late),
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > MAX_BYTES {
            let problem = format!("the body is longer than {MAX_BYTES} bytes");
            break Err(Stop::Problem(problem));
        }
        bytes.extend_from_slice(&data);
        if streams && decoder.push(&data, &mut frames).is_ok() {
            let mut is_broken = false;
            for frame in frames.drain(..) {
                let Frame::Event(event) = frame else { continue };
                match serde_json::from_str(&event.data) {
                    Ok(message) => exchange.messages.push(message),
                    Err(_) => is_broken |= is_like_a_message(&event.data),
                }
            }
            if is_enough(exchange) {
                break Ok(());
            }
            if is_broken {
                break Err(Stop::Problem(NOT_JSON.to_owned()));
            }
        }
    };
    // A character that is cut off at the end may come later.
    exchange.is_garbled |= str::from_utf8(&bytes).is_err_and(|it| it.error_len().is_some());
    let text = String::from_utf8_lossy(&bytes);
    exchange.received.push_str(&text);
    match serde_json::from_slice::<Value>(&bytes) {
        _ if streams => {}
        Ok(Value::Array(messages)) => exchange.messages = messages,
        Ok(message) => exchange.messages = vec![message],
        Err(_) if is_like_a_message(&text) => return Err(Stop::Problem(NOT_JSON.to_owned())),
        Err(_) => {}
    }
    outcome
}

/// The request to a server; `None` if its path or a header cannot be sent.
pub(crate) fn request(target: &Target, raw: Raw) -> Option<Request<Bytes>> {
    let mut request = Request::new(raw.body);
    *request.method_mut() = raw.method;
    let path = raw.path.unwrap_or_else(|| target.locate("/mcp", "/mcp"));
    *request.uri_mut() = path.parse().ok()?;
    for (name, value) in raw.headers {
        let name = HeaderName::try_from(name).ok()?;
        request.headers_mut().append(name, HeaderValue::try_from(value).ok()?);
    }
    Some(request)
}

fn shown(raw: &Raw) -> String {
    let path = raw.path.as_deref().unwrap_or("(endpoint)");
    let mut text = format!("{} {path}\n", raw.method);
    for (name, value) in &raw.headers {
        text.push_str(&format!("{name}: {value}\n"));
    }
    text.push_str(&String::from_utf8_lossy(&raw.body));
    text
}
