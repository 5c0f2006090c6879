//! Taking an input apart: lines, and pieces as a stream may bring them.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The first byte, or zero, and the rest.
pub(super) fn first(data: &[u8]) -> (u8, &[u8]) {
    data.split_first().map_or((0, data), |(first, rest)| (*first, rest))
}

/// The first line without its end, and what is behind it.
pub(super) fn line(data: &[u8]) -> (&[u8], &[u8]) {
    let end = data.iter().position(|&byte| byte == b'\n');
    end.map_or((data, &[]), |end| (&data[..end], &data[end + 1..]))
}

/// Cuts bytes into pieces of 1 to `how` bytes, none for no bytes. The same `how` always cuts alike.
pub(super) fn cut(how: u8, mut bytes: &[u8]) -> VecDeque<&[u8]> {
    let mut pieces = VecDeque::new();
    let mut state = u32::from(how) + 1;
    while !bytes.is_empty() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let most = u32::from(how).max(1);
        let size = 1 + (state >> 16) as usize % most as usize;
        let (piece, rest) = bytes.split_at(size.min(bytes.len()));
        pieces.push_back(piece);
        bytes = rest;
    }
    pieces
}

/// Runs a future whose time passes whenever it waits.
pub(super) fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(future)
}

/// Runs a future that has to end within that time.
pub(super) fn run_within<F: Future>(limit: Duration, future: F) -> F::Output {
    run(async {
        let ended = tokio::time::timeout(limit, future).await;
        ended.expect("it ends in time")
    })
}

/// Pieces as a body or as the input of a connection; before each that is followed by others, there is a wait.
#[derive(Debug)]
pub(super) struct Stream<'d> {
    pieces: VecDeque<&'d [u8]>,
    waited: bool,
}

impl<'d> Stream<'d> {
    pub(super) fn new(pieces: VecDeque<&'d [u8]>) -> Self {
        Self { pieces, waited: false }
    }

    fn next(&mut self, context: &mut Context<'_>) -> Poll<Option<&'d [u8]>> {
        self.waited = !self.waited && self.pieces.len() > 1;
        if self.waited {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.pieces.pop_front())
    }
}

impl Body for Stream<'_> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.next(context);
        piece.map(|piece| piece.map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece)))))
    }
}

impl AsyncRead for Stream<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let piece = self.next(context);
        piece.map(|piece| {
            // A piece has at most 255 bytes; whoever reads has more room.
            buffer.put_slice(piece.unwrap_or_default());
            Ok(())
        })
    }
}

/// A writer that takes a few bytes at a time.
#[derive(Debug)]
pub(super) struct Sink {
    pub(super) written: Vec<u8>,
    most: usize,
    waited: bool,
}

impl Sink {
    pub(super) fn new(most: u8) -> Self {
        Self { written: Vec::new(), most: usize::from(most) * 8 + 1, waited: false }
    }
}

impl AsyncWrite for Sink {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.waited = !self.waited;
        if self.waited {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let taken = bytes.len().min(self.most);
        self.written.extend_from_slice(&bytes[..taken]);
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
