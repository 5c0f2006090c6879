//! The stream of a connection. Bytes can be read ahead of hyper, which gets them when it asks.
//!
//! So a connection finds the version of HTTP, and sees a client that leaves: hyper looks for the end of what the client
//! sends while it writes an answer, but not behind bytes that it has not used yet.
//!
//! It also refuses a head that is too long, with a body for the client to show. hyper's own refusals have none, and no
//! hook for one: those of text that is not HTTP and of too many headers stay as they are.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, BytesMut};
use http::Version;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};

use super::handshake::Stream;
use crate::jsonrpc::{ErrorObject, Response};
use crate::locked::Locked as _;

/// How many bytes a connection buffers of what it reads, and of each answer that it writes: a head has no more. That is
/// as much as other servers take, and all connections may have it at once.
pub(super) const MAX_BUFFER: usize = 16 * 1024;

/// The first bytes that an HTTP/2 client sends (RFC 9113 §3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The most bytes that are read ahead. If a client sends more behind a request, its end is seen when hyper has used
/// them. An event stream may last for days, so the connection is closed instead: no client sends so much behind one.
const MAX_AHEAD: usize = 16 * 1024;

/// How many bytes are read at once.
const CHUNK: usize = 512;

/// The longest head of a request. hyper would refuse one more byte itself.
const MAX_HEAD: usize = MAX_BUFFER - 1;

/// How many bytes behind a head that is too long are read and dropped, and for how long.
const MAX_DISCARDED: usize = 256 * 1024;
const DISCARD_TIME: Duration = Duration::from_secs(1);

/// A stream for hyper. Clones are one stream.
#[derive(Clone)]
pub(super) struct AheadStream(Arc<Mutex<Shared>>);

struct Shared {
    stream: Stream,
    /// What was read and hyper has not asked for yet.
    ahead: BytesMut,
    /// hyper waits for bytes, so it will see the end itself.
    hyper_waits: bool,
    head: Head,
}

/// What hyper reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    /// The head of a request, of which it has been given so many bytes.
    Reading(usize),
    /// Anything else, and HTTP/2.
    Read,
    /// A head that was too long.
    TooLong,
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
        let ahead = first.filled().into();
        let shared = Shared { stream, ahead, hyper_waits: false, head: Head::Read };
        Ok((version, Self(Arc::new(Mutex::new(shared)))))
    }

    /// Nothing runs on the connection, so hyper reads a head. Bytes of it that hyper has already are not counted.
    pub(super) fn expect_head(&self) {
        let head = &mut self.0.locked().head;
        if *head == Head::Read {
            *head = Head::Reading(0);
        }
    }

    /// hyper has read a head.
    pub(super) fn head_read(&self) {
        self.0.locked().head = Head::Read;
    }

    /// Answers a head that was too long. Returns at once if that is not why hyper gave up.
    pub(super) async fn refuse_head(mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.0.locked().head, Head::Read) != Head::TooLong {
            return Ok(());
        }
        let problem = format!("the head of the request has more than {MAX_HEAD} bytes");
        let error = Response::error(None, ErrorObject::invalid_request(problem));
        let body = serde_json::to_string(&error)?;
        let answer = format!(
            "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.write_all(answer.as_bytes()).await?;
        self.shutdown().await?;
        // A client that is still writing when its connection is closed may never see the answer.
        let mut rest = [0; CHUNK];
        let read = async {
            for _ in 0..MAX_DISCARDED / CHUNK {
                if self.read(&mut rest).await.unwrap_or_default() == 0 {
                    break;
                }
            }
        };
        // The only failure is that the time has passed.
        let _ = tokio::time::timeout(DISCARD_TIME, read).await;
        Ok(())
    }

    /// Ready when the client has left and hyper does not look for that, or when it has sent too much behind a request
    /// whose answer `lasts`.
    pub(super) fn poll_left(&self, context: &mut Context<'_>, lasts: bool) -> Poll<()> {
        let Shared { stream, ahead, hyper_waits, .. } = &mut *self.0.locked();
        if *hyper_waits {
            return Poll::Pending;
        }
        while ahead.len() < MAX_AHEAD {
            let mut bytes = [0; CHUNK];
            let mut bytes = ReadBuf::new(&mut bytes);
            match ready!(Pin::new(&mut *stream).poll_read(context, &mut bytes)) {
                Ok(()) if !bytes.filled().is_empty() => ahead.extend_from_slice(bytes.filled()),
                Ok(()) | Err(_) => return Poll::Ready(()),
            }
        }
        if lasts { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Shared {
    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, ahead, hyper_waits, .. } = self;
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

impl AsyncRead for AheadStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let shared = &mut *self.0.locked();
        let Head::Reading(before) = shared.head else {
            return shared.poll_read(context, buffer);
        };
        let room = MAX_HEAD.saturating_sub(before);
        if room == 0 {
            shared.head = Head::TooLong;
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        let filled = buffer.filled().len();
        if buffer.remaining() <= room {
            ready!(shared.poll_read(context, buffer))?;
        } else {
            // Rare, since it sets the bytes to zero first: hyper has its larger buffer for a second piece.
            let mut piece = ReadBuf::new(buffer.initialize_unfilled_to(room));
            ready!(shared.poll_read(context, &mut piece))?;
            let read = piece.filled().len();
            buffer.advance(read);
        }
        shared.head = Head::Reading(before + buffer.filled().len() - filled);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for AheadStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.locked().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.locked().stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.locked().stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.locked().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.locked().stream).poll_shutdown(context)
    }
}
