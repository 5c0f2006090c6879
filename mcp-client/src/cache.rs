//! Cached answers (2026-07-28, "Caching"), by method and params. They are dropped when they expire or when the server
//! notifies that they changed.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use mcp_proto::jsonrpc::Notification;
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::locked::Locked as _;

/// The longest time that an answer is kept, even if the server allows more.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The methods whose answers may be kept.
const KEPT: [&str; 6] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// Answers in bounds. Private to one client, so that answers for its caller alone may be kept too.
#[derive(Debug)]
pub(super) struct Cache {
    max_bytes: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// Grows with each change notification: an answer that was on its way then is not kept.
    epoch: u64,
    bytes: usize,
    answers: HashMap<Key, CachedAnswer>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    method: String,
    /// Without `_meta`, as text.
    params: String,
    uri: Option<String>,
}

#[derive(Debug)]
struct CachedAnswer {
    answer: Value,
    bytes: usize,
    until: Instant,
}

impl Key {
    /// The key of an answer; `None` for one that is never kept. A request that continues another (`requestState`,
    /// answers) gets an answer for itself alone.
    pub(super) fn new(method: &str, params: &Value) -> Option<Self> {
        if !KEPT.contains(&method) {
            return None;
        }
        let mut params = params.as_object().cloned().unwrap_or_default();
        params.remove("_meta");
        if params.contains_key("requestState") || params.contains_key("inputResponses") {
            return None;
        }
        let uri = params.get("uri").and_then(Value::as_str).map(str::to_owned);
        Some(Self { method: method.to_owned(), params: Value::Object(params).to_string(), uri })
    }
}

impl Cache {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, table: Mutex::default() }
    }

    /// What was kept, and the epoch to keep a new answer by.
    pub(super) fn get(&self, key: &Key) -> Result<Value, u64> {
        let table = self.table.locked();
        match table.answers.get(key) {
            Some(kept) if kept.until > Instant::now() => Ok(kept.answer.clone()),
            _ => Err(table.epoch),
        }
    }

    /// Keeps a complete answer as long as it says, unless something changed since `epoch`.
    pub(super) fn put(&self, key: Key, epoch: u64, answer: &Value) {
        // Missing or negative is 0.
        let ttl = answer.get("ttlMs").and_then(Value::as_u64).unwrap_or(0);
        let is_complete =
            matches!(answer.get("resultType").and_then(Value::as_str), None | Some("complete"));
        if ttl == 0 || !is_complete || self.max_bytes == 0 {
            return;
        }
        let bytes = key.params.len() + answer.to_string().len();
        let now = Instant::now();
        let mut table = self.table.locked();
        if table.epoch != epoch {
            return;
        }
        table.forget(|other, kept| *other == key || kept.until <= now);
        if table.bytes.saturating_add(bytes) > self.max_bytes {
            return;
        }
        table.bytes += bytes;
        let kept = CachedAnswer {
            answer: answer.clone(),
            bytes,
            until: now + Duration::from_millis(ttl).min(LONGEST),
        };
        table.answers.insert(key, kept);
    }

    /// Drops what a notification says is out of date.
    pub(super) fn invalidate(&self, notification: &Notification) {
        let lists: &[&str] = match notification.method.as_str() {
            "notifications/tools/list_changed" => &["tools/list"],
            "notifications/prompts/list_changed" => &["prompts/list"],
            "notifications/resources/list_changed" => {
                &["resources/list", "resources/templates/list"]
            }
            "notifications/resources/updated" => return self.updated(&notification.params),
            _ => return,
        };
        for method in lists {
            self.forget(method);
        }
    }

    /// Drops all answers to a method, such as pages one of whose cursors was refused.
    pub(super) fn forget(&self, method: &str) {
        let mut table = self.table.locked();
        table.epoch += 1;
        table.forget(|key, _| key.method == method);
    }

    /// Drops everything.
    pub(super) fn clear(&self) {
        let mut table = self.table.locked();
        table.epoch += 1;
        table.forget(|_, _| true);
    }

    /// The resource, or a part of it, has changed.
    fn updated(&self, params: &Map<String, Value>) {
        let updated = params.get("uri").and_then(Value::as_str).unwrap_or_default();
        let mut table = self.table.locked();
        table.epoch += 1;
        table.forget(|key, _| {
            let uri = key.uri.as_deref();
            key.method == "resources/read"
                && uri.is_none_or(|uri| uri.starts_with(updated) || updated.starts_with(uri))
        });
    }
}

impl Table {
    fn forget(&mut self, is_gone: impl Fn(&Key, &CachedAnswer) -> bool) {
        let mut freed = 0;
        self.answers.retain(|key, kept| {
            let is_gone = is_gone(key, kept);
            if is_gone {
                freed += kept.bytes;
            }
            !is_gone
        });
        self.bytes = self.bytes.saturating_sub(freed);
    }
}
