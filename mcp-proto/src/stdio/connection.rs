//! One connection: its calls, its legacy session if there was a handshake, and its one writer.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::task::Poll;

use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::Stream as _;
use futures_util::future::{AbortHandle, Abortable, BoxFuture};
use futures_util::stream::FuturesUnordered;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::StdioConfig;
use super::lines::{Line, Lines};
use crate::context::{Context, Outbox, OutboxReader};
use crate::jsonrpc::{ErrorObject, Message, Notification, Request, RequestId, Response};
use crate::lifecycle::ModernMeta;
use crate::server::{Interest, Listener, Server, read_initialize};
use crate::session::Session;

/// Above this many unwritten bytes nothing more is read or run until the peer has read some.
const HIGH_WATER: usize = 256 * 1024;

/// The calls of a connection, each to be aborted by its id.
type Calls = FuturesUnordered<Abortable<BoxFuture<'static, Response>>>;

/// The state of a connection; see [`super::serve`].
pub(super) struct Connection {
    server: Server,
    config: StdioConfig,
    calls: Calls,
    running: HashMap<RequestId, Running>,
    outbox: Outbox,
    notifications: OutboxReader,
    session: Option<Session>,
    listener: Option<Listener>,
    /// What running calls have said since the last look; joins `out`.
    said: BytesMut,
    /// What is written next.
    out: BytesMut,
}

struct Running {
    abort: AbortHandle,
    /// It never ends by itself, so the end of the input ends it.
    listens: bool,
}

impl Connection {
    pub(super) fn new(server: Server, config: StdioConfig) -> Self {
        let (outbox, notifications) = Outbox::channel();
        Self {
            server,
            config,
            calls: FuturesUnordered::new(),
            running: HashMap::new(),
            outbox,
            notifications,
            session: None,
            listener: None,
            said: BytesMut::new(),
            out: BytesMut::new(),
        }
    }

    pub(super) async fn run<R, W>(mut self, mut reader: R, mut writer: W) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let mut lines = Lines::new(self.config.max_line_bytes);
        loop {
            self.join_said();
            self.take_lines(&mut lines);
            let may_read = self.running.len() < self.config.max_calls;
            tokio::select! {
                biased;
                () = Self::progress(&mut self.calls, &mut self.notifications, &mut self.running, &mut self.said),
                    if self.out.len() < HIGH_WATER => {}
                change = next_change(&mut self.listener), if self.out.len() < HIGH_WATER => match change {
                    Some(change) => write_line(&mut self.out, &change),
                    None => self.listener = None,
                },
                read = lines.read(&mut reader), if may_read && self.out.len() < HIGH_WATER => {
                    if read? == 0 {
                        break;
                    }
                }
                written = writer.write(&self.out), if !self.out.is_empty() => self.written(written?)?,
            }
        }
        while let Some(Line::Text(line)) = lines.rest() {
            self.take_line(&line);
        }
        self.drain(writer).await
    }

    /// The input has ended: running calls get a while, listens end now, everything said is written.
    async fn drain<W: AsyncWrite + Unpin>(mut self, mut writer: W) -> io::Result<()> {
        self.listener = None;
        self.running
            .values()
            .filter(|running| running.listens)
            .for_each(|running| running.abort.abort());
        let deadline = tokio::time::sleep(self.config.drain_time);
        tokio::pin!(deadline);
        loop {
            self.join_said();
            if self.calls.is_empty() && self.out.is_empty() {
                break;
            }
            tokio::select! {
                biased;
                () = Self::progress(&mut self.calls, &mut self.notifications, &mut self.running, &mut self.said),
                    if self.out.len() < HIGH_WATER => {}
                written = writer.write(&self.out), if !self.out.is_empty() => self.written(written?)?,
                () = &mut deadline => {
                    tracing::warn!(calls = self.calls.len(), "calls were dropped: the input ended and they did not");
                    break;
                }
            }
        }
        writer.flush().await
    }

    fn join_said(&mut self) {
        if self.out.is_empty() {
            std::mem::swap(&mut self.out, &mut self.said);
        } else {
            self.out.unsplit(self.said.split());
        }
    }

    fn written(&mut self, written: usize) -> io::Result<()> {
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.out.advance(written);
        Ok(())
    }

    /// Waits until a call has said or answered something, and queues all that is ready: the more goes into one write,
    /// the fewer system calls a busy connection costs. Cancel-safe: what is taken is queued before the next wait.
    fn progress<'c>(
        calls: &'c mut Calls,
        notifications: &'c mut OutboxReader,
        running: &'c mut HashMap<RequestId, Running>,
        out: &'c mut BytesMut,
    ) -> impl Future<Output = ()> + 'c {
        std::future::poll_fn(move |context| {
            let before = out.len();
            let mut ended = 0;
            while out.len() < HIGH_WATER {
                let answered = match Pin::new(&mut *calls).poll_next(context) {
                    Poll::Ready(Some(answered)) => {
                        ended += 1;
                        Some(answered)
                    }
                    Poll::Ready(None) | Poll::Pending => None,
                };
                // What a call said comes before its answer.
                while let Poll::Ready(notification) = notifications.poll_recv(context) {
                    write_line(out, &notification);
                }
                let Some(answered) = answered else { break };
                // An aborted call answers nothing.
                if let Ok(response) = answered {
                    if let Some(id) = &response.id {
                        running.remove(id);
                    }
                    write_line(out, &response);
                }
            }
            if out.len() > before || ended > 0 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
    }

    /// Starts what the buffered lines ask for, as far as the bounds allow.
    fn take_lines(&mut self, lines: &mut Lines) {
        while self.running.len() < self.config.max_calls && self.out.len() < HIGH_WATER {
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
                    write_line(&mut self.out, &Response::error(None, error));
                }
                None => break,
            }
        }
    }

    fn take_line(&mut self, line: &Bytes) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match Message::from_slice(line) {
            Ok(Message::Request(request)) => self.take_request(request),
            Ok(Message::Notification(notification)) => self.take_notification(&notification),
            Ok(Message::Response(response)) => {
                tracing::debug!(id = ?response.id, "a response to no request of ours was ignored");
            }
            Err(broken) if broken.id.is_some() => {
                write_line(&mut self.out, &Response::from(broken))
            }
            Err(broken) => tracing::warn!(
                problem = broken.error.message,
                "a line that is no message was skipped"
            ),
        }
    }

    fn take_request(&mut self, request: Request) {
        let id = request.id.clone();
        if let Err(error) = self.start(request) {
            write_line(&mut self.out, &Response::error(Some(id), error));
        }
    }

    /// Starts a call, or says why not.
    fn start(&mut self, mut request: Request) -> Result<(), ErrorObject> {
        if self.running.contains_key(&request.id) {
            return Err(ErrorObject::invalid_request(format!(
                "the id {} is in use by a running request",
                request.id
            )));
        }
        let context = if ModernMeta::is_claimed(&request.params) {
            let modern = ModernMeta::read(&request.params)?;
            let meta = take_meta(&mut request);
            Context::modern(request.id.clone(), modern, meta, self.outbox.clone())
        } else if request.method == "initialize" {
            return self.initialize(request);
        } else {
            let meta = take_meta(&mut request);
            self.legacy_context(&request, meta)?
        };
        let listens = request.method == "subscriptions/listen";
        let id = request.id.clone();
        let (abort, registration) = AbortHandle::new_pair();
        let call = Abortable::new(self.server.handle_owned(request, context), registration);
        self.calls.push(call);
        self.running.insert(id, Running { abort, listens });
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
        self.listener = self.server.changes().listen(Interest { tools_list: true });
        write_line(&mut self.out, &Response::result(id, result));
        Ok(())
    }

    fn legacy_context(
        &self,
        request: &Request,
        meta: Map<String, Value>,
    ) -> Result<Context, ErrorObject> {
        let Some(session) = &self.session else {
            return Err(ErrorObject::invalid_params(
                "send initialize first, or put io.modelcontextprotocol/protocolVersion and \
                 io.modelcontextprotocol/clientCapabilities into params._meta (2026-07-28)",
            ));
        };
        Ok(Context {
            request_id: request.id.clone(),
            version: session.version,
            client: Some(session.client.clone()),
            capabilities: session.capabilities.clone(),
            meta,
            outbox: self.outbox.clone(),
            extensions: http::Extensions::new(),
        })
    }

    fn take_notification(&mut self, notification: &Notification) {
        if notification.method != "notifications/cancelled" {
            return;
        }
        let id = match notification.params.get("requestId") {
            Some(Value::String(id)) => RequestId::String(id.clone()),
            Some(Value::Number(id)) => match id.as_i64() {
                Some(id) => RequestId::Number(id),
                None => return,
            },
            _ => return,
        };
        if let Some(running) = self.running.remove(&id) {
            running.abort.abort();
        }
    }
}

/// The next change, or never without a listener.
async fn next_change(listener: &mut Option<Listener>) -> Option<Notification> {
    match listener {
        Some(listener) => listener.next().await,
        None => std::future::pending().await,
    }
}

fn take_meta(request: &mut Request) -> Map<String, Value> {
    match request.params.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    }
}

/// Queues one message as one line. JSON text has no line feed outside strings and none inside.
fn write_line(out: &mut BytesMut, message: &impl Serialize) {
    match serde_json::to_vec(message) {
        Ok(text) => {
            out.extend_from_slice(&text);
            out.extend_from_slice(b"\n");
        }
        Err(error) => tracing::error!(%error, "a message could not be serialised"),
    }
}
