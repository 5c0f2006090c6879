//! The parts that servers play.

use std::fmt;

/// A server that plays a part before a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scene {
    /// A server of 2025-11-25 with sessions and two pages of tools, which answers in JSON.
    Legacy,
    /// The same, answering by event streams on which it also asks.
    Streams,
    /// The same, which forgets its session once.
    Forgets,
    /// The same, which answers the handshake with an unknown revision.
    Unspoken,
    /// The same, whose stream breaks off before the answer and may be resumed.
    Breaks,
    /// A server of 2026-07-28 alone, with a parameter that headers repeat.
    Modern,
    /// The same, whose tool needs input first.
    Asks,
    /// A server that sends an answer with an unused id before the right one.
    WrongId,
    /// A server that redirects every request to another origin.
    Redirects,
    /// A server whose answer does not end.
    Endless,
    /// A server whose answer is not JSON.
    Garbage,
}

impl Scene {
    /// All of them, in the order in which they are played.
    pub const ALL: [Self; 11] = [
        Self::Legacy,
        Self::Streams,
        Self::Forgets,
        Self::Unspoken,
        Self::Breaks,
        Self::Modern,
        Self::Asks,
        Self::WrongId,
        Self::Redirects,
        Self::Endless,
        Self::Garbage,
    ];

    /// Its name, as the client finds it in `MCP_SCENE`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Streams => "streams",
            Self::Forgets => "forgets",
            Self::Unspoken => "unspoken",
            Self::Breaks => "breaks",
            Self::Modern => "modern",
            Self::Asks => "asks",
            Self::WrongId => "wrong-id",
            Self::Redirects => "redirects",
            Self::Endless => "endless",
            Self::Garbage => "garbage",
        }
    }

    /// Whether its server has no handshake.
    pub(super) const fn is_modern(self) -> bool {
        matches!(self, Self::Modern | Self::Asks)
    }
}

impl fmt::Display for Scene {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
