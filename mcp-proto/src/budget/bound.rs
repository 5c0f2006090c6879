//! The settings of budgets, and their defaults.

use super::Kind;

/// How much of one kind of thing may be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// By all clients together.
    pub total: usize,
    /// By one client. Half of the total unless set otherwise.
    pub share: usize,
}

/// The bounds on what clients can make a server hold.
///
/// The byte bounds cover the requests and the answers of one service. Events that are kept for sessions, tasks, the
/// buffers of connections (up to 16 KiB each way) and what the application keeps come on top.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetConfig {
    /// Calls that run, or whose answers are not wholly written, listens and calls without a client among them.
    /// 10,000 by default.
    pub calls: Bound,
    /// Open listens and GET streams. 20,000 by default.
    pub listeners: Bound,
    /// Memory for requests, in bytes: their bodies while they are read, and what they take once they are parsed, until
    /// their calls have ended. 256 MiB by default.
    pub request_bytes: Bound,
    /// Memory for answers that are not written yet, in bytes. 128 MiB by default.
    pub answer_bytes: Bound,
}

impl Bound {
    /// A total of which one client may hold half.
    pub const fn of(total: usize) -> Self {
        Self { total, share: total.div_ceil(2) }
    }

    /// The amount that counts as almost nothing: a hundredth of the total, and at least one.
    pub(super) fn little(self) -> usize {
        (self.total / 100).max(1)
    }
}

impl BudgetConfig {
    pub(crate) fn bounds(&self) -> [(Kind, Bound); 4] {
        [
            (Kind::Calls, self.calls),
            (Kind::Listeners, self.listeners),
            (Kind::RequestBytes, self.request_bytes),
            (Kind::AnswerBytes, self.answer_bytes),
        ]
    }
}

impl Default for BudgetConfig {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            calls: Bound::of(10_000),
            listeners: Bound::of(20_000),
            request_bytes: Bound::of(256 * MIB),
            answer_bytes: Bound::of(128 * MIB),
        }
    }
}
