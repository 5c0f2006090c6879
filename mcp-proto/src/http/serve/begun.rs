//! A stream whose first bytes were read to see which version of HTTP its client speaks.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::Version;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::handover::Head;
use super::handshake::Stream;

/// The first bytes that an HTTP/2 client sends (RFC 9113 §3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream that gives its first bytes again.
pub(super) struct Begun {
    stream: Stream,
    first: [u8; PREFACE.len()],
    /// The number of first bytes.
    filled: usize,
    /// How many of them were returned.
    given: usize,
    /// It is notified when hyper has written all that it had.
    head: Arc<Head>,
}

impl Begun {
    /// The head of the response that leaves hyper.
    pub(super) fn head(&self) -> &Arc<Head> {
        &self.head
    }

    /// The stream alone, whose first bytes were returned.
    pub(super) fn into_stream(self) -> Stream {
        self.stream
    }

    /// Reads until the version is known.
    ///
    /// # Errors
    /// Errors of the stream. The end of the stream is not an error here, because HTTP detects it again.
    pub(super) async fn read(stream: Stream) -> io::Result<(Version, Self)> {
        let mut begun =
            Self { stream, first: [0; PREFACE.len()], filled: 0, given: 0, head: Arc::default() };
        let version = poll_fn(|context| begun.poll_version(context)).await?;
        Ok((version, begun))
    }

    fn poll_version(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Version>> {
        loop {
            let mut buffer = ReadBuf::new(&mut self.first);
            buffer.set_filled(self.filled);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer))?;
            let filled = buffer.filled();
            let is_preface = PREFACE.starts_with(filled) && filled.len() > self.filled;
            self.filled = filled.len();
            if !is_preface {
                return Poll::Ready(Ok(Version::HTTP_11));
            }
            if self.filled == PREFACE.len() {
                return Poll::Ready(Ok(Version::HTTP_2));
            }
        }
    }
}

impl AsyncRead for Begun {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.given == self.filled {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let first = self.first.get(self.given..self.filled).unwrap_or_default();
        let now = first.get(..buffer.remaining()).unwrap_or(first);
        buffer.put_slice(now);
        self.given += now.len();
        if self.given < self.filled || buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        // The bytes after them are read too, since hyper doubles its buffer for a second piece.
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Ready(read) => Poll::Ready(read),
            Poll::Pending => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for Begun {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.head.flushed();
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
