//! Listening for changes: one handle over both eras. The modern era uses `subscriptions/listen`, sent again when it
//! ends. The legacy era uses `resources/subscribe` and the stream of the session.
//!
//! After a loss the handle reconnects and reports it: a caller that keeps something must know when it may be out of
//! date.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use mcp_proto::Era;
use mcp_proto::jsonrpc::{Notification, Request, RequestId};
use mcp_proto::lifecycle::META_SUBSCRIPTION_ID;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::backoff::pause;
use super::clock::Clock;
use super::hub::{Gaps, Own, Owned};
use super::speaking::Speaking;
use super::{Client, ClientError, Result};
use crate::locked::Locked as _;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// How many of the last request ids count as those of the listener.
const MAX_IDS: usize = 8;

/// The changes that a listener asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct Interest {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: Vec<String>,
    tasks: Vec<String>,
}

/// An event that a listener received.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ListenEvent {
    /// A notification, such as `notifications/resources/updated`.
    Notification(Notification),
    /// Some may have been missed: the connection was lost for a while, or the listener lagged. Everything that it
    /// listens for may have changed.
    Missed,
}

/// A listener; dropping it ends listening. Keeps the connection of its client open.
#[derive(Debug)]
pub struct Listening {
    client: Client,
    interest: Interest,
    notifications: broadcast::Receiver<Notification>,
    gaps: watch::Receiver<Gaps>,
    /// Of the modern era.
    listens: Option<watch::Receiver<Listens>>,
    seen: u64,
    task: Owned,
}

/// The state of a listener's requests.
#[derive(Debug, Default)]
struct Listens {
    ids: VecDeque<RequestId>,
    agreed: Value,
    acknowledged: u64,
    ended: Option<ClientError>,
}

impl Listens {
    /// Whether the server has agreed, and to nothing.
    fn agrees_to_nothing(&self) -> bool {
        let is_nothing = |value: &Value| match value {
            Value::Array(items) => items.is_empty(),
            value => *value != true,
        };
        self.acknowledged > 0
            && self.agreed.as_object().is_none_or(|it| it.values().all(is_nothing))
    }
}

impl Interest {
    /// No interests yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes of the three lists: tools, prompts and resources.
    pub fn lists() -> Self {
        Self::new().tools().prompts().resources()
    }

    /// Adds changes of the list of tools.
    pub fn tools(mut self) -> Self {
        self.tools = true;
        self
    }

    /// Adds changes of the list of prompts.
    pub fn prompts(mut self) -> Self {
        self.prompts = true;
        self
    }

    /// Adds changes of the list of resources.
    pub fn resources(mut self) -> Self {
        self.resources = true;
        self
    }

    /// Adds changes to a resource.
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.uris.push(uri.into());
        self
    }

    /// Adds changes to one of the caller's tasks.
    pub fn task(mut self, id: impl Into<String>) -> Self {
        self.tasks.push(id.into());
        self
    }

    fn filter(&self) -> Value {
        let mut filter = serde_json::Map::new();
        let lists = [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ];
        for (name, _) in lists.into_iter().filter(|(_, is_wanted)| *is_wanted) {
            filter.insert(name.to_owned(), json!(true));
        }
        for (name, wanted) in [("resourceSubscriptions", &self.uris), ("taskIds", &self.tasks)] {
            if !wanted.is_empty() {
                filter.insert(name.to_owned(), json!(wanted));
            }
        }
        Value::Object(filter)
    }

    /// Whether a notification of a legacy session is for this listener. `subscribed` are the session's subscriptions.
    fn covers(&self, notification: &Notification, subscribed: &BTreeMap<String, usize>) -> bool {
        let text = |name: &str| {
            let value = notification.params.get(name).and_then(Value::as_str);
            value.unwrap_or_default()
        };
        match notification.method.as_str() {
            "notifications/tools/list_changed" => self.tools,
            "notifications/prompts/list_changed" => self.prompts,
            "notifications/resources/list_changed" => self.resources,
            "notifications/resources/updated" => {
                // The URI of a notification may be a part of the one subscribed to, or one that the server's own rule
                // matched.
                let has_part = |uri: &String| text("uri").starts_with(uri.as_str());
                self.uris.iter().any(has_part)
                    || (!self.uris.is_empty() && !subscribed.keys().any(has_part))
            }
            "notifications/tasks" | "notifications/tasks/status" => {
                self.tasks.iter().any(|id| text("taskId") == id)
            }
            _ => false,
        }
    }
}

impl Client {
    /// Listens for changes, until the handle is dropped. A lost connection is reopened, with pauses that grow to half a
    /// minute, and [`ListenEvent::Missed`] reports it. A server that agrees to nothing may end it at once.
    ///
    /// # Errors
    /// As for [`Client::request`]; including a server that does not support listening.
    pub async fn listen(&self, interest: Interest) -> Result<Listening> {
        let notifications = self.notifications();
        let mut gaps = self.0.hub.gaps();
        gaps.mark_unchanged();
        let mut listening = Listening {
            client: self.clone(),
            interest,
            notifications,
            gaps,
            listens: None,
            seen: 1,
            task: Owned::default(),
        };
        match self.era() {
            Era::Legacy => listening.subscribe().await?,
            Era::Modern => listening.begin().await?,
        }
        Ok(listening)
    }

    /// [`Client::listen`] for one resource.
    ///
    /// # Errors
    /// As for [`Client::listen`].
    pub async fn subscribe(&self, uri: impl Into<String>) -> Result<Listening> {
        self.listen(Interest::new().resource(uri)).await
    }

    /// Restores the subscriptions of the previous session in a new one.
    pub(super) async fn restore(&self, speaking: &Speaking) -> Result<()> {
        if speaking.era() == Era::Modern {
            return Ok(());
        }
        let (level, uris) = {
            let wishes = self.0.wishes.locked();
            let uris: Vec<_> = wishes.subscribed.keys().cloned().collect();
            (wishes.level, uris)
        };
        let level = level.map(|level| ("logging/setLevel", json!({ "level": level })));
        let uris = uris.into_iter();
        let uris = uris.map(|uri| ("resources/subscribe", json!({ "uri": uri })));
        for (method, params) in level.into_iter().chain(uris) {
            let request = Request::new(self.next_id(), method, params);
            let limit = self.0.config.timeout;
            let asked = self.send_request(request, speaking, Own::default());
            self.0.hub.clock.within(limit, asked).await??;
        }
        Ok(())
    }

    /// Ends these subscriptions, unless a listener wants them again.
    async fn unsubscribe(self, uris: Vec<String>) {
        for uri in uris {
            let turn = self.0.subscribing.acquire().await;
            if turn.is_err() || self.0.wishes.locked().subscribed.contains_key(&uri) {
                continue;
            }
            let params = json!({ "uri": uri });
            let _ = self.request("resources/unsubscribe", params).await;
        }
    }
}

impl Listening {
    /// The next change; `None` when the server will send no more. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<ListenEvent> {
        loop {
            let listens = self.listens.as_mut();
            let listened = async {
                match listens {
                    Some(listens) => listens.changed().await.is_ok(),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                received = self.notifications.recv() => match received {
                    Ok(notification) if self.is_ours(&notification) => {
                        return Some(ListenEvent::Notification(notification));
                    }
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => return Some(ListenEvent::Missed),
                    Err(RecvError::Closed) => return None,
                },
                changed = self.gaps.changed() => {
                    if changed.is_err() || self.gaps.borrow().over.is_some() {
                        return None;
                    }
                    return Some(ListenEvent::Missed);
                },
                is_there = listened => {
                    let listens = self.listens.as_ref()?.borrow();
                    if listens.acknowledged > self.seen {
                        self.seen = listens.acknowledged;
                        return Some(ListenEvent::Missed);
                    }
                    if !is_there || listens.ended.is_some() {
                        return None;
                    }
                }
            }
        }
    }

    /// The filter that the server agreed to (2026-07-28), or in the legacy era the filter that was requested.
    pub fn agreed(&self) -> Value {
        match &self.listens {
            Some(listens) => listens.borrow().agreed.clone(),
            None => self.interest.filter(),
        }
    }

    fn is_ours(&self, notification: &Notification) -> bool {
        let Some(listens) = &self.listens else {
            let wishes = self.client.0.wishes.locked();
            return self.interest.covers(notification, &wishes.subscribed);
        };
        let meta = notification.params.get("_meta");
        let id = meta.and_then(|meta| meta.get(META_SUBSCRIPTION_ID));
        let listens = listens.borrow();
        notification.method != ACKNOWLEDGED
            && listens.ids.iter().any(|known| id == Some(&json!(known)))
    }

    async fn begin(&mut self) -> Result<()> {
        let listens = Arc::new(watch::Sender::new(Listens::default()));
        let mut first = listens.subscribe();
        let params = json!({ "notifications": self.interest.filter() });
        let task = tokio::spawn(keep(self.client.clone(), params, Arc::clone(&listens)));
        self.task.own(task);
        let limit = self.client.0.config.timeout;
        let is_begun = |listens: &Listens| listens.acknowledged > 0 || listens.ended.is_some();
        let clock = &self.client.0.hub.clock;
        let ended = match clock.within(limit, first.wait_for(is_begun)).await {
            Ok(Ok(listens)) => listens.ended.clone().filter(|_| listens.acknowledged == 0),
            Ok(Err(_)) => Some(ClientError::Closed),
            Err(timeout) => Some(timeout),
        };
        self.listens = Some(first);
        ended.map_or(Ok(()), Err)
    }

    async fn subscribe(&mut self) -> Result<()> {
        self.client.attend(true).await;
        if self.client.is_http() && !self.client.0.hub.has_stream() {
            return Err(ClientError::Unsupported(
                "it has no stream by which it could tell of changes, or ClientConfig::get_stream is off".to_owned(),
            ));
        }
        let uris = std::mem::take(&mut self.interest.uris);
        for uri in uris {
            let client = &self.client.0;
            // Otherwise a pending unsubscribe could arrive after this.
            let turn = client.subscribing.acquire();
            let turn = client.hub.clock.within(client.config.timeout, turn);
            let _turn = turn.await?.map_err(|_| ClientError::Closed)?;
            let is_first = !self.client.0.wishes.locked().subscribed.contains_key(&uri);
            if is_first {
                let params = json!({ "uri": uri });
                self.client.request("resources/subscribe", params).await?;
            }
            *self.client.0.wishes.locked().subscribed.entry(uri.clone()).or_default() += 1;
            // From here on, dropping the handle ends the subscription.
            self.interest.uris.push(uri);
        }
        Ok(())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if self.listens.is_some() || self.client.era() == Era::Modern {
            return;
        }
        let mut over = Vec::new();
        {
            let mut wishes = self.client.0.wishes.locked();
            for uri in &self.interest.uris {
                let count = wishes.subscribed.get_mut(uri);
                let is_last = count.is_some_and(|count| {
                    *count = count.saturating_sub(1);
                    *count == 0
                });
                if is_last {
                    wishes.subscribed.remove(uri);
                    over.push(uri.clone());
                }
            }
        }
        let (false, Ok(runtime)) = (over.is_empty(), Handle::try_current()) else {
            return;
        };
        // Ends with the time limit of these calls.
        runtime.spawn(self.client.clone().unsubscribe(over));
    }
}

/// Listens, and listens again whenever the request ends.
async fn keep(client: Client, params: Value, listens: Arc<watch::Sender<Listens>>) {
    let mut failures = 0;
    loop {
        let speaking = client.speaking();
        let id = client.next_id();
        listens.send_modify(|listens| {
            listens.ids.push_back(id.clone());
            if listens.ids.len() > MAX_IDS {
                listens.ids.pop_front();
            }
        });
        let before = listens.borrow().acknowledged;
        let acknowledged = Arc::clone(&listens);
        let own = Own::new(Clock::default(), move |notification| {
            if notification.method == ACKNOWLEDGED {
                let agreed = notification.params.get("notifications").cloned();
                acknowledged.send_modify(|listens| {
                    listens.agreed = agreed.unwrap_or_default();
                    listens.acknowledged += 1;
                });
            }
        });
        let params = client.with_meta(params.clone(), &speaking);
        let request = Request::new(id, "subscriptions/listen", params);
        let reply = client.send_request(request, &speaking, own).await;
        let outcome = match reply {
            Ok(reply) => {
                reply.outcome.and_then(|response| response.outcome.map_err(ClientError::Rpc))
            }
            Err(error) => Err(error),
        };
        let is_final = match &outcome {
            // It ended since nothing could follow, and would end again.
            Ok(_) if listens.borrow().agrees_to_nothing() => {
                listens.send_modify(|listens| listens.ended = Some(ClientError::Closed));
                return;
            }
            Ok(_) => false,
            Err(ClientError::Closed) => !client.is_http(),
            Err(ClientError::Connection(_) | ClientError::Timeout(_)) => false,
            Err(ClientError::Http { status, .. }) => *status < 500,
            Err(_) => true,
        };
        if let (Err(error), true) = (outcome, is_final) {
            listens.send_modify(|listens| listens.ended = Some(error));
            return;
        }
        failures = if listens.borrow().acknowledged > before { 1 } else { failures + 1 };
        tokio::time::sleep(pause(None, failures)).await;
    }
}
