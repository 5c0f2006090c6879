//! The body of a response on a connection. It reports its end, and in HTTP/2 it passes its stream small chunks.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::http2::streams;
use super::table::RunningRequest;
use crate::http::peer::Peer;

/// How much of a body an HTTP/2 stream is given at once: what it was given cannot be taken back.
const CHUNK: usize = 16 * 1024;

/// A body, and the values that are dropped with it.
pub(super) struct Tracked<B> {
    body: B,
    stream: Option<Stream>,
    _running: RunningRequest,
}

/// The additional state of an HTTP/2 body.
struct Stream {
    /// The client that the answer is for.
    peer: Peer,
    /// The rest of a frame that is passed on in chunks.
    rest: Bytes,
}

impl<B> Tracked<B> {
    /// A body in HTTP/1.
    pub(super) fn whole(body: B, running: RunningRequest) -> Self {
        Self { body, stream: None, _running: running }
    }

    /// A body in HTTP/2, of the answer to a client.
    pub(super) fn in_chunks(body: B, running: RunningRequest, peer: Peer) -> Self {
        let rest = Bytes::new();
        Self { body, stream: Some(Stream { peer, rest }), _running: running }
    }
}

impl Stream {
    /// The first chunk of the rest.
    fn chunk(&mut self) -> Result<Bytes, BodyError> {
        if self.rest.len() > CHUNK {
            // A part of a large text, which counts as a whole.
            return Ok(self.rest.split_to(CHUNK));
        }
        let last = std::mem::take(&mut self.rest);
        // It may wait in the stream when the body is gone. Then it must not keep the large text that it belonged to,
        // and it must be counted for a client.
        let last = Bytes::copy_from_slice(&last);
        match self.peer.client() {
            Some(client) => Ok(client.keep(last)?),
            None => Ok(last),
        }
    }
}

pub(super) type BodyError = Box<dyn Error + Send + Sync>;

impl<B> Body for Tracked<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyError>,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Self { body, stream, .. } = &mut *self;
        let Some(stream) = stream else {
            let frame = Pin::new(body).poll_frame(context);
            return frame.map(|frame| frame.map(|frame| frame.map_err(Into::into)));
        };
        if stream.rest.is_empty() {
            let frame = Pin::new(body).poll_frame(context);
            streams::note(matches!(frame, Poll::Ready(Some(_))));
            match frame {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) if data.is_empty() => {}
                    Ok(data) => stream.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error.into()))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        } else {
            streams::note(true);
        }
        Poll::Ready(Some(stream.chunk().map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        let has_rest = self.stream.as_ref().is_some_and(|stream| !stream.rest.is_empty());
        !has_rest && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.stream.as_ref().map_or(0, |stream| stream.rest.len() as u64);
        let hint = self.body.size_hint();
        let mut whole = SizeHint::new();
        whole.set_lower(hint.lower() + rest);
        if let Some(upper) = hint.upper() {
            whole.set_upper(upper + rest);
        }
        whole
    }
}
