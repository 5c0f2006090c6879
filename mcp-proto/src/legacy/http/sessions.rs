//! The endpoint's access to the session store: in bounded time, and at intervals for sessions in use.
//!
//! The use of a session is written once in 15 seconds, and otherwise only read: a write for each request would be a
//! commit for each `ping`.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, Fuse};
use tokio::time::{Instant, timeout};

use super::refusal::Refusal;
use crate::legacy::session::{Session, SessionChange, SessionId, SessionStore, SessionStoreError};

/// A store whose every answer has a time limit. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Sessions {
    store: Arc<dyn SessionStore>,
    timeout: Duration,
}

/// Keeps a session from expiring while one of its calls or streams is active, and notices when it ended elsewhere: in
/// another process over the same store, by eviction or by age.
pub(super) struct Lease {
    sessions: Sessions,
    id: SessionId,
    /// The store is asked no more often than this, and never twice at once.
    interval: Duration,
    touched: Instant,
    /// A request to the store that is in progress. The call or stream polls it, so it is dropped with that.
    asking: Option<BoxFuture<'static, Loaded>>,
}

/// The store's answer about a session: `None` if it does not exist any more. That the store failed does not mean that
/// the session has ended.
pub(super) type Loaded = Result<Option<Arc<Session>>, Refusal>;

impl Sessions {
    pub(super) fn new(store: Arc<dyn SessionStore>, timeout: Duration) -> Self {
        Self { store, timeout }
    }

    pub(super) async fn insert(&self, session: Session) -> Result<(), Refusal> {
        self.ask(self.store.insert(session)).await
    }

    pub(super) async fn load(&self, id: &SessionId) -> Loaded {
        match self.store.load_now(id) {
            Some(found) => Ok(found),
            None => self.ask(self.store.load(id)).await,
        }
    }

    pub(super) async fn change(&self, id: &SessionId, change: &SessionChange) -> Loaded {
        self.ask(self.store.change(id, change)).await
    }

    pub(super) async fn remove(&self, id: &SessionId) -> Result<bool, Refusal> {
        self.ask(self.store.remove(id)).await
    }

    /// Whether changes may have passed the session by before this process had it. True once.
    pub(super) fn take_missed(&self, id: &SessionId) -> bool {
        self.store.take_missed(id)
    }

    /// Yields whenever another process may have changed or ended a session.
    pub(super) fn hints(&self, id: &SessionId) -> Fuse<BoxStream<'static, ()>> {
        self.store.hints(id).fuse()
    }

    pub(super) fn lease(&self, id: &SessionId, interval: Duration) -> Lease {
        Lease {
            sessions: self.clone(),
            id: id.clone(),
            interval,
            touched: Instant::now(),
            asking: None,
        }
    }

    async fn ask<T>(
        &self,
        question: BoxFuture<'_, Result<T, SessionStoreError>>,
    ) -> Result<T, Refusal> {
        match timeout(self.timeout, question).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(SessionStoreError::Full { is_share, max })) => {
                Err(Refusal::TooManySessions { is_share, max })
            }
            Ok(Err(error)) => {
                tracing::error!(%error, "the session store failed");
                Err(Refusal::StoreUnavailable)
            }
            Err(_elapsed) => {
                tracing::error!(timeout = ?self.timeout, "the session store did not answer in time");
                Err(Refusal::StoreUnavailable)
            }
        }
    }
}

impl Lease {
    /// Counts as a use of the session. Called whenever a message was sent or the keep-alive is due.
    pub(super) fn touch(&mut self, now: Instant) {
        if self.asking.is_some() || now.duration_since(self.touched) < self.interval {
            return;
        }
        self.ask(now);
    }

    /// Asks the store again, whether or not a request is in progress.
    pub(super) fn ask(&mut self, now: Instant) {
        self.touched = now;
        let (sessions, id) = (self.sessions.clone(), self.id.clone());
        self.asking = Some(Box::pin(async move { sessions.load(&id).await }));
    }

    /// Whether a request to the store is in progress.
    pub(super) fn is_asking(&self) -> bool {
        self.asking.is_some()
    }

    /// Lets the session expire. A request in progress is dropped.
    pub(super) fn rest(&mut self) {
        self.asking = None;
    }

    /// Ready whenever the store has answered; never unless it was asked.
    pub(super) fn poll_state(&mut self, context: &mut Context<'_>) -> Poll<Loaded> {
        let Some(asking) = &mut self.asking else {
            return Poll::Pending;
        };
        let state = std::task::ready!(asking.as_mut().poll(context));
        self.asking = None;
        Poll::Ready(state)
    }

    /// Ready once the store has reported that the session does not exist any more.
    pub(super) fn poll_ended(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self.poll_state(context) {
            Poll::Ready(Ok(None)) => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}
