//! One call and what it says before it answers. The exchange owns the handler's future: dropping it cancels a modern
//! call; a legacy one is driven to its end by a task, since there a lost connection is not a cancellation.

use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response as HttpResponse, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Sleep;

use super::body::ResponseBody;
use super::detached::Detached;
use super::head::Accepts;
use super::live::CallGuard;
use super::rejection::json_response;
use super::sessions::Hold;
use super::sse;
use crate::context::{Outbox, OutboxReader, Outgoing};
use crate::jsonrpc::{ErrorObject, Response};
use crate::server::Server;
use crate::version::Era;

/// A call on its way, with the stream of what it says.
pub(super) struct Exchange {
    /// `None` once it has answered or was cancelled.
    call: Option<BoxFuture<'static, Response>>,
    answer: Option<Response>,
    outgoing: OutboxReader,
    keep_alive: Duration,
    /// Started when the call first has to wait: quick calls never pay for a timer.
    timer: Option<Pin<Box<Sleep>>>,
    legacy: Option<LegacyCall>,
    /// Its place among the calls of the service.
    place: Option<OwnedSemaphorePermit>,
}

/// What a call of a legacy session carries besides.
pub(super) struct LegacyCall {
    pub(super) cancelled: oneshot::Receiver<()>,
    /// Takes the call out of the session's list when it ends.
    pub(super) guard: CallGuard,
    pub(super) hold: Hold,
    /// How it may run on without its client; `None` once it does.
    pub(super) detached: Option<Detached>,
    /// Whether its client takes events, so that it can be told and asked something.
    pub(super) hears: bool,
}

/// The next thing an exchange has to say.
enum Step {
    Said(Bytes),
    Answer(Response),
    /// Nothing for as long as the keep-alive interval.
    Quiet,
    /// It was cancelled: nothing more will come.
    Cancelled,
}

impl Exchange {
    pub(super) fn new(
        call: BoxFuture<'static, Response>,
        outgoing: OutboxReader,
        keep_alive: Duration,
        place: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            call: Some(call),
            answer: None,
            outgoing,
            keep_alive,
            timer: None,
            legacy: None,
            place: Some(place),
        }
    }

    pub(super) fn in_session(mut self, legacy: LegacyCall) -> Self {
        self.legacy = Some(legacy);
        self
    }

    /// The HTTP response: one JSON body if the call answers before it says anything else, an event stream otherwise.
    pub(super) async fn respond(
        mut self,
        accepts: Accepts,
        era: Era,
    ) -> HttpResponse<ResponseBody> {
        if !accepts.json {
            return self.stream(None);
        }
        loop {
            match self.next().await {
                Step::Answer(answer) => return json_response(status(&answer, era), &answer),
                Step::Said(first) if accepts.events => return self.stream(Some(first)),
                Step::Quiet if accepts.events => return self.stream(Some(sse::KEEP_ALIVE)),
                // The client takes JSON alone: there is no way to tell it.
                Step::Said(_) | Step::Quiet => {}
                Step::Cancelled if accepts.events => return self.stream(None),
                // Nothing is sent for it, and an event stream is not what the client takes.
                Step::Cancelled => return super::empty(StatusCode::NO_CONTENT),
            }
        }
    }

    fn stream(self, first: Option<Bytes>) -> HttpResponse<ResponseBody> {
        let events = stream::unfold((first, Some(self)), |(first, exchange)| async move {
            if let Some(first) = first {
                return Some((first, (None, exchange)));
            }
            let mut exchange = exchange?;
            match exchange.next().await {
                Step::Said(event) => Some((event, (None, Some(exchange)))),
                Step::Quiet => Some((sse::KEEP_ALIVE, (None, Some(exchange)))),
                Step::Answer(answer) => Some((sse::answer(&answer), (None, None))),
                Step::Cancelled => None,
            }
        });
        event_stream(ResponseBody::events(events))
    }

    async fn next(&mut self) -> Step {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        if let Some(legacy) = &mut self.legacy
            && (Pin::new(&mut legacy.cancelled).poll(context).is_ready()
                || legacy.hold.poll_ended(context).is_ready())
        {
            self.call = None;
            self.legacy = None;
            return Poll::Ready(Step::Cancelled);
        }
        if let Some(call) = &mut self.call
            && let Poll::Ready(answer) = call.as_mut().poll(context)
        {
            self.call = None;
            self.answer = Some(answer);
        }
        // After the call, so that what it said last comes before its answer.
        while let Poll::Ready(message) = self.outgoing.poll_recv(context) {
            self.timer = None;
            self.touch();
            match message {
                Outgoing::Notification(said) => {
                    return Poll::Ready(Step::Said(sse::message(&said)));
                }
                Outgoing::Request(request, answer) => {
                    let event = sse::message(&request);
                    if let Some(legacy) = &self.legacy
                        && legacy.hears
                    {
                        legacy.guard.expect_answer(request.id, answer);
                        return Poll::Ready(Step::Said(event));
                    }
                    // Whoever asked is told that nobody answers: the other end goes.
                }
                Outgoing::Release(_) => {}
            }
        }
        if let Some(answer) = self.answer.take() {
            self.legacy = None;
            return Poll::Ready(Step::Answer(answer));
        }
        if self.call.is_none() {
            return Poll::Ready(Step::Cancelled);
        }
        let keep_alive = self.keep_alive;
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(keep_alive)));
        if timer.as_mut().poll(context).is_ready() {
            self.timer = None;
            self.touch();
            return Poll::Ready(Step::Quiet);
        }
        Poll::Pending
    }

    /// A call at work holds its session.
    fn touch(&mut self) {
        if let Some(legacy) = &mut self.legacy {
            legacy.hold.touch();
        }
    }
}

impl Drop for Exchange {
    /// A legacy call whose client went away runs on, in bounds, so that its effects do not depend on the network.
    fn drop(&mut self) {
        let (Some(call), Some(mut legacy)) = (self.call.take(), self.legacy.take()) else {
            return;
        };
        // Taken out, so that what runs on already is just dropped, as by a runtime that shuts down.
        let Some(detached) = legacy.detached.take() else {
            return;
        };
        let (Some(place), Ok(runtime)) = (
            detached.place(&legacy.guard),
            tokio::runtime::Handle::try_current(),
        ) else {
            tracing::debug!(
                "a call whose client went away was cancelled: it has no place to run on"
            );
            return;
        };
        legacy.hears = false;
        let (_, outgoing) = Outbox::channel();
        let mut rest = Self {
            call: Some(call),
            answer: None,
            outgoing: std::mem::replace(&mut self.outgoing, outgoing),
            keep_alive: self.keep_alive,
            timer: None,
            legacy: Some(legacy),
            place: self.place.take(),
        };
        runtime
            .spawn(place.drive(async move {
                while let Step::Said(_) | Step::Quiet = rest.next().await {}
            }));
    }
}

/// 200 with the headers of an event stream that no proxy should hold back.
pub(super) fn event_stream(body: ResponseBody) -> HttpResponse<ResponseBody> {
    let mut response = HttpResponse::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

/// The HTTP status of a JSON answer: the revision fixes it for two codes, a listener without a place is refused as on
/// GET, and 200 carries the rest.
fn status(answer: &Response, era: Era) -> StatusCode {
    match &answer.outcome {
        Err(error) if era == Era::Modern => match error.code {
            ErrorObject::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            ErrorObject::MISSING_CLIENT_CAPABILITY => StatusCode::BAD_REQUEST,
            ErrorObject::INTERNAL if *error == Server::too_many_listeners() => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => StatusCode::OK,
        },
        _ => StatusCode::OK,
    }
}
