//! Rounds with a legacy client: its answers come to requests on the call's own stream. Deletable with the era.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::super::{Method, Server};
use super::MAX_ROUNDS;
use crate::context::{Context, OutboxClosed};
use crate::input::{Input, Question};
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::{ErrorObject, Notification, Payload, RequestId, Response};
use crate::task::relate_params;
use crate::tool::ToolError;

/// Why a call cannot go on: a name for programs and a sentence.
pub(in crate::server) type Problem = (&'static str, String);

/// The name where this request of the client is no way to ask it, and another may be.
pub(in crate::server) const CANNOT_BE_ASKED: &str = "CLIENT_CANNOT_BE_ASKED";

/// What becomes of each answer: its question's key, itself, its bytes as JSON. False when there is no room for it.
type Take<'t> = &'t mut (dyn FnMut(&str, Value, usize) -> bool + Send);

/// A question that was sent.
struct Sent<'q> {
    key: &'q str,
    question: &'q Question,
    id: RequestId,
    method: &'static str,
    answer: oneshot::Receiver<Response>,
}

impl Server {
    pub(super) async fn all_rounds(
        &self,
        method: Method,
        params: Map<String, Value>,
        mut context: Context,
    ) -> Result<Payload, ErrorObject> {
        let mut answers = BTreeMap::new();
        let mut room = self.0.rounds.config.max_answer_bytes;
        for _ in 0..MAX_ROUNDS {
            match self.run(method, params.clone(), context.clone()).await {
                Ok(payload) => return Ok(payload),
                Err(Interrupt(Reason::Ask(questions))) => {
                    let mut take = |key: &str, answer, bytes| {
                        let left = room.checked_sub(bytes);
                        room = left.unwrap_or(room);
                        answers.insert(key.to_owned(), answer);
                        left.is_some()
                    };
                    let asked = self.ask_client(questions.iter(), &context, None, &mut take);
                    if let Err(problem) = asked.await {
                        return self.not_answered(method, &params, problem, &context);
                    }
                }
                Err(error) => return Err(error.into_error()),
            }
            context.input = Some(Arc::new(Input::new(answers.clone())));
        }
        tracing::error!(?method, "a handler asked its client {MAX_ROUNDS} times");
        Err(ErrorObject::internal())
    }

    /// Puts questions to the client, about a task if there is one, and waits for all answers, or for the first thing
    /// that goes wrong. Questions that are open then are taken back.
    pub(in crate::server) async fn ask_client<'q>(
        &self,
        questions: impl Iterator<Item = (&'q str, &'q Question)> + Send,
        context: &Context,
        task: Option<&str>,
        take: Take<'_>,
    ) -> Result<(), Problem> {
        let limit = self.0.rounds.config.answer_timeout;
        let mut open = Vec::new();
        let asked = ask_all(questions, context, task, &mut open, take);
        let outcome = match tokio::time::timeout(limit, asked).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => Err(unanswered(&open, limit)),
        };
        if outcome.is_err() {
            for (id, _) in open {
                let cancelled =
                    json!({ "requestId": id, "reason": "the answer is not needed any more" });
                let mut cancelled = Notification::new("notifications/cancelled", cancelled);
                if let Some(task) = task {
                    relate_params(&mut cancelled.params, task);
                }
                // A client that is gone, or that does not read what it has been sent already, need not be told.
                let _told = context.outbox.send(cancelled).now_or_never();
            }
        }
        outcome
    }

    /// A call that cannot go on without an answer: a tool tells its model, anything else is a protocol error.
    fn not_answered(
        &self,
        method: Method,
        params: &Map<String, Value>,
        (code, problem): Problem,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        if method != Method::CallTool {
            return Err(ErrorObject::new(ErrorObject::INTERNAL, problem));
        }
        let name = params.get("name").and_then(Value::as_str);
        let failed = ToolError::new(code, problem);
        let result = self.0.tools.failed(name.unwrap_or_default(), failed);
        let result = result.map_err(Interrupt::into_error)?;
        self.tool_result(&result, context.protocol_version)
    }
}

/// Asks and waits; `open` holds the questions that wait for their answers, at any time.
async fn ask_all<'q>(
    questions: impl Iterator<Item = (&'q str, &'q Question)> + Send,
    context: &Context,
    task: Option<&str>,
    open: &mut Vec<(RequestId, &'static str)>,
    take: Take<'_>,
) -> Result<(), Problem> {
    let mut waiting = FuturesUnordered::new();
    for (key, question) in questions {
        let sent = send(key, question, context, task).await;
        let sent = sent.map_err(|OutboxClosed| {
            let problem = "the client cannot be asked: it takes no event stream for this call";
            (CANNOT_BE_ASKED, problem.to_owned())
        })?;
        open.push((sent.id.clone(), sent.method));
        waiting.push(async move {
            let Sent {
                key,
                question,
                id,
                method,
                answer,
            } = sent;
            (key, question, id, method, answer.await)
        });
    }
    while let Some((key, question, id, method, response)) = waiting.next().await {
        open.retain(|(known, _)| *known != id);
        let response = response.map_err(|_gone| {
            let problem = format!("nobody answers {method}: the client is gone or takes no events");
            (CANNOT_BE_ASKED, problem)
        })?;
        let answer = response.outcome.map_err(|error| {
            let message: String = error.message.chars().take(MAX_SHOWN).collect();
            let problem = format!("the client refused {method}: {message} ({})", error.code);
            ("CLIENT_REFUSED", problem)
        })?;
        let (bytes, answer) = (answer.as_str().len(), answer.to_value());
        question.read(&answer).map_err(|problem| {
            let problem = format!("the client's answer to {method} is none: {problem}");
            ("CLIENT_ANSWER_INVALID", problem)
        })?;
        if !take(key, answer, bytes) {
            let problem = format!("the answer to {method} is too long, together with those before");
            return Err(("CLIENT_ANSWER_INVALID", problem));
        }
    }
    Ok(())
}

/// How much of a client's error message is told, in characters.
const MAX_SHOWN: usize = 500;

async fn send<'q>(
    key: &'q str,
    question: &'q Question,
    context: &Context,
    task: Option<&str>,
) -> Result<Sent<'q>, OutboxClosed> {
    let mut request = question.to_request(context.protocol_version);
    if let Some(task) = task {
        relate_params(&mut request.params, task);
    }
    let method = request.method;
    let (id, answer) = context.outbox.ask(method, request.params).await?;
    Ok(Sent {
        key,
        question,
        id,
        method,
        answer,
    })
}

fn unanswered(open: &[(RequestId, &'static str)], limit: Duration) -> Problem {
    let methods: Vec<_> = open.iter().map(|(_, method)| *method).collect();
    let methods = match methods.as_slice() {
        [] => "read what it is asked".to_owned(),
        methods => format!("answer {}", methods.join(", ")),
    };
    let problem = format!(
        "the client did not {methods} within {} s",
        limit.as_secs_f64()
    );
    ("CLIENT_DID_NOT_ANSWER", problem)
}
