//! A call that runs: the stream of its messages, ended by its answer. Once dropped or aborted, it sends nothing more.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::future::BoxFuture;

use crate::jsonrpc::Response;
use crate::outbox::{OutboxReader, Outgoing};

/// A running call and its own outbox.
pub(crate) struct RunningCall {
    /// `None` once it has answered.
    call: Option<BoxFuture<'static, Response>>,
    /// The answer is ready. Earlier messages are sent first.
    answer: Option<Response>,
    outgoing: OutboxReader,
}

/// An item of the stream of a call.
pub(crate) enum CallOutput {
    Message(Outgoing),
    /// The last item.
    Answer(Response),
}

impl RunningCall {
    pub(crate) fn new(call: BoxFuture<'static, Response>, outgoing: OutboxReader) -> Self {
        Self { call: Some(call), answer: None, outgoing }
    }

    /// Whether the handler still runs.
    #[cfg(feature = "http")]
    pub(crate) fn is_running(&self) -> bool {
        self.call.is_some()
    }
}

impl Stream for RunningCall {
    type Item = CallOutput;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<CallOutput>> {
        if let Some(call) = &mut self.call {
            if let Poll::Ready(answer) = call.as_mut().poll(context) {
                self.call = None;
                self.answer = Some(answer);
            }
        } else if self.answer.is_none() {
            return Poll::Ready(None);
        }
        // After the call, so that its last messages come before its answer.
        let message = match self.answer {
            None => self.outgoing.poll_recv(context),
            // No more messages are added.
            Some(_) => self.outgoing.try_recv().map_or(Poll::Pending, Poll::Ready),
        };
        if let Poll::Ready(message) = message {
            return Poll::Ready(Some(CallOutput::Message(message)));
        }
        match self.answer.take() {
            Some(answer) => Poll::Ready(Some(CallOutput::Answer(answer))),
            None => Poll::Pending,
        }
    }
}
