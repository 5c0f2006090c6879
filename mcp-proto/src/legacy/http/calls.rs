//! Legacy calls that share one stream: one call, or those of a batch. A task drives them and writes their messages to
//! the stream, whether or not a connection reads it.
//!
//! A body that owned the call, as in the modern era, would be simpler. But a call has to outlive its connection, a
//! newer connection may replace one whose end went unnoticed, and a body that is not polled could not pass its call on.
//! A quiet call needs neither task nor ring.
//!
//! A client that reconnects gets an event with an id at once (2025-11-25), though there is nothing to report: clients
//! in use forget their last id when they reconnect, and would have none if this connection broke, too.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, OptionFuture};
use futures_util::stream::SelectAll;
use http::Response as HttpResponse;

use super::detached::{Detached, Driver};
use super::events::id_line;
use super::exchange::{Exchange, Step};
use super::streams::{Audience, Opened, Streams};
use crate::budget::Client;
use crate::http::answer::event_stream;
use crate::http::body::ResponseBody;
use crate::http::rejection::{Rejection, Result};
use crate::http::sse::{answer_after, message_after};
use crate::jsonrpc::{RequestId, Response as RpcResponse};
use crate::legacy::session::SessionId;

/// Calls that run concurrently.
#[derive(Default)]
pub(super) struct Calls(SelectAll<Exchange>);

/// The data with which their stream can be resumed.
pub(super) struct Resumable {
    pub(super) streams: Arc<Streams>,
    pub(super) session: SessionId,
    pub(super) client: Client,
    pub(super) detached: Detached,
    /// Whether the client accepts events that carry only an id.
    pub(super) primes: bool,
    /// The requests whose answers it will carry, if other processes share it.
    pub(super) requests: Vec<RequestId>,
}

/// Drives calls from the first message of any of them onward.
struct Driving {
    calls: Calls,
    stream: Opened,
    detached: Detached,
    primes: bool,
    /// Resolves when the calls have been without a client for the longest time allowed; `None` while they have one.
    away: Option<BoxFuture<'static, ()>>,
    answered: bool,
    driver: Driver,
}

impl Calls {
    pub(super) fn push(&mut self, call: Exchange) {
        self.0.push(call);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next step of any of them; `None` once all have answered or were cancelled.
    pub(super) async fn next(&mut self) -> Option<Step> {
        self.0.next().await
    }

    /// Waits until one of them is cancelled, while they are not driven; [`Calls::go_on`] must follow.
    async fn cancelled(&mut self) {
        poll_fn(|context| {
            let calls = self.0.iter_mut();
            let cancelled = calls.filter_map(|call| match call.poll_cancelled(context) {
                Poll::Ready(()) => Some(()),
                Poll::Pending => None,
            });
            match cancelled.count() {
                0 => Poll::Pending,
                _ => Poll::Ready(()),
            }
        })
        .await;
    }

    /// Polls each call again: calls that were polled outside of the set would miss their wake-ups.
    fn go_on(&mut self) {
        self.0 = std::mem::take(&mut self.0).into_iter().collect();
    }

    /// The event stream of the calls: the steps they have taken, if any, and all later ones.
    pub(super) fn stream(
        mut self,
        done: impl IntoIterator<Item = Step>,
        resumable: Resumable,
    ) -> Result<HttpResponse<ResponseBody>> {
        self.0.iter_mut().for_each(Exchange::own);
        let Resumable { streams, session, client, detached, primes, requests } = resumable;
        let stream = streams.open(&session, &client, requests);
        let reader = stream.read()?;
        let mut driving = Driving {
            calls: self,
            stream,
            driver: detached.driver(),
            detached,
            primes,
            away: None,
            answered: false,
        };
        driving.prime();
        for step in done {
            driving.take(step);
        }
        tokio::spawn(driving.run());
        Ok(event_stream(reader.into_body()))
    }

    /// Called when their client has disconnected. Returns whether any may continue; the others are cancelled.
    fn leave(&mut self, detached: &Detached) -> bool {
        let mut any = false;
        for call in self.0.iter_mut() {
            if call.leave(detached) {
                any = true;
            } else {
                tracing::debug!(
                    "a call whose client disconnected was cancelled: too many run without their clients"
                );
                call.cancel();
            }
        }
        any
    }

    /// Whether all may continue without their client. If not, none holds a permit for it.
    fn may_leave(&mut self, detached: &Detached) -> bool {
        let all = self.0.iter_mut().all(|call| call.leave(detached));
        if !all {
            self.rejoin();
        }
        all
    }

    /// Called when their client has reconnected.
    fn rejoin(&mut self) {
        self.0.iter_mut().for_each(Exchange::rejoin);
    }
}

impl From<Exchange> for Calls {
    fn from(call: Exchange) -> Self {
        let mut calls = Self::default();
        calls.push(call);
        calls
    }
}

impl Driving {
    async fn run(mut self) {
        loop {
            match self.stream.audience() {
                Audience::Gone => return,
                Audience::Here { room, wants_id } => {
                    if self.away.take().is_some() {
                        self.calls.rejoin();
                    }
                    if wants_id {
                        self.prime();
                    }
                    if !room {
                        tokio::select! {
                            biased;
                            () = self.stream.changed() => {}
                            () = self.calls.cancelled() => {}
                        }
                        self.calls.go_on();
                        continue;
                    }
                }
                // The oldest events make room.
                Audience::Away { room: _ } if self.away.is_some() => {}
                Audience::Away { room: _ } => {
                    if !self.calls.leave(&self.detached) && !self.calls.is_empty() {
                        return;
                    }
                    self.stream.trim();
                    self.set_away();
                }
            }
            tokio::select! {
                biased;
                step = self.calls.next() => match step {
                    Some(step) => self.take(step),
                    None => break,
                },
                () = self.stream.changed() => {}
                Some(()) = OptionFuture::from(self.away.as_mut()) => return,
            }
        }
        // The calls have ended. Their events remain to be read.
        let Self { stream, answered, driver, .. } = self;
        drop(driver);
        if answered {
            stream.linger().await;
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Message(message) => {
                self.stream.push(|id| message_after(id_line(id), &message));
            }
            Step::Answer(answer) => {
                self.answered = true;
                let answer = match self.stream.has_room(answer.size_hint()) {
                    Ok(()) => answer,
                    Err(over) => RpcResponse::error(answer.id, Rejection::from(over).error()),
                };
                if let Some(request) = &answer.id {
                    self.stream.answers(request);
                }
                self.stream.push(|id| answer_after(id_line(id), &answer));
            }
            Step::Release(retry) => {
                if self.away.is_none() && self.calls.may_leave(&self.detached) {
                    self.stream.release(retry);
                    self.set_away();
                }
            }
            Step::Quiet => self.stream.keep_alive(true),
            Step::Cancelled => {}
        }
    }

    fn set_away(&mut self) {
        let detached = self.detached.clone();
        self.away = Some(Box::pin(async move { detached.time_is_over().await }));
    }

    fn prime(&self) {
        if self.primes {
            self.stream.prime();
        }
    }
}
