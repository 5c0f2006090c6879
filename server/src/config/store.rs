//! Where universes are kept: the value of `--store`.

use std::fmt;
use std::str::FromStr;

/// The kind of store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreKind {
    /// SQLite in the data directory; survives crashes.
    Embedded,
    /// In memory; lost when the server exits.
    Memory,
    /// A database of PostgreSQL or streams of NATS JetStream, which other servers may use at the same time.
    Shared(StoreUrl),
}

/// The URL of a database or of NATS servers. It may contain a password, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

/// A text that is not a [`StoreKind`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "embedded, memory or the URL of a database such as postgres://user@host/universes (or of streams, nats://host/universes) was expected"
)]
pub struct InvalidStore;

impl FromStr for StoreKind {
    type Err = InvalidStore;

    /// Accepts every URL: errors are reported later, without its password.
    fn from_str(text: &str) -> Result<Self, InvalidStore> {
        match text {
            "embedded" => Ok(Self::Embedded),
            "memory" => Ok(Self::Memory),
            url if url.contains("://") => Ok(Self::Shared(StoreUrl::new(url))),
            _ => Err(InvalidStore),
        }
    }
}

impl StoreUrl {
    /// A URL as given. It is checked when it is used.
    pub(crate) fn new(url: &str) -> Self {
        Self(url.to_owned())
    }

    /// The URL including its password, for connecting.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&masked(&self.0))
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A URL without the passwords that it may contain: after the user name, and as a parameter. All text before the last
/// `@` counts as user information, since an unescaped password may contain an `@` too.
pub(super) fn masked(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (user, place) = match rest.rsplit_once('@') {
        Some((user, place)) => {
            let name = user.split_once(':').map(|(name, _)| name);
            (name.map_or(format!("{user}@"), |name| format!("{name}:***@")), place)
        }
        None => (String::new(), rest),
    };
    let Some((place, parameters)) = place.split_once('?') else {
        return format!("{scheme}://{user}{place}");
    };
    let shown = parameters.split('&').map(|parameter| match parameter.split_once('=') {
        Some((name, _)) if name.contains("pass") => format!("{name}=***"),
        _ => parameter.to_owned(),
    });
    let shown: Vec<_> = shown.collect();
    format!("{scheme}://{user}{place}?{}", shown.join("&"))
}
