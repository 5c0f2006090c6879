//! A server on pipes as a target. Transcripts are written as HTTP; what goes around a message is left out.

use std::ffi::OsString;
use std::process::Stdio;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{Method, Request, Response, StatusCode};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};

use crate::sse::MAX_EVENT_BYTES;
use crate::target::BoxError;
use crate::wire::EVENT_STREAM;

/// How many messages a server may send before it answers.
const MAX_MESSAGES: usize = 10_000;

/// A server that is started when it is first asked, and anew for each `initialize`. Ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Pipe(mpsc::Sender<Exchange>);

/// A message, and who waits for its answer.
type Exchange = (Value, oneshot::Sender<Result<Answer, BoxError>>);

/// What came up to the answer, and with it, as it was sent; nothing for notifications.
type Answer = Vec<String>;

impl Pipe {
    /// Must be called within a tokio runtime, where it puts the task that owns the process.
    pub(crate) fn new(program: OsString, arguments: Vec<OsString>) -> Self {
        // One exchange at a time is on its way: on a pipe there is nothing to tell them apart but their ids.
        let (sender, exchanges) = mpsc::channel(1);
        tokio::spawn(serve(program, arguments, exchanges));
        Self(sender)
    }

    /// One exchange. Sessions and streams of their own are HTTP's, so anything but POST is told 405.
    pub(crate) async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, BoxError> {
        if request.method() != Method::POST {
            return Ok(Response::builder()
                .status(StatusCode::METHOD_NOT_ALLOWED)
                .header(ALLOW, "POST")
                .body(Bytes::new())?);
        }
        let message = serde_json::from_slice(request.body()).map_err(|error| {
            format!("a line must be one JSON value, and the request is none: {error}")
        })?;
        let (reply, answer) = oneshot::channel();
        self.0.send((message, reply)).await?;
        let messages = answer.await??;
        let response = Response::builder();
        Ok(match messages.as_slice() {
            [] => response.status(StatusCode::ACCEPTED).body(Bytes::new())?,
            [answer] => response
                .header(CONTENT_TYPE, "application/json")
                .body(answer.clone().into())?,
            several => {
                let events = several.iter().map(|message| format!("data: {message}\n\n"));
                response
                    .header(CONTENT_TYPE, EVENT_STREAM)
                    .body(events.collect::<String>().into())?
            }
        })
    }
}

/// Takes exchanges one after the other until nobody is left who could ask.
async fn serve(
    program: OsString,
    arguments: Vec<OsString>,
    mut exchanges: mpsc::Receiver<Exchange>,
) {
    let mut running: Option<Process> = None;
    while let Some((message, mut reply)) = exchanges.recv().await {
        let anew = message
            .get("method")
            .is_some_and(|method| method == "initialize");
        let exchange = async {
            if anew && let Some(before) = running.take() {
                // It may hold what the next one needs.
                before.end().await?;
            }
            let process = match &mut running {
                Some(process) => process,
                none => none.insert(Process::start(&program, &arguments)?),
            };
            process.ask(&message).await
        };
        tokio::select! {
            answer = exchange => {
                if answer.is_err() {
                    running = None;
                }
                // Who asked may have left in the meantime.
                let _ = reply.send(answer);
            }
            // Who gave up may have left half a line on its way; nothing can be said after it.
            () = reply.closed() => running = None,
        }
    }
}

struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(program: &OsString, arguments: &[OsString]) -> Result<Self, BoxError> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Ok(Self {
            child,
            input: input.ok_or("it has no stdin")?,
            output: BufReader::new(output.ok_or("it has no stdout")?),
        })
    }

    async fn ask(&mut self, message: &Value) -> Result<Answer, BoxError> {
        self.input
            .write_all(format!("{message}\n").as_bytes())
            .await?;
        self.input.flush().await?;
        let Some(id) = message.get("id") else {
            return Ok(Vec::new());
        };
        let mut messages = Vec::new();
        while messages.len() < MAX_MESSAGES {
            let line = self.next().await?;
            let message: Value = serde_json::from_str(&line)
                .map_err(|error| format!("a line is no JSON: {error}: {line}"))?;
            let is_answer = message.get("method").is_none();
            if !is_answer {
                messages.push(line);
            } else if message.get("id") == Some(id) {
                messages.push(line);
                return Ok(messages);
            }
            // Other answers are to somebody who no longer waits.
        }
        Err(format!("there were {MAX_MESSAGES} messages and no answer among them").into())
    }

    async fn next(&mut self) -> Result<String, BoxError> {
        let mut line = Vec::new();
        let mut bounded = (&mut self.output).take(MAX_EVENT_BYTES as u64 + 1);
        bounded.read_until(b'\n', &mut line).await?;
        if !line.ends_with(b"\n") {
            return Err(match line.len() > MAX_EVENT_BYTES {
                true => format!("a line has more than {MAX_EVENT_BYTES} bytes").into(),
                false => "the server closed its stdout".into(),
            });
        }
        Ok(std::str::from_utf8(line.trim_ascii_end())?.to_owned())
    }

    /// Closes its stdin, which is how a server is told to end, and waits for it.
    async fn end(self) -> Result<(), BoxError> {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        child.wait().await?;
        Ok(())
    }
}
