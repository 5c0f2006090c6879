//! Bodies: types, sizes, broken ones; and ids in paths.

use std::sync::Arc;

use serde_json::{Value, json};
use universe_core::State;
use universe_server::commands::{CommandService, ServiceLimits};
use universe_server::rest::RestConfig;
use universe_server::store::UniverseId;

use crate::harness::local::memory;
use crate::harness::{Local, tick};

const TEN_MIB: usize = 10 * 1024 * 1024;

/// A creation whose body has exactly this many bytes.
fn sized(bytes: usize) -> String {
    let (before, after) = (r#"{"name":"u","state":{},"filler":""#, r#""}"#);
    let filler = "x".repeat(bytes - before.len() - after.len());
    format!("{before}{filler}{after}")
}

fn post(path: &str, headers: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n\r\n{body}")
}

#[tokio::test]
async fn the_limit_is_ten_mebibytes_to_the_byte() {
    let server = Local::start().await;
    for (bytes, status) in [(TEN_MIB, 201), (TEN_MIB + 1, 413)] {
        let head = format!("content-type: application/json\r\ncontent-length: {bytes}");
        let answer = server.client.raw(post("/universes", &head, &sized(bytes)).as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{}", &answer[..200]);
    }
}

#[tokio::test]
async fn a_body_that_announces_too_much_is_refused_unread() {
    let server = Local::start().await;
    let head = format!("content-type: application/json\r\ncontent-length: {}", TEN_MIB + 1);
    // Not a byte of the body is sent: an answer can only come from the announcement.
    let answer = server.client.raw(post("/universes", &head, "").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("the body is larger than 10485760 bytes"), "{answer}");
}

#[tokio::test]
async fn a_chunked_body_is_counted_while_it_comes() {
    let rest = RestConfig { max_body_bytes: 1_000, ..RestConfig::default() };
    let service = CommandService::new(memory(), ServiceLimits::default());
    let server = Local::with_service(service, rest).await;
    for (bytes, status) in [(1_000, 201), (1_001, 413)] {
        let body = sized(bytes);
        let chunks: String = body
            .as_bytes()
            .chunks(100)
            .map(|chunk| format!("{:x}\r\n{}\r\n", chunk.len(), str::from_utf8(chunk).unwrap()))
            .collect();
        let head = "content-type: application/json\r\ntransfer-encoding: chunked";
        let answer = server
            .client
            .raw(post("/universes", head, &format!("{chunks}0\r\n\r\n")).as_bytes())
            .await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_given_up() {
    let service = CommandService::new(memory(), ServiceLimits::default());
    let app = crate::harness::local::app(service, RestConfig::default());
    let never = http_body_util::StreamBody::new(futures_util::stream::pending::<
        Result<http_body::Frame<bytes::Bytes>, std::io::Error>,
    >());
    let request = http::Request::post("/universes")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(never)
        .unwrap();
    let start = tokio::time::Instant::now();
    assert_eq!(app.handle(request).await.status(), 408);
    assert_eq!(start.elapsed().as_secs(), 30);
}

#[tokio::test]
async fn only_json_is_taken() {
    let server = Local::start().await;
    let client = server.client;
    let body = json!({"name": "u", "state": {}});
    for media in ["text/plain", "application/jsonx", "application/x-www-form-urlencoded", ""] {
        let reply = client.call("POST", "/universes", &[("content-type", media)], &body).await;
        assert_eq!(reply.status, 415, "{media}");
        assert_eq!(reply.error(), "the Content-Type must be application/json");
    }
    for media in ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"] {
        let reply = client.call("POST", "/universes", &[("content-type", media)], &body).await;
        assert_eq!(reply.status, 201, "{media}");
    }
}

#[tokio::test]
async fn a_compressed_body_is_refused_as_such() {
    let server = Local::start().await;
    let body = json!({"name": "u", "state": {}});
    for (encoding, status) in [("gzip", 415), ("br", 415), ("identity", 201)] {
        let headers = [("content-encoding", encoding)];
        let reply = server.client.call("POST", "/universes", &headers, &body).await;
        assert_eq!(reply.status, status, "{encoding}");
    }
}

#[tokio::test]
async fn what_is_not_json_is_400_with_its_place() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let deep = format!(r#"{{"type":"tick","x":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let latin1 = b"{\"type\":\"tick\",\"x\":\"\xe9\"}";
    let bodies: [&[u8]; 6] = [b"", b"{", b"{\"type\":\"tick\"}}", b"NaN", latin1, deep.as_bytes()];
    for body in bodies {
        let head = format!("content-type: application/json\r\ncontent-length: {}", body.len());
        let mut request = post(&format!("/universes/{id}/commands"), &head, "").into_bytes();
        request.extend_from_slice(body);
        let answer = client.raw(&request).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        let place = if body == latin1 {
            ["the body is not UTF-8", "at offset 20"]
        } else {
            ["the body is not JSON", "line 1"]
        };
        assert!(place.iter().all(|part| answer.contains(part)), "{answer}");
    }
    assert_eq!(client.universe(&id).await["revision"], 0);
}

#[tokio::test]
async fn ids_may_be_any_text_in_its_percent_encoding() {
    let store = memory();
    let service = CommandService::new(Arc::clone(&store) as Arc<_>, ServiceLimits::default());
    for id in ["with space", "a/b", "太陽", "\"q\"", "18e1", "50%", "..", "constructor"] {
        let state = State::from_partial(json!({})).unwrap();
        service.create(UniverseId::new(id).unwrap(), id.to_owned(), state).await.unwrap();
    }
    let server = Local::with_service(service, RestConfig::default()).await;
    let paths = [
        ("with%20space", "with space"),
        ("a%2Fb", "a/b"),
        ("a%2fb", "a/b"),
        ("%E5%A4%AA%E9%99%BD", "太陽"),
        ("%22q%22", "\"q\""),
        ("18e1", "18e1"),
        ("%31%38e1", "18e1"),
        ("50%25", "50%"),
        ("%2E%2E", ".."),
        ("constructor", "constructor"),
    ];
    for (path, id) in paths {
        let reply = server.client.get(&format!("/universes/{path}")).await;
        assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(id)), "{path}");
        server.client.command(path, &tick()).await;
    }
    let mut cursor = Some("/universes?limit=1".to_owned());
    let mut seen = 0;
    while let Some(path) = cursor {
        let reply = server.client.get(&path).await;
        assert_eq!(reply.status, 200, "{path}");
        seen += reply.json().as_array().unwrap().len();
        cursor = reply.header("link").split(['<', '>']).nth(1).map(str::to_owned);
    }
    assert_eq!(seen, 8, "every id makes a cursor");
}

#[tokio::test]
async fn what_can_be_no_id_is_not_found() {
    let server = Local::start().await;
    let long = "x".repeat(201);
    let rows = [
        ("%FF%FE", "universe not found: %FF%FE"),
        ("%00", "universe not found: \u{0}"),
        ("a%0Ab", "universe not found: a\nb"),
        ("", "universe not found: "),
        ("toString", "universe not found: toString"),
        (long.as_str(), &format!("universe not found: {}", &long[..200])),
    ];
    for (path, told) in rows {
        let path = format!("/universes/{path}/commands");
        let reply = server.client.post(&path, &tick()).await;
        assert_eq!((reply.status, reply.error().as_str()), (404, told), "{path}");
    }
    let empty = server.client.call("GET", "/universes//events", &[], &Value::Null).await;
    assert_eq!(empty.status, 404);
}

/// What a request takes is given to the next connection as a buffer. If the request has written all of it, each idle
/// stream keeps a page more.
#[test]
fn a_request_takes_less_than_half_a_buffer_of_a_connection() {
    let service = CommandService::new(memory(), ServiceLimits::default());
    let app = crate::harness::local::app(service, RestConfig::default());
    let request = http::Request::new(http_body_util::Empty::<bytes::Bytes>::new());
    let size = size_of_val(&app.handle(request));
    assert!(size < 4096, "{size}");
}
