//! The task that owns the process: it writes requests, reads messages, and matches them.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{Ask, MAX_WAITING, Replies};
use crate::child::{Group, Output, piped, too_long};
use crate::serving::BoxError;
use crate::sse::MAX_EVENT_BYTES;
use crate::target::TargetError;

/// How long a server may take to end after its stdin was closed.
const END_TIME: Duration = Duration::from_secs(3);

/// Writes and reads until all senders are dropped.
pub(super) async fn serve(
    program: OsString,
    arguments: Vec<OsString>,
    mut asks: mpsc::Receiver<Ask>,
) {
    let name = program.display().to_string();
    let no_answer = |source: BoxError| TargetError::NoAnswer { target: name.clone(), source };
    let mut running: Option<Process> = None;
    let mut open = Waiters::default();
    loop {
        // Pending writes are bounded: no more requests are taken while this much waits.
        let full = running.as_ref().is_some_and(|process| process.input.len() > MAX_EVENT_BYTES);
        tokio::select! {
            ask = asks.recv(), if !full => {
                let Some(Ask { message, replies, ends }) = ask else {
                    return;
                };
                if ends {
                    if let Some(process) = running.take() {
                        // One that does not end is killed when it is dropped.
                        let _ = timeout(END_TIME, process.end()).await;
                    }
                    drop(replies);
                    open = Waiters::default();
                    continue;
                }
                if message.as_ref().is_some_and(is_initialize) && let Some(before) = running.take() {
                    // It may hold what the next one needs.
                    before.end().await;
                    open = Waiters::default();
                }
                let process = match &mut running {
                    Some(process) => process,
                    none => match Process::start(&program, &arguments) {
                        Ok(process) => none.insert(process),
                        Err(source) => {
                            let target = name.clone();
                            // Who asked may have left.
                            let _ = replies.try_send(Err(TargetError::Unreachable { target, source }));
                            continue;
                        }
                    },
                };
                if let Some(message) = &message {
                    process.input.extend(format!("{message}\n").into_bytes());
                }
                open.add(message, replies);
            }
            done = step(&mut running), if running.is_some() => match done {
                Ok(None) => {}
                Ok(Some(line)) => open.give(line),
                Err(error) => {
                    running = None;
                    let error = error.to_string();
                    std::mem::take(&mut open).fail(|| no_answer(error.clone().into()));
                }
            },
        }
    }
}

fn is_initialize(message: &Value) -> bool {
    message.get("method").is_some_and(|method| method == "initialize")
}

async fn step(running: &mut Option<Process>) -> Result<Option<ServerLine>, BoxError> {
    match running {
        Some(process) => process.step().await,
        None => std::future::pending().await,
    }
}

/// A line of the server, unchanged.
struct ServerLine {
    line: String,
    message: Value,
}

struct Process {
    group: Group,
    stdin: ChildStdin,
    lines: Output,
    /// What is still to be written.
    input: VecDeque<u8>,
}

impl Process {
    fn start(program: &OsString, arguments: &[OsString]) -> Result<Self, BoxError> {
        let mut group = Group::spawn(piped(program, arguments))
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let (stdin, lines) = group.talk(|_| {});
        Ok(Self { group, stdin: stdin.ok_or("it has no stdin")?, lines, input: VecDeque::new() })
    }

    /// Writes some or reads some; the message if that ends a line. Loses nothing when it is dropped while it waits.
    async fn step(&mut self) -> Result<Option<ServerLine>, BoxError> {
        let (front, _) = self.input.as_slices();
        tokio::select! {
            written = self.stdin.write(front), if !front.is_empty() => {
                let written = match written? {
                    0 => return Err("the server closed its stdin".into()),
                    written => written,
                };
                self.input.drain(..written);
                Ok(None)
            }
            line = self.lines.recv() => {
                let line = line.map(|(line, _room)| line).unwrap_or_default();
                if !line.ends_with(b"\n") {
                    let problem = too_long(&line);
                    return Err(problem.unwrap_or("the server closed its stdout".to_owned()).into());
                }
                let line = std::str::from_utf8(line.trim_ascii_end())?;
                let message = serde_json::from_str(line)
                    .map_err(|error| format!("a line of stdout is not JSON: {error}: {line}"))?;
                let line = line.to_owned();
                Ok(Some(ServerLine { line, message }))
            }
        }
    }

    /// Closes its stdin, which is how a server is asked to end, and waits for it.
    async fn end(self) {
        let Self { mut group, stdin, .. } = self;
        drop(stdin);
        // One that cannot be waited for has ended.
        let _ = group.child.wait().await;
    }
}

/// Who waits for what.
#[derive(Default)]
struct Waiters {
    requests: Vec<(Value, Replies)>,
    listener: Option<Replies>,
    /// Questions of the server that came before a request that they could go to.
    unheard: VecDeque<String>,
    /// Notifications that came before the first listener and to no request.
    early: VecDeque<String>,
}

impl Waiters {
    fn add(&mut self, message: Option<Value>, replies: Replies) {
        match message {
            None => {
                for notification in self.early.drain(..) {
                    let _ = replies.try_send(Ok(notification));
                }
                self.listener = Some(replies);
            }
            Some(request) if request.get("id").is_some() && request.get("method").is_some() => {
                for question in self.unheard.drain(..) {
                    let _ = replies.try_send(Ok(question));
                }
                self.requests.push((request, replies));
            }
            // Nothing answers a notification or an answer.
            Some(_) => {}
        }
    }

    /// Passes a message to its receiver. A receiver that reads too slowly, or has left, misses it.
    fn give(&mut self, ServerLine { line, message }: ServerLine) {
        self.requests.retain(|(_, replies)| !replies.is_closed());
        let id = message.get("id");
        if message.get("method").is_none() {
            // An answer without a waiting caller belongs to one that has left.
            if let Some(index) =
                self.requests.iter().position(|(request, _)| request.get("id") == id)
            {
                let (_, replies) = self.requests.remove(index);
                let _ = replies.try_send(Ok(line));
            }
            return;
        }
        let named = self.requests.iter().find(|(request, _)| concerns(&message, request));
        let oldest = self.requests.iter().find(|(request, _)| {
            request.get("method").is_some_and(|method| method != "subscriptions/listen")
        });
        let oldest = oldest.map(|(_, replies)| replies);
        let to = match (named, id) {
            (Some((_, replies)), _) => Some(replies),
            (None, Some(_)) => oldest.or(self.listener.as_ref()),
            (None, None) => self.listener.as_ref().or(oldest),
        };
        match to {
            Some(replies) => drop(replies.try_send(Ok(line))),
            None if id.is_some() && self.unheard.len() < MAX_WAITING => {
                self.unheard.push_back(line)
            }
            // Over HTTP the server would keep them for a stream that opens later.
            None if id.is_none() && self.early.len() < MAX_WAITING => self.early.push_back(line),
            None => {}
        }
    }

    fn fail(self, error: impl Fn() -> TargetError) {
        let waiting = self.requests.into_iter().map(|(_, replies)| replies);
        for replies in waiting.chain(self.listener) {
            let _ = replies.try_send(Err(error()));
        }
    }
}

/// Whether a message of the server belongs to this request: it reports its progress, or comes from the subscription
/// that it opened.
fn concerns(message: &Value, request: &Value) -> bool {
    let subscription = message.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId");
    let token = message.pointer("/params/progressToken");
    subscription.is_some() && subscription == request.get("id")
        || token.is_some() && token == request.pointer("/params/_meta/progressToken")
}
