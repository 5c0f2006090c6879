//! The client over Streamable HTTP: each message is a POST, each answer one JSON body or an event stream.

mod given_up;
mod reading;
mod sending;
mod standalone;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Method, Response as HttpResponse, StatusCode, Uri};
use mcp_proto::jsonrpc::{Message, Notification, Request, Response};
use mcp_proto::{Era, ProtocolVersion};
use serde::Serialize;
use serde_json::{Map, Value};

use super::hub::{NotificationHub, Own};
use super::mirror::{Mirrored, header_text};
use super::network::Incoming;
use super::pool::{Pool, whole};
use super::speaking::Speaking;
use super::{ClientConfig, ClientError, Result};
use given_up::GivenUp;
pub(super) use standalone::listen;

/// How much of a body that is not an answer is shown in the error.
const MAX_SHOWN: usize = 500;

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// An endpoint.
#[derive(Debug)]
pub(super) struct HttpLink {
    pool: Pool,
    uri: Uri,
    config: ClientConfig,
    hub: Arc<NotificationHub>,
    /// The parameters that headers repeat, in the modern era.
    pub(super) mirrored: Mirrored,
}

/// The outcome of a request.
#[derive(Debug)]
pub(super) struct Reply {
    /// The HTTP status; 200 on a pipe.
    pub(super) status: u16,
    /// The answer, or the error that came instead.
    pub(super) outcome: Result<Response>,
    /// The session that `initialize` opened.
    pub(super) session: Option<HeaderValue>,
}

impl Reply {
    pub(super) fn piped(response: Response) -> Self {
        Self { status: 200, outcome: Ok(response), session: None }
    }

    /// Whether a refusal of a version names this one.
    pub(super) fn supports(&self, version: ProtocolVersion) -> bool {
        let error = match &self.outcome {
            Ok(response) => response.outcome.as_ref().err(),
            Err(_) => None,
        };
        let supported = error.and_then(|error| error.data.as_ref()?.get("supported")?.as_array());
        supported.is_some_and(|known| known.iter().any(|known| known == version.as_str()))
    }
}

impl HttpLink {
    pub(super) fn new(url: &str, config: &ClientConfig, hub: Arc<NotificationHub>) -> Result<Self> {
        let uri = endpoint(url)?;
        let pool = Pool::new(&config.network, uri.scheme_str() == Some("https"))?;
        Ok(Self { pool, uri, config: config.clone(), hub, mirrored: Mirrored::default() })
    }

    pub(super) async fn call(
        self: &Arc<Self>,
        request: &Request,
        speaking: &Speaking,
        own: Own,
    ) -> Result<Reply> {
        let mut given_up = GivenUp::new(self, request, speaking);
        let sent = self.post(request, &request.method, &request.params, speaking);
        let response = match sent.await {
            Ok(response) => response,
            Err(error) => {
                // Most likely the server has never seen it.
                given_up.is_answered();
                return Err(error);
            }
        };
        let status = response.status().as_u16();
        let session = response.headers().get("mcp-session-id").cloned();
        let outcome = match media(&response) {
            Some("text/event-stream") => {
                let answer = self.read_events(response, request, speaking, &own);
                Ok(answer.await?)
            }
            _ => self.read_json(response).await,
        };
        given_up.is_answered();
        if let Ok(answer) = &outcome {
            // A refusal may come without the id that it could not read. With an HTTP error status some servers use a
            // different id; the body still belongs to this request.
            let is_foreign = match (&answer.id, &answer.outcome) {
                (Some(id), outcome) => *id != request.id && (outcome.is_ok() || status < 400),
                (None, outcome) => outcome.is_ok(),
            };
            if is_foreign {
                return Err(ClientError::Protocol(format!(
                    "the answer to {} has the id {:?}",
                    request.id, answer.id
                )));
            }
        }
        Ok(Reply { status, outcome, session })
    }

    pub(super) async fn notify(
        &self,
        notification: &Notification,
        speaking: &Speaking,
    ) -> Result<()> {
        let (method, params) = (&notification.method, &notification.params);
        let response = self.post(notification, method, params, speaking).await?;
        if response.status().is_success() {
            return Ok(());
        }
        match self.read_json(response).await?.outcome {
            Err(error) => Err(ClientError::Rpc(error)),
            Ok(_) => Err(ClientError::Protocol("a notification got a result".to_owned())),
        }
    }

    /// Ends the session, if there is one.
    pub(super) async fn close(&self, speaking: &Speaking) -> Result<()> {
        if speaking.session.is_none() {
            return Ok(());
        }
        let response = self.send(Method::DELETE, Bytes::new(), &[], speaking).await?;
        let status = response.status();
        if status.is_success() || status == StatusCode::METHOD_NOT_ALLOWED {
            return Ok(());
        }
        Err(self.failed(response).await)
    }

    async fn post(
        &self,
        message: &impl Serialize,
        method: &str,
        params: &Map<String, Value>,
        speaking: &Speaking,
    ) -> Result<HttpResponse<Incoming>> {
        let body = serde_json::to_vec(message)
            .map_err(|problem| ClientError::Protocol(problem.to_string()))?;
        let named = match method {
            "tools/call" | "prompts/get" => params.get("name"),
            "resources/read" => params.get("uri"),
            "tasks/get" | "tasks/update" | "tasks/cancel" => params.get("taskId"),
            _ => None,
        };
        let mut extra = Vec::new();
        if speaking.era() == Era::Modern {
            extra.push((METHOD, header_text(method)?));
            if let Some(name) = named.and_then(Value::as_str) {
                extra.push((NAME, header_text(name)?));
            }
            if method == "tools/call" {
                extra.extend(self.mirrored.headers(params)?);
            }
        }
        // The handshake negotiates the version that the header would name (2025-06-18, "Protocol Version Header").
        let unnamed = Speaking::default();
        let speaking = if method == "initialize" { &unnamed } else { speaking };
        self.send(Method::POST, body.into(), &extra, speaking).await
    }

    /// Answers a request of the server.
    async fn respond(&self, answer: Response, speaking: &Speaking) -> Result<()> {
        let message = Message::Response(answer);
        let response = self.post(&message, "", &Map::new(), speaking).await?;
        if response.status().is_success() {
            return Ok(());
        }
        Err(self.failed(response).await)
    }

    async fn read_json(&self, response: HttpResponse<Incoming>) -> Result<Response> {
        let status = response.status();
        let body = whole(response.into_body(), self.config.max_message_bytes).await?;
        match Message::from_slice(&body) {
            Ok(Message::Response(response)) => Ok(response),
            _ => Err(ClientError::Http { status: status.as_u16(), body: shown(&body) }),
        }
    }

    async fn failed(&self, response: HttpResponse<Incoming>) -> ClientError {
        let status = response.status().as_u16();
        match whole(response.into_body(), self.config.max_message_bytes).await {
            Ok(body) => ClientError::Http { status, body: shown(&body) },
            Err(error) => error,
        }
    }
}

/// The media type of a response, without its parameters.
fn media(response: &HttpResponse<Incoming>) -> Option<&str> {
    let media = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    media.split(';').next().map(str::trim)
}

fn shown(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(MAX_SHOWN).collect()
}

/// The URL of an endpoint that this build can reach.
fn endpoint(url: &str) -> Result<Uri> {
    let uri: Uri = url
        .parse()
        .map_err(|problem| ClientError::Connection(format!("{url:?} is not a URL: {problem}")))?;
    let problem = match uri.scheme_str() {
        _ if uri.authority().is_none() => "must start with http:// or https:// and name a host",
        Some("http") => return Ok(uri),
        Some("https") if cfg!(feature = "tls") => return Ok(uri),
        Some("https") => "needs TLS, the feature tls of mcp-proto-client",
        _ => "must start with http:// or https://",
    };
    Err(ClientError::Connection(format!("{url:?} {problem}")))
}
