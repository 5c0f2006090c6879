//! The mock server over HTTP.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt as _, stream};
use http::header::{HeaderMap, HeaderValue, ORIGIN};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body::Frame as Piece;
use http_body_util::{BodyExt as _, Limited, StreamBody};
use hyper::body::Incoming;
use serde_json::Value;
use tokio::net::TcpListener;

use super::recording::Used;
use super::{Mock, Reply, failure, read};
use crate::record::era_of;
use crate::rpc_client::SESSION;
use crate::serving::{Body, BoxError};
use crate::serving::{bare, full, not_allowed, plain, serve, typed};
use crate::sse::{EVENT_STREAM, Event, Frame, MAX_EVENT_BYTES};
use crate::transcript::Era;

/// The path of its endpoint.
const ENDPOINT: &str = "/mcp";
/// The most sessions under way; the oldest ends for a new one.
const MAX_SESSIONS: usize = 1_000;

/// The mock server, and what its clients have asked.
struct Shared {
    mock: Mock,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    /// The legacy sessions by their ids, the oldest first.
    sessions: Vec<(String, Used)>,
    /// Modern clients have no sessions.
    modern: Used,
}

impl Mock {
    /// Answers the requests of clients at `/mcp`, until this is dropped. Legacy clients get a session each, which is
    /// then required; the oldest of more than 1,000 sessions ends.
    ///
    /// # Errors
    ///
    /// The listener fails.
    pub async fn serve(self, listener: TcpListener) -> io::Result<()> {
        let shared = Arc::new(Shared { mock: self, asked: Mutex::default() });
        let answer = move |request| {
            let shared = shared.clone();
            async move { shared.answer(request).await }
        };
        serve(listener, answer).await
    }
}

impl Shared {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let (head, body) = request.into_parts();
        if head.uri.path() != ENDPOINT {
            return plain(StatusCode::NOT_FOUND, "the endpoint of this server is /mcp");
        }
        if head.headers.get(ORIGIN).is_some_and(|it| !is_local(it)) {
            return plain(StatusCode::FORBIDDEN, "only pages of this machine may ask this server");
        }
        match head.method {
            Method::POST => {}
            Method::DELETE => return self.end(&head.headers),
            _ => {
                let why = plain(StatusCode::METHOD_NOT_ALLOWED, "use POST or DELETE");
                return not_allowed("POST, DELETE", why.into_body());
            }
        }
        let Ok(body) = Limited::new(body, MAX_EVENT_BYTES).collect().await else {
            let problem = format!("the message is longer than {MAX_EVENT_BYTES} bytes");
            return plain(StatusCode::PAYLOAD_TOO_LARGE, &problem);
        };
        match read(&body.to_bytes()) {
            Ok(message) => self.message(&head.headers, &message),
            Err(error) => json(400, &error),
        }
    }

    fn message(&self, headers: &HeaderMap, message: &Value) -> Response<Body> {
        let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
        let method = message.get("method");
        let is_request = method.is_some() && message.get("id").is_some();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if era_of(message, text("mcp-protocol-version")) == Era::Modern {
            if !is_request {
                return bare(StatusCode::ACCEPTED);
            }
            return respond(self.mock.reply(Era::Modern, &mut asked.modern, message));
        }
        if is_request && method.is_some_and(|it| it == "initialize") {
            let mut used = Used::new();
            let reply = self.mock.reply(Era::Legacy, &mut used, message);
            let opens = reply.answer.as_ref().is_some_and(|it| it.get("result").is_some());
            let mut response = respond(reply);
            let id = format!("{:032x}", fastrand::u128(..));
            if let Some(value) = HeaderValue::from_str(&id).ok().filter(|_| opens) {
                response.headers_mut().insert(SESSION, value);
                if asked.sessions.len() >= MAX_SESSIONS {
                    asked.sessions.remove(0);
                }
                asked.sessions.push((id, used));
            }
            return response;
        }
        let id = message.get("id").unwrap_or(&Value::Null);
        let Some(session) = text(SESSION.as_str()) else {
            let problem = "the header Mcp-Session-Id is missing; initialize is answered with it";
            return json(400, &failure(id, -32600, problem));
        };
        match asked.sessions.iter_mut().find(|(known, _)| known == session) {
            None => json(404, &failure(id, -32600, "there is no such session, or it has ended")),
            Some(_) if !is_request => bare(StatusCode::ACCEPTED),
            Some((_, used)) => respond(self.mock.reply(Era::Legacy, used, message)),
        }
    }

    fn end(&self, headers: &HeaderMap) -> Response<Body> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let session = headers.get(&SESSION).map(HeaderValue::as_bytes);
        let known = asked.sessions.iter().position(|(id, _)| Some(id.as_bytes()) == session);
        match known {
            Some(index) => {
                asked.sessions.remove(index);
                let ended = self.mock.recordings.get(&Era::Legacy).map(|it| it.ended);
                let ended = ended.and_then(|it| StatusCode::from_u16(it).ok());
                bare(ended.unwrap_or(StatusCode::NO_CONTENT))
            }
            None => plain(StatusCode::NOT_FOUND, "there is no such session, or it has ended"),
        }
    }
}

/// JSON, or an event stream if something comes before the answer.
fn respond(reply: Reply) -> Response<Body> {
    let answer = match reply.answer {
        Some(answer) if reply.before.is_empty() => return json(reply.status, &answer),
        answer => answer,
    };
    let lasts = answer.is_none();
    let pieces = reply.before.into_iter().chain(answer).map(|message| {
        let event = Event { data: message.to_string(), ..Event::default() };
        Ok::<_, BoxError>(Piece::data(Frame::Event(event).to_bytes()))
    });
    let pieces: Vec<_> = pieces.collect();
    // A subscription lasts until its client leaves.
    let rest = if lasts { stream::pending().left_stream() } else { stream::empty().right_stream() };
    typed(EVENT_STREAM, StreamBody::new(stream::iter(pieces).chain(rest)).boxed_unsync())
}

fn json(status: u16, message: &Value) -> Response<Body> {
    let mut response = typed("application/json", full(message.to_string()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    response
}

/// Whether an origin is of this machine.
fn is_local(origin: &HeaderValue) -> bool {
    let origin = origin.to_str().ok().and_then(|it| it.parse::<Uri>().ok());
    origin.is_some_and(|it| matches!(it.host(), Some("localhost" | "127.0.0.1" | "[::1]")))
}
