//! The revisions of MCP and the two eras they fall into.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A revision of the protocol, ordered by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// The first release.
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// Streamable HTTP, sessions, tool annotations.
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// Structured tool output, elicitation, the version header.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// Icons, URL elicitation, tool-name rules; the newest revision with a handshake.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// Stateless: every request carries its version; no handshake, no sessions.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

/// How a client and a server learn each other's version and capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// With one `initialize` handshake; up to 2025-11-25.
    Legacy,
    /// From `_meta` of every request; since 2026-07-28.
    Modern,
}

/// The text is not a revision that this library serves.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a protocol version of this server")]
pub struct UnknownVersion(pub String);

impl ProtocolVersion {
    /// Every revision, newest first.
    pub const ALL: [Self; 5] = [
        Self::V2026_07_28,
        Self::V2025_11_25,
        Self::V2025_06_18,
        Self::V2025_03_26,
        Self::V2024_11_05,
    ];

    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The newest revision that has a handshake: the answer of `initialize` to an unknown version.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// The date that names the revision on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether its clients may send several messages as one JSON array; only one revision allows this.
    pub(crate) fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Whether a server may close a stream before its end, which requires clients that accept empty events.
    pub(crate) fn has_polling(self) -> bool {
        self == Self::V2025_11_25
    }

    /// The era of the revision.
    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for ProtocolVersion {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str() == text)
            .ok_or_else(|| UnknownVersion(text.to_owned()))
    }
}
