//! Event ids: each names its stream, so that `Last-Event-ID` identifies the stream to resume.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// The name of a stream: its kind, and 64 random bits, so that it cannot be guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct StreamName {
    kind: Kind,
    key: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// The messages and answers of calls. The stream ends with them.
    Calls,
    /// The messages of a session outside of calls. Opened by GET.
    Standalone,
}

/// The id of one event: `<stream>-<number>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) stream: StreamName,
    /// Counted from 1 in its stream.
    pub(super) number: u64,
}

/// The text is not one of our event ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoEventId;

impl StreamName {
    pub(super) fn of_calls() -> Self {
        Self::random(Kind::Calls)
    }

    pub(super) fn standalone() -> Self {
        Self::random(Kind::Standalone)
    }

    fn random(kind: Kind) -> Self {
        // Each half has a few bits that are the same in every UUID.
        let (high, low) = Uuid::new_v4().as_u64_pair();
        Self { kind, key: high ^ low.rotate_left(32) }
    }

    pub(super) fn is_standalone(self) -> bool {
        self.kind == Kind::Standalone
    }
}

impl Kind {
    fn letter(self) -> char {
        match self {
            Self::Calls => 'c',
            Self::Standalone => 's',
        }
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{:016x}", self.kind.letter(), self.key)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.stream, self.number)
    }
}

impl FromStr for EventId {
    type Err = NoEventId;

    fn from_str(text: &str) -> Result<Self, NoEventId> {
        let (stream, number) = text.split_once('-').ok_or(NoEventId)?;
        let (kind, key) = if let Some(key) = stream.strip_prefix('c') {
            (Kind::Calls, key)
        } else {
            (Kind::Standalone, stream.strip_prefix('s').ok_or(NoEventId)?)
        };
        let key = u64::from_str_radix(key, 16).map_err(|_| NoEventId)?;
        let id = Self {
            stream: StreamName { kind, key },
            number: number.parse().map_err(|_| NoEventId)?,
        };
        // The parsing above accepts signs, leading zeros and capitals, which are never written.
        if id.to_string() == text { Ok(id) } else { Err(NoEventId) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_and_nothing_else(key in any::<u64>(), number in any::<u64>(), calls in any::<bool>(), text in "[cs]?[0-9a-fA-F+]{0,17}-?[+0-9]{0,3}") {
            let kind = if calls { Kind::Calls } else { Kind::Standalone };
            let id = EventId { stream: StreamName { kind, key }, number };
            prop_assert_eq!(id.to_string().parse(), Ok(id));
            prop_assert_eq!(id.to_string(), format!("{}{key:016x}-{number}", kind.letter()));
            if let Ok(read) = text.parse::<EventId>() {
                prop_assert_eq!(read.to_string(), text);
            }
        }
    }

    #[test]
    fn names_do_not_repeat() {
        let names: std::collections::HashSet<_> =
            (0..10_000).map(|_| StreamName::standalone()).collect();
        assert_eq!(names.len(), 10_000);
    }
}
