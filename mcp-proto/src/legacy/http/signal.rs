//! A signal to one task.

use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;

/// A signal that any task may give, and that one task at a time waits for. The latest one to poll it is woken.
#[derive(Debug, Default)]
pub(super) struct Signal {
    given: AtomicBool,
    waiting: AtomicWaker,
}

impl Signal {
    /// A signal that is given already.
    pub(super) fn given() -> Self {
        Self { given: AtomicBool::new(true), waiting: AtomicWaker::new() }
    }

    pub(super) fn give(&self) {
        self.given.store(true, Ordering::Release);
        self.waiting.wake();
    }

    /// No task waits for it any more.
    pub(super) fn forget(&self) {
        drop(self.waiting.take());
    }

    /// Whether it is given.
    pub(super) fn is_given(&self) -> bool {
        self.given.load(Ordering::Acquire)
    }

    /// Ready once it is given, and from then on.
    pub(super) fn poll_given(&self, context: &Context<'_>) -> Poll<()> {
        // Before the check, so that a signal that is given after it wakes this task.
        self.waiting.register(context.waker());
        if self.is_given() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Ready once for all times that it was given since it was last ready.
    pub(super) fn poll_taken(&self, context: &Context<'_>) -> Poll<()> {
        self.waiting.register(context.waker());
        if self.given.swap(false, Ordering::AcqRel) { Poll::Ready(()) } else { Poll::Pending }
    }
}
