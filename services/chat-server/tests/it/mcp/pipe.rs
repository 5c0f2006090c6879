//! The binary on pipes, spoken to message by message.

use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::harness::{HANG, TestSetup};

/// One server process.
pub(super) struct Pipe {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    pub(super) child: Child,
}

impl Pipe {
    pub(super) fn start(setup: &TestSetup, arguments: &[&str]) -> Self {
        let mut command = setup.command("mcp");
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
        }
    }

    pub(super) async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.flush().await.unwrap();
    }

    /// The next message of the server.
    pub(super) async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(HANG, self.output.next_line()).await;
        let line = line.expect("nothing is said").unwrap();
        serde_json::from_str(&line.expect("it still speaks")).unwrap()
    }

    /// The answer to a request; nothing to a notification.
    pub(super) async fn ask(&mut self, message: &Value) -> Option<Value> {
        self.send(message).await;
        let id = message.get("id")?;
        loop {
            let answer = self.next().await;
            if answer.get("id") == Some(id) {
                return Some(answer);
            }
        }
    }
}
