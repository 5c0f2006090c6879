//! What stands between a client and the server, and clients that leave without a word, over REST and MCP.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::{Client, Era, Local, Mcp, Wire, soon, tick};

/// What a proxy does with an event stream that does not ask it to leave the stream alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proxy {
    /// Compresses what may be compressed, as `compression` of Express does: a compressor holds back what is short.
    Compresses,
    /// Collects the answer, as nginx does.
    Buffers,
}

impl Proxy {
    /// In front of a server, for one request on each connection.
    async fn before(self, server: Client) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(self.pass(client, server.0));
            }
        });
        Client(address)
    }

    async fn pass(self, mut client: TcpStream, server: SocketAddr) -> io::Result<()> {
        let mut server = TcpStream::connect(server).await?;
        let (mut from_client, mut to_client) = client.split();
        let (mut from_server, mut to_server) = server.split();
        let answer = async {
            let mut answer = Vec::new();
            while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
                if from_server.read_buf(&mut answer).await? == 0 {
                    return Ok(0);
                }
            }
            if self.holds(&String::from_utf8_lossy(&answer)) {
                from_server.read_to_end(&mut answer).await?;
            }
            let line = answer.windows(2).position(|end| end == b"\r\n").unwrap();
            to_client.write_all(&answer[..line]).await?;
            to_client.write_all(b"\r\nconnection: close").await?;
            to_client.write_all(&answer[line..]).await?;
            tokio::io::copy(&mut from_server, &mut to_client).await
        };
        tokio::select! {
            sent = tokio::io::copy(&mut from_client, &mut to_server) => sent,
            answered = answer => answered,
        }
        .map(drop)
    }

    fn holds(self, head: &str) -> bool {
        let says = |header| head.lines().any(|line| line == header);
        says("content-type: text/event-stream")
            && match self {
                Self::Compresses => !says("cache-control: no-cache, no-transform"),
                Self::Buffers => !says("x-accel-buffering: no"),
            }
    }
}

#[tokio::test]
async fn events_pass_proxies_that_compress_and_that_buffer() {
    let server = Local::start().await;
    let id = server.client.create("u", json!({})).await;
    let uri = format!("universe://{id}");
    for proxy in [Proxy::Compresses, Proxy::Buffers] {
        let client = proxy.before(server.client).await;
        let mut feed = client.feed(&id, None).await;
        server.client.command(&id, &tick()).await;
        assert!(feed.event().await.is_some(), "{proxy:?}");
        for era in Era::BOTH {
            let mut subscribed = Mcp::new(client, era).await.subscribe(&[&uri]).await;
            server.client.command(&id, &tick()).await;
            assert_eq!(subscribed.updates().await, [uri.clone()], "{proxy:?} {era:?}");
        }
    }
}

/// Sends a request and reads the head of its answer.
async fn begun(client: Client, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(client.0).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(soon(stream.read_u8()).await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    stream
}

async fn listeners(client: Client) -> String {
    let metrics = client.get("/metrics").await.body;
    let metrics = String::from_utf8(metrics.to_vec()).unwrap();
    let held = metrics.lines().find(|line| line.starts_with("universe_budget_used{bound=\"list"));
    held.unwrap().rsplit_once(' ').unwrap().1.to_owned()
}

#[tokio::test]
async fn a_stream_ends_with_its_client_whatever_that_has_sent_behind_its_request() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let feed = format!("GET /universes/{id}/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let params = Era::Modern.params(json!({"notifications": {"resourcesListChanged": true}}));
    let listen =
        json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
    let listen = listen.to_string();
    let listen = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\n\
         content-length: {}\r\n\r\n{listen}",
        listen.len()
    );
    let many = "GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(1_000);
    for request in [&feed, &listen] {
        for late in ["", "\r\n", "GET", &many] {
            let mut stream = begun(client, request).await;
            assert_eq!(listeners(client).await, "1");
            // The server may have closed already what sends so much.
            let _closed = stream.write_all(late.as_bytes()).await;
            if late.len() < 16 * 1024 {
                tokio::time::sleep(Duration::from_millis(10)).await;
                assert_eq!(listeners(client).await, "1", "{late:?}");
                drop(stream);
            }
            let gone = async {
                while listeners(client).await != "0" {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            // Far below the time until a keep-alive fails.
            let gone = tokio::time::timeout(Duration::from_secs(5), gone).await;
            assert!(gone.is_ok(), "{} bytes after {request}", late.len());
        }
    }
}

#[tokio::test]
async fn a_get_stream_ends_with_its_client_whatever_that_has_sent_behind_its_request() {
    let server = Local::start().await;
    let wire = Wire::new(server.client, Era::Legacy).await;
    let session = wire.session.clone().unwrap();
    let request = format!(
        "GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\
         mcp-session-id: {session}\r\n\r\n"
    );
    for late in ["", "\r\n", "GET"] {
        let mut stream = begun(server.client, &request).await;
        stream.write_all(late.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
        drop(stream);
        // The first finds no other stream. The second takes one over, which only one in a second may.
        let second = begun(server.client, &request).await;
        let third = begun(server.client, &request).await;
        drop((second, third));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test]
async fn a_request_without_a_host_is_malformed() {
    let server = Local::start().await;
    for path in ["/livez", "/universes", "/mcp"] {
        let request = format!("GET {path} HTTP/1.1\r\naccept: */*\r\n\r\n");
        let answer = server.client.raw(request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        let error = body["error"]["message"].as_str().or(body["error"].as_str());
        assert_eq!(error, Some("the Host header is missing"));
    }
}
