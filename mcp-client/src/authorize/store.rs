//! Where tokens and registrations are kept: a port, and an adapter that keeps them in memory.
//!
//! A token is kept with its issuer and resource, and looked for only when a server has refused and named both: none is
//! shown to a server that has moved.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

use futures_util::future::BoxFuture;
use serde::Serialize;

use super::error::{OAuthError, Result};
use crate::locked::Locked as _;

/// How many values a [`MemoryStore`] keeps. When there are more, the first in key order is removed.
pub const MAX_STORED: usize = 1_024;

/// What a value is for. Nothing of one issuer is ever used for another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreKey {
    /// The authorization server, as it names itself.
    pub issuer: String,
    /// The resource that tokens are for; `None` for the client's registration there.
    pub resource: Option<String>,
}

/// Keeps texts by key. The texts are JSON and contain secrets, so store them as you would store passwords.
pub trait TokenStore: fmt::Debug + Send + Sync {
    /// The text stored under this key.
    ///
    /// # Errors
    /// Why it cannot be read, for people.
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<String>, String>>;

    /// Stores this text in place of the previous one; `None` removes it.
    ///
    /// # Errors
    /// Why it cannot be kept, for people.
    fn save<'a>(
        &'a self,
        key: &'a StoreKey,
        text: Option<String>,
    ) -> BoxFuture<'a, Result<(), String>>;
}

/// Keeps a value as JSON; `None` forgets it.
pub(super) async fn save<T: Serialize>(
    store: &dyn TokenStore,
    key: &StoreKey,
    value: Option<&T>,
) -> Result<()> {
    let text = value.map(serde_json::to_string).transpose();
    let text = text.map_err(|problem| OAuthError::Store(problem.to_string()))?;
    store.save(key, text).await.map_err(OAuthError::Store)
}

/// Keeps them as long as the process runs: at most [`MAX_STORED`].
#[derive(Default)]
pub struct MemoryStore(Mutex<BTreeMap<StoreKey, String>>);

impl TokenStore for MemoryStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<String>, String>> {
        let kept = self.0.locked();
        let text = kept.get(key).cloned();
        Box::pin(std::future::ready(Ok(text)))
    }

    fn save<'a>(
        &'a self,
        key: &'a StoreKey,
        text: Option<String>,
    ) -> BoxFuture<'a, Result<(), String>> {
        let mut kept = self.0.locked();
        kept.remove(key);
        if let Some(text) = text {
            if kept.len() >= MAX_STORED {
                kept.pop_first();
            }
            kept.insert(key.clone(), text);
        }
        Box::pin(std::future::ready(Ok(())))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("MemoryStore(…)")
    }
}
