//! Resumes a stream of calls that another process runs, or has run.
//!
//! The process that finds the stream of a dead one ends it. Each request without an answer gets an error, which is
//! written to the log, so that another reader gets the same. Whether to make the call again is the client's decision:
//! no one knows how far it came.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use http::Response;
use serde_json::Value;

use super::event_id::EventId;
use super::events::CONNECTED;
use super::refusal::Refusal;
use super::{Legacy, events};
use crate::budget::{Client, Held, Kind};
use crate::http::answer::event_stream;
use crate::http::body::ResponseBody;
use crate::http::rejection::Result;
use crate::http::sse::{KEEP_ALIVE, answer_after};
use crate::jsonrpc::{ErrorObject, RequestId, Response as RpcResponse};
use crate::legacy::event_store::{
    EventStore, StreamEvent, StreamFate, StreamWrite, Tailed, within,
};
use crate::legacy::session::{Session, SessionId};

/// The error that a client gets instead of an answer that will not come.
const SERVER_ENDED: &str = "the server that ran this call has ended before it answered: whether the call was carried out \
                            is not known, and whether it is safe to make it again is yours to decide";

/// How long a stream that is not in the store is waited for: its events are written there a moment after they are sent.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(20),
    Duration::from_millis(80),
    Duration::from_millis(300),
    Duration::from_millis(600),
];

/// A stream that another process writes, as it is read here.
struct Remote {
    shared: Arc<dyn EventStore>,
    timeout: Duration,
    session: Arc<Session>,
    /// The last event that was found in it.
    last: EventId,
    tail: Option<BoxStream<'static, Tailed>>,
    ready: VecDeque<Bytes>,
    client: Client,
    /// The memory of the events in `ready`.
    held: Option<Held>,
    keep_alive: Duration,
    /// Ready when the server ends.
    closed: BoxFuture<'static, ()>,
    /// Its place among the listeners of its client.
    _place: Held,
}

impl Legacy {
    /// Continues a stream of calls that is not kept here, after the last event that its client received.
    pub(super) async fn resume_elsewhere(
        &self,
        session: Arc<Session>,
        last: EventId,
        client: &Client,
    ) -> Result<Response<ResponseBody>> {
        let shared = self.0.shared.clone().filter(|_| last.number > 0);
        let shared = shared.ok_or(Refusal::ForgottenStream)?;
        let place = client.hold(Kind::Listeners, 1)?;
        let config = &self.0.endpoint.config;
        let timeout = config.legacy.store_timeout;
        let tail = find(&*shared, timeout, &session.id, last).await?;
        // That process may not know yet that its connection is dead, and the call may wait for it.
        self.notify_moved(&session.id, last).await;
        let primes = session.protocol_version.has_polling();
        let opening = if primes {
            // One client in use forgets its last id when it reconnects.
            events::priming(last).into()
        } else {
            CONNECTED
        };
        let remote = Remote {
            tail: Some(tail),
            ready: [opening].into(),
            client: client.clone(),
            held: None,
            keep_alive: config.keep_alive,
            closed: self.0.detached.clone().closed().boxed(),
            _place: place,
            shared,
            timeout,
            session,
            last,
        };
        Ok(event_stream(ResponseBody::events(stream::unfold(remote, |mut remote| async move {
            let event = remote.next().await?;
            Some((event, remote))
        }))))
    }
}

/// Follows a stream, which may have begun a moment ago.
async fn find(
    shared: &dyn EventStore,
    timeout: Duration,
    session: &SessionId,
    last: EventId,
) -> Result<BoxStream<'static, Tailed>, Refusal> {
    let name = last.stream.to_string();
    let mut pauses = PAUSES.into_iter();
    loop {
        match within(timeout, shared.tail(session, &name, last.number)).await {
            Ok(Some(tail)) => return Ok(tail),
            Ok(None) => {}
            Err(problem) => {
                tracing::error!(%problem, "a stream could not be looked up in the event store");
                return Err(Refusal::StoreUnavailable);
            }
        }
        tokio::time::sleep(pauses.next().ok_or(Refusal::ForgottenStream)?).await;
    }
}

impl Remote {
    /// The next event, or a comment if there was none for a long time; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                if let Some(held) = &mut self.held {
                    held.shrink(event.len());
                }
                return Some(event);
            }
            let tail = self.tail.as_mut()?;
            tokio::select! {
                biased;
                () = &mut self.closed => return None,
                tailed = tail.next() => match tailed? {
                    Tailed::Events(events) => {
                        self.last.number = events.last().map_or(self.last.number, |event| event.number);
                        self.ready.extend(events.into_iter().map(|event| event.text));
                    }
                    Tailed::Abandoned(about) => {
                        self.tail = None;
                        self.answer_for(&about).await;
                    }
                },
                () = tokio::time::sleep(self.keep_alive) => return Some(KEEP_ALIVE),
            }
            let bytes = self.ready.iter().map(Bytes::len).sum();
            match self.client.hold_alone(Kind::KeptBytes, bytes) {
                Ok(held) => self.held = Some(held),
                Err(problem) => {
                    // The client reconnects for the rest.
                    tracing::warn!(%problem, "a stream of another server cannot be read further");
                    return None;
                }
            }
        }
    }

    /// Answers instead of the process that ended, for every reader.
    async fn answer_for(&mut self, about: &[u8]) {
        let requests: Vec<Value> = serde_json::from_slice(about).unwrap_or_default();
        let requests = requests.iter().filter_map(|id| RequestId::from_value(id).ok());
        let mut write = StreamWrite::forgotten(&self.session.id, self.last.stream.to_string());
        (write.fate, write.first) = (StreamFate::Ended, 1);
        write.about = Bytes::from_static(b"[]");
        for request in requests {
            self.last.number += 1;
            let error = ErrorObject::new(ErrorObject::INTERNAL, SERVER_ENDED);
            let answer = RpcResponse::error(Some(request), error);
            let text = Bytes::from(answer_after(events::id_line(self.last), &answer));
            self.ready.push_back(text.clone());
            write.events.push(StreamEvent { number: self.last.number, text });
        }
        if let Err(problem) = within(self.timeout, self.shared.write(&[write])).await {
            tracing::warn!(%problem, "the end of a stream of another server was not written");
        }
    }
}
