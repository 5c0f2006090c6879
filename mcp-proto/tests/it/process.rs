//! A server process on stdin and stdout: pipes whose client does not read, sockets, files.

use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use mcp_proto::stdio::serve_stdio;
use serde_json::json;

use crate::common::{PATIENCE, server};
use crate::peer::list;

/// Run by the other tests as a process of its own.
#[test]
fn a_server() {
    if std::env::var_os("MCP_PROTO_STDIO").is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(serve_stdio(server())).unwrap();
    // It waits for every thread of its own.
    drop(runtime);
    // The test's own word on stdout would be blocked, too.
    std::process::exit(0);
}

fn start(stdin: Stdio, stdout: Stdio) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process::a_server", "--nocapture"])
        .env("MCP_PROTO_STDIO", "1")
        .stdin(stdin)
        .stdout(stdout)
        .spawn()
        .unwrap()
}

fn end(server: &mut Child) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = server.try_wait().unwrap() {
            return status;
        }
        assert!(began.elapsed() < PATIENCE, "the process does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_blocked_stdout_does_not_hold_the_process() {
    let mut server = start(Stdio::piped(), Stdio::piped());
    // More answers than a pipe takes, whose other end stays open and unread.
    let mut stdin = server.stdin.take().unwrap();
    for id in 0..1_000 {
        writeln!(stdin, "{}", list(id)).unwrap();
    }
    writeln!(stdin, "{}", json!({})).unwrap();
    drop(stdin);
    assert!(end(&mut server).success());
    drop(server.stdout);
}

#[cfg(unix)]
#[test]
fn a_socket_is_served() {
    use std::io::{BufRead as _, BufReader};
    use std::net::Shutdown;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let (near, far) = UnixStream::pair().unwrap();
    let stdin = OwnedFd::from(far.try_clone().unwrap());
    let mut server = start(stdin.into(), OwnedFd::from(far).into());
    writeln!(&near, "{}", list(1)).unwrap();
    near.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut lines = BufReader::new(&near).lines().map(Result::unwrap);
    // The test's own words on stdout come first.
    assert!(lines.any(|line| line.starts_with('{') && line.contains("\"tools\":")));
    near.shutdown(Shutdown::Write).unwrap();
    assert!(end(&mut server).success());
}

#[test]
fn a_file_is_served() {
    let dir = tempfile::tempdir().unwrap();
    let (asked, answered) = (dir.path().join("asked"), dir.path().join("answered"));
    let lines: String = (1..=3).map(|id| format!("{}\n", list(id))).collect();
    std::fs::write(&asked, lines).unwrap();
    let stdin = File::open(asked).unwrap();
    let mut server = start(stdin.into(), File::create(&answered).unwrap().into());
    assert!(end(&mut server).success());
    let answers = std::fs::read_to_string(answered).unwrap();
    assert_eq!(answers.matches("\"tools\":").count(), 3, "{answers}");
}
