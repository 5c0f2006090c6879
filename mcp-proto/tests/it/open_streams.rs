//! Responses that go on for long: their bytes on the socket, their end, and clients that leave.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Incoming;
use hyper::service::service_fn;
use mcp_proto::http::{Handshake, ServeConfig, Socket, listen, serve_with};
use proptest::prelude::*;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::common::PATIENCE;

type Part = Result<Bytes, std::io::Error>;

/// A connection to a server that answers its first request with this body, and further ones with a short text.
struct Opened {
    connection: TcpStream,
    body: UnboundedSender<Part>,
    /// Shuts the server down when it is dropped.
    shutdown: oneshot::Sender<()>,
}

/// Long enough for a machine under load to notice, and short enough to wait for.
const BRIEF: Duration = Duration::from_millis(200);

async fn opened(request: &str) -> Opened {
    opened_by(request, Short { most: None }, ServeConfig::default()).await
}

/// An event stream where the request asks for one.
fn media(request: &Request<Incoming>) -> HeaderValue {
    let accept = request.headers().get(ACCEPT);
    accept.cloned().unwrap_or(HeaderValue::from_static("text/plain"))
}

/// Connections that take few bytes at a time, and often make their writer wait.
#[derive(Debug, Clone, Copy)]
struct Short {
    most: Option<usize>,
}

struct ShortStream {
    socket: Socket,
    most: Option<usize>,
    waits: bool,
}

impl Handshake for Short {
    type Stream = ShortStream;

    async fn shake(&self, socket: Socket) -> std::io::Result<ShortStream> {
        Ok(ShortStream { socket, most: self.most, waits: false })
    }
}

impl AsyncRead for ShortStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}

impl AsyncWrite for ShortStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let Some(most) = self.most else {
            return Pin::new(&mut self.socket).poll_write(context, bytes);
        };
        self.waits = !self.waits;
        if self.waits {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let bytes = &bytes[..bytes.len().min(most)];
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

async fn opened_by(request: &str, handshake: Short, config: ServeConfig) -> Opened {
    let (body, parts) = unbounded_channel();
    let parts = Arc::new(Mutex::new(Some(parts)));
    let service = service_fn(move |request: Request<Incoming>| {
        let parts = parts.lock().unwrap().take();
        async move {
            let mut answer = answer(parts);
            answer.headers_mut().insert(CONTENT_TYPE, media(&request));
            Ok::<_, Infallible>(answer)
        }
    });
    let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let (shutdown, end) = oneshot::channel::<()>();
    let end = async { drop(end.await) };
    tokio::spawn(serve_with(listener, handshake, service, config, end));
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    Opened { connection, body, shutdown }
}

fn answer(
    parts: Option<UnboundedReceiver<Part>>,
) -> Response<UnsyncBoxBody<Bytes, std::io::Error>> {
    let Some(parts) = parts else {
        let short = Full::from("the next answer").map_err(|never| match never {});
        return Response::new(short.boxed_unsync());
    };
    let parts = futures_util::stream::unfold(parts, |mut parts| async move {
        let part = parts.recv().await?;
        Some((part.map(Frame::data), parts))
    });
    Response::new(StreamBody::new(parts.boxed()).boxed_unsync())
}

impl Opened {
    /// The head and the rest, until the server closes.
    async fn all(&mut self) -> (String, Vec<u8>) {
        let mut all = Vec::new();
        timeout(PATIENCE, self.connection.read_to_end(&mut all))
            .await
            .expect("the connection stays open")
            .unwrap();
        split(&all)
    }

    /// Ends the body.
    fn end(&mut self) {
        let (body, _) = unbounded_channel();
        drop(std::mem::replace(&mut self.body, body));
    }

    /// Waits until the server has dropped the body.
    async fn dropped(&self) {
        timeout(PATIENCE, self.body.closed()).await.expect("the body is kept");
    }

    /// Reads until these bytes have come.
    async fn until(&mut self, wanted: &str) -> String {
        let mut read = Vec::new();
        while !read.ends_with(wanted.as_bytes()) {
            let byte = timeout(PATIENCE, self.connection.read_u8()).await;
            read.push(byte.expect("it stays away").unwrap());
        }
        String::from_utf8(read).unwrap()
    }
}

fn split(all: &[u8]) -> (String, Vec<u8>) {
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let head = String::from_utf8(all[..end].to_vec()).unwrap();
    (head.to_ascii_lowercase(), all[end..].to_vec())
}

/// The data of chunks up to the last one, which must be there.
fn joined(mut chunks: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    loop {
        let line = chunks.windows(2).position(|two| two == b"\r\n").unwrap();
        let size = std::str::from_utf8(&chunks[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        let rest = &chunks[line + 2..];
        data.extend_from_slice(&rest[..size]);
        assert_eq!(&rest[size..size + 2], b"\r\n");
        chunks = &rest[size + 2..];
        if size == 0 {
            assert_eq!(chunks, b"", "nothing comes after the last chunk");
            return data;
        }
    }
}

const GET: &str = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
const LAST_GET: &str = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

/// Frames of these sizes, which together are bytes that differ.
fn frames(sizes: &[usize]) -> Vec<Bytes> {
    let mut n = 0_usize;
    let frame = |size: &usize| {
        let bytes = (n..n + size).map(|n| (n % 251) as u8).collect();
        n += size;
        bytes
    };
    sizes.iter().map(frame).collect()
}

async fn arrive(sizes: &[usize], together: bool, most: Option<usize>) {
    let mut opened = opened_by(LAST_GET, Short { most }, ServeConfig::default()).await;
    let frames = frames(sizes);
    for frame in &frames {
        opened.body.send(Ok(frame.clone())).unwrap();
        if !together {
            tokio::task::yield_now().await;
        }
    }
    opened.end();
    let (head, rest) = opened.all().await;
    assert!(head.starts_with("http/1.1 200 ok\r\n"), "{head}");
    assert!(head.contains("\r\nconnection: close\r\n"), "{head}");
    assert!(head.contains("\r\ntransfer-encoding: chunked\r\n"), "{head}");
    assert_eq!(joined(&rest), frames.concat());
}

#[tokio::test]
async fn what_a_body_yields_arrives_in_order_and_ends() {
    for together in [true, false] {
        arrive(&[], together, None).await;
        arrive(&[0], together, None).await;
        // Many that are there at once, and ones that are written from where they are.
        arrive(&[100; 1_000], together, None).await;
        arrive(&[1, 2_048, 2_049, 0, 3_000_000, 7, 100_000, 100_000], together, None).await;
    }
}

proptest! {
    #[test]
    fn frames_of_any_sizes_arrive(
        sizes in prop::collection::vec(prop_oneof![0..40_usize, 2_000..2_100_usize, 0..50_000_usize], 0..40),
        together: bool,
        most in prop::option::of(1..9_000_usize),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(arrive(&sizes, together, most));
    }
}

#[tokio::test]
async fn frames_arrive_over_a_connection_that_takes_few_bytes_at_a_time() {
    // A write may end anywhere, also between data and the end of its chunk.
    for most in [1, 7, 3_000] {
        arrive(&[3_000, 10, 3_000, 3_000, 0, 2_048, 5_000], true, Some(most)).await;
    }
}

#[tokio::test]
async fn a_head_is_written_before_there_is_data() {
    let mut opened = opened(GET).await;
    opened.until("\r\n\r\n").await;
    for text in ["a", "b"] {
        opened.body.send(Ok(Bytes::from(text))).unwrap();
        assert_eq!(opened.until("\r\n").await, "1\r\n");
        assert_eq!(opened.until("\r\n").await, format!("{text}\r\n"));
    }
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_body() {
    let mut opened = opened(GET).await;
    opened.until("\r\n\r\n").await;
    let Opened { connection, body, shutdown: _running } = opened;
    drop(connection);
    timeout(PATIENCE, body.closed()).await.expect("the body is kept");
}

#[tokio::test]
async fn a_client_that_stops_to_send_has_left() {
    let mut opened = opened(GET).await;
    opened.until("\r\n\r\n").await;
    opened.connection.shutdown().await.unwrap();
    opened.dropped().await;
}

#[tokio::test]
async fn a_client_that_leaves_after_late_bytes_ends_the_body() {
    for (with_request, late) in [("", "\n"), ("", GET), ("\n", ""), (GET, "\n")] {
        let mut opened = opened(&format!("{GET}{with_request}")).await;
        opened.until("\r\n\r\n").await;
        for byte in late.bytes() {
            opened.connection.write_all(&[byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
        opened.body.send(Ok(Bytes::from("event"))).unwrap();
        opened.until("event\r\n").await;
        let Opened { connection, body, shutdown: _running } = opened;
        assert!(!body.is_closed());
        drop(connection);
        timeout(PATIENCE, body.closed()).await.expect("the body is kept");
    }
}

#[tokio::test]
async fn requests_behind_it_are_answered_after_it() {
    // More than is read ahead, and more than hyper reads.
    for requests in [1, 30, 1_000] {
        let mut opened = opened(GET).await;
        opened.until("\r\n\r\n").await;
        let mut late = GET.repeat(requests - 1);
        late.push_str(LAST_GET);
        opened.connection.write_all(late.as_bytes()).await.unwrap();
        opened.body.send(Ok(Bytes::from("still here"))).unwrap();
        opened.until("still here\r\n").await;
        opened.end();
        opened.until("0\r\n\r\n").await;
        let mut rest = String::new();
        let read = opened.connection.read_to_string(&mut rest);
        timeout(PATIENCE, read).await.expect("the connection stays open").unwrap();
        assert_eq!(rest.matches("the next answer").count(), requests);
    }
}

#[tokio::test]
async fn an_event_stream_ends_behind_which_more_comes_than_is_read_ahead() {
    let events = "GET / HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n";
    for (late, ends) in [(GET.repeat(30), false), (GET.repeat(2_000), true)] {
        let mut opened = opened(events).await;
        opened.until("\r\n\r\n").await;
        // It may be closed before all of it is written.
        let _closed = opened.connection.write_all(late.as_bytes()).await;
        if ends {
            opened.dropped().await;
        } else {
            opened.body.send(Ok(Bytes::from("event"))).unwrap();
            opened.until("event\r\n").await;
        }
    }
}

/// The answer waits in the buffers of the system, so that no write waits for it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_client_whose_machine_takes_nothing_is_closed_although_no_write_waits() {
    let (body, parts) = unbounded_channel();
    let parts = Arc::new(Mutex::new(Some(parts)));
    let service = service_fn(move |_: Request<Incoming>| {
        let parts = parts.lock().unwrap().take();
        async move { Ok::<_, Infallible>(answer(parts)) }
    });
    let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let mut config = ServeConfig::default();
    config.write_timeout = BRIEF;
    let end = std::future::pending();
    tokio::spawn(serve_with(listener, Short { most: None }, service, config, end));
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(1).unwrap();
    let mut connection = socket.connect(address).await.unwrap();
    connection.write_all(GET.as_bytes()).await.unwrap();
    let part = Bytes::from(vec![b'x'; 8 * 1024]);
    body.send(Ok(part)).unwrap();
    timeout(PATIENCE, body.closed()).await.expect("the body is kept");
    drop(connection);
}

#[tokio::test]
async fn a_client_that_does_not_read_its_stream_is_closed() {
    let mut config = ServeConfig::default();
    config.write_timeout = BRIEF;
    let mut opened = opened_by(GET, Short { most: None }, config).await;
    opened.until("\r\n\r\n").await;
    // An idle stream waits for longer.
    tokio::time::sleep(2 * BRIEF).await;
    assert!(!opened.body.is_closed());
    // More than both ends of a socket take.
    opened.body.send(Ok(Bytes::from(vec![b'x'; 32 << 20]))).unwrap();
    opened.dropped().await;
}

#[tokio::test]
async fn a_shutdown_waits_for_a_stream_until_the_deadline() {
    let mut config = ServeConfig::default();
    config.shutdown_deadline = BRIEF;
    let mut opened = opened_by(GET, Short { most: None }, config).await;
    opened.until("\r\n\r\n").await;
    let Opened { connection: _open, body, shutdown } = opened;
    drop(shutdown);
    timeout(PATIENCE, body.closed()).await.expect("the body is kept");
}

#[tokio::test]
async fn a_stream_that_ends_at_the_shutdown_is_whole() {
    let mut config = ServeConfig::default();
    config.shutdown_deadline = 2 * PATIENCE;
    let mut opened = opened_by(GET, Short { most: None }, config).await;
    opened.until("\r\n\r\n").await;
    let Opened { mut connection, body, shutdown } = opened;
    drop(shutdown);
    body.send(Ok(Bytes::from("the last"))).unwrap();
    drop(body);
    let mut rest = Vec::new();
    let read = timeout(PATIENCE, connection.read_to_end(&mut rest)).await;
    read.expect("the connection stays open").unwrap();
    assert_eq!(joined(&rest), b"the last");
}

#[tokio::test]
async fn a_body_that_fails_is_cut() {
    let mut opened = opened(GET).await;
    opened.body.send(Ok(Bytes::from("some"))).unwrap();
    opened.until("some\r\n").await;
    opened.body.send(Err(std::io::Error::other("no more"))).unwrap();
    let mut rest = Vec::new();
    let read = timeout(PATIENCE, opened.connection.read_to_end(&mut rest)).await;
    read.expect("the connection stays open").unwrap();
    assert_eq!(rest, b"", "no last chunk");
}

#[tokio::test]
async fn an_old_client_gets_no_chunks() {
    let mut opened = opened("GET / HTTP/1.0\r\nhost: localhost\r\n\r\n").await;
    opened.body.send(Ok(Bytes::from("old"))).unwrap();
    opened.end();
    let (head, rest) = opened.all().await;
    assert!(!head.contains("transfer-encoding"), "{head}");
    assert_eq!(rest, b"old");
}

#[tokio::test]
async fn an_answer_to_head_has_no_body() {
    let mut opened =
        opened("HEAD / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await;
    let (_, rest) = opened.all().await;
    assert_eq!(rest, b"");
    opened.dropped().await;
}
