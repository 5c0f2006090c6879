//! Processes whose clients neglect a pipe, as users of other servers met them. Each test names its thread.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::process::Command;
use tokio::time::timeout;

use crate::harness::process::binary;

const PATIENCE: Duration = Duration::from_secs(60);

fn server(dir: &TempDir) -> Command {
    let mut command = binary();
    command.args(["--stdio", "--demo", "--data-dir"]).arg(dir.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn initialize() -> String {
    let client = json!({ "name": "test", "version": "0" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    line(1, "initialize", &params)
}

fn line(id: u32, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string() + "\n"
}

fn read_sol(id: u32) -> String {
    let arguments = json!({ "universeId": "sol", "select": { "families": [] } });
    line(id, "tools/call", &json!({ "name": "get_universe_state", "arguments": arguments }))
}

/// Waits for the answer to a request.
async fn answer(lines: &mut Lines<BufReader<impl AsyncRead + Unpin>>, id: u32) -> Value {
    loop {
        let line = timeout(PATIENCE, lines.next_line()).await.expect("no answer").unwrap();
        let message: Value = serde_json::from_str(&line.expect("the output ended")).unwrap();
        if message["id"] == id {
            return message;
        }
    }
}

/// Quack6765/Eidon-AI#247
#[tokio::test]
async fn a_log_that_is_not_read_holds_up_no_answer() {
    let dir = TempDir::new().unwrap();
    let mut child = server(&dir).env("RUST_LOG", "trace").spawn().unwrap();
    let (mut input, _unread) = (child.stdin.take().unwrap(), child.stderr.take());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let noise = "{\"broken\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}\n";
    let sent = format!("{}{}{}", initialize(), noise.repeat(5_000), read_sol(2));
    let sending = tokio::spawn(async move {
        input.write_all(sent.as_bytes()).await.unwrap();
        input
    });
    assert!(answer(&mut lines, 2).await["result"].is_object());
    drop(sending.await.unwrap());
    assert!(timeout(PATIENCE, child.wait()).await.unwrap().unwrap().success());
}

/// web-infra-dev/midscene#2157, ILoveBingLu/CipherTalk#258, NPGameDev/godot-mcp-toolkit#1
#[tokio::test]
async fn a_client_that_closes_the_output_alone_ends_the_process() {
    let dir = TempDir::new().unwrap();
    let mut child = server(&dir).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    input.write_all(initialize().as_bytes()).await.unwrap();
    answer(&mut lines, 1).await;
    drop(lines);
    input.write_all(line(2, "ping", &json!({})).as_bytes()).await.unwrap();
    // Neither a crash nor a loop.
    let ended = timeout(PATIENCE, child.wait()).await.expect("it goes on").unwrap();
    assert_eq!(ended.code(), Some(1));
}

/// aaronsb/google-workspace-mcp#149
#[tokio::test]
async fn a_dead_log_and_a_half_closed_socket_are_no_reason_to_fail() {
    let dir = TempDir::new().unwrap();
    let (near, far) = StdUnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    let mut command = server(&dir);
    command.stdin(OwnedFd::from(far.try_clone().unwrap())).stdout(OwnedFd::from(far));
    let mut child = command.spawn().unwrap();
    drop((command, child.stderr.take()));
    let (reader, mut writer) = UnixStream::from_std(near).unwrap().into_split();
    let mut lines = BufReader::new(reader).lines();
    let long = line(2, "ping", &json!({ "x": "x".repeat(70 << 20) }));
    let sending = tokio::spawn(async move {
        for sent in ["{\"broken\n", &initialize(), &long, &read_sol(3)] {
            writer.write_all(sent.as_bytes()).await.unwrap();
        }
        writer
    });
    assert!(answer(&mut lines, 3).await["result"].is_object());
    sending.await.unwrap().shutdown().await.unwrap();
    assert!(timeout(PATIENCE, child.wait()).await.expect("it goes on").unwrap().success());
}
