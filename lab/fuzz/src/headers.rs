//! Streamable HTTP: any request gets a good answer, and a tool runs only for a request that every rule of the head lets
//! pass.
//!
//! The input looks like HTTP: a first line with the method and the target, lines of headers, an empty line, the body.
//! `$session` as the value of a header stands for a session that was just opened, `$batches` for one of 2025-03-26.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use mcp_proto::StreamableHttpService;
use mcp_proto::http::{EventReader, HttpConfig};
use mcp_proto::jsonrpc::{Message, MessageError, Request as Call, RequestId, Response};
use serde_json::{Value, json};

use super::pieces::{Stream, cut, line, run_within};
use super::server::{error, result, shared};
use super::tree::tree;

/// How long an answer is read: some go on for ever.
const PATIENCE: Duration = Duration::from_secs(40);

/// Longer than reading a body and an answer may take.
const LIMIT: Duration = Duration::from_secs(120);

/// The header that names the revision; the others like it.
const VERSION: &str = "mcp-protocol-version";

/// See the module.
///
/// # Panics
/// When a rule is broken.
pub fn run(data: &[u8]) {
    run_within(LIMIT, exchange(data));
}

async fn exchange(data: &[u8]) {
    let mut config = HttpConfig::default();
    config.max_body_bytes = 2048;
    let service = StreamableHttpService::with_config(shared(), config);
    let Some((request, body)) = read(data, &service).await else {
        return;
    };
    let head = request.clone();
    let stream = Stream::new(cut(body.len() as u8, body));
    let (answer, mut content) = service.handle(request.map(|()| stream)).await.into_parts();
    let mut bytes = Vec::new();
    let reading = async {
        while let Some(frame) = content.frame().await {
            let Ok(frame) = frame;
            bytes.extend_from_slice(&frame.into_data().expect("no trailers"));
        }
    };
    let ended = tokio::time::timeout(PATIENCE, reading).await.is_ok();
    let ids = ids(body);
    let check = |response: &Response| json(&head, body, &ids, answer.status, response);
    let kind = answer.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    match kind {
        None => {
            assert!(bytes.is_empty() && ended);
            assert!([202, 204].contains(&answer.status.as_u16()), "{answer:?}");
        }
        Some(b"application/json") => {
            assert!(ended);
            for message in messages(&bytes) {
                match message.expect("a message") {
                    Message::Response(response) => check(&response),
                    other => panic!("no response: {other:?}"),
                }
            }
        }
        Some(b"text/event-stream") => {
            assert_eq!(answer.status, StatusCode::OK);
            let responses = events(&bytes, ids.len() > 1);
            let most = answered(body);
            assert!(responses.len() <= most);
            assert!(ended || responses.len() < most || ids.is_empty());
            responses.iter().for_each(check);
        }
        Some(other) => panic!("{:?}", Bytes::copy_from_slice(other)),
    }
}

/// The message that a text is, or those of a batch.
fn messages(text: &[u8]) -> Vec<Result<Message, MessageError>> {
    match tree(text) {
        Some(Value::Array(members)) => members.into_iter().map(Message::from_value).collect(),
        _ => vec![Message::from_slice(text)],
    }
}

/// How many messages of a body may be answered. What is no message in a batch gets an error, also without an id.
fn answered(body: &[u8]) -> usize {
    let messages = messages(body).into_iter();
    messages.filter(|message| !matches!(message, Ok(Message::Notification(_)))).count()
}

/// The ids in a body that may be answered.
fn ids(body: &[u8]) -> Vec<RequestId> {
    let messages = messages(body).into_iter();
    messages
        .filter_map(|message| match message {
            Ok(Message::Request(call)) => Some(call.id),
            Ok(Message::Response(response)) => response.id,
            Ok(Message::Notification(_)) => None,
            Err(broken) => broken.id,
        })
        .collect()
}

/// The request of an input and its body.
async fn read<'d>(
    data: &'d [u8],
    service: &StreamableHttpService,
) -> Option<(Request<()>, &'d [u8])> {
    let (start, mut rest) = line(data);
    let mut start = start.split(|&byte| byte == b' ');
    let mut request = Request::new(());
    *request.method_mut() = Method::from_bytes(start.next()?).ok()?;
    *request.uri_mut() = Uri::try_from(start.next()?).ok()?;
    while !rest.is_empty() {
        let (header, behind) = line(rest);
        rest = behind;
        if header.is_empty() {
            break;
        }
        let colon = header.iter().position(|&byte| byte == b':')?;
        let (name, value) = (&header[..colon], header[colon + 1..].trim_ascii_start());
        let name = HeaderName::from_bytes(name).ok()?;
        let value = match value {
            b"$session" => open(service, "2025-11-25").await,
            b"$batches" => open(service, "2025-03-26").await,
            value => HeaderValue::from_bytes(value).ok()?,
        };
        request.headers_mut().append(name, value);
    }
    Some((request, rest))
}

/// The name of a new session.
async fn open(service: &StreamableHttpService, version: &str) -> HeaderValue {
    let params = json!({
        "protocolVersion": version,
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "fuzz", "version": "0" },
    });
    let message = Message::Request(Call::new(1, "initialize", params));
    let body = serde_json::to_vec(&message).unwrap();
    let request = Request::post("/mcp")
        .header(HOST, "localhost")
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)));
    let response = service.handle(request.unwrap()).await;
    let session = response.headers().get("mcp-session-id");
    session.expect("a session").clone()
}

/// The answers in an event stream, which end it, but for those to a batch.
fn events(bytes: &[u8], is_batch: bool) -> Vec<Response> {
    let events = EventReader::new(1 << 20).push(bytes).expect("small events");
    let mut responses = Vec::new();
    // An event without data is one to come back after.
    for event in events.iter().filter(|event| !event.data.is_empty()) {
        for message in messages(event.data.as_bytes()) {
            match message.expect("every event is a message") {
                Message::Response(response) => responses.push(response),
                other => assert!(is_batch || responses.is_empty(), "{other:?} behind an answer"),
            }
        }
    }
    responses
}

/// What every answer keeps to.
fn json(
    head: &Request<()>,
    body: &[u8],
    ids: &[RequestId],
    status: StatusCode,
    response: &Response,
) {
    let id = response.id.as_ref();
    assert!(id.is_none_or(|id| ids.contains(id)), "{response:?}");
    if let Some(error) = error(response) {
        let known = [200, 400, 403, 404, 405, 406, 409, 413, 415];
        assert!(known.contains(&status.as_u16()), "{status} {error:?}");
    }
    let Some(result) = result(response) else {
        return;
    };
    assert_eq!(status, StatusCode::OK);
    assert!(response.id.is_some());
    // A session may come into being or be used; nothing else is done for a request with a bad head.
    passes(head);
    let call = messages(body).into_iter().find_map(|message| match message {
        Ok(Message::Request(call)) if Some(&call.id) == id => Some(call),
        _ => None,
    });
    let call = call.unwrap_or_else(|| panic!("{result} for what is not a request"));
    let meta = call.params.get("_meta");
    if let Some(version) = meta.and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"))
    {
        assert_eq!(version, "2026-07-28");
        assert_eq!(copies(head.headers(), VERSION), "2026-07-28");
        assert_eq!(only(head.headers(), "mcp-method"), call.method);
        let name = match call.method.as_str() {
            "tools/call" | "prompts/get" => call.params["name"].as_str(),
            "resources/read" => call.params["uri"].as_str(),
            _ => return,
        };
        let given = only(head.headers(), "mcp-name");
        assert!(name == Some(given) || given.starts_with("=?base64?"));
    } else if call.method != "initialize" {
        copies(head.headers(), "mcp-session-id");
    }
}

/// The rules of the head, from whom a request may come and what it may carry.
fn passes(head: &Request<()>) {
    assert_eq!(head.method(), Method::POST);
    let host = match head.uri().authority() {
        Some(authority) => Some(authority.as_str()),
        // A request that came over no connection needs none.
        None => head.headers().contains_key(HOST).then(|| only(head.headers(), HOST.as_str())),
    };
    assert!(host.is_none_or(is_loopback), "{host:?}");
    for origin in head.headers().get_all(ORIGIN) {
        let origin = origin.to_str().expect("a good origin");
        let (scheme, host) = origin.split_once("://").expect("a good origin");
        assert!(["http", "https"].contains(&scheme) && is_loopback(host));
    }
    let kind = head.headers().get(CONTENT_TYPE).expect("a content type");
    let kind = String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase();
    for kind in kind.split(',') {
        assert_eq!(kind.split(';').next().unwrap_or_default().trim(), "application/json");
    }
}

/// The text of a header of which there may be copies, in one line or in several.
fn copies<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    let values = headers.get_all(name).iter().map(HeaderValue::as_bytes);
    let mut values =
        values.flat_map(|value| value.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii);
    let value = values.next().unwrap_or_else(|| panic!("no {name}"));
    assert!(values.all(|copy| copy == value), "{name} twice");
    std::str::from_utf8(value).expect("UTF-8")
}

/// The text of a header that must be there once.
fn only<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    let mut values = headers.get_all(name).iter();
    let value = values.next().unwrap_or_else(|| panic!("no {name}"));
    assert!(values.next().is_none(), "{name} twice");
    let value = value.as_bytes().trim_ascii();
    std::str::from_utf8(value).expect("UTF-8")
}

fn is_loopback(host: &str) -> bool {
    let port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, digits)) if port(digits) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}
