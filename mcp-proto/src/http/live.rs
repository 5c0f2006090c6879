//! What of a legacy session is alive in this process: running calls, to be cancelled by id, and what they ask.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::rejection::Rejection;
use crate::jsonrpc::{RequestId, Response};
use crate::session::SessionId;

/// Sessions with something alive. An entry lives as long as its calls, not as long as the session.
#[derive(Debug, Default)]
pub(super) struct Live(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    sessions: HashMap<SessionId, LiveSession>,
    next_key: u64,
}

#[derive(Debug, Default)]
struct LiveSession {
    /// By a key of our own: clients do reuse request ids, and one call must never end another's entry.
    calls: HashMap<u64, Running>,
    /// Requests to the client that wait for its answer, by the key of the call that asked.
    asked: HashMap<RequestId, (u64, oneshot::Sender<Response>)>,
}

#[derive(Debug)]
struct Running {
    request: RequestId,
    /// Dropping it is the signal.
    _cancel: oneshot::Sender<()>,
    /// Its client went away.
    detached: bool,
}

/// Holds the entry of a call; dropping it ends the entry.
#[derive(Debug)]
pub(super) struct CallGuard(Guard);

#[derive(Debug)]
struct Guard {
    live: Arc<Live>,
    session: SessionId,
    key: u64,
}

impl Live {
    /// Enters a call. The receiver resolves when the call is cancelled or its session ends.
    pub(super) fn begin_call(
        self: &Arc<Self>,
        session: &SessionId,
        request: &RequestId,
        max: usize,
    ) -> Result<(CallGuard, oneshot::Receiver<()>), Rejection> {
        let (cancel, cancelled) = oneshot::channel();
        let mut table = self.table();
        let key = table.key();
        let calls = &mut table.sessions.entry(session.clone()).or_default().calls;
        if calls.len() >= max {
            table.forget_if_idle(session);
            return Err(Rejection::TooManyCalls(max));
        }
        let running = Running {
            request: request.clone(),
            _cancel: cancel,
            detached: false,
        };
        calls.insert(key, running);
        drop(table);
        Ok((
            CallGuard(Guard {
                live: Arc::clone(self),
                session: session.clone(),
                key,
            }),
            cancelled,
        ))
    }

    /// Cancels the calls of that id; an id that is not running is passed over.
    pub(super) fn cancel(&self, session: &SessionId, request: &RequestId) {
        let mut table = self.table();
        if let Some(live) = table.sessions.get_mut(session) {
            live.calls.retain(|_, running| running.request != *request);
        }
    }

    /// Gives the client's answer to the call that asked; false when nobody here waits for it.
    pub(super) fn answer(&self, session: &SessionId, response: Response) -> bool {
        let mut table = self.table();
        let asked = table.sessions.get_mut(session).map(|live| &mut live.asked);
        let waiting = asked
            .zip(response.id.as_ref())
            .and_then(|(asked, id)| asked.remove(id));
        drop(table);
        waiting.is_some_and(|(_, answer)| answer.send(response).is_ok())
    }

    /// Ends everything of a session.
    pub(super) fn end(&self, session: &SessionId) {
        let ended = self.table().sessions.remove(session);
        drop(ended);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing panics while it holds the table.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn key(&mut self) -> u64 {
        self.next_key = self.next_key.wrapping_add(1);
        self.next_key
    }

    fn forget_if_idle(&mut self, session: &SessionId) {
        if self
            .sessions
            .get(session)
            .is_some_and(|live| live.calls.is_empty())
        {
            self.sessions.remove(session);
        }
    }
}

impl CallGuard {
    /// Enters a request to the client; its answer goes to `answer`. A call that was ended waits in vain.
    pub(super) fn expect_answer(&self, request: RequestId, answer: oneshot::Sender<Response>) {
        let mut table = self.0.live.table();
        if let Some(live) = table.sessions.get_mut(&self.0.session) {
            live.asked.insert(request, (self.0.key, answer));
        }
    }

    /// Marks the call as one without a client; false when it was cancelled, or when `max` of its session are such.
    pub(super) fn detach(&self, max: usize) -> bool {
        let mut table = self.0.live.table();
        let Some(live) = table.sessions.get_mut(&self.0.session) else {
            return false;
        };
        if live.calls.values().filter(|call| call.detached).count() >= max {
            return false;
        }
        let Some(call) = live.calls.get_mut(&self.0.key) else {
            return false;
        };
        call.detached = true;
        true
    }

    /// Its client is back.
    pub(super) fn attach(&self) {
        let mut table = self.0.live.table();
        let session = table.sessions.get_mut(&self.0.session);
        if let Some(call) = session.and_then(|live| live.calls.get_mut(&self.0.key)) {
            call.detached = false;
        }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let mut table = self.0.live.table();
        if let Some(live) = table.sessions.get_mut(&self.0.session) {
            live.calls.remove(&self.0.key);
            live.asked.retain(|_, (key, _)| *key != self.0.key);
        }
        table.forget_if_idle(&self.0.session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_leaves_nothing_behind() {
        let live = Arc::<Live>::default();
        let session = SessionId::random();
        live.begin_call(&session, &RequestId::Number(1), 0)
            .unwrap_err();
        assert!(live.table().sessions.is_empty());
        let call = live.begin_call(&session, &RequestId::Number(1), 1).unwrap();
        live.begin_call(&session, &RequestId::Number(2), 1)
            .unwrap_err();
        drop(call);
        assert!(live.table().sessions.is_empty());
    }
}
