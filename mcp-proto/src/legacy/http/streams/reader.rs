//! The end of a stream that a connection reads, as the body of a response.

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;

use super::stream::{Found, Stream};
use crate::http::body::ResponseBody;

/// The end of a stream that a connection reads. Dropping it leaves the stream.
#[derive(Debug)]
pub(in crate::legacy::http) struct Reader {
    stream: Arc<Stream>,
    key: u64,
    /// Written before the first event.
    opening: Option<Bytes>,
}

impl Reader {
    pub(super) fn new(stream: Arc<Stream>, key: u64) -> Self {
        Self {
            stream,
            key,
            opening: None,
        }
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

    /// The next event, or a comment where there was none for long; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(opening) = self.opening.take() {
            return Some(opening);
        }
        loop {
            let mut news = pin!(self.stream.news());
            // Before the look, so that what comes after it wakes.
            news.as_mut().enable();
            match self.stream.find(self.key) {
                Found::Event(event) => return Some(event),
                Found::End => return None,
                Found::Nothing => {}
            }
            news.await;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stream.left(self.key);
    }
}
