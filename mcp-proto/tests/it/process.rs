//! A server process on stdin and stdout whose client does not read.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mcp_proto::stdio::serve_stdio;
use serde_json::json;

use crate::common::{PATIENCE, server};
use crate::peer::list;

/// Run by the next test as a process of its own.
#[test]
fn a_server() {
    if std::env::var_os("MCP_PROTO_STDIO").is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(serve_stdio(server())).unwrap();
    // It waits for every thread of its own.
    drop(runtime);
    // The test's own word on stdout would be blocked, too.
    std::process::exit(0);
}

#[test]
fn a_blocked_stdout_does_not_hold_the_process() {
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process::a_server", "--nocapture"])
        .env("MCP_PROTO_STDIO", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // More answers than a pipe takes, whose other end stays open and unread.
    let mut stdin = server.stdin.take().unwrap();
    for id in 0..1_000 {
        writeln!(stdin, "{}", list(id)).unwrap();
    }
    writeln!(stdin, "{}", json!({})).unwrap();
    drop(stdin);
    let ended = Instant::now();
    let status = loop {
        if let Some(status) = server.try_wait().unwrap() {
            break status;
        }
        assert!(ended.elapsed() < PATIENCE, "the process does not end");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(status.success());
    drop(server.stdout);
}
