//! Looking in: probes, the version, and a line in the log for each request.

#[cfg(feature = "otlp")]
mod traces;

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio as Pipe;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStderr};

use crate::harness::process::{binary, done, signal};
use crate::harness::{Client, Era, Server, Wire, add_star, remove_star, soon, tick};

#[tokio::test]
async fn probes_and_the_version_are_answered() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    for path in ["/livez", "/readyz"] {
        let reply = server.client.get(path).await;
        assert_eq!((reply.status, reply.json()), (200, json!({"ok": true})));
        assert_eq!(server.client.post(path, &json!({})).await.status, 405);
    }
    let version = server.client.get("/version").await.json();
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    let revisions = version["mcp"].as_array().unwrap();
    assert!(revisions.contains(&json!("2026-07-28")) && revisions.contains(&json!("2025-11-25")));
}

/// The value of a sample; 0 if there is none.
fn sample(text: &str, key: &str) -> f64 {
    let value = |line: &str| line.strip_prefix(key)?.strip_prefix(' ')?.parse().ok();
    text.lines().find_map(value).unwrap_or_default()
}

#[tokio::test]
async fn the_room_on_the_disk_is_reported_with_the_write_ahead_log() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo"]).await;
    for _ in 0..20 {
        server.client.command("sol", &tick()).await;
    }
    let log = std::fs::metadata(dir.path().join("universes.db-wal")).unwrap().len();
    let text = server.client.get("/metrics").await.body;
    let text = String::from_utf8(text.to_vec()).unwrap();
    let file = sample(&text, "universe_store_size_bytes");
    assert!(log > 20 * 4_096 && file > 4_096.0, "{log} {file}");
    assert_eq!(sample(&text, "universe_store_log_bytes"), log as f64);
    let shown = done(dir.path(), &["top", "--once", "--interval", "0.1", "--json"]).await;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["storeBytes"].as_f64(), Some(file + log as f64));
    let told = done(dir.path(), &["check"]).await;
    let expected = format!("{file} bytes, 0 of them free, and {log} of write-ahead log: sound");
    assert!(told.contains(&expected), "{told}");
}

#[tokio::test]
async fn figures_are_counted_over_rest_and_mcp() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo"]).await;
    let client = server.client;
    client.command("sol", &tick()).await;
    let reply = client.post("/universes/sol/commands", &json!([tick(), tick()])).await;
    assert_eq!(reply.status, 200);
    let refused = remove_star("secret-star");
    assert_eq!(client.post("/universes/sol/commands", &refused).await.status, 422);
    client.get("/universes/secret-id").await;
    client.get("/secret-path").await;
    client.call("SECRET", "/universes", &[], &Value::Null).await;
    for era in Era::BOTH {
        let wire = Wire::new(client, era).await;
        wire.command("sol", &tick()).await;
        let unknown = json!({"universeId": "secret-id"});
        wire.call("get_universe_state", unknown).await;
        wire.call("secret-tool", json!({})).await;
        wire.send(&json!(1), "secret/method", json!({})).await;
    }
    let feed = client.feed("sol", None).await;
    let accept = [("accept", "application/openmetrics-text")];
    let reply = client.call("GET", "/metrics", &accept, &Value::Null).await;
    let media = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(reply.header("content-type"), media);
    let text = String::from_utf8(reply.body.to_vec()).unwrap();
    assert!(text.ends_with("# EOF\n") && !text.contains("secret"), "{text}");
    let http = "http_server_request_duration_seconds_count{http_request_method=";
    let mcp = "mcp_server_operation_duration_seconds_count{mcp_method_name=";
    let rows = [
        ("universe_commands_total{outcome=\"done\"}".to_owned(), 5.0),
        ("universe_commands_total{outcome=\"refused\"}".to_owned(), 1.0),
        ("universe_store_append_duration_seconds_count".to_owned(), 4.0),
        ("universe_universes".to_owned(), 1.0),
        ("universe_feed_readers".to_owned(), 1.0),
        ("universe_budget_used{bound=\"listeners\"}".to_owned(), 1.0),
        ("universe_budget_limit{bound=\"listeners\"}".to_owned(), 20_000.0),
        ("mcp_server_sessions".to_owned(), 1.0),
        (
            format!(
                "{http}\"POST\",http_route=\"/universes/{{id}}/commands\",http_response_status_code=\"200\",error_type=\"\"}}"
            ),
            2.0,
        ),
        (
            format!(
                "{http}\"POST\",http_route=\"/universes/{{id}}/commands\",http_response_status_code=\"422\",error_type=\"\"}}"
            ),
            1.0,
        ),
        (
            format!(
                "{http}\"GET\",http_route=\"unknown\",http_response_status_code=\"404\",error_type=\"\"}}"
            ),
            1.0,
        ),
        (
            format!(
                "{http}\"_OTHER\",http_route=\"/universes\",http_response_status_code=\"405\",error_type=\"\"}}"
            ),
            1.0,
        ),
        (
            format!(
                "{mcp}\"tools/call\",gen_ai_tool_name=\"send_universe_command\",error_type=\"\"}}"
            ),
            2.0,
        ),
        (
            format!(
                "{mcp}\"tools/call\",gen_ai_tool_name=\"get_universe_state\",error_type=\"tool_error\"}}"
            ),
            2.0,
        ),
        (format!("{mcp}\"tools/call\",gen_ai_tool_name=\"\",error_type=\"-32602\"}}"), 2.0),
        (format!("{mcp}\"_OTHER\",gen_ai_tool_name=\"\",error_type=\"-32601\"}}"), 1.0),
    ];
    for (key, value) in rows {
        assert!((sample(&text, &key) - value).abs() < 1e-9, "{key} is not {value}: {text}");
    }
    assert!(sample(&text, "process_resident_memory_bytes") > 1e6, "{text}");
    drop(feed);
    soon(async {
        let gone = async || {
            let text = client.get("/metrics").await.body;
            sample(std::str::from_utf8(&text).unwrap(), "universe_feed_readers") < 0.5
        };
        while !gone().await {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn figures_can_be_left_out() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--metrics", "off"]).await;
    let reply = server.client.get("/metrics").await;
    assert_eq!(reply.status, 404);
    let told = "nothing is at /metrics, as --metrics is off";
    assert_eq!(reply.error(), told);
    let foreign = [("host", "elsewhere.example")];
    let server = Server::with(dir.path().join("other").as_path(), &[]).await;
    let reply = server.client.call("GET", "/metrics", &foreign, &Value::Null).await;
    assert_eq!(reply.status, 403, "it is behind the same door");
}

/// What the log says of requests, as JSON, one object a line.
fn requests(log: &str) -> Vec<Value> {
    let lines = log.lines().filter_map(|line| serde_json::from_str(line).ok());
    lines.filter(|line: &Value| line["target"] == "request").collect()
}

/// A server that listens, its stderr after it said where, and where.
async fn listening(dir: &Path) -> (Child, BufReader<ChildStderr>, SocketAddr) {
    let mut command = binary();
    command.args(["--log", "json", "--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(dir).stderr(Pipe::piped());
    let mut child = command.spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    loop {
        line.clear();
        soon(stderr.read_line(&mut line)).await.unwrap();
        if let Some(address) = line.trim_end().strip_prefix("listening on http://") {
            return (child, stderr, address.parse().unwrap());
        }
    }
}

/// A pipe takes 64 KiB, some 500 lines; then it is full.
#[tokio::test]
async fn a_log_that_is_not_read_holds_nothing_up() {
    let dir = TempDir::new().unwrap();
    let (mut child, mut stderr, address) = listening(dir.path()).await;
    let stream = TcpStream::connect(address).await.unwrap();
    let (answers, mut questions) = stream.into_split();
    let asking = tokio::spawn(async move {
        for _ in 0..8_000 {
            let question = b"HEAD /livez HTTP/1.1\r\nhost: localhost\r\n\r\n";
            questions.write_all(question).await.unwrap();
        }
        questions
    });
    let mut lines = BufReader::new(answers).lines();
    let mut answered = 0;
    while answered < 8_000 {
        let line = soon(lines.next_line()).await.unwrap().unwrap();
        answered += usize::from(line.starts_with("HTTP/1.1 "));
    }
    drop(asking.await.unwrap());
    signal(child.id().unwrap(), "TERM");
    let mut log = String::new();
    soon(stderr.read_to_string(&mut log)).await.unwrap();
    assert!(soon(child.wait()).await.unwrap().success());
    let written = requests(&log).len();
    assert!((4_096..8_000).contains(&written), "{written}");
}

#[tokio::test]
async fn each_request_over_http_is_a_line_without_its_contents() {
    let dir = TempDir::new().unwrap();
    let (mut child, mut stderr, address) = listening(dir.path()).await;
    let client = Client(address);
    let id = client.create("secret-name", json!({})).await;
    client.command(&id, &add_star("secret-star")).await;
    for era in Era::BOTH {
        Wire::new(client, era).await.command(&id, &tick()).await;
    }
    client.get("/universes/none").await;
    client.get("/nowhere/secret-path").await;
    signal(child.id().unwrap(), "TERM");
    let mut log = String::new();
    soon(stderr.read_to_string(&mut log)).await.unwrap();
    assert!(soon(child.wait()).await.unwrap().success());

    assert!(!log.contains("secret") && !log.contains(&id), "{log}");
    let found: Vec<_> = requests(&log)
        .iter()
        .map(|line| {
            assert!(line["id"].is_u64() && line["micros"].is_u64(), "{line}");
            assert_eq!(line["client"], "127.0.0.1");
            assert_eq!(line["level"], "INFO");
            json!([line["method"], line["route"], line["status"], line["tool"]])
        })
        .collect();
    let send = "send_universe_command";
    assert_eq!(
        json!(found),
        json!([
            ["POST", "/universes", 201, null],
            ["POST", "/universes/{id}/commands", 200, null],
            ["POST", "/mcp", 200, null],
            ["POST", "/mcp", 200, send],
            ["POST", "/mcp", 200, send],
            ["GET", "/universes/{id}", 404, null],
            ["GET", "unknown", 404, null],
        ])
    );
    assert!(requests(&log).iter().all(|line| line["bytes"].is_u64()));
    let audit = log.lines().filter(|line| line.contains(r#""target":"audit""#));
    let audit: Vec<Value> = audit.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(audit.len(), 4, "{log}");
    let is_number = |line: &Value| line["milliseconds"].is_u64();
    assert!(audit.iter().all(is_number), "{audit:?}");
}

#[tokio::test]
async fn each_call_on_pipes_is_a_line() {
    let dir = TempDir::new().unwrap();
    let mut command = binary();
    command.args(["--stdio", "--demo", "--log", "json", "--data-dir"]).arg(dir.path());
    command.stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for universe in ["sol", "none"] {
        let params = json!({"name": "get_universe_state", "arguments": {"universeId": universe}});
        let line = Era::Modern.request(&json!(universe), "tools/call", params);
        input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..2 {
        soon(output.next_line()).await.unwrap().unwrap();
    }
    drop(input);
    let mut log = String::new();
    let mut stderr = child.stderr.take().unwrap();
    soon(stderr.read_to_string(&mut log)).await.unwrap();
    let mut found: Vec<_> =
        requests(&log).iter().map(|line| format!("{} {}", line["tool"], line["status"])).collect();
    found.sort();
    assert_eq!(found, ["\"get_universe_state\" \"error\"", "\"get_universe_state\" \"ok\""]);
}
