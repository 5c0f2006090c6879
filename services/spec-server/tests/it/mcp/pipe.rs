//! The binary on pipes as a target of transcripts, which are written as HTTP: what goes around a message is left out.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use mcp_conformance::{BoxError, Target};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use super::harness::{HANG, binary};

/// One server process.
struct Pipe {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

/// A target that starts the binary for each `initialize`, or once where there is none.
pub(super) fn target(root: &Path, arguments: &[&'static str]) -> Target {
    let (root, arguments) = (root.to_owned(), arguments.to_vec());
    let current: Arc<Mutex<Option<Pipe>>> = Arc::default();
    Target::in_process(move |request: Request<Full<Bytes>>| {
        let (root, arguments, current) = (root.clone(), arguments.clone(), Arc::clone(&current));
        async move {
            let body = request.into_body().collect().await?.to_bytes();
            let message: Value = serde_json::from_slice(&body)?;
            let mut current = current.lock().await;
            if current.is_none() || message["method"] == "initialize" {
                *current = Some(Pipe::start(&root, &arguments));
            }
            let pipe = current.as_mut().unwrap();
            let answer = tokio::time::timeout(HANG, pipe.ask(&message)).await?;
            let response = match answer {
                Some(answer) => Response::builder()
                    .header("content-type", "application/json")
                    .body(Full::new(Bytes::from(answer.to_string())))?,
                None => Response::builder()
                    .status(StatusCode::ACCEPTED)
                    .body(Full::default())?,
            };
            Ok::<_, BoxError>(response)
        }
    })
}

impl Pipe {
    fn start(root: &Path, arguments: &[&str]) -> Self {
        let mut command = binary();
        command.arg("mcp").arg("--root").arg(root).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            _child: child,
        }
    }

    /// The answer to a request; nothing to a notification.
    async fn ask(&mut self, message: &Value) -> Option<Value> {
        self.input
            .write_all(format!("{message}\n").as_bytes())
            .await
            .unwrap();
        self.input.flush().await.unwrap();
        let id = message.get("id")?;
        loop {
            let line = self.output.next_line().await.unwrap();
            let answer: Value = serde_json::from_str(&line.expect("it still speaks")).unwrap();
            if answer.get("id") == Some(id) {
                return Some(answer);
            }
        }
    }
}
