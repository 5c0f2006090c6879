//! Questions on the stream of a legacy request: sent, waited for, taken back.

use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use serde_json::{Value, json};

use crate::context::Context;
use crate::input::Question;
use crate::jsonrpc::{Notification, RequestId};
use crate::legacy::tasks::stream::relate_params;
use crate::outbox::OutboxClosed;

/// Why a question has no answer: a name for programs and a sentence.
pub(super) type Problem = (&'static str, String);

/// The name of the problem that the client cannot be reached. Another stream of the same client may solve it.
pub(super) const CANNOT_BE_ASKED: &str = "CLIENT_CANNOT_BE_ASKED";
/// Names an answer that cannot be used.
pub(super) const ANSWER_INVALID: &str = "CLIENT_ANSWER_INVALID";

/// The most characters of a client's error message that are passed on.
const MAX_SHOWN: usize = 500;
/// How long to try to notify a client that does not read of the questions that it need not answer any more.
const TAKING_BACK: Duration = Duration::from_millis(500);

/// The questions to a client about one request.
pub(super) struct ClientQuestions<'c> {
    context: &'c Context,
    /// The task that asks.
    task: Option<&'c str>,
    /// The questions that have no answer yet.
    open: Vec<(RequestId, &'static str)>,
}

impl<'c> ClientQuestions<'c> {
    pub(super) fn new(context: &'c Context, task: Option<&'c str>) -> Self {
        Self { context, task, open: Vec::new() }
    }

    /// Sends questions to the client and waits for all answers, or for the first failure, at most for `limit`. `room`
    /// is the number of bytes of JSON that the answers together may still have. Cancel-safe:
    /// [`ClientQuestions::take_back`] then knows which questions are open.
    pub(super) async fn ask<'q>(
        &mut self,
        questions: impl Iterator<Item = (&'q str, &'q Question)>,
        limit: Duration,
        room: &mut usize,
        take: impl FnMut(&'q str, Value) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let asked = self.ask_all(questions, room, take);
        match tokio::time::timeout(limit, asked).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => Err(self.unanswered(limit)),
        }
    }

    /// Notifies the client that it need not answer the open questions any more.
    pub(super) async fn take_back(self) {
        let sending = async {
            for (id, _) in self.open {
                let cancelled =
                    json!({ "requestId": id, "reason": "the answer is no longer needed" });
                let mut cancelled = Notification::new("notifications/cancelled", cancelled);
                if let Some(task) = self.task {
                    relate_params(&mut cancelled.params, task);
                }
                if self.context.outbox.send(cancelled).await.is_err() {
                    return;
                }
            }
        };
        // A client that is gone, or that does not read what it has been sent already, need not be notified.
        let _ = tokio::time::timeout(TAKING_BACK, sending).await;
    }

    async fn ask_all<'q>(
        &mut self,
        questions: impl Iterator<Item = (&'q str, &'q Question)>,
        room: &mut usize,
        mut take: impl FnMut(&'q str, Value) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let mut waiting = FuturesUnordered::new();
        for (key, question) in questions {
            let mut request = question.to_request(self.context.protocol_version);
            if let Some(task) = self.task {
                relate_params(&mut request.params, task);
            }
            let method = request.method;
            let asked = self.context.outbox.ask(method, request.params).await;
            let (id, answer) = asked.map_err(|OutboxClosed| {
                let problem = "the client cannot be asked: it takes no event stream for this call";
                (CANNOT_BE_ASKED, problem.to_owned())
            })?;
            self.open.push((id.clone(), method));
            waiting.push(async move { (key, question, id, method, answer.await) });
        }
        while let Some((key, question, id, method, response)) = waiting.next().await {
            self.open.retain(|(known, _)| *known != id);
            let response = response.map_err(|_gone| {
                let problem =
                    format!("{method} will not be answered: the client is gone or takes no events");
                (CANNOT_BE_ASKED, problem)
            })?;
            let answer = response.outcome.map_err(|error| {
                let message: String = error.message.chars().take(MAX_SHOWN).collect();
                let problem = format!("the client refused {method}: {message} ({})", error.code);
                ("CLIENT_REFUSED", problem)
            })?;
            *room = room.checked_sub(answer.as_str().len()).ok_or_else(|| {
                let problem =
                    format!("the answer to {method} is too long, together with those before");
                (ANSWER_INVALID, problem)
            })?;
            let answer = answer.to_value();
            question.read(&answer).map_err(|problem| {
                let problem = format!("the client's answer to {method} is not valid: {problem}");
                (ANSWER_INVALID, problem)
            })?;
            take(key, answer)?;
        }
        Ok(())
    }

    fn unanswered(&self, limit: Duration) -> Problem {
        let methods: Vec<_> = self.open.iter().map(|(_, method)| *method).collect();
        let methods = match methods.as_slice() {
            [] => "read what it is asked".to_owned(),
            methods => format!("answer {}", methods.join(", ")),
        };
        let problem = format!("the client did not {methods} within {} s", limit.as_secs_f64());
        ("CLIENT_DID_NOT_ANSWER", problem)
    }
}
