//! The client over a pair of byte streams: a child process, or a server in memory.
//!
//! It uses two tasks, so that a peer that writes without reading cannot cause a deadlock.

mod process;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto::Server;
use mcp_proto::jsonrpc::{Message, Notification, Request, RequestId, Response};
use mcp_proto::lifecycle::META_SUBSCRIPTION_ID;
use mcp_proto::stdio::{self, Line, Lines, StdioConfig};
use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::answering::Answering;
use super::hub::{NotificationHub, Own};
use super::{ClientConfig, ClientError, Result};
use crate::locked::Locked as _;
use process::Process;

/// How many lines may wait to be written before a sender waits.
const OUTGOING: usize = 64;
/// How long a child process that has closed its output may take to end, before its callers get an error without its
/// exit status.
const ENDING: Duration = Duration::from_secs(1);
/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(10);
/// The size of an in-memory stream's buffer, in bytes.
const MEMORY_BUFFER: usize = 64 * 1024;

/// A connection of lines.
#[derive(Debug)]
pub(super) struct Pipe {
    outgoing: mpsc::Sender<Vec<u8>>,
    waiting: Arc<Waiters>,
    closing: Arc<Notify>,
    hub: Arc<NotificationHub>,
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
    peer: SharedPeer,
}

/// The peer; taken by the first caller that closes.
#[derive(Debug, Clone)]
struct SharedPeer(Arc<Mutex<Option<Peer>>>);

#[derive(Debug)]
enum Peer {
    Child(Box<Process>),
    Task(JoinHandle<std::io::Result<()>>),
    /// Another process or task, which may outlive the streams.
    Other,
}

/// The requests that wait for their answers, one entry for each future that [`Pipe::call`] gave; `None` once the
/// stream has ended.
#[derive(Debug)]
struct Waiters(Mutex<Option<HashMap<RequestId, Waiter>>>);

/// A caller that waits for an answer, and the receiver of the notifications before it.
#[derive(Debug)]
struct Waiter {
    answer: oneshot::Sender<Response>,
    own: Own,
}

/// Cancels a request when it is dropped before the answer.
struct WaitingCall<'p> {
    pipe: &'p Pipe,
    request: &'p Request,
    /// It is on its way to the peer.
    sent: bool,
}

impl Pipe {
    /// Starts a process and connects to its stdin and stdout.
    pub(super) fn child(
        command: &mut Command,
        config: &ClientConfig,
        hub: Arc<NotificationHub>,
    ) -> Result<Self> {
        let (process, stdin, stdout) = Process::start(command, config.stderr)?;
        let peer = Peer::Child(Box::new(process));
        Ok(Self::open(stdout, stdin, peer, config, hub))
    }

    /// Connects over two streams that the caller made.
    pub(super) fn streams(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        config: &ClientConfig,
        hub: Arc<NotificationHub>,
    ) -> Self {
        Self::open(reader, writer, Peer::Other, config, hub)
    }

    pub(super) fn memory(server: Server, config: &ClientConfig, hub: Arc<NotificationHub>) -> Self {
        let (near, far) = tokio::io::duplex(MEMORY_BUFFER);
        let (far_reader, far_writer) = tokio::io::split(far);
        let mut bounds = StdioConfig::default();
        bounds.max_answer_bytes = config.max_message_bytes;
        let served = stdio::serve(server, far_reader, far_writer, bounds);
        let peer = Peer::Task(tokio::spawn(served));
        let (reader, writer) = tokio::io::split(near);
        Self::open(reader, writer, peer, config, hub)
    }

    fn open(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        peer: Peer,
        config: &ClientConfig,
        hub: Arc<NotificationHub>,
    ) -> Self {
        let (outgoing, lines) = mpsc::channel(OUTGOING);
        let waiting = Arc::new(Waiters(Mutex::new(Some(HashMap::new()))));
        let closing = Arc::new(Notify::new());
        let sender = outgoing.downgrade();
        let peer = SharedPeer(Arc::new(Mutex::new(Some(peer))));
        let (answers, clock) = (config.answers.clone(), hub.clock.clone());
        let reading = Reading {
            waiting: Arc::clone(&waiting),
            hub: Arc::clone(&hub),
            peer: peer.clone(),
            // No question names the call that it belongs to.
            answering: Answering::new(answers, clock, move |response| {
                Box::pin(respond(sender.clone(), response))
            }),
        };
        Self {
            outgoing,
            waiting,
            closing: Arc::clone(&closing),
            hub,
            reader: tokio::spawn(reading.run(reader, config.max_message_bytes)),
            writer: tokio::spawn(write(writer, lines, closing)),
            peer,
        }
    }

    pub(super) async fn call(&self, request: &Request, own: Own) -> Result<Response> {
        let (sender, answer) = oneshot::channel();
        let waiter = Waiter { answer: sender, own };
        let is_open = self.waiting.insert(&request.id, waiter);
        if !is_open {
            return Err(self.hub.ended().await);
        }
        let mut entry = WaitingCall { pipe: self, request, sent: false };
        self.send(request).await?;
        entry.sent = true;
        match answer.await {
            Ok(response) => Ok(response),
            Err(_) => Err(self.hub.ended().await),
        }
    }

    pub(super) async fn send(&self, message: &impl Serialize) -> Result<()> {
        let line = line(message)?;
        if self.outgoing.send(line).await.is_ok() {
            return Ok(());
        }
        // A peer that reads no more has most likely ended.
        let ended = tokio::time::timeout(ENDING * 2, self.hub.ended()).await;
        Err(ended.unwrap_or(ClientError::Closed))
    }

    /// Sends a line once the peer reads again. There are at most as many of these as requests sent to it.
    fn send_later(&self, line: Vec<u8>) {
        let outgoing = self.outgoing.clone();
        if let Ok(runtime) = Handle::try_current() {
            // Fails when the client closes or is gone, and then all calls end.
            runtime.spawn(async move { drop(outgoing.send(line).await) });
        }
    }

    /// Closes the peer's input and waits for its end; ends it by force after `limit`.
    pub(super) async fn close(&self, limit: Duration) -> Result<()> {
        let peer = self.peer.0.locked().take();
        self.closing.notify_one();
        match peer {
            None | Some(Peer::Other) => Ok(()),
            Some(Peer::Task(mut task)) => match tokio::time::timeout(limit, &mut task).await {
                Ok(_ended) => Ok(()),
                Err(_) => {
                    task.abort();
                    Err(ClientError::Timeout(limit))
                }
            },
            Some(Peer::Child(process)) => process.close(limit).await,
        }
    }

    /// What the peer wrote to its stderr, where that is captured.
    pub(super) fn stderr(&self) -> Option<String> {
        match &*self.peer.0.locked() {
            Some(Peer::Child(process)) => process.stderr(),
            _ => None,
        }
    }

    /// Whether a process that has ended had read what it was sent.
    pub(super) fn was_read(&self) -> bool {
        match &*self.peer.0.locked() {
            // The writer ends before the client does only when it cannot write.
            Some(Peer::Child(process)) => !self.writer.is_finished() && process.has_read_all(),
            _ => false,
        }
    }

    /// An error with what is known about the process, where there is one.
    pub(super) fn explained(&self, error: ClientError) -> ClientError {
        match &mut *self.peer.0.locked() {
            Some(Peer::Child(process)) => process.explained(&error.to_string()),
            _ => error,
        }
    }
}

impl SharedPeer {
    /// Why the peer sends no more.
    async fn ended(&self) -> ClientError {
        let until = Instant::now() + ENDING;
        loop {
            match &mut *self.0.locked() {
                Some(Peer::Child(process)) => {
                    if process.is_over() || Instant::now() >= until {
                        return process.explained("the server closed its output");
                    }
                }
                _ => return ClientError::Closed,
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.reader.abort();
        self.writer.abort();
        // A process is killed now, not when the runtime drops the reader.
        drop(self.peer.0.locked().take());
    }
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        let waited = match &mut *self.pipe.waiting.0.locked() {
            Some(table) => table.remove(&self.request.id).is_some(),
            None => false,
        };
        // A request that was not sent cannot be cancelled, and `initialize` must not be (MCP, "Cancellation"). A peer
        // that leaves `server/discover` unanswered is of the legacy era, which accepts nothing before its handshake.
        let is_first = matches!(self.request.method.as_str(), "initialize" | "server/discover");
        if waited && self.sent && !is_first {
            let cancelled = Notification::new(
                "notifications/cancelled",
                json!({ "requestId": self.request.id }),
            );
            if let Ok(line) = line(&cancelled)
                && let Err(TrySendError::Full(line)) = self.pipe.outgoing.try_send(line)
            {
                self.pipe.send_later(line);
            }
        }
    }
}

impl Waiters {
    /// Whether the stream has not ended.
    fn insert(&self, id: &RequestId, waiter: Waiter) -> bool {
        let mut table = self.0.locked();
        let inserted = table.as_mut().map(|table| table.insert(id.clone(), waiter));
        inserted.is_some()
    }

    /// The request that receives a notification before all others, by the progress token or the subscription.
    fn own(&self, notification: &Notification) -> Option<Own> {
        let meta = notification.params.get("_meta");
        let id =
            notification.params.get("progressToken").or_else(|| meta?.get(META_SUBSCRIPTION_ID))?;
        let id = RequestId::Number(id.as_i64()?);
        Some(self.0.locked().as_ref()?.get(&id)?.own.clone())
    }
}

/// The state of the reading task.
struct Reading {
    waiting: Arc<Waiters>,
    hub: Arc<NotificationHub>,
    peer: SharedPeer,
    answering: Answering<'static>,
}

impl Reading {
    async fn run(mut self, mut reader: impl AsyncRead + Unpin, max_line_bytes: usize) {
        let mut lines = Lines::new(max_line_bytes);
        loop {
            while let Some(line) = lines.next() {
                self.take(&line);
            }
            // Reading must not wait for writing.
            let read = tokio::select! {
                read = lines.read(&mut reader) => read,
                answered = self.answering.next() => {
                    if let Err(error) = answered {
                        tracing::debug!(%error, "a request of the server was not answered");
                    }
                    continue;
                }
            };
            match read {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(%error, "the server's output broke");
                    break;
                }
            }
        }
        if let Some(line) = lines.rest() {
            self.take(&line);
        }
        // Callers that still wait get the reason.
        self.hub.over(self.peer.ended().await);
        let ended = self.waiting.0.locked().take();
        drop(ended);
    }

    fn take(&mut self, line: &Line) {
        let Line::Text(text) = line else {
            tracing::warn!("a line of the server was longer than allowed and was dropped");
            return;
        };
        // Some runtimes begin their output with a byte order mark.
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        if text.trim_ascii().is_empty() {
            return;
        }
        match Message::from_slice(text) {
            Ok(Message::Response(response)) => self.answered(response),
            Ok(Message::Notification(notification)) => {
                self.answering.cancel(&notification);
                if let Some(own) = self.waiting.own(&notification) {
                    own.receive(&notification);
                }
                self.hub.publish(notification);
            }
            Ok(Message::Request(request)) => self.answering.take(request),
            Err(broken) => {
                tracing::warn!(
                    problem = broken.error.message,
                    "a line of the server is not a message"
                );
            }
        }
    }

    fn answered(&self, response: Response) {
        let Some(id) = &response.id else {
            tracing::warn!(?response, "the server refused something that had no readable id");
            return;
        };
        let waiter = self.waiting.0.locked().as_mut().and_then(|table| table.remove(id));
        if let Some(waiter) = waiter {
            // Fails only when the caller has just given up.
            let _ = waiter.answer.send(response);
        }
    }
}

/// Writes lines until the client closes or is gone; then ends the peer's input.
async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Vec<u8>>,
    closing: Arc<Notify>,
) {
    let mut closed = false;
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            () = closing.notified(), if !closed => {
                closed = true;
                lines.close();
                continue;
            }
        };
        let Some(line) = line else { break };
        let written = async {
            writer.write_all(&line).await?;
            writer.flush().await
        };
        if let Err(error) = written.await {
            tracing::debug!(%error, "the server's input broke");
            return;
        }
    }
    if let Err(error) = writer.shutdown().await {
        tracing::debug!(%error, "the server's input could not be closed");
    }
}

fn line(message: &impl Serialize) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)
        .map_err(|problem| ClientError::Protocol(problem.to_string()))?;
    line.push(b'\n');
    Ok(line)
}

/// Answers a request of the server.
async fn respond(outgoing: mpsc::WeakSender<Vec<u8>>, response: Response) -> Result<()> {
    let line = line(&Message::Response(response))?;
    let outgoing = outgoing.upgrade().ok_or(ClientError::Closed)?;
    outgoing.send(line).await.map_err(|_| ClientError::Closed)
}
