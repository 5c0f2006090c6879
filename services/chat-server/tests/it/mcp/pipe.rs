//! The binary on pipes as a target of transcripts, which are written as HTTP: what goes around a message is left out.

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

use super::harness::{HANG, Place};

/// One server process.
pub(super) struct Pipe {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    pub(super) child: Child,
}

/// A target that starts the binary for each `initialize`, or once where there is none.
pub(super) fn target(place: &Arc<Place>) -> Target {
    let place = Arc::clone(place);
    let current: Arc<Mutex<Option<Pipe>>> = Arc::default();
    Target::in_process(move |request: Request<Full<Bytes>>| {
        let (place, current) = (Arc::clone(&place), Arc::clone(&current));
        async move {
            let body = request.into_body().collect().await?.to_bytes();
            let message: Value = serde_json::from_slice(&body)?;
            let mut current = current.lock().await;
            if current.is_none() || message["method"] == "initialize" {
                // The one before lets go of the index.
                if let Some(mut before) = current.take() {
                    drop(before.input);
                    before.child.wait().await?;
                }
                *current = Some(Pipe::start(&place, &[]));
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
    pub(super) fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command("mcp");
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
