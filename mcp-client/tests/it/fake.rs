//! An HTTP server that answers as a test wants, for what the library's own never sends.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Barrier;
use tokio::task::JoinHandle;

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// A running server. It ends with its handle.
pub(crate) struct Fake {
    pub(crate) origin: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Seen {
    /// The JSON-RPC method, or that of HTTP.
    pub(crate) fn name(&self) -> &str {
        self.body["method"].as_str().unwrap_or(self.method.as_str())
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).map(|value| value.to_str().unwrap());
        value.unwrap_or_default()
    }

    /// The answer with this result.
    pub(crate) fn result(&self, result: Value) -> Answer {
        let mut message = json!({"jsonrpc": "2.0", "id": self.body["id"]});
        message["result"] = result;
        answer(200, &message)
    }

    /// The answer with this error.
    pub(crate) fn error(&self, status: u16, code: i64, data: Value) -> Answer {
        let mut message = json!({"jsonrpc": "2.0", "id": self.body["id"]});
        message["error"] = json!({"code": code, "message": "no"});
        message["error"]["data"] = data;
        answer(status, &message)
    }

    /// What a legacy server says to the handshake; with the session `s` and then the number of it.
    pub(crate) fn initialized(&self, capabilities: Value, session: usize) -> Answer {
        let mut result = json!({
            "protocolVersion": "2025-11-25",
            "serverInfo": {"name": "fake", "version": "1"},
        });
        result["capabilities"] = capabilities;
        let mut answer = self.result(result);
        let session = format!("s{session}").parse().unwrap();
        answer.headers_mut().insert("mcp-session-id", session);
        answer
    }
}

pub(crate) fn answer(status: u16, message: &Value) -> Answer {
    let mut answer = Response::new(Full::from(message.to_string()).boxed_unsync());
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    let json = "application/json".parse().unwrap();
    answer.headers_mut().insert("content-type", json);
    answer
}

pub(crate) fn status(status: u16) -> Answer {
    let mut answer = Response::new(Full::default().boxed_unsync());
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    answer
}

/// A refusal with an id that the client did not give.
pub(crate) fn refusal(status: u16) -> Answer {
    let error = json!({"code": -32_600, "message": "no"});
    answer(status, &json!({"jsonrpc": "2.0", "id": "server-error", "error": error}))
}

/// The answer, held back until as many others wait at the barrier as it is for.
pub(crate) fn together(mut answer: Answer, all: &Arc<Barrier>) -> Answer {
    answer.extensions_mut().insert(Arc::clone(all));
    answer
}

fn stream_of(body: UnsyncBoxBody<Bytes, Infallible>) -> Answer {
    let mut answer = Response::new(body);
    let events = "text/event-stream".parse().unwrap();
    answer.headers_mut().insert("content-type", events);
    answer
}

/// A stream that ends behind this text.
pub(crate) fn events(text: &str) -> Answer {
    stream_of(Full::from(text.to_owned()).boxed_unsync())
}

/// A stream that stays open behind this text.
pub(crate) fn open_events(text: &str) -> Answer {
    let frame = Ok(Frame::data(Bytes::from(text.to_owned())));
    let frames = stream::iter([frame]).chain(stream::pending());
    stream_of(StreamBody::new(frames).boxed_unsync())
}

impl Fake {
    pub(crate) async fn new(
        answers: impl Fn(&Seen, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (answers, kept) = (Arc::new(answers), Arc::clone(&seen));
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (answers, kept) = (Arc::clone(&answers), Arc::clone(&kept));
                let service = service_fn(move |request: Request<Incoming>| {
                    let (answers, kept) = (Arc::clone(&answers), Arc::clone(&kept));
                    async move { Ok::<_, Infallible>(taken(request, &*answers, &kept).await) }
                });
                let http = hyper::server::conn::http1::Builder::new();
                connections.spawn(async move {
                    let _gone = http.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { origin, seen, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The names of what came.
    pub(crate) fn names(&self) -> Vec<String> {
        let seen = self.seen();
        seen.iter().map(|seen| seen.name().to_owned()).collect()
    }

    /// Waits until so many requests of this name came.
    pub(crate) async fn wait_for(&self, name: &str, count: usize) {
        let there = async {
            while self.names().iter().filter(|seen| *seen == name).count() < count {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        let waited = tokio::time::timeout(crate::common::PATIENCE, there).await;
        assert!(waited.is_ok(), "{name}: {:?}", self.names());
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn taken(
    request: Request<Incoming>,
    answers: &(dyn Fn(&Seen, usize) -> Answer + Send + Sync),
    kept: &Mutex<Vec<Seen>>,
) -> Answer {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let seen = Seen {
        method: head.method,
        path: head.uri.path().to_owned(),
        headers: head.headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    };
    let before = {
        let mut kept = kept.lock().unwrap();
        let before = kept.iter().filter(|other| other.name() == seen.name()).count();
        kept.push(seen.clone());
        before
    };
    let mut answer = answers(&seen, before);
    if let Some(all) = answer.extensions_mut().remove::<Arc<Barrier>>() {
        all.wait().await;
    }
    answer
}
