//! The two eras of the protocol, and the revision that represents each.

pub(super) const MODERN: &str = "2026-07-28";
pub(super) const LEGACY: &str = "2025-11-25";

/// The two eras of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Era {
    Modern,
    Legacy,
}

impl Era {
    /// The protocol revision that represents the era.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Modern => MODERN,
            Self::Legacy => LEGACY,
        }
    }
}
