//! The client over Streamable HTTP: each message is a POST, each answer one JSON body or an event stream.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Response as HttpResponse, StatusCode, Uri};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::broadcast;

use super::answering::{Answering, Answers};
use super::config::Computed;
use super::credentials::{Credentials, MAX_TRIES, Refusal};
use super::mirror::{Mirrored, header_text};
use super::pool::{Hop, MAX_REDIRECTS, Pool, told, too_many, whole};
use super::trust::Trust;
use super::{ClientConfig, ClientError};
use crate::http::EventReader;
use crate::jsonrpc::{Message, Notification, Request, Response};
use crate::tool::Tool;
use crate::version::{Era, ProtocolVersion};

/// How much of a body that is no answer is told.
const MAX_SHOWN: usize = 500;

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// An endpoint and, in the legacy era, the session there.
#[derive(Debug)]
pub(super) struct HttpLink {
    pool: Pool,
    uri: Uri,
    headers: HeaderMap,
    computed: Option<Computed>,
    credentials: Option<Arc<dyn Credentials>>,
    max_message_bytes: usize,
    notifications: broadcast::Sender<Notification>,
    answers: Option<Answers>,
    /// The revision that the header names: from the start in the modern era, from the handshake in the legacy one.
    version: OnceLock<ProtocolVersion>,
    session: OnceLock<HeaderValue>,
    /// The parameters that headers repeat, in the modern era.
    mirrored: Mirrored,
}

impl HttpLink {
    pub(super) fn new(
        url: &str,
        config: &ClientConfig,
        notifications: broadcast::Sender<Notification>,
    ) -> Result<Self, ClientError> {
        let uri = endpoint(url)?;
        // Reading the certificates of a system takes a while, and a plain connection needs none.
        let pool = match uri.scheme_str() {
            Some("https") => Pool::new(&config.trust, config.http2)?,
            _ => Pool::new(&Trust::only(), config.http2)?,
        };
        let version = OnceLock::new();
        if config.version.era() == Era::Modern {
            let _first = version.set(config.version);
        }
        Ok(Self {
            pool,
            uri,
            headers: config.headers.clone(),
            computed: config.computed.clone(),
            credentials: config.credentials.clone(),
            max_message_bytes: config.max_message_bytes,
            notifications,
            answers: config.answers.clone(),
            version,
            session: OnceLock::new(),
            mirrored: Mirrored::default(),
        })
    }

    /// The handshake settled on this revision.
    pub(super) fn negotiated(&self, version: ProtocolVersion) {
        let _first = self.version.set(version);
    }

    /// Learns from a list of tools which parameters headers repeat; takes out what must not be called.
    pub(super) fn listed(&self, tools: &mut Vec<Tool>) {
        if self.is_modern() {
            self.mirrored.learn(tools);
        }
    }

    fn is_modern(&self) -> bool {
        let version = self.version.get();
        version.is_some_and(|version| version.era() == Era::Modern)
    }

    pub(super) async fn call(&self, request: &Request) -> Result<Response, ClientError> {
        let response = self.post(request, &request.method, &request.params).await?;
        if request.method == "initialize"
            && let Some(session) = response.headers().get("mcp-session-id")
        {
            let _first = self.session.set(session.clone());
        }
        let answer = match media(&response) {
            Some("text/event-stream") => self.read_events(response, request).await?,
            _ => self.read_json(response).await?,
        };
        // A refusal may come without the id that it could not read.
        if answer.id.as_ref().is_some_and(|id| *id != request.id)
            || (answer.id.is_none() && answer.outcome.is_ok())
        {
            return Err(ClientError::Protocol(format!(
                "the answer to {} has the id {:?}",
                request.id, answer.id
            )));
        }
        Ok(answer)
    }

    pub(super) async fn notify(&self, notification: &Notification) -> Result<(), ClientError> {
        let response = self
            .post(notification, &notification.method, &notification.params)
            .await?;
        if response.status().is_success() {
            return Ok(());
        }
        match self.read_json(response).await?.outcome {
            Err(error) => Err(ClientError::Rpc(error)),
            Ok(_) => Err(ClientError::Protocol(
                "a notification got a result".to_owned(),
            )),
        }
    }

    /// Ends the session, if there is one.
    pub(super) async fn close(&self) -> Result<(), ClientError> {
        if self.session.get().is_none() {
            return Ok(());
        }
        let response = self.send(Method::DELETE, Bytes::new(), &[]).await?;
        let status = response.status();
        if status.is_success() || status == StatusCode::METHOD_NOT_ALLOWED {
            return Ok(());
        }
        Err(ClientError::Http {
            status: status.as_u16(),
            body: shown(&self.whole(response).await?),
        })
    }

    async fn post(
        &self,
        message: &impl Serialize,
        method: &str,
        params: &Map<String, Value>,
    ) -> Result<HttpResponse<Incoming>, ClientError> {
        let body = serde_json::to_vec(message)
            .map_err(|problem| ClientError::Protocol(problem.to_string()))?;
        let named = match method {
            "tools/call" | "prompts/get" => params.get("name"),
            "resources/read" => params.get("uri"),
            "tasks/get" | "tasks/update" | "tasks/cancel" => params.get("taskId"),
            _ => None,
        };
        let mut extra = Vec::new();
        if self.is_modern() {
            extra.push((METHOD, header_text(method)?));
            if let Some(name) = named.and_then(Value::as_str) {
                extra.push((NAME, header_text(name)?));
            }
            if method == "tools/call" {
                extra.extend(self.mirrored.headers(params)?);
            }
        }
        self.send(Method::POST, body.into(), &extra).await
    }

    async fn send(
        &self,
        method: Method,
        body: Bytes,
        extra: &[(HeaderName, HeaderValue)],
    ) -> Result<HttpResponse<Incoming>, ClientError> {
        let mut uri = self.uri.clone();
        let (mut tries, mut redirects) = (0, 0);
        loop {
            let mut request = http::Request::new(body.clone());
            *request.headers_mut() = self.head(&method, &uri, extra).await?;
            *request.method_mut() = method.clone();
            *request.uri_mut() = uri.clone();
            let sent = request.headers().clone();
            let response = match self.pool.send(request).await? {
                Hop::Response(response) => response,
                Hop::Redirect(target) if redirects < MAX_REDIRECTS => {
                    redirects += 1;
                    uri = target;
                    continue;
                }
                Hop::Redirect(target) => return Err(too_many(&target)),
            };
            let Some(credentials) = &self.credentials else {
                return Ok(response);
            };
            let status = response.status();
            if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                credentials.answered(&uri, response.headers());
                return Ok(response);
            }
            tries += 1;
            let refusal = Refusal {
                status,
                headers: response.headers().clone(),
                method: method.clone(),
                url: uri.clone(),
                tries,
                sent,
            };
            credentials.refused(&refusal).await?;
            if tries >= MAX_TRIES {
                return Ok(response);
            }
        }
    }

    /// The headers of a request: the caller's, then those of the protocol, then those that prove who calls.
    async fn head(
        &self,
        method: &Method,
        uri: &Uri,
        extra: &[(HeaderName, HeaderValue)],
    ) -> Result<HeaderMap, ClientError> {
        let mut headers = self.headers.clone();
        if let Some(Computed(computed)) = &self.computed {
            replace(&mut headers, computed(method, uri));
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        if let Some(version) = self.version.get() {
            headers.insert(
                "mcp-protocol-version",
                HeaderValue::from_static(version.as_str()),
            );
        }
        if let Some(session) = self.session.get() {
            headers.insert("mcp-session-id", session.clone());
        }
        for (name, value) in extra {
            headers.insert(name, value.clone());
        }
        if let Some(credentials) = &self.credentials {
            replace(&mut headers, credentials.headers(method, uri).await?);
        }
        Ok(headers)
    }

    /// Answers a request of the server.
    async fn respond(&self, answer: Response) -> Result<(), ClientError> {
        let message = Message::Response(answer);
        let response = self.post(&message, "", &Map::new()).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        Err(ClientError::Http {
            status: status.as_u16(),
            body: shown(&self.whole(response).await?),
        })
    }

    async fn read_json(&self, response: HttpResponse<Incoming>) -> Result<Response, ClientError> {
        let status = response.status();
        let body = self.whole(response).await?;
        match Message::from_slice(&body) {
            Ok(Message::Response(response)) => Ok(response),
            _ => Err(ClientError::Http {
                status: status.as_u16(),
                body: shown(&body),
            }),
        }
    }

    async fn whole(&self, response: HttpResponse<Incoming>) -> Result<Bytes, ClientError> {
        whole(response.into_body(), self.max_message_bytes).await
    }

    /// Reads a stream to the answer; what comes before it is told or answered.
    async fn read_events(
        &self,
        response: HttpResponse<Incoming>,
        request: &Request,
    ) -> Result<Response, ClientError> {
        let mut reader = EventReader::new(self.max_message_bytes);
        let mut body = response.into_body();
        let mut answering = Answering::new(self.answers.clone(), |response| {
            Box::pin(self.respond(response))
        });
        loop {
            let frame = tokio::select! {
                frame = body.frame() => frame,
                answered = answering.next() => {
                    answered?;
                    continue;
                }
            };
            let Some(frame) = frame else { break };
            let frame = frame.map_err(|error| ClientError::Connection(told(&error)))?;
            let Some(data) = frame.data_ref() else {
                continue;
            };
            let events = reader
                .push(data)
                .map_err(|error| ClientError::Protocol(error.to_string()))?;
            for event in events.into_iter().filter(|event| !event.data.is_empty()) {
                let message = Message::from_slice(event.data.as_bytes())
                    .map_err(|broken| ClientError::Protocol(broken.error.message))?;
                match message {
                    Message::Response(response) => return Ok(response),
                    Message::Notification(notification) => {
                        answering.cancel(&notification);
                        // Fails only when nobody listens.
                        let _heard = self.notifications.send(notification);
                    }
                    // What needs no thinking goes out before the answer to the call can end this.
                    Message::Request(asked) => match answering.at_once(&asked) {
                        Some(response) => self.respond(response).await?,
                        None => answering.take(asked),
                    },
                }
            }
        }
        tracing::debug!(id = %request.id, "the stream of a request ended without its answer");
        Err(ClientError::Closed)
    }
}

/// The media type of a response, without its parameters.
fn media(response: &HttpResponse<Incoming>) -> Option<&str> {
    let media = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    media.split(';').next().map(str::trim)
}

fn shown(body: &[u8]) -> String {
    String::from_utf8_lossy(body)
        .chars()
        .take(MAX_SHOWN)
        .collect()
}

/// Sets headers over those of the same names.
fn replace(headers: &mut HeaderMap, others: HeaderMap) {
    for name in others.keys() {
        headers.remove(name);
    }
    let mut named = None;
    for (name, value) in others {
        named = name.or(named);
        if let Some(name) = &named {
            headers.append(name.clone(), value);
        }
    }
}

/// The URL of an endpoint that this build can reach.
fn endpoint(url: &str) -> Result<Uri, ClientError> {
    let uri: Uri = url
        .parse()
        .map_err(|problem| ClientError::Connection(format!("{url:?} is no URL: {problem}")))?;
    let problem = match uri.scheme_str() {
        _ if uri.authority().is_none() => "must start with http:// or https:// and name a host",
        Some("http") => return Ok(uri),
        Some("https") if cfg!(feature = "tls") => return Ok(uri),
        Some("https") => "needs TLS, the feature tls of mcp-proto",
        _ => "must start with http:// or https://",
    };
    Err(ClientError::Connection(format!("{url:?} {problem}")))
}
