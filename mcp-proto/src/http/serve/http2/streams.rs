//! The streams of HTTP/2 connections: one whose client gives it no window is ended by itself.
//!
//! hyper runs each stream as a task that asks the body for a frame and then waits until the client takes it. A stream
//! that waits too long is dropped, which resets it (RFC 9113 §8.1, `CANCEL`); the others of its connection continue.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::Executor;
use tokio::time::Sleep;

use crate::http::serve::lane::{Lane, LaneSeat};

tokio::task_local! {
    /// How far the body of the stream is that this task serves.
    static PROGRESS: Arc<Progress>;
}

/// How far the body of one stream is.
#[derive(Debug, Default)]
struct Progress {
    /// How many frames the body has given.
    frames: AtomicUsize,
    /// Whether the last frame was given and no further one was asked for: the client has not taken it yet.
    waits: AtomicBool,
}

/// Starts the streams of HTTP/2 connections.
#[derive(Debug, Clone)]
pub(in crate::http::serve) struct Streams {
    /// Where the streams of the client wait.
    pub(super) lane: Lane,
    /// How long a client may leave a stream unread.
    pub(super) write_timeout: Duration,
}

/// A stream that ends when its client leaves it unread for too long.
struct Stream<F> {
    seat: LaneSeat,
    work: Work<F>,
}

struct Work<F> {
    stream: Pin<Box<F>>,
    progress: Arc<Progress>,
    timeout: Duration,
    /// Runs while a frame waits for the client, and after how many frames it was started.
    timer: Option<(Pin<Box<Sleep>>, usize)>,
}

/// Notes what the body gave when it was asked for a frame: called by the body of a response.
pub(in crate::http::serve) fn note(has_frame: bool) {
    // Outside a stream (HTTP/1) there is nothing to record: the socket itself waits.
    let _ = PROGRESS.try_with(|progress| {
        progress.frames.fetch_add(usize::from(has_frame), Ordering::Relaxed);
        progress.waits.store(has_frame, Ordering::Relaxed);
    });
}

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, stream: F) {
        let progress = Arc::<Progress>::default();
        let work = Work {
            stream: Box::pin(stream),
            progress: Arc::clone(&progress),
            timeout: self.write_timeout,
            timer: None,
        };
        let seat = self.lane.seat();
        let stream = Stream { seat, work };
        tokio::spawn(PROGRESS.scope(progress, stream));
    }
}

impl<F: Future> Future for Stream<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Self { seat, work } = &mut *self;
        seat.poll(context, |context| work.poll(context))
    }
}

impl<F: Future> Work<F> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.stream.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        if !self.progress.waits.load(Ordering::Relaxed) {
            self.timer = None;
            return Poll::Pending;
        }
        let frames = self.progress.frames.load(Ordering::Relaxed);
        let timeout = self.timeout;
        let (timer, _) = match &mut self.timer {
            Some(timer) if timer.1 == frames => timer,
            timer => timer.insert((Box::pin(tokio::time::sleep(timeout)), frames)),
        };
        let over = timer.as_mut().poll(context);
        if over.is_ready() {
            tracing::debug!("a stream was reset: its client took nothing of it in time");
        }
        over
    }
}
