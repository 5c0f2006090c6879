//! What of a legacy session is alive in this process: running calls, to be cancelled by id, and the GET stream.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{oneshot, watch};

use super::rejection::Rejection;
use crate::jsonrpc::{RequestId, Response};
use crate::session::SessionId;

/// Sessions with something alive. An entry lives as long as its calls and its stream, not as long as the session.
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
    stream: Option<OpenStream>,
}

/// The GET stream of a session.
#[derive(Debug)]
struct OpenStream {
    key: u64,
    /// Dropping it is the signal.
    _end: oneshot::Sender<()>,
    /// Told whenever the session has changed.
    changed: watch::Sender<()>,
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

/// Holds the entry of a GET stream; dropping it ends the entry.
#[derive(Debug)]
pub(super) struct StreamGuard(Guard);

#[derive(Debug)]
struct Guard {
    live: Arc<Live>,
    session: SessionId,
    key: u64,
}

/// What holds the entry of a GET stream, when it ends, and when its session has changed.
pub(super) type StreamEntry = (StreamGuard, oneshot::Receiver<()>, watch::Receiver<()>);

impl Live {
    /// Tells the GET stream of a session, if it is open here, that the session has changed in the store. Not how: of two
    /// changes at once, the store alone knows which was the last.
    pub(super) fn session_changed(&self, session: &SessionId) {
        let table = self.table();
        if let Some(live) = table.sessions.get(session)
            && let Some(stream) = &live.stream
        {
            stream.changed.send_replace(());
        }
    }

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

    /// Enters the GET stream of a session; there is one at a time.
    pub(super) fn open_stream(
        self: &Arc<Self>,
        session: &SessionId,
    ) -> Result<StreamEntry, Rejection> {
        let (end, ended) = oneshot::channel();
        let (changed, changes) = watch::channel(());
        let mut table = self.table();
        let key = table.key();
        let stream = &mut table.sessions.entry(session.clone()).or_default().stream;
        if stream.is_some() {
            return Err(Rejection::StreamTaken);
        }
        *stream = Some(OpenStream {
            key,
            _end: end,
            changed,
        });
        drop(table);
        let guard = StreamGuard(Guard {
            live: Arc::clone(self),
            session: session.clone(),
            key,
        });
        Ok((guard, ended, changes))
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
            .is_some_and(|live| live.calls.is_empty() && live.stream.is_none())
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

impl Drop for StreamGuard {
    fn drop(&mut self) {
        let mut table = self.0.live.table();
        if let Some(live) = table.sessions.get_mut(&self.0.session)
            && live
                .stream
                .as_ref()
                .is_some_and(|stream| stream.key == self.0.key)
        {
            live.stream = None;
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
        let stream = live.open_stream(&session).unwrap();
        live.open_stream(&session).unwrap_err();
        drop(stream);
        assert!(live.table().sessions.is_empty());
    }
}
