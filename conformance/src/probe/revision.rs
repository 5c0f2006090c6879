//! The revisions of the protocol.

use std::fmt;

use serde_json::{Value, json};

/// A revision of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-11-05.
    V2024_11_05,
    /// 2025-03-26.
    V2025_03_26,
    /// 2025-06-18.
    V2025_06_18,
    /// 2025-11-25.
    V2025_11_25,
    /// 2026-07-28, without sessions.
    V2026_07_28,
}

impl Revision {
    /// All of them, the oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// Its date.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The method that every server of this revision answers, and that changes nothing.
    pub(crate) fn ping(self) -> &'static str {
        if self.is_modern() { "server/discover" } else { "ping" }
    }

    /// Whether it has no handshake.
    #[must_use]
    pub fn is_modern(self) -> bool {
        self == Self::V2026_07_28
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Its date.
impl serde::Serialize for Revision {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl std::str::FromStr for Revision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|it| it.as_str() == text);
        known.ok_or_else(|| {
            let all: Vec<_> = Self::ALL.iter().map(|it| it.as_str()).collect();
            format!("{text:?} is not a revision of MCP; the revisions are {}", all.join(", "))
        })
    }
}

/// The params of `initialize` for this version.
pub(crate) fn handshake(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client_info()})
}

pub(crate) fn client_info() -> Value {
    json!({"name": "mcp-conformance", "version": env!("CARGO_PKG_VERSION")})
}
