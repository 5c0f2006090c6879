//! Messages that the server sends without a request, and their receivers.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use mcp_proto::jsonrpc::Notification;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

use super::ClientError;
use super::cache::Cache;
use super::clock::Clock;
use super::lists::Listed;
use crate::locked::Locked as _;

/// How many notifications wait for a receiver of [`Client::notifications`](super::Client::notifications); one that lags
/// more loses the oldest and receives their number.
pub const NOTIFICATIONS: usize = 256;

/// Where all notifications of a connection go.
#[derive(Debug)]
pub(super) struct NotificationHub {
    sender: broadcast::Sender<Notification>,
    pub(super) cache: Cache,
    /// What tools were listed with.
    pub(super) listed: Listed,
    /// How long people have been asked.
    pub(super) clock: Clock,
    gaps: watch::Sender<Gaps>,
    /// A stream for messages that belong to no request is open, or may still be opened.
    has_stream: AtomicBool,
}

/// Notifications that were missed.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// How often something may have been missed.
    pub(super) missed: u64,
    /// Why no more notifications will arrive.
    pub(super) over: Option<ClientError>,
}

/// What belongs to one request alone.
#[derive(Clone, Default)]
pub(super) struct Own {
    /// How long people have been asked for it.
    pub(super) clock: Clock,
    receive: Option<Arc<Receive>>,
}

type Receive = dyn Fn(&Notification) + Send + Sync;

/// A task that ends with its owner.
#[derive(Debug, Default)]
pub(super) struct Owned(Mutex<Option<JoinHandle<()>>>);

impl NotificationHub {
    pub(super) fn new(cache_bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            sender: broadcast::channel(NOTIFICATIONS).0,
            cache: Cache::new(cache_bytes),
            listed: Listed::default(),
            clock: Clock::default(),
            gaps: watch::Sender::default(),
            has_stream: AtomicBool::new(false),
        })
    }

    /// Passes a notification to all receivers. Cached answers that it makes stale are dropped first.
    pub(super) fn publish(&self, notification: Notification) {
        self.cache.invalidate(&notification);
        if notification.method == "notifications/tools/list_changed" {
            self.listed.clear();
        }
        // Fails only without receivers.
        let _ = self.sender.send(notification);
    }

    /// Notifications may have been missed, so everything cached may be out of date.
    pub(super) fn missed(&self) {
        self.cache.clear();
        self.listed.clear();
        self.gaps.send_modify(|gaps| gaps.missed += 1);
    }

    /// The connection is over; returns whether it was not before. The first reason stands.
    pub(super) fn over(&self, reason: ClientError) -> bool {
        self.gaps.send_if_modified(|gaps| {
            let is_first = gaps.over.is_none();
            gaps.over.get_or_insert(reason);
            is_first
        })
    }

    /// Why the connection is over, if it is.
    pub(super) fn over_for(&self) -> Option<ClientError> {
        self.gaps.borrow().over.clone()
    }

    /// Waits until the connection is over, and says why.
    pub(super) async fn ended(&self) -> ClientError {
        let mut gaps = self.gaps();
        let ended = gaps.wait_for(|gaps| gaps.over.is_some()).await;
        ended.ok().and_then(|gaps| gaps.over.clone()).unwrap_or(ClientError::Closed)
    }

    pub(super) fn has_stream(&self) -> bool {
        self.has_stream.load(Ordering::Relaxed)
    }

    pub(super) fn set_stream(&self, is_there: bool) {
        self.has_stream.store(is_there, Ordering::Relaxed);
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Notification> {
        self.sender.subscribe()
    }

    pub(super) fn gaps(&self) -> watch::Receiver<Gaps> {
        self.gaps.subscribe()
    }
}

impl Own {
    pub(super) fn new(
        clock: Clock,
        receive: impl Fn(&Notification) + Send + Sync + 'static,
    ) -> Self {
        Self { clock, receive: Some(Arc::new(receive)) }
    }

    pub(super) fn receive(&self, notification: &Notification) {
        if let Some(receive) = &self.receive {
            receive(notification);
        }
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Own")
    }
}

impl Owned {
    /// Takes a task over; one that was there before ends.
    pub(super) fn own(&self, task: JoinHandle<()>) {
        let before = self.0.locked().replace(task);
        if let Some(before) = before {
            before.abort();
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.0.locked().as_ref().is_some_and(|task| !task.is_finished())
    }

    /// Ends the task.
    pub(super) fn end(&self) {
        if let Some(task) = self.0.locked().take() {
            task.abort();
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.end();
    }
}
