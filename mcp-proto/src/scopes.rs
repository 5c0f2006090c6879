//! Scopes: the permissions of a caller, named by the server, and the scopes that each request needs.
//!
//! What the embedder hides from a caller is unknown to it, and reveals nothing of what exists. What a caller lacks a
//! scope for is refused with the scope's name, so that the client can ask for it.

mod needs;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub(crate) use needs::Needs;
pub use needs::{Guarded, Wanted};

/// A set of scopes (RFC 6749 §3.3). Empty by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scopes(BTreeSet<String>);

impl Scopes {
    /// These scopes. A name with characters that RFC 6749 does not allow is left out.
    pub fn of<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self(names.into_iter().map(Into::into).filter(|name| is_scope(name)).collect())
    }

    /// Whether the set contains all of these scopes.
    #[must_use]
    pub fn contain(&self, others: &Self) -> bool {
        others.0.is_subset(&self.0)
    }

    /// Adds these scopes.
    pub fn add(&mut self, others: &Self) {
        self.0.extend(others.0.iter().cloned());
    }

    /// Their names, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The scopes and everything that they imply.
    #[cfg(feature = "http")]
    pub(crate) fn with_implied(mut self, implied: &BTreeMap<String, Self>) -> Self {
        let mut open: Vec<String> = self.0.iter().cloned().collect();
        while let Some(others) = open.pop().map(|name| implied.get(&name)) {
            for other in others.into_iter().flat_map(|others| &others.0) {
                if self.0.insert(other.clone()) {
                    open.push(other.clone());
                }
            }
        }
        self
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(formatter, "{space}{name}")?;
        }
        Ok(())
    }
}

/// RFC 6749 §3.3: printable characters except space, quote and backslash.
fn is_scope(name: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !name.is_empty() && name.bytes().all(is_good)
}
