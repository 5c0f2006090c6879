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
use crate::input::{Input, Question, Questions};
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::{ErrorObject, Notification, Payload, RequestId, Response};
use crate::tool::ToolError;

/// Why a call cannot go on: a name for programs and a sentence.
type Problem = (&'static str, String);

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
                    match self.ask_client(&questions, &context, &mut room).await {
                        Ok(given) => answers.extend(given),
                        Err(problem) => {
                            return self.not_answered(method, &params, problem, &context);
                        }
                    }
                }
                Err(error) => return Err(error.into_error()),
            }
            context.input = Some(Arc::new(Input::new(answers.clone())));
        }
        tracing::error!(?method, "a handler asked its client {MAX_ROUNDS} times");
        Err(ErrorObject::internal())
    }

    /// Puts questions to the client and waits for all answers, or for the first thing that goes wrong. Questions that
    /// are open then are taken back.
    async fn ask_client(
        &self,
        questions: &Questions,
        context: &Context,
        room: &mut usize,
    ) -> Result<BTreeMap<String, Value>, Problem> {
        let limit = self.0.rounds.config.answer_timeout;
        let mut open = Vec::new();
        let asked = ask_all(questions, context, &mut open, room);
        let outcome = match tokio::time::timeout(limit, asked).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => Err(unanswered(&open, limit)),
        };
        if outcome.is_err() {
            for (id, _) in open {
                let cancelled =
                    json!({ "requestId": id, "reason": "the answer is not needed any more" });
                let cancelled = Notification::new("notifications/cancelled", cancelled);
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
async fn ask_all(
    questions: &Questions,
    context: &Context,
    open: &mut Vec<(RequestId, &'static str)>,
    room: &mut usize,
) -> Result<BTreeMap<String, Value>, Problem> {
    let mut waiting = FuturesUnordered::new();
    for (key, question) in questions.iter() {
        let sent = send(key, question, context).await.map_err(|OutboxClosed| {
            let problem = "the client cannot be asked: it takes no event stream for this call";
            ("CLIENT_CANNOT_BE_ASKED", problem.to_owned())
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
    let mut given = BTreeMap::new();
    while let Some((key, question, id, method, response)) = waiting.next().await {
        open.retain(|(known, _)| *known != id);
        let response = response.map_err(|_gone| {
            let problem = format!("nobody answers {method}: the client is gone or takes no events");
            ("CLIENT_CANNOT_BE_ASKED", problem)
        })?;
        let answer = response.outcome.map_err(|error| {
            let message: String = error.message.chars().take(MAX_SHOWN).collect();
            let problem = format!("the client refused {method}: {message} ({})", error.code);
            ("CLIENT_REFUSED", problem)
        })?;
        *room = room.checked_sub(answer.as_str().len()).ok_or_else(|| {
            let problem = format!("the answer to {method} is too long, together with those before");
            ("CLIENT_ANSWER_INVALID", problem)
        })?;
        let answer = answer.to_value();
        question.read(&answer).map_err(|problem| {
            let problem = format!("the client's answer to {method} is none: {problem}");
            ("CLIENT_ANSWER_INVALID", problem)
        })?;
        given.insert(key.to_owned(), answer);
    }
    Ok(given)
}

/// How much of a client's error message is told, in characters.
const MAX_SHOWN: usize = 500;

async fn send<'q>(
    key: &'q str,
    question: &'q Question,
    context: &Context,
) -> Result<Sent<'q>, OutboxClosed> {
    let request = question.to_request(context.protocol_version);
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
