//! How a call is answered: by one JSON body, or by an event stream if it sends messages before its answer. The exchange
//! owns the handler's future: dropping it cancels the call.
//!
//! A quiet call becomes an event stream after [`keep_alive`](super::HttpConfig::keep_alive), if its client accepts one,
//! and is kept alive by comments: proxies cut idle connections.

use std::future::{Future, ready};
use std::iter;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{BoxFuture, Either};
use futures_util::{Stream, StreamExt as _, stream};
use http::header::{self, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response as HttpResponse, StatusCode};
use tokio::time::Sleep;

use super::body::{Holding, ResponseBody, in_parts, is_large};
use super::head::Accepts;
use super::rejection::{Refused, Rejection};
use super::sse;
use crate::budget::Client;
use crate::jsonrpc::{ErrorObject, Response};
use crate::outbox::{OutboxReader, Outgoing};
use crate::running::{CallOutput, RunningCall};
use crate::server::Server;

/// After how many seconds a client that was refused because of a bound, or of another stream, may try again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// A running call, as the stream of its messages. Its answer is the last item.
pub(crate) struct Exchange {
    call: RunningCall,
    keep_alive: Duration,
    /// Started when the call first has to wait: quick calls never pay for a timer.
    timer: Option<Pin<Box<Sleep>>>,
    held: Holding,
}

/// The next item of an exchange.
pub(crate) enum Step {
    Message(Outgoing),
    Answer(Response),
    /// No message within the keep-alive interval.
    Quiet,
}

impl Exchange {
    pub(crate) fn new(
        call: BoxFuture<'static, Response>,
        outgoing: OutboxReader,
        keep_alive: Duration,
        held: Holding,
    ) -> Self {
        Self { call: RunningCall::new(call, outgoing), keep_alive, timer: None, held }
    }

    /// The client that it is for.
    pub(crate) fn client(&self) -> Client {
        self.held.client()
    }

    /// The resources held for the call after it has answered, for the body of the answer.
    pub(crate) fn into_held(self) -> Holding {
        self.held
    }

    /// Whether the handler still runs.
    pub(crate) fn is_running(&self) -> bool {
        self.call.is_running()
    }

    /// The HTTP response to a call: one JSON body if its answer is its first message, an event stream
    /// otherwise.
    // Not an `async fn`, whose future would keep the exchange twice.
    pub(super) fn respond(
        mut self,
        accepts: Accepts,
    ) -> impl Future<Output = HttpResponse<ResponseBody>> {
        if !accepts.json {
            return Either::Left(ready(self.stream(None)));
        }
        Either::Right(async move {
            while let Some(step) = self.next().await {
                match step {
                    Step::Answer(answer) => return self.answered(answer),
                    Step::Message(Outgoing::Notification(_)) | Step::Quiet if accepts.events => {
                        return self.stream(Some(step));
                    }
                    // The client accepts only JSON, or the message is not for clients of this era.
                    Step::Message(_) | Step::Quiet => {}
                }
            }
            // The answer is the last step, so this is not reached.
            empty(StatusCode::NO_CONTENT)
        })
    }

    /// One JSON body, or an error if it would exceed the client's share.
    fn answered(self, answer: Response) -> HttpResponse<ResponseBody> {
        let (status, id) = (status(&answer), answer.id.clone());
        match ResponseBody::answer(answer, self.into_held()) {
            Ok(body) => json(status, body),
            Err(over) => refusal(Refused(over.into(), id)),
        }
    }

    fn stream(self, first: Option<Step>) -> HttpResponse<ResponseBody> {
        let client = self.client();
        let steps = stream::iter(first).chain(self);
        let events = steps.flat_map(move |step| {
            stream::iter(match step {
                Step::Message(Outgoing::Notification(message)) => vec![sse::message(&message)],
                Step::Message(_) => Vec::new(),
                Step::Quiet => vec![sse::KEEP_ALIVE],
                Step::Answer(answer) if is_large(&answer) => large_event(answer, &client),
                Step::Answer(answer) => vec![sse::answer(&answer)],
            })
        });
        event_stream(ResponseBody::events(events))
    }
}

impl Stream for Exchange {
    type Item = Step;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Step>> {
        if let Poll::Ready(output) = self.call.poll_next_unpin(context) {
            self.timer = None;
            return Poll::Ready(output.map(|output| match output {
                CallOutput::Message(message) => Step::Message(message),
                CallOutput::Answer(answer) => Step::Answer(answer),
            }));
        }
        let keep_alive = self.keep_alive;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(keep_alive)));
        if timer.as_mut().poll(context).is_ready() {
            self.timer = None;
            return Poll::Ready(Some(Step::Quiet));
        }
        Poll::Pending
    }
}

/// A large answer as an event in parts, or an error if it would exceed the client's share.
fn large_event(answer: Response, client: &Client) -> Vec<Bytes> {
    let id = answer.id.clone();
    sse::report_large(answer.size_hint());
    match in_parts(answer, client) {
        Ok(parts) => iter::once(sse::BEGIN).chain(parts).chain([sse::END]).collect(),
        Err(over) => {
            let error = Rejection::from(over).error();
            vec![sse::answer(&Response::error(id, error))]
        }
    }
}

/// The answer to a request that is refused, with its id if that could be read.
pub(super) fn refusal(Refused(rejection, id): Refused) -> HttpResponse<ResponseBody> {
    let (status, allow) = (rejection.status(), rejection.allow());
    let challenge = match &rejection {
        Rejection::Unauthorized(refusal) => refusal.challenge(),
        _ => None,
    };
    let is_encoded = rejection == Rejection::UnsupportedEncoding;
    let mut response = json_response(status, Response::error(id, rejection.error()));
    let headers = response.headers_mut();
    if let Some(challenge) = challenge {
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    match status {
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(header::ALLOW, allow);
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE | StatusCode::CONFLICT => {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        // RFC 9110 §15.5.16: the response states that the encoding is the cause, and which encodings are accepted.
        _ if is_encoded => {
            let identity = HeaderValue::from_static("identity");
            headers.insert(header::ACCEPT_ENCODING, identity);
        }
        _ => {}
    }
    response
}

/// 202 without a body: a notification or a response was taken.
pub(crate) fn accepted() -> HttpResponse<ResponseBody> {
    empty(StatusCode::ACCEPTED)
}

/// A response without a body.
pub(crate) fn empty(status: StatusCode) -> HttpResponse<ResponseBody> {
    let mut response = HttpResponse::new(ResponseBody::empty());
    *response.status_mut() = status;
    response
}

/// A JSON-RPC response as one JSON body.
pub(crate) fn json_response(status: StatusCode, message: Response) -> HttpResponse<ResponseBody> {
    json(status, ResponseBody::json(message))
}

/// A JSON text.
pub(crate) fn json(status: StatusCode, body: ResponseBody) -> HttpResponse<ResponseBody> {
    let mut response = HttpResponse::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// 200 with the headers of an event stream that no proxy should hold back or compress.
pub(crate) fn event_stream(body: ResponseBody) -> HttpResponse<ResponseBody> {
    let mut response = HttpResponse::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // Compression would hold back events until there are enough bytes.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// The HTTP status of a JSON answer: the revision fixes it for two codes, a listener without a place is refused as on
/// GET, and 200 carries the rest.
fn status(answer: &Response) -> StatusCode {
    match &answer.outcome {
        Err(error) => match error.code {
            ErrorObject::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            ErrorObject::MISSING_CLIENT_CAPABILITY => StatusCode::BAD_REQUEST,
            ErrorObject::INTERNAL if *error == Server::too_many_listeners() => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => StatusCode::OK,
        },
        Ok(_) => StatusCode::OK,
    }
}
