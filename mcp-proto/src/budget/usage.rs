//! How much of a budget is used, for monitoring.

use std::sync::atomic::Ordering;

use super::{Budget, KINDS, Kind, UNBOUNDED};

/// How much of one kind of thing all clients hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The kind of thing.
    pub kind: Kind,
    /// How much is held: places, or bytes of memory.
    pub held: usize,
    /// How much may be held.
    pub max: usize,
    /// How often something was refused because of a share or the total.
    pub refused: usize,
}

const ALL: [Kind; KINDS] = [
    Kind::Calls,
    Kind::Listeners,
    Kind::RequestBytes,
    Kind::AnswerBytes,
    Kind::Connections,
    Kind::Tasks,
    Kind::TaskBytes,
    Kind::DetachedCalls,
    Kind::KeptBytes,
];

impl Budget {
    /// The usage of every kind that has a bound.
    pub(crate) fn usage(&self) -> Vec<Usage> {
        let usage = |kind: Kind| {
            let at = kind.index();
            let bound = self.0.bounds.get(at).filter(|bound| **bound != UNBOUNDED)?;
            Some(Usage {
                kind,
                held: self.0.held.get(at)?.load(Ordering::Relaxed),
                max: bound.total,
                refused: self.0.refused.get(at)?.load(Ordering::Relaxed),
            })
        };
        ALL.into_iter().filter_map(usage).collect()
    }
}

impl Kind {
    /// Its name, such as `request_bytes`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Listeners => "listeners",
            Self::RequestBytes => "request_bytes",
            Self::AnswerBytes => "answer_bytes",
            Self::Connections => "connections",
            Self::Tasks => "tasks",
            Self::TaskBytes => "task_bytes",
            Self::DetachedCalls => "detached_calls",
            Self::KeptBytes => "kept_bytes",
        }
    }
}
