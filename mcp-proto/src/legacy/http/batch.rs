//! Batches: one POST with several messages, which only sessions of 2025-03-26 may send.

use std::collections::HashSet;
use std::sync::Arc;

use http::{Extensions, Response, StatusCode, request};
use tokio::task::yield_now;

use super::calls::Calls;
use super::exchange::Step;
use super::head::names_session;
use super::{Entered, Legacy};
use crate::blocking::{self, NotDone};
use crate::budget::{Client, Held, Kind, Over};
use crate::call::Called;
use crate::http::answer::{accepted, json};
use crate::http::body::ResponseBody;
use crate::http::head::Accepts;
use crate::http::reading::{Arrived, LongTurn, Text};
use crate::http::rejection::{Refused, Rejection, Result};
use crate::json::Meter;
use crate::jsonrpc::{ErrorObject, Message, Request, RequestId, Response as RpcResponse};
use crate::legacy::batch::{check_in_batch, is_batch, read_batch};
use crate::legacy::session::Session;

/// The messages of a batch, by what happened to them.
#[derive(Default)]
struct BatchParts {
    /// Calls that are registered and have not begun yet.
    entered: Vec<(Called, Entered)>,
    /// Answers that are known already: errors.
    answers: Vec<RpcResponse>,
    ids: HashSet<RequestId>,
    /// Whether any message was accepted.
    any: bool,
    /// The bound that a refused call exceeded; its client may send the call again later.
    over: Option<Over>,
}

impl Legacy {
    /// The session that a batch belongs to; `None` for any other text, and if batches are not accepted.
    pub(crate) async fn batch_session(
        &self,
        head: &request::Parts,
    ) -> Result<Option<Arc<Session>>, Refused> {
        let session = self.session(head).await?;
        Ok(Some(session).filter(|session| session.protocol_version.has_batches()))
    }

    /// Whether a request may be a batch, if its session accepts batches.
    pub(crate) fn may_be_batch(head: &request::Parts, text: &[u8]) -> bool {
        is_batch(text) && names_session(&head.headers)
    }

    /// Handles each message of a batch separately. The answer is one array if every call is quiet, and an event stream
    /// with one event for each message otherwise.
    pub(crate) async fn call_batch(
        &self,
        head: &request::Parts,
        accepts: Accepts,
        client: &Client,
        session: &Arc<Session>,
        text: Text,
    ) -> Result<Response<ResponseBody>, Refused> {
        let config = &self.0.endpoint.config;
        let max = config.legacy.max_batch_messages;
        let read = move |text: &[u8], meter: &Meter| {
            read_batch(text, max, meter).map_err(|it| Refused(it.error.into(), it.id))
        };
        let (messages, arrived) = text.parse(config.max_body_memory, read).await?;
        let Arrived { mut held, turn } = arrived;
        let mut taken = BatchParts::default();
        let mut caller = head.extensions.clone();
        for message in messages {
            match message {
                Ok(Message::Request(request)) => {
                    let caller = &mut caller;
                    match self.enter_in_batch(session, &request, caller, client, &mut taken.ids) {
                        Ok(entered) => {
                            taken.any = true;
                            taken.entered.push((request.into(), entered));
                        }
                        Err(rejection) => {
                            if let Rejection::Over(over) = rejection {
                                taken.over.get_or_insert(over);
                            }
                            let error = rejection.error();
                            let refused = RpcResponse::error(Some(request.id), error);
                            taken.answers.push(refused);
                        }
                    }
                }
                Ok(Message::Notification(notification)) => {
                    taken.any = true;
                    self.notified(session, &notification, &head.extensions).await?;
                }
                Ok(Message::Response(response)) => {
                    taken.any = true;
                    self.answered(session, response).await?;
                }
                Err(broken) => taken.answers.push(broken.into()),
            }
        }
        if let (Some(over), false) = (taken.over, taken.any) {
            return Err(over.into());
        }
        // Checked again: if the session was ended before its calls were entered, they were not found. A batch that is
        // refused here has not begun any call.
        self.load(head, &session.id).await?;
        let mut calls = Calls::default();
        for (called, entered) in taken.entered.drain(..) {
            let extensions = caller.clone();
            // The first holds for all: they share one body, and most end together.
            let held = held.take();
            calls.push(self.exchange(session, called, extensions, entered, held, accepts));
        }
        Ok(self.respond_to_batch(accepts, client, session, calls, taken, turn).await?)
    }

    fn enter_in_batch(
        &self,
        session: &Session,
        request: &Request,
        caller: &mut Extensions,
        client: &Client,
        ids: &mut HashSet<RequestId>,
    ) -> Result<Entered> {
        check_in_batch(request)?;
        if !ids.insert(request.id.clone()) {
            let problem = format!("the id {} is given twice in the batch", request.id);
            return Err(ErrorObject::invalid_request(problem).into());
        }
        self.0.endpoint.may(request, caller)?;
        self.enter(&session.id, &request.id, client)
    }

    async fn respond_to_batch(
        &self,
        accepts: Accepts,
        client: &Client,
        session: &Session,
        mut calls: Calls,
        taken: BatchParts,
        turn: LongTurn,
    ) -> Result<Response<ResponseBody>> {
        let BatchParts { mut answers, any, ids, .. } = taken;
        let stream = |calls: Calls, answers: Vec<RpcResponse>, last: Option<Step>| {
            let done = answers.into_iter().map(Step::Answer).chain(last);
            calls.stream(done, self.resumable(session, client.clone(), ids))
        };
        let quiet = calls.is_empty() && answers.is_empty();
        if !accepts.json && !quiet {
            return stream(calls, answers, None);
        }
        let mut held = HeldAnswers(client.hold(Kind::AnswerBytes, 0)?);
        let mut next = turn.begin(calls.next()).await;
        while let Some(step) = next {
            match step {
                Step::Answer(answer) => answers.push(held.add(answer)),
                // A cancelled call has no answer.
                Step::Cancelled => {}
                step if accepts.events => return stream(calls, answers, Some(step)),
                // The client accepts only JSON, so messages cannot be sent to it.
                Step::Message(_) | Step::Release(_) | Step::Quiet => {}
            }
            // Others first. A turn is not waited for: its calls would not be polled meanwhile, and those that wait for
            // a turn of their own would keep it from all others.
            yield_now().await;
            next = calls.next().await;
        }
        if answers.is_empty() {
            return Ok(accepted());
        }
        let status = if any { StatusCode::OK } else { StatusCode::BAD_REQUEST };
        let write = move || ResponseBody::answers(&answers, held.0);
        let written = blocking::run_long(Some(client), write);
        let body = written.await.map_err(|NotDone| {
            let problem = "the answers could not be written".to_owned();
            let error = ErrorObject::new(ErrorObject::INTERNAL, problem);
            Rejection::Message(StatusCode::INTERNAL_SERVER_ERROR, error)
        })?;
        Ok(json(status, body))
    }
}

/// The memory of answers that wait for the others of their batch.
struct HeldAnswers(Held);

impl HeldAnswers {
    /// Counts the memory of an answer, and as much again for its part of the text. An answer that exceeds the budget
    /// becomes an error.
    fn add(&mut self, answer: RpcResponse) -> RpcResponse {
        match self.0.grow(2 * answer.size_hint()) {
            Ok(()) => answer,
            Err(over) => RpcResponse::error(answer.id, Rejection::from(over).error()),
        }
    }
}
