//! A plain HTTP client of one address, over real sockets.

use std::net::SocketAddr;
use std::pin::pin;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::{Event, Feed, soon};

/// Headers of a request.
pub(crate) type Headers<'a> = &'a [(&'a str, &'a str)];

/// Talks to one server. Every call opens a connection of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client(pub(crate) SocketAddr);

/// One connection that is kept.
pub(crate) struct Connection {
    host: String,
    sender: SendRequest<Full<Bytes>>,
    task: JoinHandle<()>,
}

/// A response that was read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Client {
    pub(crate) async fn connect(self) -> Connection {
        self.try_connect().await.expect("the server is there")
    }

    pub(crate) async fn try_connect(self) -> Option<Connection> {
        let stream = TcpStream::connect(self.0).await.ok()?;
        stream.set_nodelay(true).ok()?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        let task = tokio::spawn(connection.map(drop));
        let host = self.0.to_string();
        Some(Connection { host, sender, task })
    }

    /// A request with a JSON body, or without one if it is null.
    pub(crate) async fn call(
        self,
        method: &str,
        path: &str,
        headers: Headers<'_>,
        body: &Value,
    ) -> Reply {
        self.connect().await.call(method, path, headers, body).await
    }

    pub(crate) async fn get(self, path: &str) -> Reply {
        self.call("GET", path, &[], &Value::Null).await
    }

    pub(crate) async fn post(self, path: &str, body: &Value) -> Reply {
        self.call("POST", path, &[], body).await
    }

    /// A `post` that is done once, however often it is sent under its key.
    pub(crate) async fn post_keyed(self, path: &str, key: &str, body: &Value) -> Reply {
        self.call("POST", path, &[("idempotency-key", key)], body).await
    }

    pub(crate) async fn put(self, path: &str, body: &Value) -> Reply {
        self.call("PUT", path, &[], body).await
    }

    pub(crate) async fn delete(self, path: &str) -> Reply {
        self.call("DELETE", path, &[], &Value::Null).await
    }

    /// Creates a universe and gives its id.
    pub(crate) async fn create(self, name: &str, state: Value) -> String {
        let reply = self.post("/universes", &json!({"name": name, "state": state})).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        reply.json()["id"].as_str().unwrap().to_owned()
    }

    /// Sends a command that must be accepted.
    pub(crate) async fn command(self, universe: &str, command: &Value) -> Value {
        let reply = self.post(&format!("/universes/{universe}/commands"), command).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    pub(crate) async fn universe(self, universe: &str) -> Value {
        let reply = self.get(&format!("/universes/{universe}")).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    /// How many universes the first page of the list has.
    pub(crate) async fn count(self) -> usize {
        let list = self.get("/universes").await.json();
        list.as_array().unwrap().len()
    }

    /// Opens the feed of a universe; gives it after its first bytes.
    pub(crate) async fn feed(self, universe: &str, last_event_id: Option<u64>) -> Feed<Incoming> {
        let last = last_event_id.map(|id| id.to_string());
        let headers: Vec<_> = last.iter().map(|last| ("last-event-id", last.as_str())).collect();
        let path = format!("/universes/{universe}/events");
        let response = self.open("GET", &path, &headers).await;
        assert_eq!(response.status(), 200);
        let mut feed = Feed::new(response.into_body());
        assert_eq!(feed.block().await.as_deref(), Some(":connected"));
        feed
    }

    /// All that has happened to a universe so far.
    pub(crate) async fn history(self, universe: &str, head: u64) -> Vec<Event> {
        let mut feed = self.feed(universe, Some(0)).await;
        let mut events = Vec::new();
        while (events.len() as u64) < head {
            events.push(feed.event().await.expect("the feed goes on"));
        }
        events
    }

    /// A response whose body is read by the caller.
    pub(crate) async fn open(
        self,
        method: &str,
        path: &str,
        headers: Headers<'_>,
    ) -> Response<Incoming> {
        self.open_with(method, path, headers, &Value::Null).await
    }

    /// The same for a request with a JSON body.
    pub(crate) async fn open_with(
        self,
        method: &str,
        path: &str,
        headers: Headers<'_>,
        body: &Value,
    ) -> Response<Incoming> {
        let mut connection = self.connect().await;
        let request = connection.request(method, path, headers, body);
        soon(connection.send(request)).await.unwrap()
    }

    /// Sends bytes as they are and gives all that comes back until the server closes or falls silent after an answer.
    pub(crate) async fn raw(self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.0).await.unwrap();
        // A server that has answered already may not take the rest.
        let _refused = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let mut buffer = vec![0; 16 * 1024];
        while !is_whole(&answer) {
            match soon(stream.read(&mut buffer)).await {
                Ok(0) | Err(_) => break,
                Ok(read) => answer.extend_from_slice(&buffer[..read]),
            }
        }
        String::from_utf8(answer).unwrap()
    }
}

/// Whether these bytes are a head with as much body as it announces.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.is_some_and(|length| body.len() >= length.parse().unwrap())
}

impl Connection {
    pub(crate) async fn call(
        &mut self,
        method: &str,
        path: &str,
        headers: Headers<'_>,
        body: &Value,
    ) -> Reply {
        let reply = self.try_call(method, path, headers, body);
        soon(reply).await.expect("the server answers")
    }

    /// `None` when the server goes before it has answered.
    pub(crate) async fn try_call(
        &mut self,
        method: &str,
        path: &str,
        headers: Headers<'_>,
        body: &Value,
    ) -> Option<Reply> {
        let request = self.request(method, path, headers, body);
        let response = self.send(request).await?;
        let (head, body) = response.into_parts();
        Some(Reply {
            status: head.status.as_u16(),
            headers: head.headers,
            body: body.collect().await.ok()?.to_bytes(),
        })
    }

    /// An event stream that is read by the caller; `None` where that is not what the server gives.
    pub(crate) async fn stream(
        &mut self,
        path: &str,
        headers: Headers<'_>,
    ) -> Option<Feed<Incoming>> {
        let request = self.request("GET", path, headers, &Value::Null);
        let response = self.send(request).await?;
        (response.status() == 200).then(|| Feed::new(response.into_body()))
    }

    async fn send(&mut self, request: Request<Full<Bytes>>) -> Option<Response<Incoming>> {
        self.sender.ready().await.ok()?;
        let asked = pin!(self.sender.send_request(request));
        match select(asked, &mut self.task).await {
            Either::Left((answered, _task)) => answered.ok(),
            // Hyper may forget a request that is sent while the connection ends on another thread.
            Either::Right((_ended, asked)) => asked.now_or_never()?.ok(),
        }
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        headers: Headers<'_>,
        body: &Value,
    ) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", &self.host);
        }
        if !body.is_null() && !headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = match body {
            Value::Null => Bytes::new(),
            body => Bytes::from(body.to_string()),
        };
        request.body(Full::new(body)).unwrap()
    }
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The sentence of a refusal.
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap().to_owned()
    }
}
