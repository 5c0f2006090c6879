//! How a call is answered: by one JSON body, or by an event stream because it has something to say before.

use futures_util::{StreamExt as _, stream};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response as HttpResponse, StatusCode};

use super::body::ResponseBody;
use super::exchange::{Exchange, Step};
use super::head::Accepts;
use super::rejection::json_response;
use super::sse;
use crate::jsonrpc::{ErrorObject, Response};
use crate::server::Server;
use crate::version::Era;

/// How the answer of a call begins.
pub(super) enum First {
    /// One JSON body is all.
    Answer(Response),
    /// An event stream, with this as its first step if the call has said something.
    Stream(Option<Step>),
    /// Nothing is sent for it.
    Cancelled,
}

impl Exchange {
    /// The HTTP response to a modern call: one JSON body if it answers before it says anything else, an event stream
    /// otherwise.
    pub(super) async fn respond(mut self, accepts: Accepts) -> HttpResponse<ResponseBody> {
        match self.first(accepts).await {
            First::Answer(answer) => json_response(status(&answer, Era::Modern), &answer),
            First::Stream(first) => self.stream(first),
            First::Cancelled => cancelled(accepts),
        }
    }

    /// Waits until it shows what the answer is to be.
    pub(super) async fn first(&mut self, accepts: Accepts) -> First {
        if !accepts.json {
            return First::Stream(None);
        }
        while let Some(step) = self.next().await {
            match step {
                Step::Answer(answer) => return First::Answer(answer),
                Step::Cancelled => return First::Cancelled,
                step if accepts.events => return First::Stream(Some(step)),
                // The client takes JSON alone: there is no way to tell it.
                Step::Said(_) | Step::Release(_) | Step::Quiet => {}
            }
        }
        First::Cancelled
    }

    fn stream(self, first: Option<Step>) -> HttpResponse<ResponseBody> {
        let steps = stream::iter(first).chain(self);
        let events = steps.filter_map(|step| {
            std::future::ready(match step {
                Step::Said(message) => Some(sse::message(&message)),
                Step::Quiet => Some(sse::KEEP_ALIVE),
                Step::Answer(answer) => Some(sse::answer(&answer)),
                Step::Release(_) | Step::Cancelled => None,
            })
        });
        event_stream(ResponseBody::events(events))
    }
}

/// The answer to a call that was cancelled.
pub(super) fn cancelled(accepts: Accepts) -> HttpResponse<ResponseBody> {
    if accepts.events {
        event_stream(ResponseBody::events(stream::empty()))
    } else {
        // Nothing is sent for it, and an event stream is not what the client takes.
        super::empty(StatusCode::NO_CONTENT)
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
pub(super) fn status(answer: &Response, era: Era) -> StatusCode {
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
