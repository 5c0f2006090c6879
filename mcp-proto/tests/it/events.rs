//! Event streams as a client sees them: event by event, over a socket or in process.

use std::collections::VecDeque;
use std::fmt::Debug;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use mcp_proto::StreamableHttpService;
use mcp_proto::http::{Event, EventReader, ResponseBody};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::common::{PATIENCE, Raw, Served};

/// One response, read as an event stream. Dropping it closes its connection.
#[derive(Debug)]
pub(crate) struct Stream<B> {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The id of the last event.
    pub(crate) last: String,
    body: B,
    reader: EventReader,
    events: VecDeque<Event>,
    connection: Option<JoinHandle<()>>,
}

/// Over a connection of its own.
pub(crate) async fn dial(served: &Served, raw: Raw) -> Stream<Incoming> {
    let stream = TcpStream::connect(served.address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake::<_, Full<Bytes>>(TokioIo::new(stream))
            .await
            .unwrap();
    let connection = tokio::spawn(async move { drop(connection.await) });
    let (head, body) = sender.send_request(raw.request()).await.unwrap().into_parts();
    Stream::new(head, body, Some(connection))
}

/// In process.
pub(crate) async fn open(service: &StreamableHttpService, raw: Raw) -> Stream<ResponseBody> {
    Stream::of(service.handle(raw.request()).await)
}

/// A GET of a session, after an event or not.
pub(crate) fn get(session: &str, after: Option<&str>) -> Raw {
    let raw =
        Raw::bare(Method::GET).set("accept", "text/event-stream").set("mcp-session-id", session);
    match after {
        Some(id) => raw.set("last-event-id", id),
        None => raw,
    }
}

/// The stream part of an event id.
pub(crate) fn stream_of(id: &str) -> &str {
    id.rsplit_once('-').unwrap().0
}

impl Stream<ResponseBody> {
    /// Of a response that is there already.
    pub(crate) fn of(response: http::Response<ResponseBody>) -> Self {
        let (head, body) = response.into_parts();
        Self::new(head, body, None)
    }
}

impl<B> Stream<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Debug,
{
    fn new(head: http::response::Parts, body: B, connection: Option<JoinHandle<()>>) -> Self {
        Self {
            status: head.status,
            headers: head.headers,
            last: String::new(),
            body,
            reader: EventReader::new(1 << 24),
            events: VecDeque::new(),
            connection,
        }
    }

    /// The next event; `None` at the end. Comments are passed over.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        let next = async {
            loop {
                if let Some(event) = self.events.pop_front() {
                    if let Some(id) = &event.id {
                        self.last.clone_from(id);
                    }
                    return Some(event);
                }
                let frame = self.body.frame().await?.unwrap();
                if let Ok(data) = frame.into_data() {
                    self.events.extend(self.reader.push(&data).unwrap());
                }
            }
        };
        tokio::time::timeout(PATIENCE, next).await.expect("no event came")
    }

    /// The next message; `None` at the end. Events that say nothing but their id are passed over.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        loop {
            let event = self.event().await?;
            if !event.data.is_empty() {
                return Some(serde_json::from_str(&event.data).unwrap());
            }
        }
    }

    /// What the next notification of progress says.
    pub(crate) async fn next_text(&mut self) -> String {
        let message = self.message().await.expect("the stream ended");
        text_of(&message).to_owned()
    }

    /// All that is left.
    pub(crate) async fn rest(&mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Some(message) = self.message().await {
            rest.push(message);
        }
        rest
    }

    /// An error instead of a stream: its status and message.
    pub(crate) async fn refusal(mut self) -> (u16, String) {
        assert_eq!(self.headers["content-type"], "application/json");
        let body = (&mut self.body).collect().await.unwrap().to_bytes();
        let answer: Value = serde_json::from_slice(&body).unwrap();
        let message = answer["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(answer["error"]["code"], -32600, "{message}");
        (self.status.as_u16(), message)
    }
}

/// What a notification of progress says.
pub(crate) fn text_of(message: &Value) -> &str {
    assert_eq!(message["method"], "notifications/progress", "{message}");
    message["params"]["message"].as_str().unwrap()
}

impl<B> Drop for Stream<B> {
    fn drop(&mut self) {
        if let Some(connection) = &self.connection {
            connection.abort();
        }
    }
}
