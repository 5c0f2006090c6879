//! The real binary with `--stdio`, and a raw client of it: the tests are about the lines that a relay passes on, and
//! about what comes between answers when one server follows another.

use std::collections::VecDeque;
use std::path::Path;
use std::process::{ExitStatus, Stdio as Pipe};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::process::binary;
use super::wire::initialize;
use super::{Era, soon};

/// A server process on pipes; killed when dropped.
pub(crate) struct Stdio {
    era: Era,
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    /// What came unasked while an answer was waited for.
    unasked: VecDeque<Value>,
}

impl Stdio {
    /// On a data directory, after the handshake if the era has one.
    pub(crate) async fn on(dir: &Path, era: Era) -> Self {
        let mut command = binary();
        command.arg("--stdio").arg("--data-dir").arg(dir);
        Self::start(command, era).await
    }

    /// The same of a command with options of its own.
    pub(crate) async fn start(mut command: Command, era: Era) -> Self {
        command.stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::null());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut stdio =
            Self { era, input: child.stdin.take(), child, output, unasked: VecDeque::new() };
        if era == Era::Legacy {
            stdio.write(&initialize()).await;
            let answer = stdio.read().await;
            assert_eq!(answer["id"], 0, "{answer}");
            assert!(answer["result"]["serverInfo"].is_object(), "{answer}");
            let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            stdio.write(&initialized).await;
        }
        stdio
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    pub(crate) async fn write(&mut self, message: &Value) {
        self.write_line(message.to_string().as_bytes()).await;
    }

    pub(crate) async fn write_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        soon(input.write_all(line)).await.unwrap();
        soon(input.write_all(b"\n")).await.unwrap();
        input.flush().await.unwrap();
    }

    pub(crate) async fn read(&mut self) -> Value {
        let line = soon(self.output.next_line()).await.unwrap();
        serde_json::from_str(&line.expect("it still speaks")).unwrap()
    }

    /// Writes these lines and reads as many answers, both at once.
    pub(crate) async fn ask_all(&mut self, lines: &str) -> Vec<Value> {
        let (input, output) = (self.input.as_mut().unwrap(), &mut self.output);
        let write = async {
            soon(input.write_all(lines.as_bytes())).await.unwrap();
            input.flush().await.unwrap();
        };
        let read = async {
            let mut answers = Vec::new();
            for _ in lines.lines() {
                let line = soon(output.next_line()).await.unwrap();
                answers.push(serde_json::from_str(&line.expect("it still speaks")).unwrap());
            }
            answers
        };
        tokio::join!(write, read).1
    }

    pub(crate) async fn ask(&mut self, id: &Value, method: &str, params: Value) -> Value {
        self.write(&self.era.request(id, method, params)).await;
        loop {
            let message = self.read().await;
            if message.get("id").is_none() && message["method"].is_string() {
                self.unasked.push_back(message);
                continue;
            }
            assert_eq!(message["id"], *id, "{message}");
            return message;
        }
    }

    /// The next notification.
    pub(crate) async fn notification(&mut self) -> Value {
        let message = match self.unasked.pop_front() {
            Some(message) => message,
            None => self.read().await,
        };
        assert!(message.get("id").is_none(), "{message}");
        message
    }

    /// The result of a tool.
    pub(crate) async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let mut answer = self.ask(&json!(name), "tools/call", params).await;
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].take()
    }

    /// The state after a command that must be accepted.
    pub(crate) async fn command(&mut self, universe: &str, command: &Value) -> Value {
        let arguments = json!({"universeId": universe, "command": command});
        let mut result = self.tool("send_universe_command", arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"]["nextState"].take()
    }

    pub(crate) async fn state(&mut self, universe: &str) -> Value {
        let arguments = json!({"universeId": universe});
        let mut result = self.tool("get_universe_state", arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].take()
    }

    /// Ends the input.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// SIGKILL, and waits until it is gone.
    pub(crate) async fn kill(&mut self) {
        soon(self.child.kill()).await.unwrap();
    }

    pub(crate) async fn wait(&mut self) -> ExitStatus {
        soon(self.child.wait()).await.unwrap()
    }
}
