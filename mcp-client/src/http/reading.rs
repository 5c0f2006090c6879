//! Reads the event stream of a request up to its answer, over as many connections as a legacy server spreads it.

use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::{Method, Response as HttpResponse, StatusCode};
use http_body_util::BodyExt as _;
use mcp_proto::Era;
use mcp_proto::http::EventReader;
use mcp_proto::jsonrpc::{Message, Request, Response};

use super::{HttpLink, media};
use crate::answering::Answering;
use crate::backoff::pause;
use crate::hub::Own;
use crate::network::Incoming;
use crate::speaking::Speaking;
use crate::{ClientError, Result};

/// How often in a row a stream is resumed without an event arriving.
const MAX_RESUMES: u32 = 5;

/// How long the first event of an unknown server may take.
const FIRST_EVENT: Duration = Duration::from_secs(5);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The position in a stream.
#[derive(Debug, Default)]
pub(super) struct StreamPosition {
    pub(super) id: Option<String>,
    pub(super) retry: Option<Duration>,
    /// Connections in a row that brought no event.
    pub(super) silent: u32,
    /// Connections in a row that brought no message; an event may carry none.
    pub(super) failures: u32,
}

/// How reading one connection ended.
pub(super) enum End {
    Answer(Box<Response>),
    /// The connection has ended.
    Over,
}

impl HttpLink {
    /// Reads a stream up to the answer; notifications before it are passed on, and requests answered. If a legacy
    /// server ends the stream earlier, it is resumed after the last event (2025-11-25, "Resumability and Redelivery").
    pub(super) async fn read_events(
        &self,
        response: HttpResponse<Incoming>,
        request: &Request,
        speaking: &Speaking,
        own: &Own,
    ) -> Result<Response> {
        let mut position = StreamPosition::default();
        let (answers, clock) = (self.config.answers.clone(), own.clock.clone());
        let mut answering =
            Answering::new(answers, clock, |response| Box::pin(self.respond(response, speaking)));
        let mut body = Some(response.into_body());
        loop {
            if let Some(body) = body.take() {
                match self.read(body, &mut position, &mut answering, own, speaking).await? {
                    End::Answer(response) => return Ok(*response),
                    End::Over => {}
                }
            }
            let Some(id) = position.id.clone().filter(|_| speaking.era() == Era::Legacy) else {
                break;
            };
            position.silent += 1;
            if position.silent > MAX_RESUMES {
                break;
            }
            let again = async {
                tokio::time::sleep(pause(position.retry, position.silent)).await;
                self.open(Some(&id), speaking).await
            };
            match answering.during(again).await {
                Ok(response) if is_stream(&response) => body = Some(response.into_body()),
                // The stream no longer exists, and another attempt would not find it.
                Ok(response) if response.status().is_client_error() => break,
                Ok(_) | Err(_) => {}
            }
        }
        tracing::debug!(id = %request.id, "the stream of a request ended without its answer");
        Err(ClientError::Closed)
    }

    /// Requests a stream: that of the session, or the rest of the one with this event.
    pub(super) async fn open(
        &self,
        last: Option<&str>,
        speaking: &Speaking,
    ) -> Result<HttpResponse<Incoming>> {
        let last = last.and_then(|id| HeaderValue::from_str(id).ok());
        let extra: Vec<_> = last.map(|id| (LAST_EVENT_ID, id)).into_iter().collect();
        self.send(Method::GET, Bytes::new(), &extra, speaking).await
    }

    /// Reads one connection of a stream.
    pub(super) async fn read(
        &self,
        mut body: Incoming,
        position: &mut StreamPosition,
        answering: &mut Answering<'_>,
        own: &Own,
        speaking: &Speaking,
    ) -> Result<End> {
        let mut reader = EventReader::new(self.config.max_message_bytes);
        loop {
            let frame = match answering.during(body.frame()).await {
                Some(Ok(frame)) => frame,
                None => return Ok(End::Over),
                Some(Err(error)) => {
                    tracing::debug!(%error, "a stream of the server broke");
                    return Ok(End::Over);
                }
            };
            let Some(data) = frame.data_ref() else {
                continue;
            };
            let events =
                reader.push(data).map_err(|error| ClientError::Protocol(error.to_string()))?;
            for event in events {
                position.silent = 0;
                position.id = event.id.or(position.id.take());
                position.retry = event.retry.map(Duration::from_millis).or(position.retry);
                if event.data.is_empty() {
                    continue;
                }
                position.failures = 0;
                let message = match Message::from_slice(event.data.as_bytes()) {
                    Ok(message) => message,
                    // Events such as `ping` are not messages; some servers send theirs under names of their own.
                    Err(_) if !matches!(&*event.event, "" | "message") => continue,
                    Err(broken) => return Err(ClientError::Protocol(broken.error.message)),
                };
                match message {
                    Message::Response(response) => return Ok(End::Answer(Box::new(response))),
                    Message::Notification(notification) => {
                        answering.cancel(&notification);
                        own.receive(&notification);
                        self.hub.publish(notification);
                    }
                    // Requests with a ready answer are answered before the answer to the call can end the reading.
                    Message::Request(asked) => match answering.at_once(&asked) {
                        Some(response) => self.respond(response, speaking).await?,
                        None => answering.take(asked),
                    },
                }
            }
        }
    }

    /// Whether a GET begins as that of the transport of 2024-11-05 does: with an event that names a second endpoint.
    pub(crate) async fn is_of_the_first_transport(&self) -> bool {
        let first = async {
            let response = self.open(None, &Speaking::default()).await.ok()?;
            if !is_stream(&response) {
                return None;
            }
            let mut reader = EventReader::new(self.config.max_message_bytes);
            let mut body = response.into_body();
            loop {
                let frame = body.frame().await?.ok()?;
                let events = reader.push(frame.data_ref()?).ok()?;
                if let Some(event) = events.into_iter().next() {
                    return Some(event.event == "endpoint");
                }
            }
        };
        let first = tokio::time::timeout(FIRST_EVENT, first).await;
        matches!(first, Ok(Some(true)))
    }
}

pub(super) fn is_stream(response: &HttpResponse<Incoming>) -> bool {
    response.status() == StatusCode::OK && media(response) == Some("text/event-stream")
}
