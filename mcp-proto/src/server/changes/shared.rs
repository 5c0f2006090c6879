//! A notification that many listeners receive: written once, shared by all.
//!
//! Only GET streams share a text. A listen of the modern era names its subscription inside the message, so its messages
//! are its own.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::change::Change;
use crate::jsonrpc::Notification;

/// A notification for a listener. Cheap to clone; clones share the text.
#[derive(Debug, Clone)]
pub(crate) struct SharedNotification(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    notification: Notification,
    text: OnceLock<Bytes>,
}

/// A change on its way to all listeners.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) change: Change,
    /// The notification for the first listener, which nearly all others receive too.
    first: OnceLock<SharedNotification>,
}

impl SharedNotification {
    pub(super) fn list_changed(method: &str) -> Self {
        Self::new(method, Map::new())
    }

    /// An update of a resource.
    pub(super) fn updated(uri: &str, meta: Option<Map<String, Value>>) -> Self {
        let mut params = Map::new();
        params.insert("uri".to_owned(), Value::from(uri));
        if let Some(meta) = meta {
            params.insert("_meta".to_owned(), Value::Object(meta));
        }
        Self::new("notifications/resources/updated", params)
    }

    fn new(method: &str, params: Map<String, Value>) -> Self {
        let notification = Notification { method: method.to_owned(), params };
        Self(Arc::new(Inner { notification, text: OnceLock::new() }))
    }

    pub(crate) fn notification(&self) -> &Notification {
        &self.0.notification
    }

    /// The notification as JSON without line breaks.
    pub(crate) fn text(&self) -> Bytes {
        let text = self.0.text.get_or_init(|| {
            // It is made of strings and JSON values; this cannot fail short of a bug.
            let text = serde_json::to_vec(&self.0.notification);
            text.unwrap_or_default().into()
        });
        text.clone()
    }

    fn is_of(&self, uri: &str) -> bool {
        let named = self.0.notification.params.get("uri");
        named.and_then(Value::as_str) == Some(uri)
    }
}

impl Sent {
    pub(super) fn new(change: Change) -> Self {
        Self { change, first: OnceLock::new() }
    }

    /// The notification that a list has changed.
    pub(super) fn list_changed(&self, method: &str) -> SharedNotification {
        let first = self.first.get_or_init(|| SharedNotification::list_changed(method));
        first.clone()
    }

    /// The notification that a subscribed resource has changed.
    pub(super) fn updated(
        &self,
        uri: &str,
        meta: Option<&Map<String, Value>>,
    ) -> SharedNotification {
        let make = || SharedNotification::updated(uri, meta.cloned());
        let first = self.first.get_or_init(make);
        // With a matcher, one update may concern several resources.
        if first.is_of(uri) { first.clone() } else { make() }
    }
}
