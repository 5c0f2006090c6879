//! Traces: a collector of the test's own receives spans with the names of the conventions, and no request waits for
//! one.

use std::collections::HashMap;
use std::net::SocketAddr;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::harness::process::{binary, run};
use crate::harness::{Era, Server, Wire, soon, tick};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
/// How many spans wait for a collector.
const WAITING: usize = 100;
const CALLER: &str = "00f067aa0ba902b7";

/// A span as a collector has it, ids in hexadecimal digits.
#[derive(Debug, Default)]
struct Span {
    name: String,
    trace: String,
    id: String,
    parent: String,
    kind: u64,
    failed: bool,
    attributes: HashMap<String, String>,
}

/// Receives batches of spans.
struct Collector {
    address: SocketAddr,
    heard: mpsc::UnboundedReceiver<(String, Vec<u8>)>,
}

impl Collector {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, received) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(collect(stream, sender.clone()));
            }
        });
        Self { address, heard: received }
    }

    /// The spans of all batches so far, and the bytes that they came in.
    fn spans(&mut self) -> (Vec<Span>, Vec<u8>) {
        let (mut spans, mut bytes) = (Vec::new(), Vec::new());
        while let Ok((line, body)) = self.heard.try_recv() {
            assert_eq!(line, "POST /v1/traces HTTP/1.1");
            // ExportTraceServiceRequest.resource_spans, .scope_spans, .spans
            for resource in fields(&body, 1) {
                for scope in fields(resource, 2) {
                    spans.extend(fields(scope, 2).map(span));
                }
            }
            bytes.extend(body);
        }
        (spans, bytes)
    }
}

/// Reads requests of one connection and is content with all of them.
async fn collect(stream: TcpStream, sender: mpsc::UnboundedSender<(String, Vec<u8>)>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            match line.trim_end() {
                "" => break,
                line => head.push(line.to_owned()),
            }
        }
        let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        stream.read_exact(&mut body).await.unwrap();
        let _ = sender.send((head.remove(0), body));
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

/// The fields of a message in the encoding of Protocol Buffers: number, value of a number, value of anything else.
fn all_fields(mut message: &[u8]) -> Vec<(u64, u64, &[u8])> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = number(&mut message);
        let (value, length) = match key & 7 {
            0 => (number(&mut message), 0),
            1 => (0, 8),
            2 => (0, usize::try_from(number(&mut message)).unwrap()),
            _ => (0, 4),
        };
        let (bytes, rest) = message.split_at(length);
        found.push((key >> 3, value, bytes));
        message = rest;
    }
    found
}

fn number(message: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = message.split_first().unwrap();
        *message = rest;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return number;
        }
    }
}

fn fields(message: &[u8], wanted: u64) -> impl Iterator<Item = &[u8]> {
    let all = all_fields(message).into_iter();
    all.filter_map(move |(name, _, bytes)| (name == wanted).then_some(bytes))
}

fn text(message: &[u8], wanted: u64) -> String {
    let bytes = fields(message, wanted).next().unwrap_or_default();
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn span(message: &[u8]) -> Span {
    let mut span = Span::default();
    for (field, value, bytes) in all_fields(message) {
        let hex = || bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match field {
            1 => span.trace = hex(),
            2 => span.id = hex(),
            4 => span.parent = hex(),
            5 => span.name = text(message, 5),
            6 => span.kind = value,
            9 => {
                let given = fields(bytes, 2).next().unwrap();
                let value = match all_fields(given).first() {
                    Some((1, _, text)) => String::from_utf8(text.to_vec()).unwrap(),
                    Some((3, number, _)) => number.to_string(),
                    other => panic!("{other:?}"),
                };
                span.attributes.insert(text(bytes, 1), value);
            }
            15 => span.failed = all_fields(bytes).contains(&(3, 2, &[][..])),
            _ => {}
        }
    }
    span
}

/// A server that sends its spans there.
async fn traced(dir: &TempDir, collector: SocketAddr) -> Server {
    let mut command = binary();
    command.args(["--demo", "--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(dir.path());
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{collector}"))
        .env("OTEL_BSP_MAX_QUEUE_SIZE", WAITING.to_string());
    Server::start(command).await
}

#[tokio::test]
async fn a_collector_receives_requests_and_operations() {
    let mut collector = Collector::open().await;
    let dir = TempDir::new().unwrap();
    let mut server = traced(&dir, collector.address).await;
    let parent = format!("00-{TRACE}-{CALLER}-01");
    let header = [("traceparent", parent.as_str())];
    let path = "/universes/sol/commands";
    let reply = server.client.call("POST", path, &header, &tick()).await;
    assert_eq!(reply.status, 200);
    for era in Era::BOTH {
        let wire = Wire::new(server.client, era).await;
        wire.command("sol", &tick()).await;
        let unknown = json!({"universeId": "secret-id"});
        wire.call("get_universe_state", unknown).await;
        wire.send(&json!(1), "secret/method", json!({})).await;
    }
    server.stop().await;

    let (spans, bytes) = collector.spans();
    assert!(!String::from_utf8_lossy(&bytes).contains("secret"));
    assert!(spans.iter().all(|span| span.kind == 2), "{spans:#?}");
    let named = |name: &str| -> Vec<&Span> {
        let all = spans.iter().filter(|span| span.name == name);
        all.collect()
    };
    let is = |span: &Span, attributes: &[(&str, &str)]| {
        let is =
            |(name, value): &(&str, &str)| span.attributes.get(*name).is_some_and(|it| it == value);
        attributes.iter().all(is)
    };

    let [rest] = named("POST /universes/{id}/commands")[..] else { panic!("{spans:#?}") };
    assert_eq!((&*rest.trace, &*rest.parent), (TRACE, CALLER));
    let attributes = [
        ("http.request.method", "POST"),
        ("http.route", "/universes/{id}/commands"),
        ("http.response.status_code", "200"),
        ("url.scheme", "http"),
    ];
    assert!(is(rest, &attributes) && !rest.failed, "{rest:?}");

    let calls = named("tools/call send_universe_command");
    assert_eq!(calls.len(), 2, "{spans:#?}");
    for call in calls {
        let attributes = [
            ("mcp.method.name", "tools/call"),
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "send_universe_command"),
        ];
        assert!(is(call, &attributes) && !call.failed, "{call:?}");
        let within = spans.iter().find(|span| span.id == call.parent).unwrap();
        assert_eq!((&*within.name, &within.trace), ("POST /mcp", &call.trace));
    }
    let refused = named("tools/call get_universe_state");
    assert_eq!(refused.len(), 2, "{spans:#?}");
    for call in refused {
        assert!(is(call, &[("error.type", "tool_error")]) && call.failed);
    }
    // The modern era names its method in a header, so that such a request is refused there.
    let [other] = named("_OTHER")[..] else { panic!("{spans:#?}") };
    let attributes = [("error.type", "-32601"), ("rpc.response.status_code", "-32601")];
    assert!(is(other, &attributes) && other.failed, "{other:?}");
}

/// The word of the request itself is nearer than that of the connection that it came over.
#[tokio::test]
async fn the_trace_in_a_request_of_mcp_goes_on() {
    let mut collector = Collector::open().await;
    let dir = TempDir::new().unwrap();
    let mut server = traced(&dir, collector.address).await;
    let mut params = Era::Modern.params(json!({"name": "list_universe_commands", "arguments": {}}));
    params["_meta"]["traceparent"] = json!(format!("00-{TRACE}-{CALLER}-01"));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "list_universe_commands"),
    ];
    let reply = server.client.call("POST", "/mcp", &headers, &body).await;
    assert_eq!(reply.status, 200);
    server.stop().await;
    let (spans, _) = collector.spans();
    let call = spans.iter().find(|span| span.name == "tools/call list_universe_commands").unwrap();
    assert_eq!((&*call.trace, &*call.parent), (TRACE, CALLER));
}

/// One that takes nothing and one that is not there.
#[tokio::test]
async fn no_request_waits_for_a_collector() {
    let deaf = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nowhere = gone.local_addr().unwrap();
    drop(gone);
    for collector in [deaf.local_addr().unwrap(), nowhere] {
        let dir = TempDir::new().unwrap();
        let mut server = traced(&dir, collector).await;
        let mut connection = server.client.connect().await;
        for _ in 0..3 * WAITING {
            let reply = connection.call("GET", "/livez", &[], &Value::Null).await;
            assert_eq!(reply.status, 200);
        }
        server.stop().await;
    }
}

#[tokio::test]
async fn what_is_no_collector_is_refused_and_nothing_is_none() {
    let dir = TempDir::new().unwrap();
    for wrong in ["https://127.0.0.1:4318", "127.0.0.1:4318", "ftp://x"] {
        let mut command = binary();
        command.args(["--otlp", wrong, "--data-dir"]).arg(dir.path());
        let ended = run(&mut command).await;
        assert_eq!(ended.status.code(), Some(1));
        let said = format!("universe-server: --otlp {wrong:?}: a collector is named by");
        assert!(ended.stderr.starts_with(&said), "{}", ended.stderr);
    }
    let mut command = binary();
    command.args(["--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(dir.path());
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "");
    soon(Server::start(command)).await.stop().await;
}
