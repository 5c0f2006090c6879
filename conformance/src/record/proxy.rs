//! A proxy before an HTTP server. It changes nothing but what belongs to the connection, and keeps what it sees.

mod body;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HOST, HeaderMap, HeaderValue};
use http::{HeaderName, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use serde_json::Value;
use tokio::net::TcpListener;

use self::body::Watch;
use super::session::{Headers, Session, era_of, has_meaning};
use super::{Key, Recorder, modern};
use crate::rpc_client::SESSION;
use crate::serving::{Body, BoxError};
use crate::serving::{plain, serve};
use crate::sse::MAX_EVENT_BYTES;
use crate::target::Target;
use crate::transcript::Era;

/// The path of the proxy's own endpoint.
const ENDPOINT: &str = "/mcp";
/// Headers that belong to a connection (RFC 9110, 7.6.1).
const OF_CONNECTION: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Takes connections and passes what comes on them to `upstream`, until this is dropped. The proxy's endpoint is
/// `/mcp`.
///
/// # Errors
///
/// The listener fails.
pub async fn proxy(
    listener: TcpListener,
    upstream: Target,
    recorder: Recorder,
) -> std::io::Result<()> {
    let proxy = Proxy::new(upstream, recorder);
    let answer = move |request: Request<Incoming>| {
        let proxy = proxy.clone();
        async move { proxy.pass(request).await }
    };
    serve(listener, answer).await
}

/// The same server, of which everything is recorded.
pub(super) fn through(upstream: Target, recorder: Recorder) -> Target {
    let proxy = Proxy::new(upstream, recorder);
    Target::in_process(move |request| {
        let proxy = proxy.clone();
        async move { Ok::<_, BoxError>(proxy.pass(request).await) }
    })
}

#[derive(Clone)]
struct Proxy {
    upstream: Target,
    recorder: Recorder,
    /// Counts handshakes, to distinguish those under way.
    handshakes: Arc<AtomicU64>,
}

impl Proxy {
    fn new(upstream: Target, recorder: Recorder) -> Self {
        // The server may repeat what this program sends to it in place of the client.
        remember(&recorder, upstream.headers().iter().map(|(name, value)| (name, value)));
        Self { upstream, recorder, handshakes: Arc::default() }
    }

    async fn pass<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data: Send, Error: Into<BoxError>> + Send,
    {
        let (mut head, body) = request.into_parts();
        let body = match Limited::new(body, MAX_EVENT_BYTES).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => {
                let problem = format!(
                    "the request is longer than {MAX_EVENT_BYTES} bytes, or broke off: {error}"
                );
                return plain(StatusCode::PAYLOAD_TOO_LARGE, &problem);
            }
        };
        remember(&self.recorder, &head.headers);
        of_message(&mut head.headers);
        // An answer is read here, so that it must not be compressed.
        for name in [HOST, CONTENT_LENGTH, ACCEPT_ENCODING] {
            head.headers.remove(name);
        }
        let exchange = self.exchange(&head.method, &head.headers, &body);
        let path = head.uri.path_and_query().map_or(ENDPOINT, |path| path.as_str());
        let is_endpoint = head.uri.path() == ENDPOINT;
        match self.upstream.locate(ENDPOINT, path).parse() {
            Ok(uri) => head.uri = uri,
            Err(error) => {
                return plain(StatusCode::BAD_GATEWAY, &format!("no such path: {error}"));
            }
        }
        let serial = is_endpoint.then(|| self.asked(&exchange)).flatten();
        let response = match self.upstream.send(Request::from_parts(head, body)).await {
            Ok(response) => response,
            Err(error) => return plain(StatusCode::BAD_GATEWAY, &error.to_string()),
        };
        if !is_endpoint {
            return response;
        }
        self.answered(exchange, serial, response)
    }

    /// The kind of a request, and its session.
    fn exchange(&self, method: &Method, headers: &HeaderMap, body: &[u8]) -> Exchange {
        let header = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let message: Option<Value> = serde_json::from_slice(body).ok();
        let version = header(&HeaderName::from_static("mcp-protocol-version"));
        let era = message.as_ref().map_or(Era::Legacy, |message| era_of(message, version));
        let shakes_hands = message.as_ref().is_some_and(|message| {
            message.get("method").is_some_and(|method| method == "initialize")
        });
        let key = match (era, header(&SESSION)) {
            (Era::Modern, _) => modern(message.as_ref().unwrap_or(&Value::Null)),
            (Era::Legacy, _) if shakes_hands => {
                Key::Handshake(self.handshakes.fetch_add(1, Ordering::Relaxed))
            }
            (Era::Legacy, Some(session)) => Key::Session(session.to_owned()),
            (Era::Legacy, None) => Key::Sessionless,
        };
        Exchange {
            method: method.clone(),
            key,
            era,
            shakes_hands,
            message,
            headers: headers
                .iter()
                .filter(|(name, _)| has_meaning(name.as_str()))
                .map(|(name, value)| {
                    (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
                })
                .collect(),
        }
    }

    /// Keeps a request, and returns its number.
    fn asked(&self, exchange: &Exchange) -> Option<u64> {
        let begins = exchange.era == Era::Modern || exchange.shakes_hands;
        if !begins && !self.recorder.knows(&exchange.key) {
            self.recorder.stray();
            return None;
        }
        let message = exchange.message.as_ref()?;
        let keep = |session: &mut Session| match message {
            Value::Array(batch) => {
                batch.iter().filter_map(|message| session.client(message, &exchange.headers)).last()
            }
            message => session.client(message, &exchange.headers),
        };
        self.recorder.with(&exchange.key, exchange.era, true, keep)?
    }

    fn answered(
        &self,
        exchange: Exchange,
        serial: Option<u64>,
        response: Response<Body>,
    ) -> Response<Body> {
        let (mut head, body) = response.into_parts();
        remember(&self.recorder, &head.headers);
        of_message(&mut head.headers);
        let mut key = exchange.key.clone();
        if exchange.shakes_hands {
            let session = head.headers.get(&SESSION).and_then(|value| value.to_str().ok());
            key = session.map_or(Key::Sessionless, |session| Key::Session(session.to_owned()));
            if key == Key::Sessionless {
                // The earlier client can no longer be distinguished from this one; its messages are complete.
                self.recorder.end(&key);
            }
            self.recorder.rename(&exchange.key, key.clone());
        }
        let known = self.recorder.knows(&key);
        let watch = Watch {
            recorder: self.recorder.clone(),
            key: key.clone(),
            era: exchange.era,
            carrier: serial,
            status: head.status.as_u16(),
            method: exchange.method.clone(),
            sent: exchange.message.filter(|_| serial.is_some()),
        };
        if !known {
            return Response::from_parts(head, body);
        }
        if exchange.method == Method::DELETE && head.status.is_success() {
            self.recorder.with(&key, exchange.era, true, |session| {
                session.plain("DELETE", head.status.as_u16(), None)
            });
            self.recorder.end(&key);
            return Response::from_parts(head, body);
        }
        let body = watch.over(&head, body);
        Response::from_parts(head, body)
    }
}

struct Exchange {
    method: Method,
    key: Key,
    era: Era,
    shakes_hands: bool,
    message: Option<Value>,
    headers: Headers,
}

/// Remembers the secrets in headers, which may have other bytes than ASCII.
fn remember<'a>(
    recorder: &Recorder,
    headers: impl IntoIterator<Item = (&'a HeaderName, &'a HeaderValue)>,
) {
    for (name, value) in headers {
        recorder.secret(name.as_str(), &String::from_utf8_lossy(value.as_bytes()));
    }
}

/// Leaves what a message carries from end to end.
fn of_message(headers: &mut HeaderMap) {
    for name in OF_CONNECTION {
        headers.remove(name);
    }
}
