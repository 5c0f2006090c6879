//! Levels of activity.

use serde::{Deserialize, Serialize};

/// Levels of activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing.
    None,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    Extreme,
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Players' ships and capsules killed.
    Kills,
    /// Ships that jumped in.
    Jumps,
    /// Ships of non-players killed.
    Ratting,
}

impl Measure {
    /// The level for a count of one hour.
    pub fn level(self, count: u32) -> Level {
        let [medium, high, extreme] = match self {
            Self::Kills => [5, 20, 50],
            Self::Jumps => [50, 200, 500],
            Self::Ratting => [50, 100, 300],
        };
        match count {
            0 => Level::None,
            count if count < medium => Level::Low,
            count if count < high => Level::Medium,
            count if count < extreme => Level::High,
            _ => Level::Extreme,
        }
    }
}
