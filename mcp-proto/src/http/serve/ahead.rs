//! The stream of a connection. Bytes can be read ahead of hyper, which gets them when it asks.
//!
//! So a connection finds the version of HTTP, and sees a client that leaves: hyper looks for the end of what the client
//! sends while it writes an answer, but not behind bytes that it has not used yet.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, BufMut as _, BytesMut};
use http::Version;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::handshake::Stream;

/// The first bytes that an HTTP/2 client sends (RFC 9113 §3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The most bytes that are read ahead. An end behind more of them is seen when hyper has used them.
const MAX_AHEAD: usize = 512;

/// A stream for hyper. Clones are one stream.
#[derive(Clone)]
pub(super) struct AheadStream(Arc<Mutex<Shared>>);

struct Shared {
    stream: Stream,
    /// What was read and hyper has not asked for yet.
    ahead: BytesMut,
    /// hyper waits for bytes, so it will see the end itself.
    hyper_waits: bool,
}

impl AheadStream {
    /// Reads until the version is known that the client speaks.
    ///
    /// # Errors
    /// Errors of the stream. The end of the stream is not an error here, because HTTP detects it again.
    pub(super) async fn read(mut stream: Stream) -> io::Result<(Version, Self)> {
        let mut first = [0; PREFACE.len()];
        let mut first = ReadBuf::new(&mut first);
        let version = loop {
            let before = first.filled().len();
            poll_fn(|context| Pin::new(&mut stream).poll_read(context, &mut first)).await?;
            let filled = first.filled();
            if filled.len() == before || !PREFACE.starts_with(filled) {
                break Version::HTTP_11;
            }
            if first.remaining() == 0 {
                break Version::HTTP_2;
            }
        };
        let shared = Shared { stream, ahead: first.filled().into(), hyper_waits: false };
        Ok((version, Self(Arc::new(Mutex::new(shared)))))
    }

    /// Ready when the client has left and hyper does not look for that.
    pub(super) fn poll_left(&self, context: &mut Context<'_>) -> Poll<()> {
        let Shared { stream, ahead, hyper_waits } = &mut *self.shared();
        while !*hyper_waits && ahead.len() < MAX_AHEAD {
            let mut bytes = [0; MAX_AHEAD];
            let mut bytes = ReadBuf::new(&mut bytes);
            let mut bytes = bytes.take(MAX_AHEAD - ahead.len());
            match ready!(Pin::new(&mut *stream).poll_read(context, &mut bytes)) {
                Ok(()) if !bytes.filled().is_empty() => ahead.extend_from_slice(bytes.filled()),
                Ok(()) | Err(_) => return Poll::Ready(()),
            }
        }
        Poll::Pending
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // Never contended: all of a connection is one task.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncRead for AheadStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Shared { stream, ahead, hyper_waits } = &mut *self.shared();
        if ahead.is_empty() {
            let read = Pin::new(stream).poll_read(context, buffer);
            *hyper_waits = read.is_pending();
            return read;
        }
        let now = ahead.len().min(buffer.remaining());
        buffer.put(ahead.take(now));
        *hyper_waits = false;
        if !ahead.is_empty() {
            return Poll::Ready(Ok(()));
        }
        *ahead = BytesMut::new();
        // The bytes after them are read too, since hyper doubles its buffer for a second piece.
        match Pin::new(stream).poll_read(context, buffer) {
            Poll::Ready(read) => Poll::Ready(read),
            Poll::Pending => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for AheadStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.shared().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.shared().stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.shared().stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.shared().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.shared().stream).poll_shutdown(context)
    }
}
