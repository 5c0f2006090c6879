//! A socket whose peer must be there and keep reading, and that yields to others.
//!
//! A peer that vanishes without an end, such as a laptop that sleeps, is found by the system: by TCP keep-alives while
//! nothing is sent, and by unacknowledged data (Linux).

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// How many bytes are read without a wait before other tasks go first. Reading and parsing this many takes some ten
/// microseconds. Otherwise a client that sends as fast as it can would be read for milliseconds.
const IN_A_ROW: usize = 128 * 1024;

/// How many keep-alives a peer may leave unanswered.
const PROBES: u32 = 3;

/// A connection that breaks when a write makes no progress for [too long](super::ServeConfig::write_timeout).
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    timeout: Duration,
    /// Runs while a write waits.
    timer: Option<Pin<Box<Sleep>>>,
    /// How many bytes were read without a wait.
    in_a_row: usize,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, timeout: Duration) -> Self {
        if let Err(error) = expect_signs_of_life(&stream, timeout) {
            tracing::debug!(%error, "a connection stays without TCP keep-alives or a user timeout");
        }
        Self { stream, timeout, timer: None, in_a_row: 0 }
    }

    fn in_time(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let timeout = self.timeout;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        timer
            .as_mut()
            .poll(context)
            .map(|()| Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read")))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.in_a_row >= IN_A_ROW {
            self.in_a_row = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.in_a_row =
            if read.is_ready() { self.in_a_row + buffer.filled().len() - before } else { 0 };
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Lets the system end the connection when nothing comes from the other machine for some `timeout`, in whole seconds.
fn expect_signs_of_life(stream: &TcpStream, timeout: Duration) -> io::Result<()> {
    let socket = SockRef::from(stream);
    let second = Duration::from_secs(1);
    let quiet = (timeout / 2).max(second);
    let keep_alive = TcpKeepalive::new().with_time(quiet);
    #[cfg(not(target_os = "openbsd"))]
    let keep_alive = keep_alive.with_interval((quiet / PROBES).max(second)).with_retries(PROBES);
    socket.set_tcp_keepalive(&keep_alive)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(timeout))?;
    Ok(())
}
