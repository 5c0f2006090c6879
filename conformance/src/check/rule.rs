//! What a rule is, and how it is answered.

use std::fmt;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::bench::Bench;
use super::exchange::Exchange;

/// One sentence of the specification that can be seen from outside.
pub struct Rule {
    /// Its stable name, such as `base.id-echo`.
    pub id: &'static str,
    /// How much it binds.
    pub level: Level,
    /// The section of the specification that says so.
    pub section: &'static str,
    /// The rule in a sentence.
    pub title: &'static str,
    /// What to change in a server that breaks it.
    pub fix: &'static str,
    pub(super) scope: Scope,
    pub(super) probe: for<'a> fn(&'a mut Bench) -> BoxFuture<'a, Verdict>,
}

/// How much a rule binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// MUST or MUST NOT.
    #[serde(rename = "MUST")]
    Must,
    /// SHOULD or SHOULD NOT.
    #[serde(rename = "SHOULD")]
    Should,
    /// No sentence of the specification, but what careful servers do.
    #[serde(rename = "practice")]
    Practice,
}

/// The revisions and transports that a rule is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    pub(super) first: Revision,
    pub(super) last: Revision,
    pub(super) transport: Transport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Any,
    Http,
    Stdio,
}

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

/// How a rule was answered.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not hold.
    Finding(Finding),
    /// It is about something that this server does not have.
    Inapplicable(String),
    /// It could not be judged.
    Unclear(String),
}

/// Where a rule does not hold.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What was seen, in a sentence.
    pub seen: String,
    /// The exchange that shows it.
    pub exchange: Exchange,
}

impl Rule {
    /// Whether it is about this revision and transport.
    pub(super) fn is_for(&self, revision: Revision, http: bool) -> bool {
        let transport = match self.scope.transport {
            Transport::Any => true,
            Transport::Http => http,
            Transport::Stdio => !http,
        };
        transport && (self.scope.first..=self.scope.last).contains(&revision)
    }

    /// Where it holds, for people.
    #[must_use]
    pub fn holds_for(&self) -> String {
        let transport = match self.scope.transport {
            Transport::Any => "HTTP and stdio",
            Transport::Http => "HTTP",
            Transport::Stdio => "stdio",
        };
        format!("{} to {}, {transport}", self.scope.first, self.scope.last)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Practice => "practice",
        })
    }
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

impl std::str::FromStr for Revision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|it| it.as_str() == text);
        known.ok_or_else(|| {
            let all: Vec<_> = Self::ALL.iter().map(|it| it.as_str()).collect();
            format!("{text:?} is not a revision; they are {}", all.join(", "))
        })
    }
}
