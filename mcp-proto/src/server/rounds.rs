//! Requests whose handlers may ask the client: in the modern era by `input_required` results (2026-07-28, "Multi
//! round-trip requests"), in the legacy era by requests on the call's own stream.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::tasks::Calling;
use super::{Method, Server, wire};
use crate::context::Context;
use crate::input::{Input, Question, Questions};
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::{ErrorObject, Notification, Payload};
use crate::seal::{Keys, StateBinding, TicketError, UsedOnce, digest, unix_now};
use crate::task::{TaskMode, relate_params};
use crate::tool::ToolError;
use crate::version::{Era, ProtocolVersion};

/// How often one legacy call or one task may ask: a handler that asks anew every time would never end.
pub(super) const MAX_ROUNDS: usize = 32;

/// How clients are asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InputConfig {
    /// How long a modern client may take to come back with its answers. 10 minutes by default.
    pub state_lifetime: Duration,
    /// Whether a `requestState` is good once: a request that was answered cannot be made again with the same answers.
    /// Remembered by this process alone. Off by default.
    pub single_use: bool,
    /// Whether answers count only with the `requestState` of the question; without it the client is asked anew. Off by
    /// default: answers to first questions stand for themselves, as the revision allows.
    pub require_state: bool,
    /// How long a legacy client may take for an answer. 5 minutes by default.
    pub answer_timeout: Duration,
}

/// [`InputConfig`] and what it takes to keep it.
#[derive(Debug)]
pub(super) struct Rounds {
    pub(super) config: InputConfig,
    pub(super) keys: Keys,
    pub(super) used: UsedOnce,
}

/// What a `requestState` holds: whatever must not be asked again.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Remembered {
    answers: BTreeMap<String, Value>,
    asked: Vec<String>,
}

/// What is kept of a request while its handler runs, to ask its client.
struct Kept {
    method: Method,
    params: Map<String, Value>,
    principal: Option<String>,
    input: Option<Arc<Input>>,
    version: ProtocolVersion,
    /// For a call that may become a task.
    context: Option<Box<Context>>,
}

impl Default for InputConfig {
    fn default() -> Self {
        Self {
            state_lifetime: Duration::from_secs(10 * 60),
            single_use: false,
            require_state: false,
            answer_timeout: Duration::from_secs(5 * 60),
        }
    }
}

impl Server {
    /// Answers a request whose handler may ask.
    pub(super) async fn in_rounds(
        &self,
        method: Method,
        mut params: Map<String, Value>,
        mut context: Context,
    ) -> Result<Payload, ErrorObject> {
        let era = context.era();
        if era == Era::Modern {
            context.input = self.answers(method, &mut params, &context)?;
        }
        if method == Method::CallTool && self.0.tasks.is_some() {
            match self.calling(&mut params, &context)? {
                Calling::Now(mode) => context.task = mode,
                Calling::AsTask(ttl) => return self.create_task(params, context, ttl),
            }
        }
        let startable = matches!(context.task, TaskMode::Startable);
        if !startable && !context.can_be_asked() {
            let ran = self.run(method, params, context).await;
            return ran.map_err(Interrupt::into_error);
        }
        match era {
            Era::Modern => Box::pin(self.one_round(method, params, context)).await,
            Era::Legacy => Box::pin(self.all_rounds(method, params, context)).await,
        }
    }

    async fn one_round(
        &self,
        method: Method,
        params: Map<String, Value>,
        context: Context,
    ) -> Result<Payload, ErrorObject> {
        let kept = Kept {
            method,
            params: params.clone(),
            principal: context.principal().map(str::to_owned),
            input: context.input.clone(),
            version: context.protocol_version,
            context: matches!(context.task, TaskMode::Startable).then(|| Box::new(context.clone())),
        };
        match self.run(method, params, context).await {
            Ok(payload) => Ok(payload),
            Err(Interrupt(Reason::Ask(questions))) => self.input_required(&questions, &kept),
            Err(Interrupt(Reason::StartTask)) => match kept.context {
                Some(context) => self.create_task(kept.params, *context, None),
                None => Err(Interrupt(Reason::StartTask).into_error()),
            },
            Err(error) => Err(error.into_error()),
        }
    }

    async fn all_rounds(
        &self,
        method: Method,
        params: Map<String, Value>,
        mut context: Context,
    ) -> Result<Payload, ErrorObject> {
        let mut answers = BTreeMap::new();
        for _ in 0..MAX_ROUNDS {
            match self.run(method, params.clone(), context.clone()).await {
                Ok(payload) => return Ok(payload),
                Err(Interrupt(Reason::Ask(questions))) => {
                    match self.ask_client(&questions, &context).await {
                        Ok(given) => answers.extend(given),
                        Err(problem) => return self.not_answered(method, problem, &context),
                    }
                }
                Err(error) => return Err(error.into_error()),
            }
            context.input = Some(Arc::new(Input {
                answers: answers.clone(),
            }));
        }
        tracing::error!(?method, "a handler asked its client {MAX_ROUNDS} times");
        Err(ErrorObject::internal())
    }

    /// The answers that a modern request brings along, taken out of its params; `None` where it brings none.
    fn answers(
        &self,
        method: Method,
        params: &mut Map<String, Value>,
        context: &Context,
    ) -> Result<Option<Arc<Input>>, ErrorObject> {
        let (responses, state) = (
            params.remove("inputResponses"),
            params.remove("requestState"),
        );
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
            None if responses.is_empty() || config.require_state => return Ok(None),
            None => responses.into_iter().collect(),
            Some(Value::String(state)) => {
                let Remembered { mut answers, asked } =
                    self.remembered(method, params, context, &state)?;
                // Only what was asked is an answer; other keys mean nothing.
                let asked = |key: &String| asked.contains(key);
                answers.extend(responses.into_iter().filter(|(key, _)| asked(key)));
                answers
            }
            Some(_) => {
                return Err(ErrorObject::invalid_params(
                    "params.requestState must be a string",
                ));
            }
        };
        Ok(Some(Arc::new(Input { answers })))
    }

    fn remembered(
        &self,
        method: Method,
        params: &Map<String, Value>,
        context: &Context,
        state: &str,
    ) -> Result<Remembered, ErrorObject> {
        let rounds = &self.0.rounds;
        let now = unix_now();
        let opened = binding(method, params, context.principal())
            .open(&rounds.keys, state, now)
            .and_then(|ticket| {
                if rounds.config.single_use {
                    rounds.used.accept(&ticket, now)?;
                }
                Ok(ticket.content)
            });
        opened.map_err(|problem| match problem {
            TicketError::Full => ErrorObject::new(ErrorObject::INTERNAL, problem.to_string()),
            _ => ErrorObject::invalid_params(format!("params.{problem}")),
        })
    }

    /// `InputRequiredResult`: the questions, and what must come back with the answers.
    fn input_required(&self, questions: &Questions, kept: &Kept) -> Result<Payload, ErrorObject> {
        let rounds = &self.0.rounds;
        let remembered = Remembered {
            answers: kept
                .input
                .as_ref()
                .map(|input| input.answers.clone())
                .unwrap_or_default(),
            asked: questions.iter().map(|(key, _)| key.to_owned()).collect(),
        };
        let expires = unix_now().saturating_add(rounds.config.state_lifetime.as_secs());
        let state = binding(kept.method, &kept.params, kept.principal.as_deref())
            .seal(&rounds.keys, &remembered, expires)
            .map_err(|problem| {
                tracing::warn!(%problem, "the answers of a request cannot be kept by its client");
                ErrorObject::invalid_params(
                    "the answers given so far are too large to be carried to the next question",
                )
            })?;
        let requests: Map<_, _> = questions
            .iter()
            .map(|(key, question)| (key.to_owned(), request(question, kept.version)))
            .collect();
        Payload::of(&wire::InputRequiredResult::new(
            requests,
            state,
            &self.0.info_json,
        ))
    }

    /// Puts questions to a legacy client and waits for the answers.
    async fn ask_client(
        &self,
        questions: &Questions,
        context: &Context,
    ) -> Result<BTreeMap<String, Value>, String> {
        let limit = self.0.rounds.config.answer_timeout;
        let answers = questions.iter().map(|(key, question)| async move {
            let answer = ask(question, context, limit, None).await?;
            Ok((key.to_owned(), answer))
        });
        join_all(answers).await.into_iter().collect()
    }

    /// A call that cannot go on without an answer: a tool tells its model, anything else is a protocol error.
    fn not_answered(
        &self,
        method: Method,
        problem: String,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        if method != Method::CallTool {
            return Err(ErrorObject::new(ErrorObject::INTERNAL, problem));
        }
        let failed = ToolError::new("CLIENT_DID_NOT_ANSWER", problem);
        let result = failed.into_result().map_err(Interrupt::into_error)?;
        self.tool_result(&result, context.protocol_version)
    }
}

impl Interrupt {
    /// What is told where nobody can be asked.
    pub(super) fn into_error(self) -> ErrorObject {
        match self.0 {
            Reason::Error(error) => error,
            Reason::Ask(_) => {
                // A client that cannot be asked is refused where the handler asks.
                tracing::error!("a handler asked a client that cannot be asked");
                ErrorObject::internal()
            }
            Reason::StartTask => {
                tracing::error!("a handler started a task where there can be none");
                ErrorObject::internal()
            }
        }
    }
}

/// One question to a legacy client, about a task if there is one; its answer, or why there is none.
pub(super) async fn ask(
    question: &Question,
    context: &Context,
    limit: Duration,
    task: Option<&str>,
) -> Result<Value, String> {
    let mut request = question.to_request(context.protocol_version);
    if let Some(task) = task {
        relate_params(&mut request.params, task);
    }
    let method = request.method;
    let asked = context.outbox.ask(method, request.params).await;
    let (id, answer) = asked.map_err(|_| {
        format!("{method} cannot be sent: the client takes no event stream for this call")
    })?;
    match tokio::time::timeout(limit, answer).await {
        Ok(Ok(response)) => match response.outcome {
            Ok(result) => Ok(result.to_value()),
            Err(error) => Err(format!("the client refused {method}: {}", error.message)),
        },
        Ok(Err(_gone)) => Err(format!("{method} cannot be answered: the client is gone")),
        Err(_elapsed) => {
            let cancelled = json!({ "requestId": id, "reason": "it took too long" });
            let mut cancelled = Notification::new("notifications/cancelled", cancelled);
            if let Some(task) = task {
                relate_params(&mut cancelled.params, task);
            }
            // A client that is gone need not be told.
            let _gone = context.outbox.send(cancelled).await;
            Err(format!(
                "the client did not answer {method} within {} s",
                limit.as_secs_f64()
            ))
        }
    }
}

/// A question as a member of `inputRequests`.
fn request(question: &Question, version: ProtocolVersion) -> Value {
    let request = question.to_request(version);
    json!({ "method": request.method, "params": request.params })
}

fn binding<'a>(
    method: Method,
    params: &Map<String, Value>,
    principal: Option<&'a str>,
) -> StateBinding<'a> {
    StateBinding {
        principal,
        method: method.name(),
        arguments: digest(method.name(), params, &[]),
    }
}
