//! One connection: its calls and its one writer.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::task::{self, Poll, Waker};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::future::{AbortHandle, Abortable, OptionFuture};
use futures_util::stream::SelectAll;
use futures_util::{FutureExt as _, Stream as _};
use http::Extensions;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::StdioConfig;
use super::lines::{Line, Lines};
use super::output::{Output, has_room, write_line};
use crate::call::{Called, IncomingMessage};
use crate::context::{Context, Incoming};
use crate::json::Meter;
use crate::jsonrpc::{
    ErrorObject, MAX_REQUEST_ID_BYTES, Message, MessageError, Notification, ReadError, RequestId,
    Response, Result, take_meta, without_mark,
};
use crate::legacy::batch::{check_in_batch, is_batch, read_batch};
use crate::legacy::stdio as legacy;
use crate::legacy::stdio::{Legacy, News};
use crate::lifecycle::{META_SUBSCRIPTION_ID, ModernMeta};
use crate::outbox::{Outbox, Outgoing};
use crate::running::{CallOutput, RunningCall};
use crate::server::Server;

/// How often a broken message is answered at most. Two peers that take each other's refusals for broken ones would
/// otherwise write as fast as they can.
const BETWEEN_REFUSALS: Duration = Duration::from_secs(1);
/// The most bytes that an answer has besides its result: its id is the longest part.
const MAX_ENVELOPE: usize = 6 * MAX_REQUEST_ID_BYTES + 64;

/// The running calls of a connection. Each can be aborted by its id.
type Calls = SelectAll<Abortable<RunningCall>>;

/// The state of a connection; see [`super::serve`].
pub(super) struct Connection {
    server: Server,
    config: StdioConfig,
    /// What is known about the peer.
    extensions: Extensions,
    calls: Calls,
    running: HashMap<RequestId, Running>,
    legacy: Legacy,
    news: News,
    /// What running calls have sent since the last check; appended to `out`.
    sent: BytesMut,
    /// What is written next.
    out: Output,
    /// When a broken message was last answered.
    refused: Option<Instant>,
}

struct Running {
    abort: AbortHandle,
    /// A listen never ends by itself, so the end of the input ends it.
    listens: bool,
    legacy: legacy::Running,
}

impl Connection {
    pub(super) fn new(server: Server, config: StdioConfig, extensions: Extensions) -> Self {
        Self {
            server,
            config,
            extensions,
            calls: SelectAll::new(),
            running: HashMap::new(),
            legacy: Legacy::new(config.max_answer_bytes),
            news: News::default(),
            sent: BytesMut::new(),
            out: Output::default(),
            refused: None,
        }
    }

    pub(super) async fn run<R, W>(mut self, mut reader: R, mut writer: W) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let mut lines = Lines::new(self.config.max_line_bytes);
        // Starts at the end of the input and limits all remaining work.
        let mut deadline = None;
        let mut all_taken = false;
        // Runs while the peer does not read its output and its input is not read.
        let mut stalled = None;
        loop {
            self.out.append(&mut self.sent);
            self.legacy.change_session(&mut self.news);
            let taken = self.take_lines(&mut lines);
            // The effects of their immediate answers are applied before anything is awaited.
            self.legacy.change_session(&mut self.news);
            let ended = deadline.is_some();
            if ended && taken && !all_taken {
                all_taken = true;
                self.end_input(&mut lines);
            }
            // Written at once if the peer accepts it: each turn of this loop polls everything that it may wait for.
            if self.out.is_due()
                && let Some(written) = self.out.write(&mut writer).now_or_never()
            {
                if is_left(written, ended)? {
                    return Ok(());
                }
                stalled = None;
                if !taken {
                    continue;
                }
            }
            if all_taken && self.calls.is_empty() && !self.out.is_due() {
                return Ok(());
            }
            let reads = !ended && (taken || lines.has_room());
            if reads || ended {
                stalled = None;
            } else if stalled.is_none() {
                stalled = Some(Box::pin(tokio::time::sleep(self.config.stall_time)));
            }
            tokio::select! {
                biased;
                Some(()) = OptionFuture::from(deadline.as_mut()) => {
                    tracing::warn!(
                        calls = self.calls.len(),
                        "calls or answers were dropped: the input ended and they took too long"
                    );
                    return Ok(());
                }
                () = Self::progress(&mut self.calls, &mut self.running, &mut self.legacy, &mut self.sent), if self.out.has_room() => {}
                change = self.news.next(), if self.out.has_room() => {
                    self.out.push(change.notification());
                }
                // A peer that does not read its answers may still close its input.
                read = lines.read(&mut reader), if reads => {
                    if read? == 0 {
                        deadline = Some(Box::pin(tokio::time::sleep(self.config.drain_time)));
                    }
                }
                written = self.out.write(&mut writer), if self.out.is_due() => {
                    if is_left(written, ended)? {
                        return Ok(());
                    }
                    stalled = None;
                }
                Some(()) = OptionFuture::from(stalled.as_mut()) => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
        }
    }

    /// Called when the input has ended and its complete lines are handled. Handles a last line without a line feed, and
    /// ends listens.
    fn end_input(&mut self, lines: &mut Lines) {
        if let Some(Line::Text(line)) = lines.rest() {
            self.take_line(&line);
        }
        self.news.stop();
        self.legacy.asked.end();
        let listens = |(id, running): (&RequestId, &Running)| {
            running.listens.then(|| {
                running.abort.abort();
                id.clone()
            })
        };
        let ended: Vec<_> = self.running.iter().filter_map(listens).collect();
        for id in ended {
            let outcome = self.server.ended(&id);
            let answer = Response { id: Some(id), outcome };
            take_answer(&mut self.running, &mut self.legacy, &mut self.sent, answer);
        }
    }

    /// Waits until a call has sent a message or an answer, and queues all that is ready, so that a busy connection
    /// needs fewer system calls. Cancel-safe: what is taken is queued before the next wait.
    fn progress<'c>(
        calls: &'c mut Calls,
        running: &'c mut HashMap<RequestId, Running>,
        legacy: &'c mut Legacy,
        out: &'c mut BytesMut,
    ) -> impl Future<Output = ()> + 'c {
        let (before, idle) = (out.len(), calls.is_empty());
        std::future::poll_fn(move |context| {
            while has_room(out) {
                match Pin::new(&mut *calls).poll_next(context) {
                    Poll::Ready(Some(CallOutput::Answer(answer))) => {
                        take_answer(running, legacy, out, answer);
                    }
                    Poll::Ready(Some(CallOutput::Message(message))) => {
                        write_message(message, legacy, out);
                    }
                    Poll::Ready(None) | Poll::Pending => break,
                }
            }
            // The end of the last call counts, also if it was aborted and sent nothing.
            if out.len() > before || calls.is_empty() != idle {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
    }

    /// Handles the buffered lines while there is room for their answers; returns whether all were handled.
    fn take_lines(&mut self, lines: &mut Lines) -> bool {
        while self.out.has_room() {
            if self.is_full() {
                // Most calls answer at once. Only calls that were polled and still run count against the bound for the
                // next line.
                let _ = Self::progress(
                    &mut self.calls,
                    &mut self.running,
                    &mut self.legacy,
                    &mut self.sent,
                )
                .now_or_never();
                self.out.append(&mut self.sent);
            }
            match lines.next() {
                Some(Line::Text(line)) => self.take_line(&line),
                Some(Line::TooLong) => {
                    tracing::warn!(
                        max = self.config.max_line_bytes,
                        "a line was longer than allowed and was dropped"
                    );
                    let error = ErrorObject::invalid_request(format!(
                        "the line is longer than {} bytes",
                        self.config.max_line_bytes
                    ));
                    self.out.push(&Response::error(None, error));
                }
                None => return true,
            }
        }
        false
    }

    fn is_full(&self) -> bool {
        self.running.len() >= self.config.max_calls
    }

    fn take_line(&mut self, line: &Bytes) {
        let line = &without_mark(line.clone());
        if line.trim_ascii().is_empty() {
            return;
        }
        if self.legacy.takes_batch(line) {
            return self.take_batch(line);
        }
        let meter = Meter::new(self.config.max_line_memory);
        match IncomingMessage::read(line, &meter) {
            Ok(IncomingMessage::Request(called)) => self.take_request(called),
            Ok(IncomingMessage::Notification(notification)) => {
                self.take_notification(&notification)
            }
            Ok(IncomingMessage::Response(response)) => self.legacy.answered(response),
            Err(problem) => {
                let is_request = !matches!(&problem, ReadError::Broken(_));
                let broken = MessageError::from(problem);
                // The sender of a batch waits for its answers.
                let is_batch = broken.error.code != ErrorObject::PARSE && is_batch(line);
                if is_request || is_batch || broken.id.is_some() {
                    self.out.push(&Response::from(broken));
                } else {
                    self.skip(line, &broken.error);
                }
            }
        }
    }

    /// Skips a line that is not a message. One that begins as a message is answered: its sender waits for an answer.
    /// Its `id` is null, as JSON-RPC requires: no client finds a request by it, and both forms are in its log.
    fn skip(&mut self, line: &Bytes, error: &ErrorObject) {
        tracing::warn!(problem = error.message, "a line that is not a message was skipped");
        let begins = line.trim_ascii_start().first();
        let is_broken = error.code == ErrorObject::PARSE && matches!(begins, Some(b'{' | b'['));
        let now = Instant::now();
        let is_soon = |before| now.duration_since(before) < BETWEEN_REFUSALS;
        if is_broken && !self.refused.is_some_and(is_soon) {
            self.refused = Some(now);
            self.out.push(&json!({ "jsonrpc": "2.0", "id": null, "error": error }));
        }
    }

    fn take_request(&mut self, called: Called) {
        let id = called.id().clone();
        if let Err(error) = self.start(called, None) {
            self.out.push(&Response::error(Some(id), error));
        }
    }

    /// Starts a call, or returns the error for which it is refused.
    fn start(&mut self, mut called: Called, batch: Option<u64>) -> Result<()> {
        if self.running.contains_key(called.id()) {
            return Err(ErrorObject::invalid_request(format!(
                "the id {} is in use by a running request",
                called.id()
            )));
        }
        let is_modern = called.is_claimed();
        if !is_modern && called.method() == "initialize" {
            let answer = self.legacy.initialize(&self.server, called.into())?;
            self.news.stop();
            self.out.answer(&answer);
            return Ok(());
        }
        if self.is_full() {
            return Err(ErrorObject::invalid_request(format!(
                "the connection has {} calls running: wait for one to end",
                self.config.max_calls
            )));
        }
        let mut modern = if is_modern { Some(called.take_modern()?) } else { None };
        let meta = match &mut modern {
            Some(modern) => std::mem::take(&mut modern.others),
            None => called.take_meta(),
        };
        let (outbox, outgoing) = Outbox::channel();
        let incoming = Incoming {
            request_id: called.id().clone(),
            meta,
            outbox,
            extensions: self.extensions.clone(),
            peer: None,
            client: None,
            max_answer: Some(self.config.max_answer_bytes.saturating_sub(MAX_ENVELOPE)),
        };
        let (context, legacy) = match modern {
            Some(modern) => (Context::modern(incoming, modern), legacy::Running::default()),
            None => {
                let context = self.legacy.context(called.method(), incoming)?;
                let others = self.running.values().map(|running| &running.legacy);
                let begun = self.legacy.begin(&called, batch, others)?;
                self.legacy.noticed(&self.server, called.method(), &mut self.news);
                (context, begun)
            }
        };
        let listens = called.method() == "subscriptions/listen";
        let id = called.id().clone();
        let mut call = RunningCall::new(self.server.handle_owned(called, context), outgoing);
        // Most calls answer at the first poll: these never join the running ones. A batch may continue with the
        // cancellation of its calls.
        let mut first_look = task::Context::from_waker(Waker::noop());
        while batch.is_none() && self.out.has_room() {
            match Pin::new(&mut call).poll_next(&mut first_look) {
                Poll::Ready(Some(CallOutput::Answer(answer))) => {
                    answered(listens, legacy, &mut self.legacy, self.out.lines(), answer);
                    return Ok(());
                }
                Poll::Ready(Some(CallOutput::Message(message))) => {
                    write_message(message, &mut self.legacy, self.out.lines());
                }
                Poll::Ready(None) => return Ok(()),
                Poll::Pending => break,
            }
        }
        let (abort, registration) = AbortHandle::new_pair();
        self.calls.push(Abortable::new(call, registration));
        let running = Running { abort, listens, legacy };
        self.running.insert(id, running);
        Ok(())
    }

    /// Handles each message of a batch separately. The answers are sent together.
    fn take_batch(&mut self, line: &Bytes) {
        let max = self.config.max_batch_messages;
        let meter = Meter::new(self.config.max_line_memory);
        let messages = match read_batch(line, max, &meter) {
            Ok(messages) => messages,
            Err(broken) if broken.error.code == ErrorObject::PARSE => {
                return self.skip(line, &broken.error);
            }
            Err(broken) => return self.out.push(&Response::from(broken)),
        };
        let batch = self.legacy.batches.open();
        for message in messages {
            match message {
                Ok(Message::Request(request)) => {
                    let id = request.id.clone();
                    let started = check_in_batch(&request)
                        .and_then(|()| self.start(request.into(), Some(batch)));
                    if let Err(error) = started {
                        self.legacy.batches.refuse(batch, Response::error(Some(id), error));
                    }
                }
                Ok(Message::Notification(notification)) => self.take_notification(&notification),
                Ok(Message::Response(response)) => self.legacy.answered(response),
                Err(broken) => self.legacy.batches.refuse(batch, broken.into()),
            }
        }
        if let Some(answers) = self.legacy.batches.end(batch, None) {
            self.out.answers(&answers);
        }
    }

    fn take_notification(&mut self, notification: &Notification) {
        match notification.method.as_str() {
            "notifications/cancelled" => self.cancel(notification),
            _ => self.legacy.noticed(&self.server, &notification.method, &mut self.news),
        }
        self.server.take(notification, |params| {
            let incoming = |meta| Incoming::unanswered(meta, self.extensions.clone());
            if ModernMeta::is_claimed(params) {
                let mut modern = ModernMeta::take(params).ok()?;
                let meta = std::mem::take(&mut modern.others);
                return Some(Context::modern(incoming(meta), modern));
            }
            let incoming = incoming(take_meta(params));
            self.legacy.context(&notification.method, incoming).ok()
        });
    }

    /// Ends a running call. An unknown id is ignored.
    fn cancel(&mut self, notification: &Notification) {
        let Some(id) = notification.cancelled_request() else {
            return;
        };
        let running = self.running.remove(&id);
        // Clients in use name the number of their request as a text.
        let running = running.or_else(|| self.running.remove(&id.as_number()?));
        if let Some(running) = running {
            running.abort.abort();
            if let Some(answers) = self.legacy.cancelled(&running.legacy) {
                self.out.answers(&answers);
            }
        }
    }
}

/// Queues the answer of a call, which ends the call.
fn take_answer(
    running: &mut HashMap<RequestId, Running>,
    legacy: &mut Legacy,
    out: &mut BytesMut,
    answer: Response,
) {
    let ended = answer.id.as_ref().and_then(|id| running.remove(id));
    let listened = ended.as_ref().is_some_and(|ended| ended.listens);
    let kept = ended.map(|ended| ended.legacy).unwrap_or_default();
    answered(listened, kept, legacy, out, answer);
}

/// Queues an answer and the notification that belongs to it, if any.
fn answered(
    listened: bool,
    kept: legacy::Running,
    legacy: &mut Legacy,
    out: &mut BytesMut,
    answer: Response,
) {
    if listened && answer.outcome.is_ok() {
        // The server ends a listen: the revision requires both the notification and the result on this transport.
        let ended = json!({
            "requestId": answer.id,
            "_meta": { META_SUBSCRIPTION_ID: answer.id },
        });
        write_line(out, &Notification::new("notifications/cancelled", ended));
    }
    legacy.answer(kept, answer, out);
}

/// Queues a message that a call sends before its answer.
fn write_message(message: Outgoing, legacy: &mut Legacy, out: &mut BytesMut) {
    match message {
        Outgoing::Notification(notification) => write_line(out, &notification),
        Outgoing::Request(request, asked) => {
            if legacy.asked.expect(&request.id, asked) {
                write_line(out, &request);
            }
        }
        // One connection carries all calls, so it cannot be closed for one of them.
        Outgoing::Release(_) => {}
    }
}

/// Whether the peer has left without reading the last messages, which it may do once it has `ended` its input.
fn is_left(written: io::Result<()>, ended: bool) -> io::Result<bool> {
    match written {
        Err(gone) if ended && gone.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        written => written.map(|()| false),
    }
}
