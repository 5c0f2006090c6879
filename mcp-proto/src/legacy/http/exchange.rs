//! A call of a session: an exchange that can be cancelled by id, asks its client, and may continue without it.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::detached::{Detached, DetachedPermit};
use super::live::CallGuard;
use super::sessions::Lease;
use crate::budget::Over;
use crate::http::answer;
use crate::http::body::ResponseBody;
use crate::http::head::Accepts;
use crate::jsonrpc::{Message, Response};
use crate::outbox::Outgoing;
use futures_util::{FutureExt as _, Stream, StreamExt as _};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// A running call of a session, as the stream of its messages. Its answer or its cancellation is the last item.
pub(super) struct Exchange {
    /// `None` once it was cancelled.
    call: Option<answer::Exchange>,
    /// `None` once it has answered or was cancelled.
    session: Option<SessionCall>,
    ended: bool,
}

/// The additional state of a call of a session.
pub(super) struct SessionCall {
    /// Ends when the call is cancelled.
    pub(super) cancelled: oneshot::Receiver<()>,
    /// Takes the call out of the session's list when it ends.
    pub(super) guard: CallGuard,
    pub(super) lease: Lease,
    /// How it may continue if its client disconnects; `None` once its owner handles that case.
    pub(super) detached: Option<Detached>,
    /// Its permit among the calls that run without their client.
    pub(super) away: Option<DetachedPermit>,
    /// Whether its client accepts events, so that messages and questions reach it.
    pub(super) takes_events: bool,
    /// Whether its client reconnects after its connection is closed.
    pub(super) polls: bool,
}

/// The next step of a call of a session.
pub(super) enum Step {
    /// A notification, or a request to the client.
    Message(Message),
    /// The connection may be closed until the client reconnects.
    Release(Duration),
    Answer(Response),
    /// No message for the length of the keep-alive interval.
    Quiet,
    /// It was cancelled: nothing more will come.
    Cancelled,
}

/// How the answer of a call begins.
pub(super) enum First {
    /// One JSON body.
    Answer(Response),
    /// An event stream, with this as its first step if the call has sent something.
    Stream(Option<Step>),
    /// The call was cancelled and has no answer.
    Cancelled,
}

impl Exchange {
    pub(super) fn new(call: answer::Exchange, session: SessionCall) -> Self {
        Self { call: Some(call), session: Some(session), ended: false }
    }

    /// Waits until the form of the answer is known.
    pub(super) async fn first(&mut self, accepts: Accepts) -> First {
        if !accepts.json {
            return First::Stream(None);
        }
        while let Some(step) = self.next().await {
            match step {
                Step::Answer(answer) => return First::Answer(answer),
                Step::Cancelled => return First::Cancelled,
                step if accepts.events => return First::Stream(Some(step)),
                // The client accepts only JSON: it cannot be sent anything before the answer.
                Step::Message(_) | Step::Release(_) | Step::Quiet => {}
            }
        }
        First::Cancelled
    }

    /// The body of its answer, or the bound that it exceeds.
    pub(super) fn answered(mut self, answer: Response) -> Result<ResponseBody, Over> {
        match self.call.take() {
            Some(call) => ResponseBody::answer(answer, call.into_held()),
            None => Ok(ResponseBody::json(answer)),
        }
    }

    /// Makes the owner handle a disconnected client: from now on, dropping the exchange cancels the call.
    pub(super) fn own(&mut self) {
        if let Some(session) = &mut self.session {
            session.detached = None;
        }
    }

    /// Called when its client has disconnected. Returns whether it may continue; if not, it is cancelled.
    pub(super) fn leave(&mut self, detached: &Detached) -> bool {
        let running = self.call.as_ref().filter(|call| call.is_running());
        let (Some(client), Some(session)) = (running.map(|call| call.client()), &mut self.session)
        else {
            return true;
        };
        if session.away.is_none() {
            session.away = detached.permit(&session.guard, &client);
        }
        session.away.is_some()
    }

    /// Called when its client has reconnected.
    pub(super) fn rejoin(&mut self) {
        if let Some(session) = &mut self.session
            && session.away.take().is_some()
        {
            session.guard.attach();
        }
    }

    pub(super) fn cancel(&mut self) {
        self.call = None;
        self.session = None;
    }

    /// Ready once it is cancelled or its session has ended; for use while the stream is not polled. The stream then
    /// yields nothing more, not even [`Step::Cancelled`].
    pub(super) fn poll_cancelled(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(session) = &mut self.session
            && (session.cancelled.poll_unpin(context).is_ready()
                || session.lease.poll_ended(context).is_ready())
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
        loop {
            let Some(call) = &mut self.call else {
                return Poll::Ready(Step::Cancelled);
            };
            let Poll::Ready(step) = call.poll_next_unpin(context) else {
                return self.poll_cancelled(context).map(|()| Step::Cancelled);
            };
            let message = match step {
                None => return Poll::Ready(Step::Cancelled),
                Some(answer::Step::Answer(answer)) => {
                    self.session = None;
                    return Poll::Ready(Step::Answer(answer));
                }
                Some(answer::Step::Quiet) => {
                    self.touch();
                    return Poll::Ready(Step::Quiet);
                }
                Some(answer::Step::Message(message)) => message,
            };
            self.touch();
            match (message, &self.session) {
                (Outgoing::Notification(message), _) => {
                    return Poll::Ready(Step::Message(Message::Notification(message)));
                }
                (Outgoing::Request(request, answer), Some(session)) if session.takes_events => {
                    session.guard.expect_answer(request.id.clone(), answer);
                    return Poll::Ready(Step::Message(Message::Request(request)));
                }
                (Outgoing::Release(retry), Some(session))
                    if session.takes_events && session.polls =>
                {
                    return Poll::Ready(Step::Release(retry));
                }
                // Dropping a question signals that no answer will come.
                (Outgoing::Request(..) | Outgoing::Release(_), _) => {}
            }
        }
    }

    /// A running call keeps its session from expiring.
    fn touch(&mut self) {
        if let Some(session) = &mut self.session {
            session.lease.touch(Instant::now());
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
    /// A call whose client disconnected before anything was sent to it continues, within bounds, so that its effects do
    /// not depend on the network.
    fn drop(&mut self) {
        let (Some(call), Some(mut session)) = (self.call.take(), self.session.take()) else {
            return;
        };
        // Taken out, so that a call that already runs without its client is only dropped, as by a runtime that shuts
        // down.
        let Some(detached) = session.detached.take().filter(|_| call.is_running()) else {
            return;
        };
        let (Some(permit), Ok(runtime)) = (
            detached.permit(&session.guard, &call.client()),
            tokio::runtime::Handle::try_current(),
        ) else {
            tracing::debug!(
                "a call whose client disconnected was cancelled: too many run without their clients"
            );
            return;
        };
        // The client has no event id for reconnecting.
        session.takes_events = false;
        let mut rest = Self::new(call, session);
        runtime.spawn(permit.drive(async move { while rest.next().await.is_some() {} }));
    }
}
