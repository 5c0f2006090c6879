//! The results of all rules.

use std::time::Duration;

use super::rule::{Rule, Verdict};
use crate::calls::Calls;
use crate::probe::{MadeCall, Revision};

/// One rule in one revision.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The rule.
    pub rule: &'static Rule,
    /// The revision in which it was asked.
    pub revision: Revision,
    /// How it was answered.
    pub verdict: Verdict,
    /// How long that took.
    pub elapsed: Duration,
}

/// All that was asked of one server.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// The server.
    pub target: String,
    /// The name and version that it gives.
    pub server: Option<String>,
    /// The revisions that it supports.
    pub revisions: Vec<Revision>,
    /// How many tools were called; `None` if none of the checked rules looks at calls.
    pub calls: Option<Calls>,
    /// The rules, in the order in which they were asked.
    pub judged: Vec<Judged>,
}

impl CheckReport {
    pub(super) fn new(target: String) -> Self {
        Self { target, server: None, revisions: Vec::new(), calls: None, judged: Vec::new() }
    }

    /// Keeps what the calls in a revision say of all tools, of the revision in which most were called.
    pub(super) fn called(&mut self, calls: Option<(Vec<MadeCall>, Calls)>, revision: Revision) {
        let Some((_, calls)) = calls.filter(|(_, calls)| calls.tools > 0) else {
            return;
        };
        if self.calls.as_ref().is_none_or(|before| before.called < calls.called) {
            self.calls = Some(Calls { revision: revision.to_string(), ..calls });
        }
    }

    /// The findings.
    pub fn findings(&self) -> impl Iterator<Item = &Judged> {
        let judged = self.judged.iter();
        judged.filter(|judged| matches!(judged.verdict, Verdict::Finding(_)))
    }
}
