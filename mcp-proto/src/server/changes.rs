//! Changes of what the server offers: one broadcast, heard by every listener through its own filter.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, watch};

use crate::jsonrpc::Notification;

/// How many listeners may be open at once unless the builder says otherwise.
pub(super) const DEFAULT_MAX_LISTENERS: usize = 1_000;
/// How many changes a listener may lag behind; one that lags more is told that everything may have changed.
const MAX_LAG: usize = 256;

/// Something the server offers has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools.
    ToolsListChanged,
}

/// What a listener wants to hear of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Interest {
    pub(crate) tools_list: bool,
}

/// The broadcast of a server.
#[derive(Debug)]
pub(crate) struct Changes {
    sender: broadcast::Sender<Change>,
    closed: watch::Sender<bool>,
    permits: Arc<Semaphore>,
}

/// One listener's end. Dropping it frees its place.
#[derive(Debug)]
pub(crate) struct Listener {
    /// `None` for one who wants to hear of nothing: it needs no place, and nothing wakes it but the end.
    heard: Option<Heard>,
    closed: watch::Receiver<bool>,
    interest: Interest,
    pending: VecDeque<Notification>,
}

#[derive(Debug)]
struct Heard {
    receiver: broadcast::Receiver<Change>,
    _permit: OwnedSemaphorePermit,
}

impl Changes {
    pub(super) fn new(max_listeners: usize) -> Self {
        Self {
            sender: broadcast::channel(MAX_LAG).0,
            closed: watch::channel(false).0,
            permits: Arc::new(Semaphore::new(max_listeners.min(Semaphore::MAX_PERMITS))),
        }
    }

    pub(super) fn send(&self, change: Change) {
        // Fails only when nobody listens, which is fine.
        let _heard = self.sender.send(change);
    }

    pub(super) fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Starts to listen from now on; `None` when every place is taken. Who wants to hear of nothing takes none.
    pub(crate) fn listen(&self, interest: Interest) -> Option<Listener> {
        let heard = if interest == Interest::default() {
            None
        } else {
            Some(Heard {
                _permit: Arc::clone(&self.permits).try_acquire_owned().ok()?,
                receiver: self.sender.subscribe(),
            })
        };
        Some(Listener {
            heard,
            closed: self.closed.subscribe(),
            interest,
            pending: VecDeque::new(),
        })
    }
}

impl Listener {
    /// The next change as a notification; `None` once the server closes. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<Notification> {
        loop {
            if let Some(notification) = self.pending.pop_front() {
                return Some(notification);
            }
            let change = tokio::select! {
                biased;
                _ = self.closed.wait_for(|closed| *closed) => return None,
                change = hear(&mut self.heard) => change,
            };
            match change {
                Ok(change) => self.queue(&change),
                // It missed some and cannot know which: everything it asked for may have changed.
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    self.queue(&Change::ToolsListChanged)
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    fn queue(&mut self, change: &Change) {
        let method = match change {
            Change::ToolsListChanged if self.interest.tools_list => {
                "notifications/tools/list_changed"
            }
            Change::ToolsListChanged => return,
        };
        self.pending.push_back(Notification {
            method: method.to_owned(),
            params: Map::<String, Value>::new(),
        });
    }
}

async fn hear(heard: &mut Option<Heard>) -> Result<Change, broadcast::error::RecvError> {
    match heard {
        Some(heard) => heard.receiver.recv().await,
        None => std::future::pending().await,
    }
}
