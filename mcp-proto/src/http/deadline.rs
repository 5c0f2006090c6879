//! A time limit that costs nothing where there is nothing to wait for: the clock starts with the first wait.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::time::Sleep;

/// How long one or several waits may take together.
#[derive(Debug)]
pub(crate) struct Deadline {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, timer: None }
    }

    /// What the future gives; `None` when the time is over first.
    pub(crate) async fn run<F: Future>(&mut self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Some(output));
            }
            let limit = self.limit;
            let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
            timer.as_mut().poll(context).map(|()| None)
        })
        .await
    }
}
