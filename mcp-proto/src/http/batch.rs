//! Batches: one POST with several messages, which sessions of 2025-03-26 may send and no others.

use std::collections::HashSet;
use std::sync::Arc;

use http::{Response, StatusCode, request};

use super::body::{ResponseBody, Text};
use super::calls::Calls;
use super::exchange::Step;
use super::head::{self, Accepts};
use super::legacy::Entered;
use super::rejection::{Rejection, json_array};
use super::{Refused, StreamableHttpService, accepted, modern};
use crate::json::Meter;
use crate::jsonrpc::{ErrorObject, Message, Request, RequestId, Response as RpcResponse};
use crate::lifecycle::ModernMeta;
use crate::session::Session;

/// What became of the messages of a batch.
#[derive(Default)]
struct Taken {
    /// Calls that have a place and are not begun yet.
    entered: Vec<(Request, Entered)>,
    /// Answers that are there already: refusals.
    answers: Vec<RpcResponse>,
    ids: HashSet<RequestId>,
    /// Whether any message was one to take.
    any: bool,
}

impl StreamableHttpService {
    /// The session that a batch belongs to; `None` where none are taken.
    pub(super) async fn batch_session(
        &self,
        head: &request::Parts,
    ) -> Result<Option<Arc<Session>>, Rejection> {
        if modern::names_modern(&head.headers) || !head.headers.contains_key(head::SESSION_ID) {
            return Ok(None);
        }
        let session = self.session(head).await?;
        Ok(Some(session).filter(|session| session.protocol_version.has_batches()))
    }

    /// Takes each message of a batch for itself. The answer is one array if every call is quiet, and an event stream
    /// with one event for each message otherwise.
    pub(super) async fn call_batch(
        &self,
        head: &request::Parts,
        accepts: Accepts,
        session: &Arc<Session>,
        text: Text,
    ) -> Result<Response<ResponseBody>, Refused> {
        let config = &self.0.config;
        let meter = Meter::new(config.max_body_memory);
        let messages = Message::batch_from_slice(text.as_ref(), config.max_batch_messages, &meter)
            .map_err(|broken| (Rejection::from(broken.error), broken.id))?;
        drop(text);
        let mut taken = Taken::default();
        for message in messages {
            match message {
                Ok(Message::Request(request)) => {
                    match self.enter_in_batch(session, &request, &mut taken.ids) {
                        Ok(entered) => {
                            taken.any = true;
                            taken.entered.push((request, entered));
                        }
                        Err(error) => {
                            let refused = RpcResponse::error(Some(request.id), error);
                            taken.answers.push(refused);
                        }
                    }
                }
                Ok(Message::Notification(notification)) => {
                    taken.any = true;
                    self.told(session, &notification);
                }
                Ok(Message::Response(response)) => {
                    taken.any = true;
                    self.answered(session, response);
                }
                Err(broken) => taken.answers.push(broken.into()),
            }
        }
        // Again: whoever ended the session before its calls were entered did not find them. A batch that is refused
        // here has begun none.
        self.load(head, &session.id)
            .await
            .map_err(|rejection| (rejection, None))?;
        let mut calls = Calls::default();
        for (request, entered) in taken.entered.drain(..) {
            let extensions = head.extensions.clone();
            calls.push(self.begin(session, request, extensions, entered, accepts));
        }
        self.respond_to_batch(accepts, session, calls, taken)
            .await
            .map_err(|rejection| (rejection, None))
    }

    fn enter_in_batch(
        &self,
        session: &Session,
        request: &Request,
        ids: &mut HashSet<RequestId>,
    ) -> Result<Entered, ErrorObject> {
        if request.method == "initialize" {
            return Err(ErrorObject::not_in_batch("initialize"));
        }
        if ModernMeta::is_claimed(&request.params) {
            return Err(ErrorObject::not_in_batch("a request of 2026-07-28"));
        }
        if !ids.insert(request.id.clone()) {
            let problem = format!("the id {} is given twice in the batch", request.id);
            return Err(ErrorObject::invalid_request(problem));
        }
        self.enter(&session.id, request).map_err(Rejection::error)
    }

    async fn respond_to_batch(
        &self,
        accepts: Accepts,
        session: &Session,
        mut calls: Calls,
        taken: Taken,
    ) -> Result<Response<ResponseBody>, Rejection> {
        let Taken {
            mut answers, any, ..
        } = taken;
        let stream = |calls: Calls, answers: Vec<RpcResponse>, last: Option<Step>| {
            let done = answers.into_iter().map(Step::Answer).chain(last);
            calls.stream(done, self.resumable(session))
        };
        let quiet = calls.is_empty() && answers.is_empty();
        if !accepts.json && !quiet {
            return stream(calls, answers, None);
        }
        while let Some(step) = calls.next().await {
            match step {
                Step::Answer(answer) => answers.push(answer),
                // Nothing is sent for it.
                Step::Cancelled => {}
                step if accepts.events => return stream(calls, answers, Some(step)),
                // The client takes JSON alone: there is no way to tell it.
                Step::Said(_) | Step::Release(_) | Step::Quiet => {}
            }
        }
        Ok(if answers.is_empty() {
            accepted()
        } else if any {
            json_array(StatusCode::OK, &answers)
        } else {
            json_array(StatusCode::BAD_REQUEST, &answers)
        })
    }
}
