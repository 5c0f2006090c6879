//! Requests whose handlers may ask the client: by `input_required` results (2026-07-28, "Multi round-trip requests").

pub(crate) mod config;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::offered::Offered;
use super::{Method, Server, tasks, wire};
use crate::input::{Input, Question, Questions};
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::{ErrorObject, Payload, Result};
use crate::legacy;
use crate::seal::{MAX_PLAINTEXT_BYTES, SealError, StateBinding, TicketError, digest, unix_now};
use crate::service::Call;
use crate::task::{Calling, TaskMode};
use crate::version::{Era, ProtocolVersion};

/// The content of a `requestState`: the answers that must not be requested again.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Remembered {
    answers: BTreeMap<String, Value>,
    asked: Vec<String>,
}

impl Server {
    /// Answers a request whose handler may ask. All its rounds use the handler that it began with, for which its caller
    /// was authorized, even if the offer changes meanwhile.
    pub(super) async fn in_rounds(
        &self,
        offered: Arc<Offered>,
        method: Method,
        mut call: Call,
    ) -> Result<Payload> {
        let era = call.context.era();
        if era == Era::Modern {
            call.context.input = self.answers(&mut call)?;
        }
        if method == Method::CallTool && self.0.tasks.is_some() {
            let calling = match era {
                Era::Modern => tasks::calling(&offered, &call),
                Era::Legacy => legacy::tasks::calling(&offered, &mut call),
            };
            match calling? {
                Calling::Now(mode) => call.context.task = mode,
                Calling::AsTask(ttl) => {
                    return Box::pin(self.create_task(offered, call, ttl)).await;
                }
            }
        }
        let startable = matches!(call.context.task, TaskMode::Startable);
        if !startable && !call.context.can_be_asked() {
            let ran = self.run(&offered, method, call).await;
            return ran.map_err(Interrupt::into_error);
        }
        match era {
            Era::Modern => Box::pin(self.one_round(offered, method, call)).await,
            Era::Legacy => Box::pin(legacy::rounds::all(self, &offered, method, call)).await,
        }
    }

    async fn one_round(
        &self,
        offered: Arc<Offered>,
        method: Method,
        call: Call,
    ) -> Result<Payload> {
        let kept = call.clone();
        match self.run(&offered, method, call).await {
            Ok(payload) => Ok(payload),
            Err(Interrupt(Reason::Ask(questions))) => self.input_required(&questions, &kept),
            Err(Interrupt(Reason::StartTask))
                if matches!(kept.context.task, TaskMode::Startable) =>
            {
                Box::pin(self.create_task(offered, kept, None)).await
            }
            Err(error) => Err(error.into_error()),
        }
    }

    /// Takes the answers that a modern request carries out of its params; `None` if it carries none.
    fn answers(&self, call: &mut Call) -> Result<Option<Arc<Input>>> {
        let params = &mut call.params;
        let (responses, state) = (params.remove("inputResponses"), params.remove("requestState"));
        let responses = match responses {
            None => Map::new(),
            Some(Value::Object(responses)) => responses,
            Some(_) => {
                return Err(ErrorObject::invalid_params(
                    "params.inputResponses must be an object with an answer under each key of inputRequests",
                ));
            }
        };
        let config = &self.0.rounds.config;
        let answers = match state {
            None if responses.is_empty() || config.require_state || config.single_use => {
                return Ok(None);
            }
            None => responses.into_iter().collect(),
            Some(Value::String(state)) => {
                let Remembered { mut answers, asked } = self.remembered(call, &state)?;
                // Only answers to questions that were asked count; other keys are ignored.
                let asked = |key: &String| asked.contains(key);
                answers.extend(responses.into_iter().filter(|(key, _)| asked(key)));
                answers
            }
            Some(_) => {
                return Err(ErrorObject::invalid_params("params.requestState must be a string"));
            }
        };
        Ok(Some(Arc::new(Input::new(answers))))
    }

    fn remembered(&self, call: &Call, state: &str) -> Result<Remembered> {
        let rounds = &self.0.rounds;
        let now = unix_now();
        let principal = call.context.principal();
        let opened = binding(call).open(&rounds.keys, state, now).and_then(|ticket| {
            if rounds.config.single_use {
                rounds.used.accept(&ticket, principal, now)?;
            }
            Ok(ticket.content)
        });
        opened.map_err(|problem| match problem {
            TicketError::Full => ErrorObject::new(ErrorObject::INTERNAL, problem.to_string()),
            _ => ErrorObject::invalid_params(format!("params.{problem}")),
        })
    }

    /// `InputRequiredResult`: the questions, and the state that must come back with the answers.
    fn input_required(&self, questions: &Questions, kept: &Call) -> Result<Payload> {
        let rounds = &self.0.rounds;
        let remembered = Remembered {
            answers: kept
                .context
                .input
                .as_ref()
                .map(|input| input.used_answers())
                .unwrap_or_default(),
            asked: questions.iter().map(|(key, _)| key.to_owned()).collect(),
        };
        let expires = unix_now().saturating_add(rounds.config.state_lifetime.as_secs());
        let state = binding(kept).seal(&rounds.keys, &remembered, expires).map_err(cannot_seal)?;
        let requests: Map<_, _> = questions
            .iter()
            .map(|(key, question)| {
                (key.to_owned(), request(question, kept.context.protocol_version))
            })
            .collect();
        let result = wire::InputRequiredResult::new(requests, state, &self.0.info_json);
        Payload::of(&result).map(Payload::of_question)
    }
}

impl Interrupt {
    /// The error for a request whose client cannot be asked.
    pub(crate) fn into_error(self) -> ErrorObject {
        match self.0 {
            Reason::Error(error) => error,
            Reason::Ask(_) => {
                // A client that cannot answer is refused earlier, when the handler asks.
                tracing::error!(
                    "a handler asked where the client cannot be asked; tools that ask are registered with Tool::asking"
                );
                ErrorObject::internal()
            }
            Reason::StartTask => {
                tracing::error!("a handler started a task where there can be none");
                ErrorObject::internal()
            }
        }
    }
}

fn cannot_seal(problem: SealError) -> ErrorObject {
    match problem {
        SealError::TooLong(bytes) => ErrorObject::invalid_params(format!(
            "there is more to ask, but the answers given so far take {bytes} bytes of state and at most \
             {MAX_PLAINTEXT_BYTES} can be carried along: give shorter answers"
        )),
        problem => {
            tracing::error!(%problem, "the state of a request cannot be sealed");
            ErrorObject::internal()
        }
    }
}

/// A question as a member of `inputRequests`.
fn request(question: &Question, version: ProtocolVersion) -> Value {
    let request = question.to_request(version);
    json!({ "method": request.method, "params": request.params })
}

fn binding(call: &Call) -> StateBinding<'_> {
    StateBinding {
        principal: call.context.principal(),
        method: &call.method,
        // Each round has a different `_meta`.
        arguments: digest(&call.method, &call.all_params(), &["_meta"]),
    }
}
