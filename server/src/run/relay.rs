//! A client on stdin and stdout, whose lines are passed on to the server that holds the directory, and to its
//! successors.
//!
//! The client outlives its servers. When one ends, what was running is answered as such, and the client's handshake and
//! its subscriptions are repeated to the next one.
//!
//! It is not a client of the library. The lines have another client's ids, era and answers; a client in between would
//! negotiate its own era, number requests differently and send some twice. The relay reads only what it must repeat to
//! the next server.

mod lines;
mod memory;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, Stdin, Stdout, stdin, stdout};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::RunError;
use crate::config::Config;
use crate::socket::wire::LEAVING;
use lines::{Line, Lines, lines, write_line};
use memory::{Handshake, Memory};

/// The longest answer that is relayed, in bytes. It may contain a state twice, once with its quotes escaped.
const MAX_ANSWER_BYTES: usize = 256 << 20;

/// The longest time that a server may take for the repeated handshake.
const HANDSHAKE_TIME: Duration = Duration::from_secs(2);

/// The longest time to relay the last answers, in addition to the drain time of running calls.
const FAREWELL_TIME: Duration = Duration::from_secs(1);

/// The reason why a relay ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The client closed its input, or the process was stopped.
    Client,
    /// The server ended.
    Server,
    /// The server is ending and another one takes its place.
    Succeeded,
}

/// Whether all of the client's lines were relayed.
enum Sent {
    /// All were relayed.
    All,
    /// Some were not, because the server accepts no more.
    Some,
}

/// The client.
pub(super) struct Client {
    input: Lines<Stdin>,
    output: Stdout,
    memory: Mutex<Memory>,
    max_line_bytes: usize,
    /// How long running calls may continue after the client ended its input.
    drain_time: Duration,
    stop: CancellationToken,
}

impl Client {
    /// The client of this process, until `stop`.
    pub(super) fn new(config: &Config, stop: CancellationToken) -> Self {
        let max_line_bytes = config.stdio.max_line_bytes;
        Self {
            input: lines(stdin(), max_line_bytes),
            output: stdout(),
            memory: Mutex::default(),
            max_line_bytes,
            drain_time: config.stdio.drain_time + FAREWELL_TIME,
            stop,
        }
    }

    /// Relays lines in both directions until one side ends or the directory changes its holder.
    ///
    /// # Errors
    /// The errors of stdin and stdout.
    pub(super) async fn relay(
        &mut self,
        reader: impl AsyncRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
        leave: &CancellationToken,
    ) -> Result<End, RunError> {
        let mut answers = lines(reader, MAX_ANSWER_BYTES);
        let stop = self.stop.clone();
        let introduced = tokio::select! {
            () = stop.cancelled() => return Ok(End::Client),
            introduced = timeout(HANDSHAKE_TIME, self.introduce(&mut answers, &mut writer)) => introduced,
        };
        let end = match introduced {
            Ok(Ok(missed)) => self.pass(&mut answers, &mut writer, leave, missed).await?,
            Ok(Err(_)) | Err(_) => End::Server,
        };
        if end != End::Client {
            self.fail_running().await?;
        }
        Ok(end)
    }

    /// Runs both directions concurrently. Neither waits for the other, even if a buffer is full.
    async fn pass(
        &mut self,
        answers: &mut Lines<impl AsyncRead + Unpin>,
        writer: &mut (impl AsyncWrite + Unpin),
        leave: &CancellationToken,
        missed: Vec<String>,
    ) -> Result<End, RunError> {
        let Self { input, output, memory, max_line_bytes, drain_time, stop } = self;
        let (notices, noticed) = mpsc::channel(1);
        let mut down = std::pin::pin!(pass_down(answers, output, memory, noticed, missed));
        let sent = tokio::select! {
            end = &mut down => return end,
            sent = pass_up(input, writer, memory, leave, notices, *max_line_bytes) => sent?,
            () = stop.cancelled() => Sent::All,
        };
        // The server lets running calls finish and then ends the stream.
        let rest = async {
            // The server may have ended already.
            let _ = writer.shutdown().await;
            down.await
        };
        let end = match timeout(*drain_time, rest).await {
            Ok(end) => end?,
            Err(_late) => End::Server,
        };
        Ok(match sent {
            Sent::All => End::Client,
            Sent::Some => end,
        })
    }

    /// Repeats the client's handshake with a new server, without relaying answers that the client already has. Returns
    /// the notifications about changes that the client may have missed without a server.
    async fn introduce(
        &self,
        answers: &mut Lines<impl AsyncRead + Unpin>,
        writer: &mut (impl AsyncWrite + Unpin),
    ) -> Result<Vec<String>, std::io::Error> {
        let Some(handshake) = lock(&self.memory).handshake() else {
            return Ok(Vec::new());
        };
        let Handshake { initialize, initialized, answered, subscriptions } = handshake;
        write_line(writer, &initialize).await?;
        // An answer that the client still waits for is relayed. Its requests since then were answered as lost.
        if answered {
            skip_answer(answers).await?;
            // The server sends nothing else before the client is initialized, so these lines are answers.
            for (n, uri) in subscriptions.iter().enumerate() {
                let id = format!("universe-server/subscription/{n}");
                let params = json!({ "uri": uri });
                let subscribe = json!({"jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": params});
                write_line(writer, subscribe.to_string().as_bytes()).await?;
                skip_answer(answers).await?;
            }
        }
        match initialized {
            None => Ok(Vec::new()),
            Some(initialized) => {
                write_line(writer, &initialized).await?;
                Ok(missed(&subscriptions))
            }
        }
    }

    /// Answers the requests that the server left unanswered with errors. Whether they were executed is not known here.
    async fn fail_running(&mut self) -> Result<(), RunError> {
        let running = lock(&self.memory).take_running();
        for id in running {
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32603,\"message\":\"the server process that \
                 held the universes ended before it answered; read the universe to see whether the request was \
                 done, and send it again if not\"}}}}"
            );
            write_line(&mut self.output, line.as_bytes()).await?;
        }
        Ok(())
    }
}

/// Notifications of changes while there was no server. What changed is not known here, so everything is reported.
fn missed(subscriptions: &[String]) -> Vec<String> {
    let notification = |method: &str, params: serde_json::Value| {
        json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
    };
    let list = notification("notifications/resources/list_changed", json!({}));
    let updates = subscriptions
        .iter()
        .map(|uri| notification("notifications/resources/updated", json!({ "uri": uri })));
    std::iter::once(list).chain(updates).collect()
}

/// Skips an answer that the client does not wait for.
async fn skip_answer(answers: &mut Lines<impl AsyncRead + Unpin>) -> Result<(), std::io::Error> {
    let gone = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    answers.next().await.ok_or_else(gone)?.map_err(|_| gone())?;
    Ok(())
}

/// Relays from the client to the server. A line that was begun is relayed completely.
async fn pass_up(
    input: &mut Lines<impl AsyncRead + Unpin>,
    writer: &mut (impl AsyncWrite + Unpin),
    memory: &Mutex<Memory>,
    leave: &CancellationToken,
    notices: mpsc::Sender<String>,
    max_line_bytes: usize,
) -> Result<Sent, RunError> {
    loop {
        let asked = tokio::select! {
            biased;
            () = leave.cancelled() => return Ok(Sent::Some),
            asked = input.next() => asked,
        };
        match asked {
            Some(Ok(Line::Text(line))) => {
                lock(memory).asked(&line);
                if write_line(writer, &line).await.is_err() {
                    return Ok(Sent::Some);
                }
            }
            Some(Ok(Line::TooLong)) => {
                tracing::warn!(
                    max = max_line_bytes,
                    "a line was longer than allowed and was dropped"
                );
                // Fails only if the client disconnected.
                let _ = notices.send(too_long(max_line_bytes)).await;
            }
            Some(Err(error)) => return Err(error.into()),
            None => return Ok(Sent::All),
        }
    }
}

/// Relays from the server to the client, after the missed notifications, together with notices of the other direction.
async fn pass_down(
    answers: &mut Lines<impl AsyncRead + Unpin>,
    output: &mut Stdout,
    memory: &Mutex<Memory>,
    mut notices: mpsc::Receiver<String>,
    missed: Vec<String>,
) -> Result<End, RunError> {
    for line in missed {
        write_line(output, line.as_bytes()).await?;
    }
    loop {
        let answer = tokio::select! {
            answer = answers.next() => answer,
            Some(notice) = notices.recv() => {
                write_line(output, notice.as_bytes()).await?;
                continue;
            }
        };
        match answer {
            Some(Ok(Line::Text(line))) if Some(&*line) == LEAVING.strip_suffix(b"\n") => {
                return Ok(End::Succeeded);
            }
            Some(Ok(Line::Text(line))) => {
                lock(memory).answered(&line);
                write_line(output, &line).await?;
            }
            Some(Ok(Line::TooLong) | Err(_)) | None => return Ok(End::Server),
        }
    }
}

fn too_long(max: usize) -> String {
    let message = format!("the line is longer than {max} bytes");
    let error = json!({"code": -32600, "message": message});
    json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string()
}

/// The lock is never held across an await.
fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}
