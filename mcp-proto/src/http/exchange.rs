//! One call and its messages before the answer. The exchange owns the handler's future: dropping it cancels the call.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{Stream, StreamExt as _};
use tokio::time::Sleep;

use crate::budget::{Client, Held};
use crate::jsonrpc::Response;
use crate::outbox::{OutboxReader, Outgoing};
use crate::running::{CallOutput, RunningCall};

/// A running call, as the stream of its messages. Its answer is the last item.
pub(crate) struct Exchange {
    call: RunningCall,
    keep_alive: Duration,
    /// Started when the call first has to wait: quick calls never pay for a timer.
    timer: Option<Pin<Box<Sleep>>>,
    held: Holding,
}

/// The resources that a call holds until its answer is written or dropped.
#[derive(Debug)]
pub(crate) struct Holding {
    /// Its share of the bound on calls.
    pub(crate) call: Held,
    /// Its share of the bound on listeners, if it is a `subscriptions/listen`.
    pub(crate) _listener: Option<Held>,
    /// The memory of its request.
    pub(crate) _request: Option<Held>,
}

impl Holding {
    /// The client that holds it.
    pub(crate) fn client(&self) -> Client {
        self.call.client()
    }
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
