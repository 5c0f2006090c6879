//! The reading end of a stream, as the body of a response.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream;

use super::alone;
use super::stream::{Stream, StreamRead};
use crate::http::body::ResponseBody;
use crate::legacy::http::refusal::Refusal;

/// The reading end of a stream. Dropping it leaves the stream.
#[derive(Debug)]
pub(in crate::legacy::http) struct Reader {
    stream: Arc<Stream>,
    key: u64,
    /// Written before the first event.
    opening: Option<Bytes>,
}

impl Reader {
    /// A reader of everything after the event of this number that is still kept. It replaces any other reader.
    pub(in crate::legacy::http) fn resume(
        stream: Arc<Stream>,
        after: u64,
    ) -> Result<Self, Refusal> {
        let key = stream.resume(after)?;
        Ok(Self::new(stream, key))
    }

    /// A reader of the events that no reader has received yet, if no connection reads now.
    pub(in crate::legacy::http) fn take_up(stream: Arc<Stream>) -> Result<Self, Refusal> {
        let key = stream.take_up()?;
        Ok(Self::new(stream, key))
    }

    fn new(stream: Arc<Stream>, key: u64) -> Self {
        Self {
            stream,
            key,
            opening: None,
        }
    }

    /// This future writes the stream. When the reader is dropped, a task runs the future until another reader comes.
    pub(in crate::legacy::http) fn speak_by(&self, work: BoxFuture<'static, ()>) {
        self.stream.speak_by(work);
    }

    /// Writes this before the first event.
    pub(in crate::legacy::http) fn opened_by(mut self, opening: Option<Bytes>) -> Self {
        self.opening = opening;
        self
    }

    /// The body that reads it.
    pub(in crate::legacy::http) fn into_body(self) -> ResponseBody {
        ResponseBody::events(stream::unfold(self, |mut reader| async move {
            let event = reader.next().await?;
            Some((event, reader))
        }))
    }

    /// The next event, or a comment if there was none for a long time; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(opening) = self.opening.take() {
            return Some(opening);
        }
        loop {
            // Most often there is one.
            if let StreamRead::Event(event) = self.stream.find(self.key) {
                return Some(event);
            }
            let mut news = pin!(self.stream.said());
            // Before the check, so that later events wake this task.
            news.as_mut().enable();
            match self.stream.find(self.key) {
                StreamRead::Event(event) => return Some(event),
                StreamRead::End => return None,
                StreamRead::Nothing => {}
            }
            let found = poll_fn(|context| {
                if self.stream.speak(Some(self.key), context).is_ready() {
                    return Poll::Ready(StreamRead::Nothing);
                }
                // An event that is written now is read at once.
                match self.stream.find(self.key) {
                    StreamRead::Nothing => {
                        let news = news.as_mut().poll(context);
                        news.map(|()| StreamRead::Nothing)
                    }
                    found => Poll::Ready(found),
                }
            });
            match found.await {
                StreamRead::Event(event) => return Some(event),
                StreamRead::End => return None,
                StreamRead::Nothing => {}
            }
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.stream.left(self.key) {
            alone::go_on(&self.stream);
        }
    }
}
