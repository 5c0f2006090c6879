//! Changes of what the server offers: one broadcast, which every listener receives through its own filter.
//!
//! A listener that lags is notified that everything may have changed, and what waited for it is dropped: to send it
//! what is left over would only make it lag again.

mod shared;

use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, watch};

use crate::change::{Change, ResourceUpdate};
use crate::lifecycle::MAX_SUBSCRIPTIONS;
use shared::Sent;

pub(crate) use shared::SharedNotification;

/// How many listeners may be open at once unless the builder sets another number.
pub(super) const DEFAULT_MAX_LISTENERS: usize = 20_000;
/// How many changes a listener may lag behind; one that lags more is notified that everything may have changed.
const MAX_LAG: usize = 256;
/// `_meta` key of an update that stands for several: how many changes of any kind the listener has missed.
const META_MISSED: &str = "mcp-proto/missed";

/// Whether an update is one of the resource (or the family) that was subscribed to.
pub(super) type Matcher = Arc<dyn Fn(&str, &ResourceUpdate) -> bool + Send + Sync>;

/// The changes that a listener asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Interest {
    pub(crate) tools_list: bool,
    pub(crate) prompts_list: bool,
    pub(crate) resources_list: bool,
    /// The URIs that were subscribed to.
    pub(crate) resources: BTreeSet<String>,
    /// More URIs may be subscribed to later.
    pub(crate) may_subscribe: bool,
    /// It also receives task notifications, which have another source. They need a permit too.
    pub(crate) tasks: bool,
}

/// The broadcast of a server.
pub(crate) struct Changes {
    /// `None` is sent when the server closes.
    sender: broadcast::Sender<Option<Arc<Sent>>>,
    matcher: Option<Matcher>,
    closed: watch::Sender<bool>,
    permits: Arc<Semaphore>,
    /// Whether a client has ever subscribed to a resource.
    subscribed: Arc<AtomicBool>,
}

/// One listener's end. Dropping it frees its permit.
pub(crate) struct Listener {
    /// `None` for a listener without interests: it needs no permit, and only the server's close wakes it.
    subscription: Option<Subscription>,
    closed: watch::Receiver<bool>,
    interest: Interest,
    matcher: Option<Matcher>,
    pending: VecDeque<SharedNotification>,
    subscribed: Arc<AtomicBool>,
}

struct Subscription {
    receiver: broadcast::Receiver<Option<Arc<Sent>>>,
    permits: Arc<Semaphore>,
    /// `None` while no client is connected to be notified.
    permit: Option<OwnedSemaphorePermit>,
}

impl Changes {
    pub(super) fn new(max_listeners: usize, matcher: Option<Matcher>) -> Self {
        Self {
            matcher,
            sender: broadcast::channel(MAX_LAG).0,
            closed: watch::channel(false).0,
            permits: Arc::new(Semaphore::new(max_listeners.min(Semaphore::MAX_PERMITS))),
            subscribed: Arc::default(),
        }
    }

    pub(super) fn send(&self, change: Change) {
        // Fails only without listeners, which is fine.
        let _ = self.sender.send(Some(Arc::new(Sent::new(change))));
    }

    /// Marks that from now on updates may be of interest. Never taken back: legacy subscriptions live in sessions.
    pub(crate) fn expect_updates(&self) {
        self.subscribed.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_subscribers(&self) -> bool {
        self.subscribed.load(Ordering::Relaxed) && self.sender.receiver_count() > 0
    }

    pub(super) fn close(&self) {
        self.closed.send_replace(true);
        // Wakes those that wait for a change. Fails only without listeners.
        let _ = self.sender.send(None);
    }

    /// Starts to listen from now on; `None` when every permit is taken. A listener without interests takes none.
    pub(crate) fn listen(&self, interest: Interest) -> Option<Listener> {
        if !interest.resources.is_empty() {
            self.expect_updates();
        }
        let subscription = if interest == Interest::default() {
            None
        } else {
            Some(Subscription {
                permit: Some(Arc::clone(&self.permits).try_acquire_owned().ok()?),
                permits: Arc::clone(&self.permits),
                receiver: self.sender.subscribe(),
            })
        };
        Some(Listener {
            subscription,
            closed: self.closed.subscribe(),
            interest,
            matcher: self.matcher.clone(),
            pending: VecDeque::new(),
            subscribed: Arc::clone(&self.subscribed),
        })
    }
}

impl Subscription {
    /// Skips the waiting changes, for a listener that is notified that everything may have changed. Returns their
    /// number.
    fn skip(&mut self) -> u64 {
        let skipped = self.receiver.len() as u64;
        self.receiver = self.receiver.resubscribe();
        skipped
    }
}

impl Listener {
    /// The next change as a notification; `None` once the server closes. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<SharedNotification> {
        loop {
            if let Some(notification) = self.pending.pop_front() {
                return Some(notification);
            }
            let Some(subscription) = &mut self.subscription else {
                self.closed().await;
                return None;
            };
            // Cheaper than to wait for it, too, which each change would do again. A close after this is sent as well.
            if *self.closed.borrow() {
                return None;
            }
            match subscription.receiver.recv().await {
                Ok(Some(sent)) => self.receive(&sent),
                Err(broadcast::error::RecvError::Lagged(missed)) if !*self.closed.borrow() => {
                    let skipped = subscription.skip();
                    self.queue_everything(Some(missed.saturating_add(skipped)));
                }
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// Waits until the server closes. Cancel-safe.
    pub(crate) async fn closed(&mut self) {
        // Fails only when the server is gone, which counts as closed.
        drop(self.closed.wait_for(|closed| *closed).await);
    }

    /// Gives its permit back while no client is connected; it still receives changes. The caller bounds the number of
    /// such listeners.
    pub(crate) fn release_permit(&mut self) {
        if let Some(subscription) = &mut self.subscription {
            subscription.permit = None;
        }
    }

    /// Takes a permit again; false when none is free.
    pub(crate) fn acquire_permit(&mut self) -> bool {
        let Some(subscription) = &mut self.subscription else {
            return true;
        };
        if subscription.permit.is_none() {
            subscription.permit = Arc::clone(&subscription.permits).try_acquire_owned().ok();
        }
        subscription.permit.is_some()
    }

    /// Sets the resources that it is subscribed to; returns those before.
    pub(crate) fn subscribe_to(&mut self, resources: BTreeSet<String>) -> BTreeSet<String> {
        if !resources.is_empty() {
            // The subscriptions may have been made in another process.
            self.subscribed.store(true, Ordering::Relaxed);
        }
        std::mem::replace(&mut self.interest.resources, resources)
    }

    /// Queues a notification for everything that it asked for, which makes those that wait superfluous.
    pub(crate) fn queue_all(&mut self) {
        self.pending.clear();
        self.queue_everything(None);
    }

    /// Queues a notification for each of these resources.
    pub(crate) fn queue_updates<'u>(&mut self, resources: impl Iterator<Item = &'u String>) {
        if self.pending.len() >= MAX_SUBSCRIPTIONS {
            // Notifying of everything once takes less memory than ever more pending updates, if the client does not
            // read them.
            self.pending.clear();
            self.queue_everything(None);
            return;
        }
        self.pending.extend(resources.map(|uri| SharedNotification::updated(uri, None)));
    }

    /// A matcher that panics must not end everything else on the connection.
    fn receive(&mut self, sent: &Sent) {
        if catch_unwind(AssertUnwindSafe(|| self.queue(sent))).is_err() {
            tracing::error!("a subscription matcher panicked: a listener missed an update");
        }
    }

    fn queue(&mut self, sent: &Sent) {
        let interest = &self.interest;
        let list = match &sent.change {
            Change::ToolsListChanged => interest.tools_list.then_some(TOOLS),
            Change::PromptsListChanged => interest.prompts_list.then_some(PROMPTS),
            Change::ResourcesListChanged => interest.resources_list.then_some(RESOURCES),
            Change::ResourceUpdated(update) => {
                let notifications = subscribed(interest, self.matcher.as_ref(), update);
                self.pending
                    .extend(notifications.map(|uri| sent.updated(uri, update.meta.as_ref())));
                return;
            }
        };
        let notification = list.map(|method| sent.list_changed(method));
        self.pending.extend(notification);
    }

    /// It missed some and cannot know which: everything it asked for may have changed. The bound is that of its
    /// subscriptions.
    fn queue_everything(&mut self, missed: Option<u64>) {
        let interest = &self.interest;
        let lists = [
            (interest.tools_list, TOOLS),
            (interest.prompts_list, PROMPTS),
            (interest.resources_list, RESOURCES),
        ];
        let lists = lists.into_iter().filter(|(wanted, _)| *wanted);
        self.pending.extend(lists.map(|(_, method)| SharedNotification::list_changed(method)));
        let meta =
            missed.map(|missed| Map::from_iter([(META_MISSED.to_owned(), Value::from(missed))]));
        let resources = interest.resources.iter();
        self.pending.extend(resources.map(|uri| SharedNotification::updated(uri, meta.clone())));
    }
}

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";

/// The subscribed URIs that an update concerns.
fn subscribed<'i>(
    interest: &'i Interest,
    matcher: Option<&'i Matcher>,
    update: &'i ResourceUpdate,
) -> impl Iterator<Item = &'i str> {
    let exact = match matcher {
        None => interest.resources.get(&update.uri),
        Some(_) => None,
    };
    let matched = matcher.into_iter().flat_map(move |matches| {
        let uris = interest.resources.iter();
        uris.filter(move |uri| matches(uri, update))
    });
    exact.into_iter().chain(matched).map(String::as_str)
}
