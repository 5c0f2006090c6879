//! The reading end of a stream, as the body of a response.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::stream;

use super::stream::Stream;
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
    /// A reader of everything after the event of this number that is still kept. Another reader is put
    /// aside, or replaced if it reads calls.
    pub(in crate::legacy::http) fn resume(
        stream: Arc<Stream>,
        after: u64,
    ) -> Result<Self, Refusal> {
        let key = stream.resume(after)?;
        Ok(Self::new(stream, key))
    }

    /// A reader of the events that no reader has received yet. Another reader is put aside.
    pub(in crate::legacy::http) fn take_up(stream: Arc<Stream>) -> Result<Self, Refusal> {
        let key = stream.take_up()?;
        Ok(Self::new(stream, key))
    }

    fn new(stream: Arc<Stream>, key: u64) -> Self {
        Self { stream, key, opening: None }
    }

    /// Writes this before the first event.
    pub(in crate::legacy::http) fn opened_by(mut self, opening: Option<Bytes>) -> Self {
        self.opening = opening;
        self
    }

    /// The body that reads it.
    pub(in crate::legacy::http) fn into_body(self) -> ResponseBody {
        let mut reader = Some(self);
        ResponseBody::events(stream::poll_fn(move |context| {
            let event = match &mut reader {
                Some(reader) => ready!(reader.poll_next(context)),
                None => None,
            };
            if event.is_none() {
                // It leaves the stream at its end, even if the response is kept.
                reader = None;
            }
            Poll::Ready(event)
        }))
    }

    /// The next event, or a comment if there was none for a long time; `None` at the end.
    fn poll_next(&mut self, context: &Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(opening) = self.opening.take() {
            return Poll::Ready(Some(opening));
        }
        self.stream.poll_next(self.key, context)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stream.left(self.key);
    }
}
