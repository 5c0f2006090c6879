//! Raw lines to a program, and what it says.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::time::{Instant, timeout, timeout_at};

use super::exchange::{Exchange, NOT_JSON, is_like_a_message};
use super::incoming::Stop;
use super::log::Log;
use crate::child::{Group, Output, piped};
use crate::sse::MAX_EVENT_BYTES;

/// How long the program may take to read a line, at the least.
const WRITE: Duration = Duration::from_millis(300);
/// How much longer for each KiB of it.
const WRITE_KIB: Duration = Duration::from_millis(4);
/// How much may come before an answer, in bytes.
const MAX_RECEIVED: usize = 2 * MAX_EVENT_BYTES;
/// How much longer the answer may take, once a response with an unknown id has come.
const STRAY: Duration = Duration::from_millis(300);
/// Why there is no answer, if the request did not reach the program.
pub(crate) const NOT_WRITTEN: &str =
    "the line could not be written: the program has ended or does not read";

/// Why no more can come.
pub(crate) const CLOSED: &str = "the program closed its stdout";

/// A program that was started for one revision or one rule.
#[derive(Debug)]
pub(crate) struct Process {
    group: Group,
    stdin: Option<ChildStdin>,
    lines: Output,
    /// Whether it has written a line.
    is_heard: bool,
    /// Where its lines are logged, and by which number.
    log: Option<(Arc<Log>, usize)>,
}

impl Process {
    /// Starts it. Every line that it reads and writes is logged.
    pub(crate) fn start(
        program: &OsString,
        arguments: &[OsString],
        log: Option<Arc<Log>>,
    ) -> std::io::Result<Self> {
        let mut group = Group::spawn_heard(piped(program, arguments))?;
        let log = log.map(|log| (log.clone(), log.program()));
        let logged = log.clone();
        let (stdin, lines) = group.talk(move |line| {
            if let Some((log, program)) = &logged {
                log.line(*program, false, line);
            }
        });
        Ok(Self { group, stdin, lines, is_heard: false, log })
    }

    /// Writes a line, and reads until its response comes, or nothing more within `patience`. A response to an earlier
    /// line that comes before it is left out.
    pub(crate) async fn ask(&mut self, line: &[u8], patience: Duration) -> Exchange {
        let sent = String::from_utf8_lossy(line).into_owned();
        let mut exchange = self.exchange(sent, line, patience).await;
        exchange.is_unheard = !self.is_heard;
        exchange
    }

    async fn exchange(&mut self, sent: String, line: &[u8], patience: Duration) -> Exchange {
        let mut exchange = Exchange { sent, ..Exchange::default() };
        if !self.write(line, patience).await {
            exchange.broken = Some(self.with_last_words(NOT_WRITTEN).await);
            return exchange;
        }
        let mut end = Instant::now() + patience;
        let id = serde_json::from_slice::<Value>(line)
            .ok()
            .and_then(|message| message.get("id").cloned());
        let is_response = Exchange::is_response;
        let is_own = |it: &Value| is_response(it) && (id.is_none() || it.get("id") == id.as_ref());
        let log = self.log.clone();
        // A response whose id is of no request is most likely the answer, with a wrong id.
        let is_stray = |it: &Value| {
            let id = it.get("id").unwrap_or(&Value::Null);
            is_response(it)
                && log.as_ref().is_some_and(|(log, program)| !log.has_sent(*program, id))
        };
        let is_over = |it: &Exchange| it.is_acknowledged() || it.messages.iter().any(is_own);
        let has_stray = |it: &Exchange| it.messages.iter().any(is_stray);
        let is_strict = id.is_some();
        let either = |it: &Exchange| is_over(it) || has_stray(it);
        let mut read = self.gather(&mut exchange, end, is_strict, either).await;
        if read.is_ok() && !is_over(&exchange) {
            end = end.min(Instant::now() + STRAY);
            read = self.gather(&mut exchange, end, is_strict, is_over).await;
            if matches!(read, Err(Stop::Late)) {
                exchange.messages.retain(|it| !is_response(it) || is_stray(it));
                return exchange;
            }
        }
        match read {
            Ok(()) if exchange.is_acknowledged() => {}
            Ok(()) => exchange.messages.retain(|it| !is_response(it) || is_own(it)),
            Err(Stop::Late) => {
                exchange.broken = Some(format!("no answer within {} ms", patience.as_millis()));
                exchange.is_late = true;
            }
            Err(Stop::Problem(problem)) if problem == CLOSED => {
                exchange.broken = Some(self.with_last_words(CLOSED).await);
            }
            Err(Stop::Problem(problem)) => exchange.broken = Some(problem),
        }
        exchange
    }

    /// Adds what the program writes to an exchange until it is enough. `is_strict`: what is meant to be a message has
    /// to be one.
    ///
    /// # Errors
    /// It was not enough by then, or no more can come.
    pub(crate) async fn gather(
        &mut self,
        exchange: &mut Exchange,
        end: Instant,
        is_strict: bool,
        is_enough: impl Fn(&Exchange) -> bool,
    ) -> Result<(), Stop> {
        while !is_enough(exchange) {
            let line = timeout_at(end, self.next()).await.map_err(|_| Stop::Late)?;
            let line = line.ok_or_else(|| Stop::Problem(CLOSED.to_owned()))?;
            if exchange.received.len() + line.len() > MAX_RECEIVED {
                let problem = format!("more than {MAX_RECEIVED} bytes came before an answer");
                return Err(Stop::Problem(problem));
            }
            let text = String::from_utf8_lossy(&line);
            exchange.received.push_str(&text);
            match serde_json::from_slice(&line) {
                Ok(Value::Array(messages)) => exchange.messages.extend(messages),
                Ok(message) => {
                    self.answer_ping(&message).await;
                    exchange.messages.push(message);
                }
                Err(_) if is_strict && is_like_a_message(&text) => {
                    return Err(Stop::Problem(NOT_JSON.to_owned()));
                }
                // A separate rule checks for such lines; the answer may come after them.
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Answers a ping, as every client does. Some servers wait for that before they answer a call.
    async fn answer_ping(&mut self, message: &Value) {
        let id = message.get("id").filter(|_| message.get("method") == Some(&json!("ping")));
        if let Some(id) = id {
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string();
            self.write(answer.as_bytes(), WRITE).await;
        }
    }

    /// What went wrong, and what the program wrote last on stderr.
    async fn with_last_words(&mut self, what: &str) -> String {
        match self.group.last_words().await.join(" | ") {
            words if words.is_empty() => what.to_owned(),
            words => format!("{what}; the end of its stderr: {words}"),
        }
    }

    /// Writes a line; whether the program took it within `patience`.
    pub(crate) async fn write(&mut self, line: &[u8], patience: Duration) -> bool {
        if let Some((log, program)) = &self.log {
            line.split(|byte| *byte == b'\n').for_each(|line| log.line(*program, true, line));
        }
        let write = async {
            let stdin = self.stdin.as_mut()?;
            stdin.write_all(line).await.ok()?;
            stdin.write_all(b"\n").await.ok()?;
            stdin.flush().await.ok()
        };
        let kib = u32::try_from(line.len() / 1_024).unwrap_or(u32::MAX);
        let least = WRITE + WRITE_KIB.saturating_mul(kib);
        matches!(timeout(patience.max(least), write).await, Ok(Some(())))
    }

    /// The next line that the program writes; nothing once it has closed its stdout.
    pub(crate) async fn next(&mut self) -> Option<Vec<u8>> {
        let line = self.lines.recv().await.map(|(line, _room)| line);
        self.is_heard |= line.is_some();
        line
    }

    /// The id of the process; nothing once it has ended.
    pub(crate) fn id(&self) -> Option<u32> {
        self.group.child.id()
    }

    /// Asks it to end, by SIGTERM, with all that it has started; whether that can be done here.
    pub(crate) fn terminate(&self) -> bool {
        self.group.terminate()
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.group.child.try_wait(), Ok(None))
    }

    /// Closes stdin; returns whether the program ended within `patience`.
    pub(crate) async fn ends(mut self, patience: Duration) -> bool {
        drop(self.stdin.take());
        let drained = async { while self.lines.recv().await.is_some() {} };
        let ended = async { tokio::join!(self.group.child.wait(), drained).0.is_ok() };
        timeout(patience, ended).await.unwrap_or(false)
    }
}
