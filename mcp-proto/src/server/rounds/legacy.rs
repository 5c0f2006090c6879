//! Rounds with a legacy client: its answers come to requests on the call's own stream. Deletable with the era.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::try_join_all;
use serde_json::{Map, Value, json};

use super::super::{Method, Server};
use crate::context::Context;
use crate::input::{Input, Question, Questions};
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::{ErrorObject, Notification, Payload, RequestId};
use crate::task::relate_params;
use crate::tool::ToolError;

/// How often one legacy call or one task may ask: a handler that asks anew every time would never end.
pub(in super::super) const MAX_ROUNDS: usize = 32;

/// How much of a client's error message is told, in characters.
const MAX_SHOWN: usize = 500;

/// Why there is no answer: a name for programs and a sentence.
pub(in super::super) type Problem = (&'static str, String);

/// A question that was sent. Unless it is answered, it is taken back.
struct Sent<'c> {
    id: RequestId,
    context: &'c Context,
    task: Option<&'c str>,
    answered: bool,
}

impl Server {
    pub(super) async fn all_rounds(
        &self,
        method: Method,
        params: Map<String, Value>,
        mut context: Context,
    ) -> Result<Payload, ErrorObject> {
        let mut answers = BTreeMap::new();
        let room = AtomicUsize::new(self.0.rounds.config.max_answer_bytes);
        for _ in 0..MAX_ROUNDS {
            match self.run(method, params.clone(), context.clone()).await {
                Ok(payload) => return Ok(payload),
                Err(Interrupt(Reason::Ask(questions))) => {
                    match self.ask_client(&questions, &context, &room).await {
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

    /// Puts questions to the client and waits for all answers, or for the first thing that goes wrong. `room` is how
    /// many bytes of answers there may still be.
    async fn ask_client(
        &self,
        questions: &Questions,
        context: &Context,
        room: &AtomicUsize,
    ) -> Result<Vec<(String, Value)>, Problem> {
        let limit = self.0.rounds.config.answer_timeout;
        let answers = questions.iter().map(|(key, question)| async move {
            let answer = ask(question, context, limit, None).await?;
            let size = answer.as_str().len();
            let left = room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| {
                room.checked_sub(size)
            });
            left.map_err(|_| {
                let problem = "the client's answers are together too long";
                ("CLIENT_ANSWER_INVALID", problem.to_owned())
            })?;
            Ok((key.to_owned(), answer.to_value()))
        });
        try_join_all(answers).await
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

/// One question to a legacy client, about a task if there is one; its answer, which is one, or why there is none.
/// Dropping it takes the question back.
pub(in super::super) async fn ask(
    question: &Question,
    context: &Context,
    limit: Duration,
    task: Option<&str>,
) -> Result<Payload, Problem> {
    let mut request = question.to_request(context.protocol_version);
    if let Some(task) = task {
        relate_params(&mut request.params, task);
    }
    let method = request.method;
    let cannot = |why: &str| {
        let problem = format!("the client cannot be asked by {method}: {why}");
        ("CLIENT_CANNOT_BE_ASKED", problem)
    };
    let answered = async {
        // Waits for the client to read what it was sent before.
        let asked = context.outbox.ask(method, request.params).await;
        let (id, answer) = asked.map_err(|_| cannot("it takes no events for this call"))?;
        let mut sent = Sent {
            id,
            context,
            task,
            answered: false,
        };
        let answer = answer.await;
        sent.answered = true;
        answer.map_err(|_gone| cannot("it is gone, or takes no events for this call"))
    };
    let answered = tokio::time::timeout(limit, answered).await;
    let response = answered.map_err(|_elapsed| {
        let seconds = limit.as_secs_f64();
        let problem = format!("the client did not answer {method} within {seconds} s");
        ("CLIENT_DID_NOT_ANSWER", problem)
    })??;
    let answer = response.outcome.map_err(|error| {
        let message: String = error.message.chars().take(MAX_SHOWN).collect();
        let problem = format!("the client refused {method}: {message} ({})", error.code);
        ("CLIENT_REFUSED", problem)
    })?;
    match question.read(&answer.to_value()) {
        Ok(_) => Ok(answer),
        Err(problem) => Err((
            "CLIENT_ANSWER_INVALID",
            format!("the client's answer to {method} is none: {problem}"),
        )),
    }
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let cancelled = json!({ "requestId": self.id, "reason": "no answer is needed any more" });
        let mut cancelled = Notification::new("notifications/cancelled", cancelled);
        if let Some(task) = self.task {
            relate_params(&mut cancelled.params, task);
        }
        // A client that is gone, or that does not read what it has been sent already, need not be told.
        let _told = self.context.outbox.send(cancelled).now_or_never();
    }
}
