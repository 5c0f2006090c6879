//! Messages of a client other than requests, and the end of its session: for calls that run here, and for those that
//! another process runs.

use std::sync::{Arc, Weak};

use bytes::{BufMut as _, Bytes, BytesMut};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::{Extensions, Response as HttpResponse, StatusCode, request};

use super::event_id::EventId;
use super::live::Reading;
use super::refusal::Refusal;
use super::{Inner, Legacy};
use crate::context::{ClientSide, Context, Incoming};
use crate::http::answer::empty;
use crate::http::body::ResponseBody;
use crate::http::rejection::{Refused, Result};
use crate::jsonrpc::{Message, Notification, RequestId, Response, take_meta};
use crate::legacy::event_store::{EventStoreError, within};
use crate::legacy::session::{Session, SessionId};

/// The first byte of a letter whose rest is a message of the client.
const MESSAGE: u8 = b'm';

/// The first byte of a letter whose rest is the id of the event after which the client now reads a stream elsewhere.
const MOVED: u8 = b't';

impl Legacy {
    /// Reads the messages that other processes receive for the calls of a session, as long as it has any.
    pub(super) fn read_inbox(&self, session: &SessionId) {
        let Some(shared) = &self.0.shared else {
            return;
        };
        if self.0.live.wants_inbox(session) {
            let letters = shared.inbox(session);
            let reading = read(letters, Arc::downgrade(&self.0), session.clone());
            let reading = Reading(tokio::spawn(reading).abort_handle());
            self.0.live.read_inbox(session, reading);
        }
    }

    /// What a notification means for its session.
    pub(super) async fn notified(
        &self,
        session: &Session,
        notification: &Notification,
        caller: &Extensions,
    ) -> Result<()> {
        if let Some(request) = notification.cancelled_request() {
            self.cancel_call(session, &request, notification).await?;
        }
        self.0.endpoint.server.take(notification, |params| {
            let incoming = Incoming {
                peer: Some(session.id.shared()),
                ..Incoming::unanswered(take_meta(params), caller.clone())
            };
            Some(Context::new(incoming, ClientSide::from(session)))
        });
        Ok(())
    }

    /// Gives the client's answer to the call that asked, wherever that runs.
    pub(super) async fn answered(&self, session: &Session, response: Response) -> Result<()> {
        match self.0.live.answer(&session.id, response) {
            Ok(()) => Ok(()),
            Err(response) if self.0.shared.is_some() => {
                let mut letter = BytesMut::with_capacity(1 + response.size_hint());
                letter.put_u8(MESSAGE);
                response.append_to(&mut letter);
                Ok(self.send(&session.id, letter.freeze()).await?)
            }
            Err(_) => {
                tracing::debug!("a response was ignored: no request here waits for it");
                Ok(())
            }
        }
    }

    /// Cancels calls by their id, wherever they run.
    async fn cancel_call(
        &self,
        session: &Session,
        request: &RequestId,
        notification: &Notification,
    ) -> Result<()> {
        if self.0.live.cancel(&session.id, request) || self.0.shared.is_none() {
            return Ok(());
        }
        let mut letter = vec![MESSAGE];
        if serde_json::to_writer(&mut letter, notification).is_err() {
            return Ok(());
        }
        Ok(self.send(&session.id, letter.into()).await?)
    }

    /// Notifies the process that writes a stream that the client now reads it here.
    pub(super) async fn notify_moved(&self, session: &SessionId, last: EventId) {
        let letter = format!("{}{last}", char::from(MOVED));
        if self.send(session, letter.into()).await.is_err() {
            tracing::debug!(
                "the server that writes a stream could not be notified that it is read here"
            );
        }
    }

    /// DELETE: the session ends, with everything that runs in it.
    pub(crate) async fn end_session(
        &self,
        head: &request::Parts,
    ) -> Result<HttpResponse<ResponseBody>, Refused> {
        let session = self.session(head).await?;
        self.0.sessions.remove(&session.id).await?;
        self.end_elsewhere(&session.id).await;
        self.forget(&session.id);
        Ok(empty(StatusCode::NO_CONTENT))
    }

    /// Ends the calls and streams of a session in other processes.
    async fn end_elsewhere(&self, session: &SessionId) {
        if let Some(shared) = &self.0.shared {
            let limit = self.0.endpoint.config.legacy.store_timeout;
            if let Err(problem) = within(limit, shared.remove(session)).await {
                tracing::warn!(%problem, "the data of an ended session remains in the event store");
            }
        }
    }

    async fn send(&self, session: &SessionId, letter: Bytes) -> Result<(), Refusal> {
        let Some(shared) = &self.0.shared else {
            return Ok(());
        };
        let limit = self.0.endpoint.config.legacy.store_timeout;
        match within(limit, shared.send(session, letter)).await {
            Ok(()) => Ok(()),
            Err(EventStoreError::Full) => Err(Refusal::InboxFull),
            Err(problem) => {
                tracing::error!(%problem, "a message for a call at another server was not sent");
                Err(Refusal::StoreUnavailable)
            }
        }
    }

    /// Handles a letter. One that does not concern this process is ignored.
    fn take_letter(&self, session: &SessionId, letter: &[u8]) {
        match letter.split_first() {
            Some((&MESSAGE, message)) => match Message::from_slice(message) {
                Ok(Message::Response(response)) => {
                    // Another process may have it by now.
                    let _ = self.0.live.answer(session, response);
                }
                Ok(Message::Notification(notification)) => {
                    if let Some(request) = notification.cancelled_request() {
                        self.0.live.cancel(session, &request);
                    }
                }
                _ => {}
            },
            Some((&MOVED, last)) => {
                let last = std::str::from_utf8(last).ok();
                let last = last.and_then(|last| last.parse::<EventId>().ok());
                if let Some(last) = last
                    && let Some(stream) = self.0.streams.find(session, last.stream)
                {
                    stream.reader_moved(last.number);
                }
            }
            _ => {}
        }
    }
}

/// Reads an inbox until the session ends.
async fn read(mut letters: BoxStream<'static, Bytes>, inner: Weak<Inner>, session: SessionId) {
    loop {
        let letter = letters.next().await;
        let Some(inner) = inner.upgrade() else {
            return;
        };
        let legacy = Legacy(inner);
        let Some(letter) = letter else {
            legacy.forget(&session);
            return;
        };
        legacy.take_letter(&session, &letter);
    }
}
