//! One connection: its calls, its legacy session if there was a handshake, and its one writer.

mod batches;

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::SelectAll;
use futures_util::{FutureExt as _, Stream as _};
use http::Extensions;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Sleep;

use super::StdioConfig;
use super::asked::Asked;
use super::call::{Call, Said};
use super::lines::{Line, Lines};
use super::output::{Output, has_room, write_answer, write_line};
use crate::context::{Context, Incoming, LegacyClient, Outbox};
use crate::json::Meter;
use crate::jsonrpc::{
    ErrorObject, Message, MessageError, Notification, ReadError, Request, RequestId, Response,
};
use crate::lifecycle::{META_SUBSCRIPTION_ID, ModernMeta, SessionChange};
use crate::server::{Listener, Server, read_initialize, too_many_subscriptions};
use crate::session::Session;
use crate::version::{Era, ProtocolVersion};
use batches::Batches;

/// The calls of a connection, each to be aborted by its id.
type Calls = SelectAll<Abortable<Call>>;

/// The state of a connection; see [`super::serve`].
pub(super) struct Connection {
    server: Server,
    config: StdioConfig,
    /// What is known of the other end.
    extensions: Extensions,
    calls: Calls,
    running: HashMap<RequestId, Running>,
    batches: Batches,
    /// Requests to the client that wait for its answer.
    asked: Asked,
    /// What answered calls have changed of the session since the last look.
    changes: Vec<SessionChange>,
    session: Option<Session>,
    /// Names this connection to what its requests leave behind.
    peer: Arc<str>,
    listener: Option<Listener>,
    /// What running calls have said since the last look; joins `out`.
    said: BytesMut,
    /// What is written next.
    out: Output,
}

struct Running {
    abort: AbortHandle,
    /// It never ends by itself, so the end of the input ends it.
    listens: bool,
    /// The batch it came in.
    batch: Option<u64>,
    /// What it changes of the session when it is answered well.
    change: Option<SessionChange>,
}

impl Connection {
    pub(super) fn new(server: Server, config: StdioConfig, extensions: Extensions) -> Self {
        Self {
            server,
            config,
            extensions,
            calls: SelectAll::new(),
            running: HashMap::new(),
            asked: Asked::new(),
            batches: Batches::default(),
            changes: Vec::new(),
            session: None,
            peer: uuid::Uuid::new_v4().to_string().into(),
            listener: None,
            said: BytesMut::new(),
            out: Output::default(),
        }
    }

    pub(super) async fn run<R, W>(mut self, mut reader: R, mut writer: W) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let mut lines = Lines::new(self.config.max_line_bytes);
        // Runs from the end of the input on, over everything that is left to do.
        let mut deadline = None;
        let mut all_taken = false;
        // Runs while the peer neither takes what is written nor is read from.
        let mut stalled = None;
        loop {
            self.out.append(&mut self.said);
            self.change_session();
            let taken = self.take_lines(&mut lines);
            let ended = deadline.is_some();
            if ended && taken && !all_taken {
                all_taken = true;
                self.end_input(&mut lines);
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
                () = passed(&mut deadline), if ended => {
                    tracing::warn!(
                        calls = self.calls.len(),
                        "calls or answers were dropped: the input ended and they took too long"
                    );
                    return Ok(());
                }
                () = Self::progress(&mut self.calls, &mut self.running, &mut self.batches, &mut self.asked, &mut self.changes, &mut self.said), if self.out.has_room() => {}
                change = next_change(&mut self.listener), if self.out.has_room() => match change {
                    Some(change) => self.out.push(&change),
                    None => self.listener = None,
                },
                // A peer that does not read its answers may still say that it ends.
                read = lines.read(&mut reader), if reads => {
                    if read? == 0 {
                        deadline = Some(Box::pin(tokio::time::sleep(self.config.drain_time)));
                    }
                }
                written = self.out.write(&mut writer), if self.out.is_due() => {
                    written?;
                    stalled = None;
                }
                () = passed(&mut stalled), if stalled.is_some() => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
        }
    }

    /// The input has ended and its whole lines are taken: the last may have no end, and listens have theirs now.
    fn end_input(&mut self, lines: &mut Lines) {
        if let Some(Line::Text(line)) = lines.rest() {
            self.take_line(&line);
        }
        self.listener = None;
        self.asked.end();
        self.running
            .values()
            .filter(|running| running.listens)
            .for_each(|running| running.abort.abort());
    }

    /// Waits until a call has said or answered something, and queues all that is ready: the more goes into one write,
    /// the fewer system calls a busy connection costs. Cancel-safe: what is taken is queued before the next wait.
    fn progress<'c>(
        calls: &'c mut Calls,
        running: &'c mut HashMap<RequestId, Running>,
        batches: &'c mut Batches,
        asked: &'c mut Asked,
        changes: &'c mut Vec<SessionChange>,
        out: &'c mut BytesMut,
    ) -> impl Future<Output = ()> + 'c {
        let (before, idle) = (out.len(), calls.is_empty());
        std::future::poll_fn(move |context| {
            while has_room(out) {
                match Pin::new(&mut *calls).poll_next(context) {
                    Poll::Ready(Some(Said::Notification(notification))) => {
                        write_line(out, &notification);
                    }
                    Poll::Ready(Some(Said::Request(request, answer))) => {
                        if asked.expect(&request.id, answer) {
                            write_line(out, &request);
                        }
                    }
                    Poll::Ready(Some(Said::Answer(answer))) => {
                        changes.extend(take_answer(running, batches, out, answer));
                    }
                    Poll::Ready(None) | Poll::Pending => break,
                }
            }
            // The end of the last call counts, also of one that was aborted and says nothing.
            if out.len() > before || calls.is_empty() != idle {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
    }

    /// Takes the buffered lines as far as there is room for what is said to them; whether all of them are taken.
    fn take_lines(&mut self, lines: &mut Lines) -> bool {
        while self.out.has_room() {
            if self.is_full() {
                // Most calls answer at once. Only those that were looked at and still run count against the next line.
                let _waiting = Self::progress(
                    &mut self.calls,
                    &mut self.running,
                    &mut self.batches,
                    &mut self.asked,
                    &mut self.changes,
                    &mut self.said,
                )
                .now_or_never();
                self.out.append(&mut self.said);
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

    /// Makes the changes of answered calls.
    fn change_session(&mut self) {
        let Some(session) = self.session.as_mut().filter(|_| !self.changes.is_empty()) else {
            return;
        };
        for change in self.changes.drain(..) {
            session.apply(&change);
        }
        if let Some(listener) = &mut self.listener {
            listener.subscribe_to(session.subscriptions.clone());
        }
    }

    fn is_full(&self) -> bool {
        self.running.len() >= self.config.max_calls
    }

    fn take_line(&mut self, line: &Bytes) {
        if line.trim_ascii().is_empty() {
            return;
        }
        if Message::is_batch(line) && self.takes_batches() {
            return self.take_batch(line);
        }
        let meter = Meter::new(self.config.max_line_memory);
        match Message::from_slice_within(line, &meter) {
            Ok(Message::Request(request)) => self.take_request(request),
            Ok(Message::Notification(notification)) => self.take_notification(&notification),
            Ok(Message::Response(response)) => self.take_response(response),
            Err(problem) => {
                let is_request =
                    matches!(&problem, ReadError::LongId | ReadError::TooCostly { .. });
                let broken = MessageError::from(problem);
                if is_request || broken.id.is_some() {
                    self.out.push(&Response::from(broken));
                } else {
                    tracing::warn!(
                        problem = broken.error.message,
                        "a line that is no message was skipped"
                    );
                }
            }
        }
    }

    fn take_request(&mut self, request: Request) {
        let id = request.id.clone();
        if let Err(error) = self.start(request, None) {
            self.out.push(&Response::error(Some(id), error));
        }
    }

    /// Starts a call, or says why not.
    fn start(&mut self, mut request: Request, batch: Option<u64>) -> Result<(), ErrorObject> {
        if self.running.contains_key(&request.id) {
            return Err(ErrorObject::invalid_request(format!(
                "the id {} is in use by a running request",
                request.id
            )));
        }
        if self.is_full() && request.method != "initialize" {
            return Err(ErrorObject::invalid_request(format!(
                "the connection has {} calls running: wait for one to end",
                self.config.max_calls
            )));
        }
        let (outbox, notifications) = Outbox::channel();
        let context = if ModernMeta::is_claimed(&request.params) {
            let modern = ModernMeta::read(&request.params)?;
            let meta = request.take_meta();
            Context::modern(self.incoming(&request, meta, outbox), modern)
        } else if request.method == "initialize" {
            return self.initialize(request);
        } else {
            let meta = request.take_meta();
            self.legacy_context(&request, meta, outbox)?
        };
        let listens = request.method == "subscriptions/listen";
        let change = (context.era() == Era::Legacy)
            .then(|| SessionChange::of(&request))
            .flatten();
        match (&change, &mut self.session) {
            (Some(SessionChange::Subscribe(uri)), Some(session)) => {
                // Those on their way count: whoever is told that it is subscribed must be.
                let begun = self.running.values().map(|running| &running.change);
                let begun = begun.flatten().chain(&self.changes);
                let begun = begun.filter_map(|change| match change {
                    SessionChange::Subscribe(uri) => Some(uri.as_str()),
                    _ => None,
                });
                if !session.has_room_for(uri, begun) {
                    return Err(too_many_subscriptions());
                }
            }
            // At once, for the requests behind it on the same pipe.
            (Some(level @ SessionChange::LogLevel(_)), Some(session)) => session.apply(level),
            _ => {}
        }
        let id = request.id.clone();
        let (abort, registration) = AbortHandle::new_pair();
        let call = Call::new(self.server.handle_owned(request, context), notifications);
        self.calls.push(Abortable::new(call, registration));
        let running = Running {
            abort,
            listens,
            batch,
            change,
        };
        self.running.insert(id, running);
        if let Some(batch) = batch {
            self.batches.begin(batch);
        }
        Ok(())
    }

    /// The handshake of the connection; a second one replaces the first.
    fn initialize(&mut self, request: Request) -> Result<(), ErrorObject> {
        let id = request.id.clone();
        let params = read_initialize(request)?;
        let version = params.negotiated();
        let result = self.server.initialize(version)?;
        self.session = Some(Session::new(
            version,
            params.client_info,
            params.capabilities,
        ));
        // Until the client says that it is ready, it hears nothing but its answer.
        self.listener = None;
        self.out.push(&Response::result(id, result));
        Ok(())
    }

    fn legacy_context(
        &self,
        request: &Request,
        meta: Map<String, Value>,
        outbox: Outbox,
    ) -> Result<Context, ErrorObject> {
        // A ping is in order before the handshake too (MCP 2025-11-25, "Lifecycle").
        if self.session.is_none() && request.method != "ping" {
            return Err(ErrorObject::invalid_params(
                "send initialize first, or put io.modelcontextprotocol/protocolVersion and \
                 io.modelcontextprotocol/clientCapabilities into params._meta (2026-07-28)",
            ));
        }
        let client = self.session.as_ref().map(Session::client);
        let client = client.unwrap_or_else(|| LegacyClient {
            protocol_version: ProtocolVersion::LATEST_LEGACY,
            client_info: None,
            client_capabilities: Arc::default(),
            log_level: None,
        });
        Ok(Context::legacy(
            self.incoming(request, meta, outbox),
            client,
        ))
    }

    fn incoming(&self, request: &Request, meta: Map<String, Value>, outbox: Outbox) -> Incoming {
        Incoming {
            request_id: request.id.clone(),
            meta,
            outbox,
            extensions: self.extensions.clone(),
            peer: Some(Arc::clone(&self.peer)),
        }
    }

    fn take_response(&mut self, response: Response) {
        // Whoever asked may have gone meanwhile, and with it its interest.
        if !self.asked.take(response) {
            tracing::debug!("a response to no request that waits was passed over");
        }
    }

    fn take_notification(&mut self, notification: &Notification) {
        match notification.method.as_str() {
            "notifications/cancelled" => self.cancel(notification),
            "notifications/initialized" if self.session.is_some() && self.listener.is_none() => {
                let mut interest = self.server.everything_told();
                if let Some(session) = &self.session {
                    interest.resources = session.subscriptions.clone();
                }
                self.listener = self.server.changes().listen(interest);
                if self.listener.is_none() {
                    tracing::warn!(
                        "a connection hears of no changes: every listener's place is taken"
                    );
                }
            }
            _ => {}
        }
    }

    /// Ends a call that is running; an unknown id is passed over.
    fn cancel(&mut self, notification: &Notification) {
        let id = notification.cancelled_request();
        if let Some(running) = id.and_then(|id| self.running.remove(&id)) {
            running.abort.abort();
            if let Some(batch) = running.batch {
                self.end_in_batch(batch);
            }
        }
    }
}

/// Queues the answer of a call, which is over with it; what it changes of the session.
fn take_answer(
    running: &mut HashMap<RequestId, Running>,
    batches: &mut Batches,
    out: &mut BytesMut,
    answer: Response,
) -> Option<SessionChange> {
    let ended = answer.id.as_ref().and_then(|id| running.remove(id));
    let batch = ended.as_ref().and_then(|ended| ended.batch);
    let ended = ended.filter(|_| answer.outcome.is_ok());
    if ended.as_ref().is_some_and(|ended| ended.listens) {
        // The server ends a listen: the revision wants both the notification and the result on this transport.
        let ended = json!({
            "requestId": answer.id,
            "_meta": { META_SUBSCRIPTION_ID: answer.id },
        });
        write_line(out, &Notification::new("notifications/cancelled", ended));
    }
    match batch {
        None => write_answer(out, &answer),
        Some(batch) => {
            if let Some(answers) = batches.end(batch, Some(answer)) {
                write_line(out, &answers);
            }
        }
    }
    ended.and_then(|ended| ended.change)
}

/// The next change, or never without a listener.
async fn next_change(listener: &mut Option<Listener>) -> Option<Notification> {
    match listener {
        Some(listener) => listener.next().await,
        None => std::future::pending().await,
    }
}

/// When a time is over; never before it has begun.
async fn passed(deadline: &mut Option<Pin<Box<Sleep>>>) {
    match deadline {
        Some(deadline) => deadline.as_mut().await,
        None => std::future::pending().await,
    }
}
