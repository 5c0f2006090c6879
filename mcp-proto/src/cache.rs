//! Caching hints of the modern era (2026-07-28, "Caching"): how long a client may keep a result, and for whom.

use std::time::Duration;

use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// How long a client may use a result again without asking, and whether it may be shared between users.
///
/// A hint, not a lock: access control never rests on it. The legacy era has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheHint {
    /// How long, in whole milliseconds on the wire. Zero means not at all.
    pub ttl: Duration,
    /// Who may share it.
    pub scope: CacheScope,
}

/// Who may share a cached result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheScope {
    /// Everyone: the result is the same for every caller.
    Public,
    /// Only the caller.
    Private,
}

impl CacheHint {
    /// Not cacheable and private to the caller: the default for every result.
    pub const NONE: Self = Self { ttl: Duration::ZERO, scope: CacheScope::Private };

    /// Shared by all callers, for that long.
    pub const fn public(ttl: Duration) -> Self {
        Self { ttl, scope: CacheScope::Public }
    }

    /// Private to the caller, for that long.
    pub const fn private(ttl: Duration) -> Self {
        Self { ttl, scope: CacheScope::Private }
    }
}

impl Default for CacheHint {
    fn default() -> Self {
        Self::NONE
    }
}

impl Serialize for CacheHint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let scope = match self.scope {
            CacheScope::Public => "public",
            CacheScope::Private => "private",
        };
        let ttl = u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX);
        let mut members = serializer.serialize_map(Some(2))?;
        // Larger integers are not safe in every client, and refused by some.
        members.serialize_entry("ttlMs", &ttl.min((1 << 53) - 1))?;
        members.serialize_entry("cacheScope", scope)?;
        members.end()
    }
}
