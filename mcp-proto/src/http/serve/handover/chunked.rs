//! Writes a body to a connection in chunks (RFC 9112 §7.1), and sees its client leave.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use http_body::Body;
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};

use crate::http::serve::handshake::Stream;
use crate::http::serve::tracked::BodyError;

/// Up to how many bytes the data of a frame is copied, so that frames that are there together are one write. Larger
/// data is written from where it is.
const COPIED: usize = 2 * 1024;

/// How many bytes of copied frames are gathered for one write.
const GATHERED: usize = 8 * 1024;

/// The most bytes of the line with the size of a chunk.
const SIZE_LINE: usize = 16 + 2;

/// The rest of a connection: its last body, whose head was written.
pub(in crate::http::serve) struct Chunked<B> {
    connection: Stream,
    body: B,
    /// Copied frames and the sizes of all. It is empty while there is nothing to write.
    gathered: Vec<u8>,
    /// How much of them was written.
    written: usize,
    /// Large data, which comes after them.
    large: Bytes,
    /// The end of the chunk with the large data.
    end: &'static [u8],
    /// The body has no more frames.
    has_ended: bool,
    /// Whether it is watched for the client leaving: the client has sent nothing since its request.
    watches: bool,
}

impl<B> Chunked<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyError>,
{
    /// Writes the body, and then ends the connection.
    pub(in crate::http::serve) fn new(connection: Stream, body: B) -> Self {
        Self {
            connection,
            body,
            gathered: Vec::new(),
            written: 0,
            large: Bytes::new(),
            end: b"",
            has_ended: false,
            watches: true,
        }
    }

    /// Ready when the client has left.
    fn poll_left(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut bytes = [0; 1];
        let mut buffer = ReadBuf::new(&mut bytes);
        while self.watches {
            ready!(Pin::new(&mut self.connection).poll_read(context, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            // A request behind this one gets no answer, as the head said. Where it ends is not looked for.
            self.watches = false;
        }
        Poll::Pending
    }

    /// Takes the frames that are there. `Pending` if the body has no more for now, whether any was taken or not.
    fn poll_gather(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Nothing is gathered before the end of a large chunk, which would be written behind it.
        while self.gathered.len() < GATHERED && self.end.is_empty() && !self.has_ended {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => {
                    // Trailers of an endless body do not come.
                    if let Ok(data) = frame.into_data() {
                        self.add(data);
                    }
                }
                Some(Err(error)) => return Poll::Ready(Err(io::Error::other(error))),
                None => {
                    self.gathered.extend_from_slice(b"0\r\n\r\n");
                    self.has_ended = true;
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    fn add(&mut self, data: Bytes) {
        // A chunk without data would be the last one.
        if data.is_empty() {
            return;
        }
        let copied = if data.len() > COPIED { 0 } else { data.len() + 2 };
        self.gathered.reserve(SIZE_LINE + copied);
        // Formatting it would be a twentieth of what a short event costs.
        let digits = (usize::BITS - data.len().leading_zeros()).div_ceil(4);
        let digits = (0..digits).rev().filter_map(|at| {
            let digit = data.len() >> (4 * at) & 15;
            char::from_digit(digit as u32, 16)
        });
        self.gathered.extend(digits.map(|digit| digit as u8));
        self.gathered.extend_from_slice(b"\r\n");
        if copied == 0 {
            (self.large, self.end) = (data, b"\r\n");
        } else {
            self.gathered.extend_from_slice(&data);
            self.gathered.extend_from_slice(b"\r\n");
        }
    }

    /// Writes what was taken.
    fn poll_written(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let gathered = self.gathered.get(self.written..).unwrap_or_default();
            if gathered.is_empty() && self.large.is_empty() && self.end.is_empty() {
                // An idle stream keeps no buffer.
                (self.gathered, self.written) = (Vec::new(), 0);
                return Pin::new(&mut self.connection).poll_flush(context);
            }
            let slices = [gathered, &self.large, self.end].map(IoSlice::new);
            let connection = Pin::new(&mut self.connection);
            let written = ready!(connection.poll_write_vectored(context, &slices))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.advance(written);
        }
    }

    fn advance(&mut self, written: usize) {
        let rest = self.gathered.len() - self.written;
        self.written += written.min(rest);
        let written = written.saturating_sub(rest);
        let rest = self.large.len();
        self.large.advance(written.min(rest));
        if self.large.is_empty() {
            // An empty rest would keep all of the data in memory.
            self.large = Bytes::new();
        }
        let written = written.saturating_sub(rest);
        self.end = self.end.get(written..).unwrap_or_default();
    }
}

impl<B> Future for Chunked<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyError>,
{
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Poll::Ready(left) = self.poll_left(context) {
            return Poll::Ready(left);
        }
        loop {
            let has_all = self.poll_gather(context)?.is_pending();
            ready!(self.poll_written(context))?;
            if self.has_ended {
                return Pin::new(&mut self.connection).poll_shutdown(context);
            }
            if has_all {
                return Poll::Pending;
            }
        }
    }
}
