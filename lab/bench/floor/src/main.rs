//! The floor: hyper and `serde_json` do only what a client of the comparison sees.
//!
//! It does not check headers, enforce schemas or keep sessions. The cost of a protocol library is its distance from
//! this.

use std::convert::Infallible;
use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Either, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

/// 102,000 bytes of prose in 1,500 lines.
const LINE: &str = "A line of prose that says \"yes\" once, and then goes on to its end.\n";
const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"bench","version":"0.1.0"}}"#;
const EVENT: &str =
    "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";

/// The parts of a message that are read.
#[derive(Deserialize)]
struct Message {
    id: Option<u64>,
    method: String,
    #[serde(default)]
    params: Params,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Params {
    name: String,
    arguments: Arguments,
    /// Only a modern request has it.
    _meta: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Arguments {
    text: String,
}

#[derive(Serialize)]
struct Answer<T> {
    jsonrpc: &'static str,
    id: u64,
    result: T,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: [Content; 1],
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
}

#[derive(Serialize)]
struct Content {
    #[serde(rename = "type")]
    kind: &'static str,
    text: String,
}

#[derive(Serialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server_info: ServerInfo,
}

#[derive(Serialize)]
struct ServerInfo {
    name: &'static str,
    version: &'static str,
}

type Failure = Box<dyn Error + Send + Sync>;
type Body = Either<Full<Bytes>, BoxBody<Bytes, Infallible>>;

/// The answer to one message. `None` for a notification.
fn answer(text: &[u8], events: &broadcast::Sender<Bytes>) -> Result<Option<Vec<u8>>, Failure> {
    let message: Message = serde_json::from_slice(text)?;
    let Some(id) = message.id else {
        return Ok(None);
    };
    if message.method == "initialize" {
        let result: &serde_json::value::RawValue = serde_json::from_str(INITIALIZED)?;
        let answer = Answer { jsonrpc: "2.0", id, result };
        return Ok(Some(serde_json::to_vec(&answer)?));
    }
    let modern = message.params._meta.is_some();
    let text = match message.params.name.as_str() {
        "large" => LINE.repeat(1_500),
        "touch" => {
            // Without a stream there is no receiver, and nothing to send.
            let _ = events.send(Bytes::from_static(EVENT.as_bytes()));
            "touched".to_owned()
        }
        _ => message.params.arguments.text,
    };
    let info = ServerInfo { name: "bench", version: "0.1.0" };
    let result = CallResult {
        result_type: modern.then_some("complete"),
        content: [Content { kind: "text", text }],
        meta: modern.then_some(Meta { server_info: info }),
    };
    Ok(Some(serde_json::to_vec(&Answer { jsonrpc: "2.0", id, result })?))
}

async fn respond(
    request: Request<Incoming>,
    events: broadcast::Sender<Bytes>,
) -> Result<Response<Body>, Failure> {
    let mut response = Response::new(Either::Left(Full::default()));
    let mut kind = "application/json";
    if request.method() == Method::GET {
        let stream = futures_util::stream::unfold(events.subscribe(), async |mut events| {
            let event = events.recv().await.ok()?;
            Some((Ok(Frame::data(event)), events))
        });
        *response.body_mut() = Either::Right(StreamBody::new(stream).boxed());
        kind = "text/event-stream";
    } else if request.method() == Method::POST {
        let body = request.into_body().collect().await?.to_bytes();
        match answer(&body, &events)? {
            Some(text) => *response.body_mut() = Either::Left(Full::new(text.into())),
            None => *response.status_mut() = StatusCode::ACCEPTED,
        }
        let session = HeaderValue::from_static("00000000-0000-4000-8000-000000000000");
        response.headers_mut().insert(HeaderName::from_static("mcp-session-id"), session);
    }
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}

/// Answers lines. Lines that were read together are answered in one write.
fn pipes(events: &broadcast::Sender<Bytes>) -> Result<(), Failure> {
    let mut input = BufReader::with_capacity(64 << 10, std::io::stdin().lock());
    let mut output = std::io::stdout().lock();
    let (mut line, mut written) = (Vec::new(), Vec::new());
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Some(text) = answer(&line, events)? {
            written.extend_from_slice(&text);
            written.push(b'\n');
        }
        line.clear();
        if !input.buffer().contains(&b'\n') {
            output.write_all(&written)?;
            output.flush()?;
            written.clear();
        }
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let (events, _) = broadcast::channel(16);
    let address = std::env::args().nth(1).unwrap_or_default();
    if address == "--stdio" {
        return pipes(&events);
    }
    let listener = tokio::net::TcpListener::bind(&address).await?;
    eprintln!("listening on http://{}/", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let events = events.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| respond(request, events.clone()));
            // A connection that its client closes early ends with an error that carries no information.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
