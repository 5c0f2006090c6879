//! A connection over pipes after `initialize`: its session, its requests to the client, its batches, and its changes.

mod asked;
mod batches;

use std::sync::Arc;

use bytes::BytesMut;

use crate::call::Called;
use crate::context::{ClientSide, Context, Incoming};
use crate::jsonrpc::{ErrorObject, Request, Response, Result};
use crate::legacy::batch::is_batch;
use crate::legacy::handshake::InitializeParams;
use crate::legacy::session::{Session, SessionChange, too_many_subscriptions};
use crate::server::{Listener, Server, SharedNotification};
use crate::stdio::output::{fitting, write_answer, write_answers};
use crate::version::ProtocolVersion;
use asked::PendingQuestions;
use batches::Batches;

/// The state that a connection keeps for a client that has sent `initialize` or still may.
pub(crate) struct Legacy {
    session: Option<Session>,
    /// Identifies this connection as the owner of the tasks that its requests create.
    peer: Arc<str>,
    /// Requests to the client that wait for its answer.
    pub(crate) asked: PendingQuestions,
    pub(crate) batches: Batches,
    /// The changes that answered calls have made to the session since the last check.
    changes: Vec<SessionChange>,
    max_answer: usize,
}

/// The state that a connection keeps for a running call of its session; empty for other calls.
#[derive(Default)]
pub(crate) struct Running {
    /// The batch it came in.
    batch: Option<u64>,
    /// The change that it makes to the session if it succeeds.
    change: Option<SessionChange>,
}

/// The changes that the client of a session is notified of.
#[derive(Default)]
pub(crate) struct News(Option<Listener>);

impl Legacy {
    /// For a peer that takes answers of at most this many bytes.
    pub(crate) fn new(max_answer: usize) -> Self {
        Self {
            session: None,
            peer: uuid::Uuid::new_v4().to_string().into(),
            asked: PendingQuestions::new(),
            batches: Batches::new(max_answer),
            changes: Vec::new(),
            max_answer,
        }
    }

    /// The answer to `initialize`; `None` for any other request. A second one replaces the first.
    pub(crate) fn initialize(&mut self, server: &Server, request: Request) -> Result<Response> {
        let id = request.id.clone();
        let params = InitializeParams::read(request)?;
        let version = params.negotiated();
        let result = server.initialize(version)?;
        self.session = Some(Session::new(version, params.client_info, params.capabilities));
        Ok(Response::result(id, result))
    }

    /// The context of a request of the session.
    pub(crate) fn context(&self, method: &str, incoming: Incoming) -> Result<Context> {
        // A ping is in order before the handshake too (MCP 2025-11-25, "Lifecycle").
        if self.session.is_none() && method != "ping" {
            return Err(ErrorObject::invalid_params(
                "send initialize first, or put io.modelcontextprotocol/protocolVersion and \
                 io.modelcontextprotocol/clientCapabilities into params._meta (2026-07-28)",
            ));
        }
        let client = self.session.as_ref().map(ClientSide::from);
        let client =
            client.unwrap_or_else(|| ClientSide::of_version(ProtocolVersion::LATEST_LEGACY));
        let incoming = Incoming { peer: Some(Arc::clone(&self.peer)), client: None, ..incoming };
        Ok(Context::new(incoming, client))
    }

    /// The state to keep for a call of the session while it runs. `running` are the calls that run already.
    pub(crate) fn begin<'r>(
        &mut self,
        called: &Called,
        batch: Option<u64>,
        running: impl Iterator<Item = &'r Running>,
    ) -> Result<Running> {
        let change = SessionChange::of(called);
        match (&change, &mut self.session) {
            (Some(SessionChange::Subscribe(uri)), Some(session)) => {
                // Pending subscriptions count: a client whose request succeeds must be subscribed.
                let begun = running.filter_map(|running| running.change.as_ref());
                let begun = begun.chain(&self.changes);
                let begun = begun.filter_map(|change| match change {
                    SessionChange::Subscribe(uri) => Some(uri.as_str()),
                    _ => None,
                });
                if !session.has_room_for(uri, begun) {
                    return Err(too_many_subscriptions());
                }
            }
            // Applied at once, for the requests that follow on the same pipe.
            (Some(level @ SessionChange::LogLevel(_)), Some(session)) => session.apply(level),
            _ => {}
        }
        if let Some(batch) = batch {
            self.batches.begin(batch);
        }
        Ok(Running { batch, change })
    }

    /// Queues the answer of a call, which ends the call.
    pub(crate) fn answer(&mut self, running: Running, answer: Response, out: &mut BytesMut) {
        if answer.outcome.is_ok() {
            self.changes.extend(running.change);
        }
        match running.batch {
            None => write_answer(out, &fitting(answer, self.max_answer)),
            Some(batch) => {
                if let Some(answers) = self.batches.end(batch, Some(answer)) {
                    write_answers(out, &answers);
                }
            }
        }
    }

    /// A call was cancelled: it has no answer.
    pub(crate) fn cancelled(&mut self, running: &Running) -> Option<Vec<Response>> {
        self.batches.end(running.batch?, None)
    }

    /// Makes the changes of answered calls.
    pub(crate) fn change_session(&mut self, news: &mut News) {
        let Some(session) = self.session.as_mut().filter(|_| !self.changes.is_empty()) else {
            return;
        };
        for change in self.changes.drain(..) {
            session.apply(&change);
        }
        if let Some(listener) = &mut news.0 {
            listener.subscribe_to(session.subscriptions.clone());
        }
    }

    /// A message that may be the first by which the client is ready for changes: that it is initialized, or a
    /// subscription, since clients in use do not report that.
    pub(crate) fn noticed(&self, server: &Server, method: &str, news: &mut News) {
        let is_ready = matches!(method, "notifications/initialized" | "resources/subscribe");
        let Some(session) = self.session.as_ref().filter(|_| is_ready && news.0.is_none()) else {
            return;
        };
        let mut interest = server.all_announced();
        interest.resources = session.subscriptions.clone();
        news.0 = server.0.changes.listen(interest);
        if news.0.is_none() {
            tracing::warn!("a connection receives no changes: all permits for listeners are taken");
        }
    }

    /// Gives the client's answer to the call that asked.
    pub(crate) fn answered(&mut self, response: Response) {
        // The call that asked may have ended meanwhile.
        if !self.asked.take(response) {
            tracing::debug!("a response was ignored: no request waits for it");
        }
    }

    /// Whether a line is a batch, in a session of the revision that has them.
    pub(crate) fn takes_batch(&self, line: &[u8]) -> bool {
        let session = self.session.as_ref();
        is_batch(line) && session.is_some_and(|session| session.protocol_version.has_batches())
    }
}

impl News {
    /// Sends no changes: until the client is ready for them, it only gets answers.
    pub(crate) fn stop(&mut self) {
        self.0 = None;
    }

    /// The next change; never without a session. Cancel-safe.
    pub(crate) async fn next(&mut self) -> SharedNotification {
        if let Some(listener) = &mut self.0
            && let Some(change) = listener.next().await
        {
            return change;
        }
        self.0 = None;
        std::future::pending().await
    }
}
