//! The required clauses of a scenario.

use super::rules;
use crate::model::Line;
use crate::validate::finding::FindingsAt;

/// A scenario and the clauses that were found in it.
#[derive(Debug)]
pub(super) struct Scenario<'t> {
    pub(super) name: &'t str,
    pub(super) line: Line,
    pub(super) has_when: bool,
    pub(super) has_then: bool,
}

/// The name in a heading of a scenario.
pub(super) fn name(line: &str) -> Option<&str> {
    line.strip_prefix("#### Scenario:").map(crate::parse::trim)
}

impl<'t> Scenario<'t> {
    pub(super) const fn new(name: &'t str, line: Line) -> Self {
        Self { name, line, has_when: false, has_then: false }
    }

    /// Reads a line of a spec: the keyword may be in bold anywhere in it, or at its start with or without a dash, in
    /// upper or lower case.
    pub(super) fn take_loosely(&mut self, line: &str) {
        let line = line.to_uppercase();
        let says = |word: &str| {
            line.contains(&format!("**{word}**"))
                || line.starts_with(&format!("{word} "))
                || line.starts_with(&format!("- {word}"))
        };
        self.has_when |= says("WHEN");
        self.has_then |= says("THEN");
    }

    /// Reads a line of a delta: the keyword must be in capitals, and without bold it must be at the start.
    pub(super) fn take_strictly(&mut self, line: &str) {
        self.has_when |= line.contains("**WHEN**") || line.starts_with("WHEN ");
        self.has_then |= line.contains("**THEN**") || line.starts_with("THEN ");
    }

    pub(super) fn check(&self, requirement: &str, findings: &mut FindingsAt<'_>) {
        let words = [
            (self.has_when, "WHEN", "what happens", rules::WHEN_MISSING),
            (self.has_then, "THEN", "what follows", rules::THEN_MISSING),
        ];
        for (has, word, what, rule) in words {
            if !has {
                let message = format!(
                    "the scenario {:?} of the requirement {requirement:?} does not say {what}; write `- **{word}** …`",
                    self.name
                );
                findings.add(rule, self.line, message);
            }
        }
    }
}
