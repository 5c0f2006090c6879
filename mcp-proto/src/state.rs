//! State between calls, without sessions: a tool returns a handle, and the model gives it to the next call.
//!
//! [`Kept`] keeps values in this process under short handles. [`Keys::seal_for`] needs no memory, and any process with
//! the same keys opens what it sealed. The [guide](crate::guide::state) shows both.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use data_encoding::BASE32_NOPAD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::budget::{Bound, ClientName};
use crate::context::Context;
use crate::locked::Locked as _;
use crate::seal::{Keys, StateBinding, unix_now};
use crate::task::Owner;
use crate::tool::ToolError;

/// The random bytes of a handle.
const HANDLE_BYTES: usize = 15;

/// Values that a server keeps between calls, each under a handle of 24 random letters and digits. Clones share them.
///
/// A value belongs to the caller that it was kept for: its [`Principal`](crate::Principal), or without one the session
/// of the older era; in the modern era without a principal, whoever knows the handle. For all others it does not exist.
///
/// All clients together have at most the total of its [`Bound`], and one client its share. A client is counted as for
/// the other [budgets](crate::budget). A value that is not used for the lifetime cannot be found any more, and is
/// dropped when the next one is kept.
pub struct Kept<T> {
    values: Arc<Mutex<HashMap<String, Value<T>>>>,
    bound: Bound,
    lifetime: Duration,
}

struct Value<T> {
    value: T,
    owner: Owner,
    client: ClientName,
    used: Instant,
}

impl<T> Kept<T> {
    /// No values yet; each lasts `lifetime` after its last use.
    pub fn new(bound: Bound, lifetime: Duration) -> Self {
        Self { values: Arc::default(), bound, lifetime }
    }

    /// Keeps a value for the caller. Returns its handle.
    ///
    /// # Errors
    /// The client, or all, have as many values as they may: code `TOO_MANY_HANDLES`.
    pub fn keep(&self, value: T, context: &Context) -> Result<String, ToolError> {
        let mut bytes = [0; HANDLE_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| ToolError::internal(error.to_string()))?;
        let handle = BASE32_NOPAD.encode(&bytes).to_ascii_lowercase();
        let (owner, client, used) = (context.owner(), context.client_name(), Instant::now());
        // Dropped after the lock.
        let _ended: Vec<_>;
        let mut values = self.values.locked();
        _ended = values.extract_if(|_, value| value.has_ended(self.lifetime)).collect();
        let own = values.values().filter(|value| value.client == client).count();
        let Bound { total, share } = self.bound;
        let (most, whose) = if own >= share {
            (share, "this client has")
        } else if values.len() >= total {
            (total, "all clients together have")
        } else {
            values.insert(handle.clone(), Value { value, owner, client, used });
            return Ok(handle);
        };
        let message =
            format!("{whose} {most} handles, the most there may be: end one, or try later");
        Err(ToolError::new("TOO_MANY_HANDLES", message))
    }

    /// Reads or changes a value of the caller, whose lifetime begins again. Other calls wait meanwhile, so `use_it`
    /// must be quick: for longer work keep an `Arc`, and clone it.
    ///
    /// # Errors
    /// The caller has no such value, or not any more: code `NOT_FOUND`.
    pub fn with<R>(
        &self,
        handle: &str,
        context: &Context,
        use_it: impl FnOnce(&mut T) -> R,
    ) -> Result<R, ToolError> {
        let mut values = self.values.locked();
        let found = values.get_mut(handle).filter(|it| it.is_of(context, self.lifetime));
        let found = found.ok_or_else(unknown)?;
        found.used = Instant::now();
        Ok(use_it(&mut found.value))
    }

    /// Ends a value of the caller, and returns it.
    ///
    /// # Errors
    /// The caller has no such value, or not any more: code `NOT_FOUND`.
    pub fn end(&self, handle: &str, context: &Context) -> Result<T, ToolError> {
        let mut values = self.values.locked();
        if !values.get(handle).is_some_and(|it| it.is_of(context, self.lifetime)) {
            return Err(unknown());
        }
        values.remove(handle).map(|it| it.value).ok_or_else(unknown)
    }
}

impl<T> Value<T> {
    fn has_ended(&self, lifetime: Duration) -> bool {
        self.used.elapsed() >= lifetime
    }

    fn is_of(&self, context: &Context, lifetime: Duration) -> bool {
        !self.has_ended(lifetime) && self.owner == context.owner()
    }
}

fn unknown() -> ToolError {
    let message =
        "this caller has no such handle, or it has ended: use the newest one, or begin again";
    ToolError::new("NOT_FOUND", message)
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        let values = Arc::clone(&self.values);
        Self { values, bound: self.bound, lifetime: self.lifetime }
    }
}

impl<T> fmt::Debug for Kept<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Kept")
            .field("values", &self.values.locked().len())
            .finish_non_exhaustive()
    }
}

impl Keys {
    /// A value as a text that the caller keeps: unreadable for it, and valid for it alone (its
    /// [`Principal`](crate::Principal); without one, for anyone), for this purpose, and for this long. It cannot be
    /// withdrawn. At most 48 KiB of JSON fit.
    ///
    /// # Errors
    /// Too long a value, or one that is not JSON: an internal error.
    pub fn seal_for<T: Serialize>(
        &self,
        context: &Context,
        purpose: &str,
        value: &T,
        lifetime: Duration,
    ) -> Result<String, ToolError> {
        let expires = unix_now().saturating_add(lifetime.as_secs());
        Ok(binding(context, &method(purpose)).seal(self, value, expires)?)
    }

    /// The value of a text of [`Keys::seal_for`].
    ///
    /// # Errors
    /// The text is not one of this caller and purpose, or has expired: code `NOT_FOUND`.
    pub fn open_for<T: DeserializeOwned>(
        &self,
        context: &Context,
        purpose: &str,
        text: &str,
    ) -> Result<T, ToolError> {
        let opened = binding(context, &method(purpose)).open(self, text, unix_now());
        opened.map(|ticket| ticket.content).map_err(|_| unknown())
    }
}

/// No method of MCP has a space.
fn method(purpose: &str) -> String {
    format!("state {purpose}")
}

fn binding<'a>(context: &'a Context, method: &'a str) -> StateBinding<'a> {
    StateBinding { principal: context.principal(), method, arguments: [0; 32] }
}
