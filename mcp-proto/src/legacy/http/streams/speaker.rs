//! The future that writes a standalone stream. The connection that reads the stream runs it, so that an event wakes one
//! task and not two. While there is no connection, a separate task runs it.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use tokio::runtime::Handle;

/// Writes to a stream until it is done.
pub(super) struct Speaker {
    /// `None` when it is done.
    work: Mutex<Option<BoxFuture<'static, ()>>>,
    /// The runtime that runs it without a connection, since a body may be dropped outside of one.
    runtime: Handle,
}

impl Speaker {
    pub(super) fn new(work: BoxFuture<'static, ()>) -> Self {
        Self {
            work: Mutex::new(Some(work)),
            runtime: Handle::current(),
        }
    }

    /// Runs it if `is_turn` returns true; ready when it is done. `is_turn` is checked while no other task can run it,
    /// so the task whose turn it is runs it next and is woken.
    pub(super) fn poll(
        &self,
        context: &mut Context<'_>,
        is_turn: impl FnOnce() -> bool,
    ) -> Poll<()> {
        // A future that panicked is dropped and not run again.
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_turn() {
            return Poll::Pending;
        }
        let Some(mut running) = work.take() else {
            return Poll::Ready(());
        };
        if running.as_mut().poll(context).is_pending() {
            *work = Some(running);
            return Poll::Pending;
        }
        drop(work);
        Poll::Ready(())
    }

    /// The runtime that runs it without a connection.
    pub(super) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Ends it: it writes nothing more.
    pub(super) fn end(&self) {
        let work = self
            .work
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(work);
    }
}

impl fmt::Debug for Speaker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Speaker").finish_non_exhaustive()
    }
}
