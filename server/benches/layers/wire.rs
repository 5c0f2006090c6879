//! A client that does as little as a client can: requests written at once, answers read to their end.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Builder;

/// How much of an answer is read at once, in bytes.
const PIECE: usize = 256 << 10;

/// The dialects of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Rest,
    Mcp,
}

impl Dialect {
    pub(crate) const ALL: [Self; 2] = [Self::Rest, Self::Mcp];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rest => "REST",
            Self::Mcp => "MCP",
        }
    }

    /// A request for the whole state.
    pub(crate) fn state(self, universe: &str) -> Vec<u8> {
        match self {
            Self::Rest => format!("GET /universes/{universe} HTTP/1.1\r\nhost: localhost\r\n\r\n")
                .into_bytes(),
            Self::Mcp => tool_call("get_universe_state", &json!({ "universeId": universe })),
        }
    }

    /// A command in a form of its result.
    pub(crate) fn command(self, universe: &str, command: &Value, form: &str) -> Vec<u8> {
        match self {
            Self::Rest => post(
                &format!("/universes/{universe}/commands?result={form}"),
                "",
                &command.to_string(),
            ),
            Self::Mcp => tool_call(
                "send_universe_command",
                &json!({ "universeId": universe, "command": command, "result": form }),
            ),
        }
    }
}

fn tool_call(tool: &str, arguments: &Value) -> Vec<u8> {
    let version = "2026-07-28";
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = format!(
        "accept: application/json, text/event-stream\r\nmcp-protocol-version: {version}\r\n\
         mcp-method: tools/call\r\nmcp-name: {tool}\r\n"
    );
    post("/mcp", &headers, &call.to_string())
}

fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// An open connection.
pub(crate) struct Wire {
    stream: TcpStream,
    piece: Vec<u8>,
}

impl Wire {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let piece = vec![0; PIECE];
        Self { stream, piece }
    }

    /// Makes a request, and gives how many bytes the body of its answer has.
    pub(crate) async fn call(&mut self, request: &[u8]) -> usize {
        self.stream.write_all(request).await.unwrap();
        let mut filled = 0;
        let (length, begun) = loop {
            let read = self.stream.read(&mut self.piece[filled..]).await.unwrap();
            assert!(read > 0, "the server closed the connection");
            filled += read;
            if let Some(found) = head(&self.piece[..filled]) {
                break found;
            }
        };
        let mut left = length - (filled - begun);
        while left > 0 {
            let read = self.stream.read(&mut self.piece).await.unwrap();
            assert!(read > 0, "the server closed the connection");
            left -= read;
        }
        length
    }
}

/// The length of the body, and where it begins.
fn head(text: &[u8]) -> Option<(usize, usize)> {
    let end = text.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let shown = String::from_utf8_lossy(&text[..text.len().min(1_000)]);
    let is_good = text.starts_with(b"HTTP/1.1 200") && !shown.contains("\"isError\":true");
    assert!(is_good, "answered by {shown}");
    let head = shown[..end].to_ascii_lowercase();
    let (_, rest) = head.split_once("content-length:").expect("no length");
    let (length, _) = rest.split_once('\r').expect("a header has an end");
    Some((length.trim().parse().expect("a length"), end))
}

/// How many answers such clients get in a second, together. Each has a connection; `request` makes the request of a
/// client by its number and that of the request.
pub(crate) fn load(
    address: SocketAddr,
    clients: usize,
    time: Duration,
    request: impl Fn(usize, usize) -> Vec<u8>,
) -> f64 {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let wires = join_all((0..clients).map(|_| Wire::open(address))).await;
        let start = Instant::now();
        let until = start + time;
        let request = &request;
        let clients = wires.into_iter().enumerate().map(|(client, mut wire)| async move {
            let mut done = 0;
            while Instant::now() < until {
                wire.call(&request(client, done)).await;
                done += 1;
            }
            done
        });
        let done: usize = join_all(clients).await.into_iter().sum();
        done as f64 / start.elapsed().as_secs_f64()
    })
}
