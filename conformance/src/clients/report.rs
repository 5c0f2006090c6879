//! What came of all rules for clients.

use super::rule::ClientRule;
use crate::check::Verdict;

/// One rule.
#[derive(Debug, Clone)]
pub struct ClientJudged {
    /// The rule.
    pub rule: &'static ClientRule,
    /// How it was answered.
    pub verdict: Verdict,
}

/// All that was seen of one client.
#[derive(Debug, Clone)]
pub struct ClientReport {
    /// The client.
    pub client: String,
    /// The rules in their order.
    pub judged: Vec<ClientJudged>,
}

impl ClientReport {
    /// The findings.
    pub fn findings(&self) -> impl Iterator<Item = &ClientJudged> {
        let judged = self.judged.iter();
        judged.filter(|judged| matches!(judged.verdict, Verdict::Finding(_)))
    }
}
