//! Stdin and stdout of this process.
//!
//! Clients usually start servers with pipes or Unix sockets. The runtime reads and writes these itself, since a thread
//! in between costs two thread switches for each message. They are non-blocking as long as [`Stdin`] and [`Stdout`]
//! exist.
//!
//! Anything else is read and written by one thread each. A blocked read or write cannot be cancelled. Tokio's own stdin
//! and stdout block threads of the runtime, and a runtime that is dropped waits for them. Nothing waits for the threads
//! of this module: they end with the process.

use std::io::{self, Read as _, Write as _};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{mpsc, oneshot};

#[cfg(unix)]
use super::descriptor::Descriptor;

/// The most bytes that are read or written at once.
const CHUNK: usize = 64 * 1024;

/// Stdin of this process; see [`stdin`].
#[derive(Debug)]
pub struct Stdin(Input);

/// Stdout of this process; see [`stdout`].
#[derive(Debug)]
pub struct Stdout(Output);

#[derive(Debug)]
enum Input {
    #[cfg(unix)]
    Direct(Descriptor),
    Thread(Reading),
}

#[derive(Debug)]
enum Output {
    #[cfg(unix)]
    Direct(Descriptor),
    Thread(Writing),
}

/// The input that a thread reads.
#[derive(Debug)]
struct Reading {
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    rest: Bytes,
}

/// The output that a thread writes.
#[derive(Debug)]
struct Writing {
    chunks: mpsc::UnboundedSender<(Vec<u8>, Written)>,
    /// The chunk that the thread is writing: never more than one.
    writing: Option<oneshot::Receiver<io::Result<()>>>,
}

/// Receives the outcome of writing a chunk.
type Written = oneshot::Sender<io::Result<()>>;

/// Stdin. Anything that is neither a pipe nor a Unix socket is read ahead by at most 192 KiB. Use only one [`Stdin`] at
/// a time: bytes that one has read ahead are lost to the next.
///
/// Within a runtime, a pipe or a Unix socket is made non-blocking until this is dropped, unless stderr is the same one.
/// The runtime needs its I/O driver, as for any socket.
pub fn stdin() -> Stdin {
    #[cfg(unix)]
    if let Some(direct) = Descriptor::reading(&io::stdin()) {
        return Stdin(Input::Direct(direct));
    }
    let (sender, chunks) = mpsc::channel(1);
    let unstarted = sender.clone();
    let reading = thread::Builder::new().name("stdin".to_owned());
    if let Err(error) = reading.spawn(move || read(&sender)) {
        // The first read reports the error.
        let _ = unstarted.try_send(Err(error));
    }
    Stdin(Input::Thread(Reading { chunks, rest: Bytes::new() }))
}

/// Stdout. A write completes when its bytes are handed over, a flush when everything is written. A pipe or a Unix
/// socket is made non-blocking as for [`stdin`].
pub fn stdout() -> Stdout {
    #[cfg(unix)]
    if let Some(direct) = Descriptor::writing(&io::stdout()) {
        return Stdout(Output::Direct(direct));
    }
    let (chunks, receiver) = mpsc::unbounded_channel();
    let writing = thread::Builder::new().name("stdout".to_owned());
    if let Err(error) = writing.spawn(move || write(receiver)) {
        // The first write then fails.
        tracing::error!(%error, "stdout has no thread");
    }
    Stdout(Output::Thread(Writing { chunks, writing: None }))
}

fn read(chunks: &mpsc::Sender<io::Result<Bytes>>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        let chunk = match io::stdin().lock().read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => Ok(Bytes::copy_from_slice(known_range::items(&buffer, ..read))),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_end = chunk.is_err();
        if chunks.blocking_send(chunk).is_err() || is_end {
            return;
        }
    }
}

fn write(mut chunks: mpsc::UnboundedReceiver<(Vec<u8>, Written)>) {
    while let Some((chunk, written)) = chunks.blocking_recv() {
        let mut stdout = io::stdout().lock();
        let outcome = stdout.write_all(&chunk).and_then(|()| stdout.flush());
        // The caller may no longer wait for it.
        drop(written.send(outcome));
    }
}

impl AsyncRead for Reading {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.rest.is_empty() {
            match ready!(self.chunks.poll_recv(context)) {
                None => return Poll::Ready(Ok(())),
                Some(chunk) => self.rest = chunk?,
            }
        }
        let read = self.rest.len().min(buffer.remaining());
        buffer.put_slice(&self.rest.split_to(read));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Writing {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.as_mut().poll_flush(context))?;
        let chunk = bytes.get(..CHUNK).unwrap_or(bytes);
        let (written, writing) = oneshot::channel();
        if self.chunks.send((chunk.to_vec(), written)).is_err() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        self.writing = Some(writing);
        Poll::Ready(Ok(chunk.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(writing) = &mut self.writing else {
            return Poll::Ready(Ok(()));
        };
        let written = ready!(Pin::new(writing).poll(context));
        self.writing = None;
        Poll::Ready(written.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.0 {
            #[cfg(unix)]
            Input::Direct(direct) => Pin::new(direct).poll_read(context, buffer),
            Input::Thread(reading) => Pin::new(reading).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stdout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            #[cfg(unix)]
            Output::Direct(direct) => Pin::new(direct).poll_write(context, bytes),
            Output::Thread(writing) => Pin::new(writing).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            #[cfg(unix)]
            Output::Direct(_) => Poll::Ready(Ok(())),
            Output::Thread(writing) => Pin::new(writing).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}
