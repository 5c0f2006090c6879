//! The bounded channel of one request: the messages on its stream before its answer.
//!
//! This is not a general channel, since most calls send nothing: a quiet call costs one small allocation, where a
//! general channel allocates the slots of its first messages at once.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, oneshot};

use crate::jsonrpc::{Notification, Request, RequestId, Response};
use crate::locked::Locked as _;

/// How many messages of one request may wait to be written before [`Outbox::send`] waits.
pub const OUTBOX_CAPACITY: usize = 16;

/// Sends notifications about one request. They travel on the request's own stream and nowhere else.
#[derive(Debug, Clone)]
pub struct Outbox(Option<Arc<Shared>>);

/// What a transport receives from an outbox.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outgoing {
    /// A notification about the request.
    Notification(Notification),
    /// A request to the client (legacy era). The transport sends the client's answer on the channel; dropping the
    /// channel means that no answer will come.
    Request(Request, oneshot::Sender<Response>),
    /// The connection may be closed, and the client reconnects for the rest, no sooner than after this time (legacy
    /// era, Streamable HTTP). Other transports ignore it.
    Release(Duration),
}

/// The end of an [`Outbox`] that a transport reads. Dropping it closes the outbox.
#[derive(Debug)]
pub struct OutboxReader(Arc<Shared>);

/// The message will not be read: the stream of the request is gone or cannot carry notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stream of this request takes no notifications")]
pub struct OutboxClosed;

#[derive(Debug)]
struct Shared {
    /// At most [`OUTBOX_CAPACITY`] long: a push takes a permit of `room` before, and a pop gives it back.
    queue: Mutex<VecDeque<Outgoing>>,
    room: Semaphore,
    reader: AtomicWaker,
}

impl Outbox {
    /// An outbox that refuses everything.
    pub fn closed() -> Self {
        Self(None)
    }

    /// An outbox and its receiving end.
    #[must_use]
    pub fn channel() -> (Self, OutboxReader) {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            room: Semaphore::new(OUTBOX_CAPACITY),
            reader: AtomicWaker::new(),
        });
        (Self(Some(Arc::clone(&shared))), OutboxReader(shared))
    }

    /// Sends a notification about this request; waits while [`OUTBOX_CAPACITY`] others have not been written.
    ///
    /// # Errors
    /// [`OutboxClosed`] when it will not be read.
    pub async fn send(&self, notification: Notification) -> Result<(), OutboxClosed> {
        self.put(Outgoing::Notification(notification)).await
    }

    /// The same for a notification that may be stale once the queue has room: `is_due` is called when it enters the
    /// queue, so notifications that two tasks send at once are checked in queue order.
    pub(crate) async fn send_if(
        &self,
        notification: Notification,
        is_due: impl FnOnce() -> bool + Send,
    ) -> Result<(), OutboxClosed> {
        self.put_if(Outgoing::Notification(notification), is_due).await
    }

    /// Sends a request to the client, which only a legacy client answers. Returns its id and the receiver of the
    /// answer.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<(RequestId, oneshot::Receiver<Response>), OutboxClosed> {
        // Unique in the session, which several processes may serve.
        let id = RequestId::String(uuid::Uuid::new_v4().to_string().into());
        let (answer, answered) = oneshot::channel();
        let request = Request { id: id.clone(), method: method.to_owned(), params };
        self.put(Outgoing::Request(request, answer)).await?;
        Ok((id, answered))
    }

    /// Lets the transport close the connection of a call that continues.
    pub(crate) async fn release(&self, retry: Duration) -> Result<(), OutboxClosed> {
        self.put(Outgoing::Release(retry)).await
    }

    async fn put(&self, message: Outgoing) -> Result<(), OutboxClosed> {
        self.put_if(message, || true).await
    }

    async fn put_if(
        &self,
        message: Outgoing,
        is_due: impl FnOnce() -> bool + Send,
    ) -> Result<(), OutboxClosed> {
        let Some(shared) = &self.0 else {
            return Err(OutboxClosed);
        };
        // Only the reader closes the semaphore, by going away.
        let room = shared.room.acquire().await.map_err(|_| OutboxClosed)?;
        let mut queue = shared.queue.locked();
        if shared.room.is_closed() {
            return Err(OutboxClosed);
        }
        if is_due() {
            room.forget();
            queue.push_back(message);
            drop(queue);
            shared.reader.wake();
        }
        Ok(())
    }
}

impl OutboxReader {
    /// The next message. There is no end marker: the answer is the end, after which [`OutboxReader::try_recv`] returns
    /// earlier messages. Cancel-safe.
    pub async fn recv(&mut self) -> Outgoing {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// [`OutboxReader::recv`] for futures written by hand.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Outgoing> {
        if let Some(message) = self.try_recv() {
            return Poll::Ready(message);
        }
        self.0.reader.register(context.waker());
        // What came before the waker was in place.
        self.try_recv().map_or(Poll::Pending, Poll::Ready)
    }

    /// A message that is already in the queue.
    pub fn try_recv(&mut self) -> Option<Outgoing> {
        let message = self.0.queue.locked().pop_front()?;
        self.0.room.add_permits(1);
        Some(message)
    }
}

impl Drop for OutboxReader {
    fn drop(&mut self) {
        // Most calls have ended before, and no one is left who could send.
        if Arc::strong_count(&self.0) == 1 {
            return;
        }
        self.0.room.close();
        // Drops questions that were not read: their askers keep the queue alive, and would wait for an answer for ever.
        let unread = std::mem::take(&mut *self.0.queue.locked());
        drop(unread);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use serde_json::json;

    use super::*;

    fn numbered(number: usize) -> Notification {
        Notification::new("test", json!({ "number": number }))
    }

    fn number(said: Outgoing) -> Value {
        match said {
            Outgoing::Notification(said) => said.params["number"].clone(),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn what_was_sent_comes_in_order_and_a_full_outbox_waits_for_the_reader() {
        let (outbox, mut reader) = Outbox::channel();
        for number in 0..OUTBOX_CAPACITY {
            assert_eq!(outbox.send(numbered(number)).now_or_never(), Some(Ok(())));
        }
        let mut waiting = Box::pin(outbox.send(numbered(OUTBOX_CAPACITY)));
        assert_eq!(waiting.as_mut().now_or_never(), None);
        assert_eq!(number(reader.recv().await), 0);
        assert_eq!(waiting.now_or_never(), Some(Ok(())));
        for expected in 1..=OUTBOX_CAPACITY {
            let said = reader.try_recv().expect("is there");
            assert_eq!(number(said), expected);
        }
        assert!(reader.try_recv().is_none());
    }

    #[tokio::test]
    async fn a_reader_that_waits_is_woken() {
        let (outbox, mut reader) = Outbox::channel();
        let reading = tokio::spawn(async move { reader.recv().await });
        // Lets the reader run until it waits.
        tokio::task::yield_now().await;
        outbox.send(numbered(7)).await.expect("is read");
        assert_eq!(number(reading.await.expect("reads")), 7);
    }

    #[tokio::test]
    async fn without_a_reader_it_is_closed_for_those_who_wait_too() {
        let (outbox, reader) = Outbox::channel();
        for number in 0..OUTBOX_CAPACITY {
            outbox.send(numbered(number)).await.expect("has room");
        }
        let waiting = outbox.send(numbered(OUTBOX_CAPACITY));
        drop(reader);
        assert_eq!(waiting.await, Err(OutboxClosed));
        assert_eq!(Outbox::closed().send(numbered(0)).await, Err(OutboxClosed));
    }

    #[tokio::test]
    async fn a_question_that_nobody_has_read_is_not_waited_for_without_a_reader() {
        let (outbox, reader) = Outbox::channel();
        let (_id, answer) = outbox.ask("roots/list", Map::new()).await.expect("is read");
        drop(reader);
        assert!(matches!(answer.now_or_never(), Some(Err(_))));
    }
}
