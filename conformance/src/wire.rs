//! One HTTP answer, read whole or as a stream, under limits.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, StreamBody};
use serde_json::Value;
use tokio::task::AbortHandle;

use crate::error::Problem;
use crate::fault::Fault;
use crate::shorten::shorten;
use crate::sse::{Decoder, Event, Frame, MAX_EVENT_BYTES, is_event_stream};
use crate::target::{Body, BoxError};

/// The most messages one POST may be answered with before its response.
pub(crate) const MAX_MESSAGES: usize = 10_000;

/// The most frames of a stream that are read ahead.
const MAX_UNREAD: usize = 1_000;

/// An answer whose body has been read.
pub(crate) struct Answer {
    pub(crate) body: AnswerBody,
}

pub(crate) enum AnswerBody {
    Text(String),
    /// The JSON-RPC messages of an event stream, in order, up to the response.
    Messages(Vec<Value>),
}

impl Answer {
    /// Reads the body to its end or, if it is an event stream, to the first JSON-RPC response in it.
    pub(crate) async fn read(response: Response<Body>) -> Result<Self, Fault> {
        let (head, body) = response.into_parts();
        let body = if is_event_stream(&head.headers) {
            AnswerBody::Messages(messages(EventStream::new(body)).await?)
        } else {
            AnswerBody::Text(collect(body).await?)
        };
        Ok(Self { body })
    }

    /// Takes the JSON-RPC answer out of the body.
    pub(crate) fn into_message(self) -> Result<Value, Fault> {
        match self.body {
            AnswerBody::Text(text) => parse_json(&text),
            AnswerBody::Messages(mut messages) => match messages.pop() {
                Some(last) if is_response(&last) => Ok(last),
                _ => Err(Fault::new("the event stream ended without a JSON-RPC response")),
            },
        }
    }
}

/// The text of a body.
pub(crate) async fn collect(mut body: Body) -> Result<String, Fault> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Fault::new(format!("the body broke off: {error}")))?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > MAX_EVENT_BYTES {
                return Err(Fault::new(format!("the body is longer than {MAX_EVENT_BYTES} bytes")));
            }
            bytes.extend_from_slice(&data);
        }
    }
    String::from_utf8(bytes).map_err(|_| Fault::new("the body is not valid UTF-8"))
}

/// The body as JSON.
pub(crate) fn parse_json(text: &str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|error| {
        Fault::new(format!("the body is not JSON ({error}): {}", shorten(text, 300)))
    })
}

async fn messages(mut stream: EventStream) -> Result<Vec<Value>, Fault> {
    let mut messages = Vec::new();
    while let Some(event) = stream.next_event().await? {
        if event.data.is_empty() {
            continue;
        }
        let message = parse_json(&event.data)?;
        let last = is_response(&message);
        messages.push(message);
        if last {
            break;
        }
        if messages.len() > MAX_MESSAGES {
            return Err(Fault::new(format!(
                "more than {MAX_MESSAGES} messages came before the response"
            )));
        }
    }
    Ok(messages)
}

fn is_response(message: &Value) -> bool {
    message.get("method").is_none() && message.get("id").is_some()
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An open event stream. Dropping it ends the exchange.
pub(crate) struct EventStream {
    body: Body,
    /// What reads the body beforehand; it ends with this.
    _reader: Option<AbortOnDrop>,
    decoder: Decoder,
    frames: VecDeque<Frame>,
    /// Methods whose messages are skipped.
    ignored: Vec<String>,
}

impl EventStream {
    pub(crate) fn new(body: Body) -> Self {
        Self {
            body,
            _reader: None,
            decoder: Decoder::default(),
            frames: VecDeque::new(),
            ignored: Vec::new(),
        }
    }

    /// The same without messages of these methods.
    pub(crate) fn ignoring(self, ignored: Vec<String>) -> Self {
        Self { ignored, ..self }
    }

    /// The same, read by a separate task that gives every question on it to `answer`. The task ends when this is
    /// dropped, and waits while too much is unread.
    pub(crate) fn answering(
        mut self,
        answer: impl Fn(Value) -> BoxFuture<'static, ()> + Send + 'static,
    ) -> Self {
        let ignored = std::mem::take(&mut self.ignored);
        let (frames, read) = tokio::sync::mpsc::channel::<Result<Bytes, BoxError>>(MAX_UNREAD);
        let reader = tokio::spawn(async move {
            loop {
                let frame = match self.next().await {
                    Ok(Some(frame)) => frame,
                    Ok(None) => return,
                    Err(fault) => {
                        let _ = frames.send(Err(fault.to_string().into())).await;
                        return;
                    }
                };
                if let Frame::Event(event) = &frame
                    && let Ok(message) = serde_json::from_str::<Value>(&event.data)
                    && message.get("method").is_some()
                    && message.get("id").is_some()
                {
                    answer(message).await;
                    continue;
                }
                if frames.send(Ok(frame.to_bytes())).await.is_err() {
                    return;
                }
            }
        });
        let read = stream::unfold(read, |mut read| async {
            let next = read.recv().await?;
            Some((next.map(http_body::Frame::data), read))
        });
        Self {
            _reader: Some(AbortOnDrop(reader.abort_handle())),
            ..Self::new(StreamBody::new(read).boxed_unsync())
        }
        .ignoring(ignored)
    }

    /// The next frame, or `None` at the end. Loses nothing when it is dropped while it waits.
    pub(crate) async fn next(&mut self) -> Result<Option<Frame>, Fault> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                if self.ignores(&frame) {
                    continue;
                }
                return Ok(Some(frame));
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(error)) => {
                    return Err(Fault::new(format!("the stream broke off: {error}")));
                }
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        let decoded = self.decoder.push(&bytes, &mut self.frames);
                        decoded.map_err(|error| Fault::new(error.to_string()))?;
                    }
                }
            }
        }
    }

    fn ignores(&self, frame: &Frame) -> bool {
        let Frame::Event(event) = frame else {
            return false;
        };
        // Without anything to ignore, nothing is read that the step does not read itself.
        !self.ignored.is_empty()
            && parse_json(&event.data).is_ok_and(|message| {
                let method = message.get("method").and_then(Value::as_str);
                method.is_some_and(|method| self.ignored.iter().any(|ignored| ignored == method))
            })
    }

    /// The next event, passing over comments.
    pub(crate) async fn next_event(&mut self) -> Result<Option<Event>, Fault> {
        loop {
            match self.next().await? {
                Some(Frame::Event(event)) => return Ok(Some(event)),
                Some(Frame::Comment(_)) => {}
                None => return Ok(None),
            }
        }
    }
}

/// A request with these headers; a repeated name replaces what came before it.
pub(crate) fn build(
    method: http::Method,
    path: &str,
    content_type: Option<HeaderValue>,
    headers: impl IntoIterator<Item = (HeaderName, String)>,
    body: Bytes,
) -> Result<Request<Bytes>, Problem> {
    let mut request = Request::new(body);
    *request.method_mut() = method;
    *request.uri_mut() =
        path.parse().map_err(|error| Problem::new(format!("{path:?} is not a path: {error}")))?;
    if let Some(kind) = content_type {
        request.headers_mut().insert(CONTENT_TYPE, kind);
    }
    for (name, value) in headers {
        let value = HeaderValue::try_from(&value)
            .map_err(|_| Problem::new(format!("{value:?} cannot be sent in the header {name}")))?;
        request.headers_mut().insert(name, value);
    }
    Ok(request)
}
