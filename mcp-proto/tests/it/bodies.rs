//! Bodies: their size, however it is announced, their nesting, and members that are given twice.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::Request;
use http_body::Frame;
use http_body_util::StreamBody;
use mcp_proto::StreamableHttpService;
use mcp_proto::http::HttpConfig;
use serde_json::json;

use crate::common::{Raw, request, say, server, service, with_meta};

const MAX: usize = 2_000;

fn small() -> StreamableHttpService {
    let mut config = HttpConfig::default();
    config.max_body_bytes = MAX;
    StreamableHttpService::with_config(server(), config)
}

/// A good call whose body has exactly this many bytes.
fn sized(bytes: usize) -> Raw {
    let raw = Raw::modern("tools/call", say(""));
    let missing = bytes - raw.body.len();
    Raw::modern("tools/call", say(&"x".repeat(missing)))
}

/// The same request with a body in chunks, of which nobody knows the length.
fn chunked(
    raw: &Raw,
    size: usize,
) -> Request<impl http_body::Body<Data = Bytes, Error = Infallible>> {
    let (head, _) = raw.clone().request().into_parts();
    let chunks: Vec<_> = raw.body.chunks(size).map(Bytes::copy_from_slice).collect();
    let frames = stream::iter(chunks).map(|chunk| Ok(Frame::data(chunk)));
    Request::from_parts(head, StreamBody::new(frames))
}

#[tokio::test]
async fn a_body_may_be_as_large_as_the_limit_and_no_larger() {
    let service = small();
    for (bytes, status) in [(MAX - 1, 200), (MAX, 200), (MAX + 1, 413), (10 * MAX, 413)] {
        let raw = sized(bytes);
        assert_eq!(raw.body.len(), bytes);
        for size in [1, 7, MAX, 100 * MAX] {
            let reply = service.handle(chunked(&raw, size)).await;
            assert_eq!(reply.status().as_u16(), status, "{bytes} in chunks of {size}");
        }
        assert_eq!(raw.send(&service).await.status.as_u16(), status, "{bytes}");
    }
}

/// A body that ends after so many chunks, or never, and how many of them were read.
fn counted(chunk: &'static [u8], chunks: usize, ends: bool) -> (TestBody, Arc<AtomicUsize>) {
    let read = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&read);
    let frames = stream::iter(0..chunks).map(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        Ok(Frame::data(Bytes::from_static(chunk)))
    });
    let frames = if ends { frames.boxed() } else { frames.chain(stream::pending()).boxed() };
    (StreamBody::new(frames), read)
}

type TestBody =
    StreamBody<futures_util::stream::BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

#[tokio::test(start_paused = true)]
async fn the_rest_of_a_refused_body_is_read_in_bounds_before_the_answer() {
    let foreign = |raw: Raw| raw.set("origin", "https://evil.example");
    let announced = |raw: Raw, length: usize| raw.set("content-length", &length.to_string());
    for (raw, chunks, ends, status, read, waits) in [
        // Too large, announced or not, and refused for their heads.
        (announced(sized(500), 5_000), 50, true, 413, 50, 0),
        (sized(500), 50, true, 413, 50, 0),
        (foreign(sized(500)), 50, true, 403, 50, 0),
        (sized(500).set("accept", "x/y"), 50, true, 406, 50, 0),
        (sized(500).set("content-type", "x/y"), 50, true, 415, 50, 0),
        // Of a client that writes no more, a second.
        (foreign(sized(500)), 10, false, 403, 10, 1),
        (announced(sized(500), 2_001), 0, false, 413, 0, 1),
        // A client that asks first has sent nothing.
        (announced(sized(500), 5_000).set("expect", "100-continue"), 50, true, 413, 0, 0),
    ] {
        let (head, _) = raw.request().into_parts();
        let (body, counter) = counted(&[b' '; 100], chunks, ends);
        let started = tokio::time::Instant::now();
        let reply = small().handle(Request::from_parts(head, body)).await;
        assert_eq!(reply.status(), status);
        assert_eq!(counter.load(Ordering::SeqCst), read, "{status}");
        assert_eq!(started.elapsed(), Duration::from_secs(waits), "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_body_is_read_no_longer_than_a_body_may_take() {
    let frames = stream::repeat(()).then(|()| async {
        tokio::time::sleep(Duration::from_millis(900)).await;
        Ok::<_, Infallible>(Frame::data(Bytes::from_static(b" ")))
    });
    let raw = sized(500).set("origin", "https://evil.example");
    let (head, _) = raw.request().into_parts();
    let started = tokio::time::Instant::now();
    let request = Request::from_parts(head, StreamBody::new(frames));
    let reply = small().handle(request).await;
    assert_eq!(reply.status(), 403);
    assert_eq!(started.elapsed(), Duration::from_secs(30));
}

/// 256 MiB are read however small the largest body is, a mebibyte at a time here. Not more, and nothing of a body that
/// announces more.
#[tokio::test(start_paused = true)]
async fn of_a_refused_body_256_mebibytes_are_read_and_no_more() {
    static MEBIBYTE: [u8; 1 << 20] = [b' '; 1 << 20];
    let foreign = || sized(500).set("origin", "https://evil.example");
    let announced = |raw: Raw, length: usize| raw.set("content-length", &length.to_string());
    for (raw, status, chunks, read) in [
        (foreign(), 403, 256, 256),
        (foreign(), 403, 1_000, 257),
        // The first one told that it is too large.
        (sized(500), 413, 1_000, 1 + 257),
        (announced(foreign(), 256 << 20), 403, 256, 256),
        (announced(foreign(), (256 << 20) + 1), 403, 1_000, 0),
        (announced(sized(500), (256 << 20) + 1), 413, 1_000, 0),
    ] {
        let (head, _) = raw.request().into_parts();
        let (body, counter) = counted(&MEBIBYTE, chunks, true);
        let reply = small().handle(Request::from_parts(head, body)).await;
        assert_eq!(reply.status(), status);
        assert_eq!(counter.load(Ordering::SeqCst), read, "{status}");
    }
}

#[tokio::test]
async fn a_client_that_writes_its_whole_body_first_hears_why_it_is_refused() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut config = HttpConfig::default();
    config.max_body_bytes = 1 << 20;
    let served = crate::common::Served::with(server(), config, Default::default()).await;
    let mut stream = tokio::net::TcpStream::connect(served.address).await.unwrap();
    let length = 3 << 20;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b' '; length]).await.unwrap();
    let mut told = String::new();
    stream.read_to_string(&mut told).await.unwrap();
    assert!(told.starts_with("HTTP/1.1 413 "), "{told}");
}

#[tokio::test]
async fn an_announced_length_is_not_trusted() {
    let raw = sized(10 * MAX).set("content-length", "10");
    assert_eq!(small().handle(chunked(&raw, 100)).await.status(), 413);
}

#[tokio::test]
async fn the_default_limit_is_4_mib() {
    let service = service();
    assert_eq!(sized(4 << 20).send(&service).await.status, 200);
    let reply = sized((4 << 20) + 1).send(&service).await;
    assert_eq!(reply.refusal(), (413, -32600, None));
    assert_eq!(reply.message(), "the body is larger than 4194304 bytes");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_is_given_up() {
    let (head, _) = Raw::modern("tools/list", json!({})).request().into_parts();
    let started = tokio::time::Instant::now();
    // A byte from time to time does not buy more time.
    let drip = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_secs(7)).await;
        Some((Ok::<_, Infallible>(Frame::data(Bytes::from_static(b" "))), ()))
    });
    let request = Request::from_parts(head, StreamBody::new(Box::pin(drip)));
    let reply = service().handle(request).await;
    assert_eq!(reply.status(), 408);
    assert_eq!(started.elapsed(), Duration::from_secs(30));
}

#[tokio::test]
async fn a_body_that_breaks_off_is_refused() {
    let (head, _) = Raw::modern("tools/list", json!({})).request().into_parts();
    let broken = stream::iter([Ok(Frame::data(Bytes::from_static(b"{"))), Err("gone")]);
    let reply = service().handle(Request::from_parts(head, StreamBody::new(broken))).await;
    assert_eq!(reply.status(), 400);
}

#[tokio::test]
async fn nesting_has_a_limit() {
    // The message, params, arguments and the array itself.
    let service = service();
    let nested = |levels: usize| {
        let array = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let mut params = with_meta(say("x"));
        params["deep"] = "DEEP".into();
        let body = request(7, "tools/call", &params).to_string().replace("\"DEEP\"", &array);
        Raw { body: body.into(), ..Raw::modern("tools/call", say("x")) }
    };
    // Two levels are the message's own.
    assert_eq!(mcp_proto::json::MAX_DEPTH, 127);
    assert_eq!(nested(125).send(&service).await.status, 200);
    assert_eq!(nested(126).send(&service).await.refusal(), (400, -32700, None));
    assert_eq!(nested(100_000).send(&service).await.refusal(), (400, -32700, None));
}

#[tokio::test]
async fn a_member_given_twice_is_refused_at_any_depth() {
    let service = service();
    let good = request(7, "tools/call", &with_meta(say("x"))).to_string();
    for (once, twice) in [
        (r#""id":7"#, r#""id":7,"method":"ping""#),
        (r#""text":"x""#, r#""text":"x","text":"y""#),
        (r#""text":"x""#, r#""text":"x","te\u0078t":"y""#),
        (r#""text":"x""#, r#""text":"x","a":[{"b":{"c":1,"c":1}}]"#),
    ] {
        assert!(good.contains(once));
        let body = good.replace(once, twice);
        let raw = Raw { body: body.into(), ..Raw::modern("tools/call", say("x")) };
        let reply = raw.send(&service).await;
        assert_eq!(reply.refusal(), (400, -32600, Some(7.into())), "{twice}");
        assert!(reply.message().contains("given twice"), "{}", reply.message());
    }
}

#[tokio::test]
async fn text_that_is_no_utf8_is_refused_wherever_it_is() {
    let service = service();
    let good = Raw::modern("tools/call", say("MARK"));
    let at = good.body.windows(4).position(|window| window == b"MARK").unwrap();
    for bad in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf"] {
        let mut body = good.body.to_vec();
        body.splice(at..at + 4, bad.iter().copied());
        let reply = Raw { body: body.into(), ..good.clone() }.send(&service).await;
        assert_eq!(reply.refusal(), (400, -32700, None));
        assert!(reply.message().contains("UTF-8"), "{}", reply.message());
    }
    // As an escape, a lone surrogate is U+FFFD.
    let body = String::from_utf8(good.body.to_vec()).unwrap().replace("MARK", r"\ud800");
    let reply = Raw { body: body.into(), ..good }.send(&service).await;
    assert_eq!(reply.result()["structuredContent"]["text"], "\u{fffd}");
}
