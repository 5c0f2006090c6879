//! Requests to the client of a connection that wait for their answers.

use std::collections::HashMap;

use tokio::sync::oneshot;

use crate::jsonrpc::{RequestId, Response};

/// Below this many entries, those that no call waits for any more are not searched for.
const FEW: usize = 64;

/// The requests that were sent, each with the sender for its answer.
#[derive(Debug)]
pub(crate) struct PendingQuestions {
    waiting: HashMap<RequestId, oneshot::Sender<Response>>,
    /// The number of entries at which those of ended calls are searched for and removed.
    sweep_at: usize,
    ended: bool,
}

impl PendingQuestions {
    pub(crate) fn new() -> Self {
        Self { waiting: HashMap::new(), sweep_at: FEW, ended: false }
    }

    /// Registers a request whose answer is awaited. False if no answer can come any more.
    pub(crate) fn expect(
        &mut self,
        request: &RequestId,
        answer: oneshot::Sender<Response>,
    ) -> bool {
        if self.ended {
            return false;
        }
        if self.waiting.len() >= self.sweep_at {
            self.waiting.retain(|_, answer| !answer.is_closed());
            self.sweep_at = FEW.max(2 * self.waiting.len());
        }
        self.waiting.insert(request.clone(), answer);
        true
    }

    /// Delivers an answer. False if no call waits for it.
    pub(crate) fn take(&mut self, response: Response) -> bool {
        let answer = response.id.as_ref().and_then(|id| self.waiting.remove(id));
        answer.is_some_and(|answer| answer.send(response).is_ok())
    }

    /// The client sends nothing more: calls that wait, now or later, are notified.
    pub(crate) fn end(&mut self) {
        self.ended = true;
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::Payload;

    fn response(id: i64) -> Response {
        Response::result(id.into(), Payload::of(&serde_json::json!({})).unwrap())
    }

    #[test]
    fn what_nobody_waits_for_does_not_pile_up() {
        let mut asked = PendingQuestions::new();
        let (kept, mut answered) = oneshot::channel();
        assert!(asked.expect(&0.into(), kept));
        for id in 1..10_000 {
            let (answer, _over) = oneshot::channel();
            assert!(asked.expect(&id.into(), answer));
            assert!(asked.waiting.len() <= FEW);
        }
        assert!(!asked.take(response(9_999)));
        assert!(asked.take(response(0)));
        assert!(!asked.take(response(0)));
        assert_eq!(answered.try_recv().unwrap().id, Some(0.into()));
    }

    #[test]
    fn the_end_of_the_client_ends_every_wait() {
        let mut asked = PendingQuestions::new();
        let (answer, mut answered) = oneshot::channel();
        assert!(asked.expect(&1.into(), answer));
        asked.end();
        assert!(answered.try_recv().is_err());
        let (answer, mut answered) = oneshot::channel();
        assert!(!asked.expect(&2.into(), answer));
        assert!(answered.try_recv().is_err());
    }
}
