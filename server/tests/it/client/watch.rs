//! `watch`

use std::path::Path;
use std::process::Stdio as Pipe;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use crate::harness::process::{binary, done};
use crate::harness::{Server, soon, tick};

/// A verb that goes on, and its lines.
struct Watch {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watch {
    fn start(dir: &Path, arguments: &[&str]) -> Self {
        let mut command = binary();
        command.arg("watch").args(arguments).arg("--data-dir").arg(dir);
        command.stdout(Pipe::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    async fn line(&mut self) -> String {
        let line = soon(self.lines.next_line()).await.unwrap();
        line.expect("it goes on")
    }
}

#[tokio::test]
async fn a_break_leaves_no_gap() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    server.client.command("sol", &tick()).await;
    let mut watch = Watch::start(dir.path(), &["sol", "--after", "0"]);
    assert_eq!(watch.line().await, "1  tick {\"dt\":1}");
    server.client.command("sol", &tick()).await;
    assert_eq!(watch.line().await, "2  tick {\"dt\":1}");
    server.kill().await;
    // While no server listens, a command lands all the same.
    done(dir.path(), &["send", "sol", "{\"type\":\"tick\",\"dt\":3}"]).await;
    let server = Server::on(dir.path()).await;
    server.client.command("sol", &json!({"type": "tick", "dt": 4})).await;
    assert_eq!(watch.line().await, "3  tick {\"dt\":3}");
    assert_eq!(watch.line().await, "4  tick {\"dt\":4}");
    server.client.delete("/universes/sol").await;
    assert_eq!(watch.line().await, "-  deleted {\"id\":\"sol\"}");
    assert!(soon(watch.child.wait()).await.unwrap().success());
}

#[tokio::test]
async fn events_are_objects_for_programs_and_can_be_counted() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo"]).await;
    server.client.command("sol", &tick()).await;
    let renamed = json!({"name": "Sun"});
    server.client.put("/universes/sol", &renamed).await;
    let url = format!("http://{}/", server.client.0);
    let arguments = ["watch", "sol", "--after", "0", "--count", "2", "--json", "--url", &url];
    let told = done(dir.path(), &arguments).await;
    let events: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = [
        json!({"revision": 1, "event": "command", "data": {"type": "tick", "dt": 1}}),
        json!({"revision": 2, "event": "replaced", "data": {"name": "Sun", "state": false}}),
    ];
    assert_eq!(events, expected);
}
