//! A server on stdio as a target. Transcripts are written as HTTP; what goes around a message is left out.

mod process;

use std::ffi::OsString;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use serde_json::Value;
use tokio::sync::mpsc;

use self::process::serve;
use super::TargetError;
use crate::serving::{Body, bare, full, not_allowed, typed};
use crate::sse::EVENT_STREAM;

/// How many messages may wait for a slow reader.
const MAX_WAITING: usize = 1_000;

/// A server that is started when it is first asked, and again for each `initialize`. Ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Pipe(mpsc::Sender<Ask>);

/// What is wanted of the process.
struct Ask {
    /// What to write; nothing for one who only listens.
    message: Option<Value>,
    /// What the server says to it, the answer last. Dropped unused for what is not answered.
    replies: Replies,
    /// The process is to end instead.
    ends: bool,
}

type Replies = mpsc::Sender<Result<String, TargetError>>;

impl Pipe {
    /// Must be called within a tokio runtime, where it puts the task that owns the process.
    pub(crate) fn new(program: OsString, arguments: Vec<OsString>) -> Self {
        let (sender, asks) = mpsc::channel(16);
        tokio::spawn(serve(program, arguments, asks));
        Self(sender)
    }

    /// Closes the stdin of the process, if there is one, and waits a moment for it to end.
    pub(crate) async fn end(&self) {
        let (replies, mut ended) = mpsc::channel(1);
        let ask = Ask { message: None, replies, ends: true };
        if self.0.send(ask).await.is_ok() {
            // Nothing is sent: the sender is dropped when it is done.
            let _ = ended.recv().await;
        }
    }

    /// One exchange. GET listens to what answers no request; sessions are HTTP's, so DELETE is answered with 405.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        program: &OsString,
    ) -> Result<Response<Body>, TargetError> {
        let refuse = |reason: String| TargetError::NoAnswer {
            target: program.display().to_string(),
            source: reason.into(),
        };
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_or_else(|_| Bytes::new(), |body| body.to_bytes());
        let message: Option<Value> = match head.method {
            Method::POST => Some(serde_json::from_slice(&body).map_err(|error| {
                refuse(format!(
                    "on stdio each message is one line of JSON, and the request is not JSON: {error}"
                ))
            })?),
            Method::GET => None,
            _ => return Ok(not_allowed("GET, POST", full(""))),
        };
        let listens = message.is_none();
        let (replies, mut messages) = mpsc::channel(MAX_WAITING);
        let ended = |_| refuse("its task has ended".to_owned());
        self.0.send(Ask { message, replies, ends: false }).await.map_err(ended)?;
        if listens {
            return Ok(streamed(None, messages));
        }
        let Some(first) = messages.recv().await.transpose()? else {
            return Ok(bare(StatusCode::ACCEPTED));
        };
        let is_answer = serde_json::from_str::<Value>(&first)
            .is_ok_and(|message| message.get("method").is_none());
        if !is_answer {
            return Ok(streamed(Some(first), messages));
        }
        Ok(typed("application/json", full(first)))
    }
}

/// An event stream of `first` and the messages after it.
fn streamed(
    first: Option<String>,
    messages: mpsc::Receiver<Result<String, TargetError>>,
) -> Response<Body> {
    let rest = stream::unfold(messages, |mut messages| async {
        messages.recv().await.map(|next| (next, messages))
    });
    let frames = stream::iter(first.map(Ok)).chain(rest).map(|message| {
        let event = |message| Frame::data(Bytes::from(format!("data: {message}\n\n")));
        message.map(event).map_err(Into::into)
    });
    typed(EVENT_STREAM, StreamBody::new(frames).boxed_unsync())
}
