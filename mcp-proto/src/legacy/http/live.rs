//! The live state of legacy sessions in this process: running calls, which are cancelled by id, and their questions.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex};

use foldhash::fast::RandomState;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use crate::jsonrpc::{RequestId, Response};
use crate::legacy::http::refusal::Refusal;
use crate::legacy::session::SessionId;
use crate::locked::Locked as _;

/// The most calls that a list may have capacity for if it is kept for the next session.
const MAX_SPARE: usize = 16;

/// Sessions with something alive. An entry lives as long as its calls, not as long as the session.
#[derive(Debug, Default)]
pub(super) struct Live(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    sessions: HashMap<SessionId, LiveSession, RandomState>,
    /// An emptied list, kept for its capacity: most sessions have one call at a time.
    spare: Vec<(u64, RunningCall)>,
    next_key: u64,
}

#[derive(Debug, Default)]
struct LiveSession {
    /// In the order of a key of our own: clients do reuse request ids, and one call must never end another's entry.
    calls: Vec<(u64, RunningCall)>,
    /// Requests to the client that wait for its answer. Each is also in the list of the call that asked.
    asked: HashMap<RequestId, oneshot::Sender<Response>>,
    /// Reads the messages that other processes receive for these calls.
    inbox: Option<Reading>,
}

/// The task that reads an inbox. Dropping this aborts it.
#[derive(Debug)]
pub(super) struct Reading(pub(super) AbortHandle);

#[derive(Debug)]
struct RunningCall {
    request: RequestId,
    /// Dropping it cancels the call.
    _cancel: oneshot::Sender<()>,
    /// Its client has disconnected.
    detached: bool,
    /// Its requests to the client, answered or not.
    asked: Vec<RequestId>,
}

/// Holds the entry of a call; dropping it ends the entry.
#[derive(Debug)]
pub(super) struct CallGuard {
    live: Arc<Live>,
    session: SessionId,
    key: u64,
}

impl Live {
    /// Enters a call. The receiver ends when the call is cancelled or its session ends.
    pub(super) fn begin_call(
        self: &Arc<Self>,
        session: &SessionId,
        request: &RequestId,
        max: usize,
    ) -> Result<(CallGuard, oneshot::Receiver<()>), Refusal> {
        let (cancel, cancelled) = oneshot::channel();
        let mut table = self.0.locked();
        let key = table.key();
        let Table { sessions, spare, .. } = &mut *table;
        let live = sessions.entry(session.clone());
        let running = match &live {
            Entry::Occupied(live) => live.get().calls.len(),
            Entry::Vacant(_) => 0,
        };
        if running >= max {
            return Err(Refusal::TooManyCalls(max));
        }
        let calls = match live {
            Entry::Occupied(live) => &mut live.into_mut().calls,
            Entry::Vacant(free) => {
                let calls = std::mem::take(spare);
                let live = LiveSession { calls, ..LiveSession::default() };
                &mut free.insert(live).calls
            }
        };
        let running = RunningCall {
            request: request.clone(),
            _cancel: cancel,
            detached: false,
            asked: Vec::new(),
        };
        calls.push((key, running));
        drop(table);
        Ok((CallGuard { live: Arc::clone(self), session: session.clone(), key }, cancelled))
    }

    /// Whether a session has calls and no inbox is read for them.
    pub(super) fn wants_inbox(&self, session: &SessionId) -> bool {
        let table = self.0.locked();
        let live = table.sessions.get(session);
        live.is_some_and(|live| live.inbox.is_none())
    }

    /// Reads the inbox of a session as long as it has calls.
    pub(super) fn read_inbox(&self, session: &SessionId, reading: Reading) {
        let mut table = self.0.locked();
        let live = table.sessions.get_mut(session);
        // If its calls have ended already, so does the reading.
        let before = live.map(|live| live.inbox.replace(reading));
        drop(table);
        drop(before);
    }

    /// Cancels the calls of that id; whether any was running. Clients in use name the number of their request as a
    /// text: it counts as the number if no call has the text as its id.
    pub(super) fn cancel(&self, session: &SessionId, request: &RequestId) -> bool {
        let mut table = self.0.locked();
        let Some(live) = table.sessions.get_mut(session) else {
            return false;
        };
        live.cancel(request) || request.as_number().is_some_and(|number| live.cancel(&number))
    }

    /// Gives the client's answer to the call that asked.
    ///
    /// # Errors
    /// The answer, when nothing here waits for it.
    pub(super) fn answer(&self, session: &SessionId, response: Response) -> Result<(), Response> {
        let mut table = self.0.locked();
        let asked = table.sessions.get_mut(session).map(|live| &mut live.asked);
        let waiting = asked.zip(response.id.as_ref()).and_then(|(asked, id)| asked.remove(id));
        drop(table);
        match waiting {
            Some(answer) => answer.send(response),
            None => Err(response),
        }
    }

    /// Ends everything of a session.
    pub(super) fn end(&self, session: &SessionId) {
        let ended = self.0.locked().sessions.remove(session);
        drop(ended);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Table {
    fn key(&mut self) -> u64 {
        self.next_key = self.next_key.wrapping_add(1);
        self.next_key
    }
}

impl LiveSession {
    /// Cancels the calls of exactly that id; whether any was running.
    fn cancel(&mut self, request: &RequestId) -> bool {
        let ended = |(_, running): &mut (u64, RunningCall)| running.request == *request;
        let ended: Vec<_> = self.calls.extract_if(.., ended).collect();
        let any = !ended.is_empty();
        ended.into_iter().for_each(|(_, call)| self.forget_asked(call));
        any
    }

    /// Removes a call and its requests to the client.
    fn end_call(&mut self, key: u64) {
        if let Ok(at) = self.calls.binary_search_by_key(&key, |(key, _)| *key) {
            let (_, call) = self.calls.remove(at);
            self.forget_asked(call);
        }
    }

    fn forget_asked(&mut self, call: RunningCall) {
        for request in call.asked {
            self.asked.remove(&request);
        }
    }

    fn call(&mut self, key: u64) -> Option<&mut RunningCall> {
        let at = self.calls.binary_search_by_key(&key, |(key, _)| *key);
        self.calls.get_mut(at.ok()?).map(|(_, call)| call)
    }
}

impl CallGuard {
    /// Enters a request to the client; its answer goes to `answer`. A call that has ended gets no answer.
    pub(super) fn expect_answer(&self, request: RequestId, answer: oneshot::Sender<Response>) {
        let mut table = self.live.0.locked();
        if let Some(live) = table.sessions.get_mut(&self.session) {
            let Some(call) = live.call(self.key) else {
                return;
            };
            call.asked.push(request.clone());
            live.asked.insert(request, answer);
        }
    }

    /// Marks the call as one without a client; false if it was cancelled, or if `max` calls of its session are marked
    /// already.
    pub(super) fn detach(&self, max: usize) -> bool {
        let mut table = self.live.0.locked();
        let Some(live) = table.sessions.get_mut(&self.session) else {
            return false;
        };
        if live.calls.iter().filter(|(_, call)| call.detached).count() >= max {
            return false;
        }
        let Some(call) = live.call(self.key) else {
            return false;
        };
        call.detached = true;
        true
    }

    /// Called when its client has reconnected.
    pub(super) fn attach(&self) {
        let mut table = self.live.0.locked();
        let session = table.sessions.get_mut(&self.session);
        if let Some(call) = session.and_then(|live| live.call(self.key)) {
            call.detached = false;
        }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let mut table = self.live.0.locked();
        let Table { sessions, spare, .. } = &mut *table;
        if let Entry::Occupied(mut live) = sessions.entry(self.session.clone()) {
            live.get_mut().end_call(self.key);
            if live.get().calls.is_empty() {
                let calls = live.remove().calls;
                if calls.capacity() <= MAX_SPARE {
                    *spare = calls;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot::error::TryRecvError;

    use super::*;
    use crate::jsonrpc::Payload;

    #[test]
    fn what_is_refused_leaves_nothing_behind() {
        let live = Arc::<Live>::default();
        let session = SessionId::random();
        live.begin_call(&session, &RequestId::Number(1), 0).unwrap_err();
        assert!(live.0.locked().sessions.is_empty());
        let call = live.begin_call(&session, &RequestId::Number(1), 1).unwrap();
        live.begin_call(&session, &RequestId::Number(2), 1).unwrap_err();
        drop(call);
        assert!(live.0.locked().sessions.is_empty());
    }

    fn response(id: &str) -> Response {
        Response::result(id.into(), Payload::of(&serde_json::json!({})).unwrap())
    }

    #[test]
    fn what_a_call_has_asked_ends_with_it() {
        let live = Arc::<Live>::default();
        let session = SessionId::random();
        let begin = |id| live.begin_call(&session, &RequestId::Number(id), 9).unwrap();
        let (one, two) = (begin(1), begin(2));
        let ask = |guard: &CallGuard, id: &str| {
            let (answer, answered) = oneshot::channel();
            guard.expect_answer(id.into(), answer);
            answered
        };
        let (mut first, mut second) = (ask(&one.0, "a"), ask(&one.0, "b"));
        let mut other = ask(&two.0, "c");
        // An answer in another session answers nothing.
        live.answer(&SessionId::random(), response("a")).unwrap_err();
        live.answer(&session, response("a")).unwrap();
        live.answer(&session, response("a")).unwrap_err();
        first.try_recv().unwrap();

        assert!(live.cancel(&session, &RequestId::Number(1)));
        assert!(!live.cancel(&session, &RequestId::Number(1)));
        assert_eq!(second.try_recv().unwrap_err(), TryRecvError::Closed);
        assert_eq!(other.try_recv().unwrap_err(), TryRecvError::Empty);
        // It was cancelled: a question now fails at once.
        let mut late = ask(&one.0, "d");
        assert_eq!(late.try_recv().unwrap_err(), TryRecvError::Closed);
        assert_eq!(live.0.locked().sessions[&session].asked.len(), 1);
        drop(two);
        assert_eq!(other.try_recv().unwrap_err(), TryRecvError::Closed);
        drop(one);
        assert!(live.0.locked().sessions.is_empty());
    }
}
