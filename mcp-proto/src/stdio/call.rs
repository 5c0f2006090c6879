//! One call of a connection: a stream of its messages, ended by its answer. Once dropped or aborted, it sends nothing
//! more.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::future::BoxFuture;

use tokio::sync::oneshot;

use crate::jsonrpc::{Notification, Request, Response};
use crate::outbox::{OutboxReader, Outgoing};

/// A running call and its own outbox.
pub(super) struct Call {
    state: State,
    outgoing: OutboxReader,
}

enum State {
    Running(BoxFuture<'static, Response>),
    /// The answer is ready. Earlier messages are sent first.
    Answered(Box<Response>),
    Ended,
}

/// An item of the stream of a call.
pub(super) enum CallOutput {
    Notification(Notification),
    Request(Request, oneshot::Sender<Response>),
    /// The last item.
    Answer(Response),
}

impl Call {
    pub(super) fn new(call: BoxFuture<'static, Response>, outgoing: OutboxReader) -> Self {
        Self { state: State::Running(call), outgoing }
    }
}

impl Stream for Call {
    type Item = CallOutput;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<CallOutput>> {
        if let State::Running(call) = &mut self.state
            && let Poll::Ready(answer) = call.as_mut().poll(context)
        {
            self.state = State::Answered(Box::new(answer));
        }
        if matches!(self.state, State::Ended) {
            return Poll::Ready(None);
        }
        while let Poll::Ready(message) = self.outgoing.poll_recv(context) {
            match message {
                Outgoing::Notification(said) => {
                    return Poll::Ready(Some(CallOutput::Notification(said)));
                }
                Outgoing::Request(request, answer) => {
                    return Poll::Ready(Some(CallOutput::Request(request, answer)));
                }
                // One connection carries all calls, so it cannot be closed for one of them.
                Outgoing::Release(_) => {}
            }
        }
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Answered(answer) => Poll::Ready(Some(CallOutput::Answer(*answer))),
            running => {
                self.state = running;
                Poll::Pending
            }
        }
    }
}
