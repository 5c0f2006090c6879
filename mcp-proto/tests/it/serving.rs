//! The accept loop: slow clients, too many headers, bounded connections, and shutting down with streams and calls open.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{self, SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcp_proto::budget::Bound;
use mcp_proto::http::{Handshake, HttpConfig, ServeConfig, Socket, listen, serve_with};
use mcp_proto::{CallToolResult, Era, StreamableHttpService, Tool};
use mcp_proto_client::{Client, ClientConfig};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::common::{PATIENCE, Raw, Served, builder, call, probe, server};

/// A bound that a server keeps in real time, far below the patience of the test.
const SHORT: Duration = Duration::from_millis(200);

/// Sends these bytes and reads until the server closes.
async fn until_closed(served: &Served, sent: &[u8]) -> String {
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(sent).await.unwrap();
    let mut told = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut told))
        .await
        .expect("the connection stays open")
        .unwrap();
    String::from_utf8_lossy(&told).into_owned()
}

async fn impatient() -> Served {
    let mut config = HttpConfig::default();
    config.body_timeout = SHORT;
    let mut serving = ServeConfig::default();
    serving.header_timeout = SHORT;
    Served::with(server(), config, serving).await
}

#[tokio::test]
async fn clients_that_never_finish_a_head_are_closed() {
    let served = impatient().await;
    for sent in [
        &b""[..],
        b"P",
        b"PRI * HTTP/2.0\r\n",
        b"POST /mcp HTTP/1.1\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nx-slow: ",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        until_closed(&served, sent).await;
    }
}

#[tokio::test]
async fn a_connection_that_idles_is_closed() {
    let served = impatient().await;
    let told = until_closed(&served, b"GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert!(told.starts_with("HTTP/1.1 400 "), "{told}");
}

#[tokio::test]
async fn a_client_that_never_finishes_a_body_gets_408() {
    let served = impatient().await;
    let sent = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    let told = until_closed(&served, sent).await;
    assert!(told.starts_with("HTTP/1.1 408 "), "{told}");
    assert!(told.contains("\"jsonrpc\":\"2.0\""), "{told}");
}

#[tokio::test]
async fn a_head_has_bounds() {
    let served = Served::new(server()).await;
    let headers: String = (0..200).map(|index| format!("x-{index}: 1\r\n")).collect();
    let told =
        until_closed(&served, format!("POST /mcp HTTP/1.1\r\n{headers}\r\n").as_bytes()).await;
    assert!(told.starts_with("HTTP/1.1 431 "), "{told}");
    // modelcontextprotocol/csharp-sdk#1799: a refusal without a body is shown as nothing.
    for length in [16 * 1024, 100 * 1024] {
        for before in ["", "GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n"] {
            let long = format!("POST /mcp HTTP/1.1\r\nx-long: {}", "x".repeat(length));
            let mut stream = TcpStream::connect(served.address).await.unwrap();
            stream.write_all(before.as_bytes()).await.unwrap();
            if !before.is_empty() {
                let mut answer = vec![0; 8 * 1024];
                timeout(PATIENCE, stream.read(&mut answer)).await.unwrap().unwrap();
            }
            stream.write_all(long.as_bytes()).await.unwrap();
            let mut told = String::new();
            timeout(PATIENCE, stream.read_to_string(&mut told)).await.unwrap().unwrap();
            assert!(told.starts_with("HTTP/1.1 431 "), "{told}");
            let (_, body) = told.split_once("\r\n\r\n").unwrap();
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            assert_eq!(body["error"]["code"], -32600);
        }
    }
    let told = until_closed(&served, b"\x16\x03\x01 this is TLS\r\n\r\n").await;
    assert!(told.starts_with("HTTP/1.1 400 "), "{told}");
}

#[tokio::test]
async fn an_idle_connection_gives_way_and_a_busy_one_does_not() {
    let mut serving = ServeConfig::default();
    serving.connections = mcp_proto::budget::Bound { total: 1, share: 1 };
    let served = Served::with(server(), HttpConfig::default(), serving).await;
    let mut idle = TcpStream::connect(served.address).await.unwrap();
    let url = served.url();
    let client = Client::http(&url, ClientConfig::new(Era::Modern)).await;
    let client = client.unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 5);
    let mut rest = Vec::new();
    let ended = timeout(PATIENCE, idle.read_to_end(&mut rest)).await;
    assert_eq!(ended.expect("it gives way").unwrap_or_default(), 0);
    // One with an open listen keeps its place: the next is closed.
    let mut told = client.notifications();
    let listening = client.clone();
    let listening = tokio::spawn(async move {
        let wanted = json!({"notifications": {"toolsListChanged": true}});
        listening.request("subscriptions/listen", wanted).await
    });
    assert_eq!(told.recv().await.unwrap().method, "notifications/subscriptions/acknowledged");
    let mut refused = TcpStream::connect(served.address).await.unwrap();
    let ended = timeout(PATIENCE, refused.read_to_end(&mut rest)).await;
    assert_eq!(ended.expect("it is closed").unwrap_or_default(), 0);
    listening.abort();
}

#[tokio::test]
async fn an_open_listener_does_not_hold_up_the_shutdown() {
    let mut serving = ServeConfig::default();
    serving.shutdown_deadline = PATIENCE * 2;
    let served = Served::with(server(), HttpConfig::default(), serving).await;
    let client = Client::http(&served.url(), ClientConfig::new(Era::Modern)).await.unwrap();
    let mut told = client.notifications();
    let listening = tokio::spawn(async move {
        client
            .request("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
            .await
    });
    assert_eq!(told.recv().await.unwrap().method, "notifications/subscriptions/acknowledged");
    // The deadline is longer than the patience of `ended`.
    served.ended().await;
    let result = listening.await.unwrap().unwrap();
    assert_eq!(result["resultType"], "complete");
}

#[tokio::test]
async fn an_idle_connection_does_not_hold_up_the_shutdown() {
    let served = Served::new(server()).await;
    let client = Client::http(&served.url(), ClientConfig::new(Era::Modern)).await.unwrap();
    client.list_tools().await.unwrap();
    let _silent = TcpStream::connect(served.address).await.unwrap();
    let start = Instant::now();
    served.ended().await;
    assert!(start.elapsed() < ServeConfig::default().shutdown_deadline);
}

#[tokio::test]
async fn a_running_call_is_waited_for() {
    let (probe, mut events) = probe();
    let mut serving = ServeConfig::default();
    serving.shutdown_deadline = PATIENCE * 2;
    let mut served =
        Served::with(builder(&probe).build().unwrap(), HttpConfig::default(), serving).await;
    let client = Client::http(&served.url(), ClientConfig::new(Era::Modern)).await.unwrap();
    let running = tokio::spawn(async move { client.request("tools/call", call("gate")).await });
    events.expect("started").await;
    served.stop();
    // Once it takes no connections it waits for nothing but the call.
    while TcpStream::connect(served.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    probe.gate.notify_one();
    assert_eq!(running.await.unwrap().unwrap()["content"][0]["text"], "through");
    served.ended().await;
}

#[tokio::test]
async fn a_call_that_does_not_end_is_dropped_at_the_deadline() {
    let (probe, mut events) = probe();
    let mut serving = ServeConfig::default();
    serving.shutdown_deadline = SHORT;
    let served =
        Served::with(builder(&probe).build().unwrap(), HttpConfig::default(), serving).await;
    let client = Client::http(&served.url(), ClientConfig::new(Era::Modern)).await.unwrap();
    let running = tokio::spawn(async move { client.request("tools/call", call("hang")).await });
    events.expect("started").await;
    let start = Instant::now();
    served.ended().await;
    assert!(start.elapsed() >= SHORT);
    events.expect("dropped").await;
    assert!(running.await.unwrap().is_err());
}

#[tokio::test]
async fn a_legacy_call_that_does_not_end_is_dropped_at_the_deadline_too() {
    let (probe, mut events) = probe();
    let mut serving = ServeConfig::default();
    serving.shutdown_deadline = SHORT;
    let mut config = HttpConfig::default();
    // It must not become a call that runs on without its client.
    config.legacy.max_detached_time_after_close = PATIENCE * 2;
    let served = Served::with(builder(&probe).build().unwrap(), config, serving).await;
    let client = Client::http(&served.url(), ClientConfig::new(Era::Legacy)).await.unwrap();
    let running = tokio::spawn(async move { client.request("tools/call", call("hang")).await });
    events.expect("started").await;
    served.ended().await;
    events.expect("dropped").await;
    assert!(running.await.unwrap().is_err());
}

/// A connection of HTTP/2 that answers pings by itself, and the task that ends with it.
async fn http2(served: &Served) -> (SendRequest<Full<Bytes>>, JoinHandle<hyper::Result<()>>) {
    let stream = TcpStream::connect(served.address).await.unwrap();
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    (sender, tokio::spawn(connection))
}

fn to(served: &Served, raw: Raw) -> http::Request<Full<Bytes>> {
    let mut request = raw.unset("host").request();
    *request.uri_mut() = served.url().parse().unwrap();
    request
}

#[tokio::test]
async fn an_http2_connection_on_which_nothing_runs_is_closed() {
    let served = impatient().await;
    let (mut sender, connection) = http2(&served).await;
    let request = to(&served, Raw::modern("tools/list", json!({})));
    assert_eq!(sender.send_request(request).await.unwrap().status(), 200);
    timeout(PATIENCE, connection).await.expect("it stays open").unwrap().unwrap();
    drop(sender);
}

#[tokio::test]
async fn an_http2_connection_on_which_a_call_runs_is_kept() {
    let (probe, mut events) = probe();
    let mut serving = ServeConfig::default();
    serving.header_timeout = SHORT;
    let server = builder(&probe).build().unwrap();
    let served = Served::with(server, HttpConfig::default(), serving).await;
    let (mut sender, connection) = http2(&served).await;
    let answer = sender.send_request(to(&served, Raw::modern("tools/call", call("gate"))));
    let answer = tokio::spawn(answer);
    events.expect("started").await;
    // Longer than an idle connection is kept.
    tokio::time::sleep(SHORT * 5).await;
    probe.gate.notify_one();
    assert_eq!(answer.await.unwrap().unwrap().status(), 200);
    timeout(PATIENCE, connection).await.expect("it stays open").unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_does_not_read_is_closed() {
    let big = mcp_proto::Server::builder("big", "1", ())
        .raw_tool(
            Tool::new("big", "").with_input_schema(json!({"type": "object"})),
            // More than both ends of a socket hold.
            async |(), _, _| Ok(CallToolResult::text("x".repeat(32 << 20))),
        )
        .build()
        .unwrap();
    let mut serving = ServeConfig::default();
    serving.connections = mcp_proto::budget::Bound { total: 1, share: 1 };
    serving.write_timeout = SHORT;
    let served = Served::with(big, HttpConfig::default(), serving).await;
    let raw = Raw::modern("tools/call", call("big"));
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    let mut head = "POST /mcp HTTP/1.1\r\n".to_owned();
    for (name, value) in &raw.headers {
        head.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", raw.body.len()));
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&raw.body).await.unwrap();
    // It has the one place until it is closed.
    let client = Client::http(&served.url(), ClientConfig::new(Era::Modern)).await;
    let tools = timeout(PATIENCE, client.unwrap().list_tools()).await;
    assert_eq!(tools.expect("it keeps its place").unwrap().len(), 1);
    drop(stream);
}

#[tokio::test]
async fn an_http2_stream_that_is_not_read_is_reset_by_itself() {
    let big = mcp_proto::Server::builder("big", "1", ())
        .raw_tool(
            Tool::new("big", "").with_input_schema(json!({"type": "object"})),
            async |(), _, _| Ok(CallToolResult::text("x".repeat(1 << 20))),
        )
        .build()
        .unwrap();
    let mut serving = ServeConfig::default();
    serving.write_timeout = SHORT;
    let mut config = HttpConfig::default();
    // One such answer is more than half of what its client may leave unread.
    config.budget.answer_bytes = Bound::of(3 << 20);
    let served = Served::with(big, config, serving).await;
    let stream = TcpStream::connect(served.address).await.unwrap();
    let (mut sender, connection) = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(1_024)
        .handshake(TokioIo::new(stream))
        .await
        .unwrap();
    let connection = tokio::spawn(connection);
    let large = || to(&served, Raw::modern("tools/call", call("big")));
    let unread = sender.send_request(large()).await.unwrap();
    assert_eq!(unread.status(), 200);
    // Another stream of the connection goes on, and finds no room for as long as the first is there.
    let mut refused = 0;
    let answered = timeout(PATIENCE, async {
        loop {
            let answer = sender.send_request(large()).await.unwrap();
            match answer.status().as_u16() {
                429 => refused += 1,
                status => break status,
            }
        }
    });
    assert_eq!(answered.await.expect("the stream is never reset"), 200);
    assert!(refused > 0);
    let list = to(&served, Raw::modern("tools/list", json!({})));
    assert_eq!(sender.send_request(list).await.unwrap().status(), 200);
    let rest = timeout(PATIENCE, unread.into_body().collect()).await;
    assert!(rest.expect("it never ends").is_err(), "it was reset");
    connection.abort();
}

#[tokio::test]
async fn rest_and_mcp_share_one_port_by_a_match_arm() {
    use std::convert::Infallible;
    let mcp = crate::common::service();
    let service =
        hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
            let mcp = mcp.clone();
            async move {
                Ok::<_, Infallible>(match request.uri().path() {
                    "/mcp" => mcp.handle(request).await.map(BodyExt::boxed_unsync),
                    _ => http::Response::new(http_body_util::Full::from("rest").boxed_unsync()),
                })
            }
        });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(mcp_proto::http::serve(
        listener,
        service,
        ServeConfig::default(),
        std::future::pending(),
    ));
    let client = Client::http(&format!("http://{address}/mcp"), ClientConfig::new(Era::Modern))
        .await
        .unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 5);
    let other = Client::http(&format!("http://{address}/other"), ClientConfig::new(Era::Modern))
        .await
        .unwrap();
    let error = other.list_tools().await.unwrap_err();
    assert_eq!(error.to_string(), "the server answered HTTP 200: rest");
}

#[tokio::test]
async fn who_may_call_is_decided_before_others_can_reach_it() {
    use mcp_proto::http::authorize::{Authorization, BearerTokens};
    use mcp_proto::http::{Callers, listen, serve};
    let started = async |address: &str, serving: ServeConfig| {
        let listener = listen(address.parse().unwrap()).unwrap();
        serve(listener, crate::common::service(), serving, async {}).await
    };
    let with = |callers| {
        let mut serving = ServeConfig::default();
        serving.callers = callers;
        serving
    };
    let mut config = HttpConfig::default();
    assert_eq!(config.serving(), ServeConfig::default());
    config.authorization = Some(Authorization::new(BearerTokens::default()));
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = started(address, ServeConfig::default()).await.unwrap_err();
        assert!(!refused.address.ip().is_loopback());
        let told = std::io::Error::from(refused).to_string();
        for help in ["HttpConfig::authorization", "Callers::Anyone", "loopback"] {
            assert!(told.contains(help), "{told}");
        }
        for decided in [with(Callers::Anyone), config.serving()] {
            assert_eq!(started(address, decided).await, Ok(()));
        }
    }
    for address in ["127.0.0.1:0", "127.0.0.9:0", "[::1]:0"] {
        assert_eq!(started(address, ServeConfig::default()).await, Ok(()));
    }
}

/// A handshake of one byte.
struct Knock;

impl Handshake for Knock {
    type Stream = Socket;

    async fn shake(&self, mut socket: Socket) -> std::io::Result<Socket> {
        match socket.read_u8().await? {
            b'!' => Ok(socket),
            _ => Err(std::io::ErrorKind::InvalidData.into()),
        }
    }
}

#[tokio::test]
async fn a_handshake_comes_first_and_takes_no_longer_than_it_may() {
    let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let mut serving = ServeConfig::default();
    serving.handshake_timeout = SHORT;
    serving.connections = Bound { total: 4, share: 4 };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let service = StreamableHttpService::new(server());
    let shutdown = async move { drop(stopped.await) };
    let task = tokio::spawn(serve_with(listener, Knock, service, serving, shutdown));
    let request = b"GET /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let knocked = [b"!", &request[..]].concat();
    for (sent, is_answered) in [(&knocked[..], true), (&request[..], false), (b"", false)] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(sent).await.unwrap();
        let mut told = Vec::new();
        // What was not read may break the connection.
        let read = timeout(PATIENCE, stream.read_to_end(&mut told)).await;
        let _closed = read.expect("the connection stays open");
        assert_eq!(told.starts_with(b"HTTP/1.1 400 "), is_answered, "{sent:?}");
    }
    // Those that do not knock give way to one that does, and do not hold up the end.
    let mut waiting = Vec::new();
    for _ in 0..8 {
        waiting.push(TcpStream::connect(address).await.unwrap());
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&knocked).await.unwrap();
    let mut told = String::new();
    let read = timeout(PATIENCE, stream.read_to_string(&mut told)).await;
    read.expect("it is answered").unwrap();
    assert!(told.starts_with("HTTP/1.1 400 "), "{told}");
    drop(stop);
    timeout(PATIENCE, task).await.expect("it ends").unwrap().unwrap();
}
