//! One call and what it says before it answers. The exchange owns the handler's future: dropping it cancels a modern
//! call; a legacy one is driven to its end by a task, since there a lost connection is not a cancellation.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{Stream, StreamExt as _};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Sleep;

use super::detached::{Detached, Place};
use super::live::CallGuard;
use super::sessions::Hold;
use crate::jsonrpc::{Message, Response};
use crate::outbox::{Outbox, OutboxReader, Outgoing};

/// A call on its way, as the stream of what it says. Its answer or its cancellation is the last item.
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
    ended: bool,
}

/// What a call of a legacy session carries besides.
pub(super) struct LegacyCall {
    pub(super) cancelled: oneshot::Receiver<()>,
    /// Takes the call out of the session's list when it ends.
    pub(super) guard: CallGuard,
    pub(super) hold: Hold,
    /// How it may run on if nobody hears it; `None` once something else sees to that.
    pub(super) detached: Option<Detached>,
    /// Its place among the calls that run without their client.
    pub(super) away: Option<Place>,
    /// Whether its client takes events, so that it can be told and asked something.
    pub(super) hears: bool,
    /// Whether its client comes back when its connection is let go.
    pub(super) polls: bool,
}

/// The next thing an exchange has to say.
pub(super) enum Step {
    /// A notification, or a request to the client.
    Said(Message),
    /// The connection may go until the client comes back.
    Release(Duration),
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
            ended: false,
        }
    }

    pub(super) fn in_session(mut self, legacy: LegacyCall) -> Self {
        self.legacy = Some(legacy);
        self
    }

    /// Takes over what becomes of it when its client goes: dropping it cancels it from now on.
    pub(super) fn own(&mut self) {
        if let Some(legacy) = &mut self.legacy {
            legacy.detached = None;
        }
    }

    /// Its client went away: whether it may run on. One that may not is cancelled.
    pub(super) fn leave(&mut self, detached: &Detached) -> bool {
        let (Some(_), Some(legacy)) = (&self.call, &mut self.legacy) else {
            return true;
        };
        if legacy.away.is_none() {
            legacy.away = detached.place(&legacy.guard);
        }
        legacy.away.is_some()
    }

    /// Its client is back.
    pub(super) fn rejoin(&mut self) {
        if let Some(legacy) = &mut self.legacy
            && legacy.away.take().is_some()
        {
            legacy.guard.attach();
        }
    }

    pub(super) fn cancel(&mut self) {
        self.call = None;
        self.legacy = None;
        self.place = None;
    }

    /// Ready once it is cancelled, or its session is over; for while nobody takes what it says. It says nothing more
    /// then, not even that.
    pub(super) fn poll_cancelled(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(legacy) = &mut self.legacy
            && (Pin::new(&mut legacy.cancelled).poll(context).is_ready()
                || legacy.hold.poll_ended(context).is_ready())
        {
            self.cancel();
            self.ended = true;
            return Poll::Ready(());
        }
        Poll::Pending
    }

    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        if self.poll_cancelled(context).is_ready() {
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
            match (message, &self.legacy) {
                (Outgoing::Notification(said), _) => {
                    return Poll::Ready(Step::Said(Message::Notification(said)));
                }
                (Outgoing::Request(request, answer), Some(legacy)) if legacy.hears => {
                    legacy.guard.expect_answer(request.id.clone(), answer);
                    return Poll::Ready(Step::Said(Message::Request(request)));
                }
                (Outgoing::Release(retry), Some(legacy)) if legacy.hears && legacy.polls => {
                    return Poll::Ready(Step::Release(retry));
                }
                // Whoever asked is told that nobody answers: the other end goes.
                (Outgoing::Request(..) | Outgoing::Release(_), _) => {}
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

impl Stream for Exchange {
    type Item = Step;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Step>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let step = self.poll_step(context);
        self.ended = matches!(step, Poll::Ready(Step::Answer(_) | Step::Cancelled));
        step.map(Some)
    }
}

impl Drop for Exchange {
    /// A legacy call whose client went away before it heard anything runs on, in bounds, so that its effects do not
    /// depend on the network.
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
        // The client has no event id to come back with.
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
            ended: false,
        };
        runtime.spawn(place.drive(async move { while rest.next().await.is_some() {} }));
    }
}
