//! What came of all rules.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::rule::{Level, Revision, Rule, Verdict};

/// One rule in one revision.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The rule.
    pub rule: &'static Rule,
    /// The revision in which it was asked.
    pub revision: Revision,
    /// How it was answered.
    pub verdict: Verdict,
}

/// All that was asked of one server.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// The server.
    pub target: String,
    /// The revisions that it speaks.
    pub revisions: Vec<Revision>,
    /// The rules, in the order in which they were asked.
    pub judged: Vec<Judged>,
}

impl CheckReport {
    pub(super) fn new(target: String) -> Self {
        Self {
            target,
            revisions: Vec::new(),
            judged: Vec::new(),
        }
    }

    /// The findings.
    pub fn findings(&self) -> impl Iterator<Item = &Judged> {
        let judged = self.judged.iter();
        judged.filter(|judged| matches!(judged.verdict, Verdict::Finding(_)))
    }

    /// Writes it for people: each finding with its exchange and what to change, and the counts.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_text(&self, mut out: impl Write) -> io::Result<()> {
        for judged in self.findings() {
            let (rule, Verdict::Finding(finding)) = (judged.rule, &judged.verdict) else {
                continue;
            };
            writeln!(
                out,
                "{} {} ({}, {})",
                rule.level, rule.id, judged.revision, rule.section
            )?;
            writeln!(out, "  rule: {}", rule.title)?;
            writeln!(out, "  seen: {}", finding.seen)?;
            writeln!(out, "  change: {}", rule.fix)?;
            for line in finding.exchange.to_string().lines() {
                writeln!(out, "    {line}")?;
            }
        }
        for judged in &self.judged {
            if let Verdict::Unclear(why) = &judged.verdict {
                writeln!(
                    out,
                    "unclear {} ({}): {why}",
                    judged.rule.id, judged.revision
                )?;
            }
        }
        let of = |wanted: fn(&Verdict) -> bool| {
            self.judged
                .iter()
                .filter(|judged| wanted(&judged.verdict))
                .count()
        };
        let at = |level| {
            self.findings()
                .filter(|judged| judged.rule.level == level)
                .count()
        };
        let spoken: Vec<_> = self.revisions.iter().map(|it| it.as_str()).collect();
        writeln!(
            out,
            "{}: speaks {}; {} hold, findings: {} MUST, {} SHOULD, {} practice; {} do not apply, {} unclear",
            self.target,
            if spoken.is_empty() {
                "no known revision".to_owned()
            } else {
                spoken.join(", ")
            },
            of(|it| matches!(it, Verdict::Holds)),
            at(Level::Must),
            at(Level::Should),
            at(Level::Practice),
            of(|it| matches!(it, Verdict::Inapplicable(_))),
            of(|it| matches!(it, Verdict::Unclear(_))),
        )
    }

    /// The same as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let judged = self.judged.iter().map(|judged| {
            let (verdict, why, exchange) = match &judged.verdict {
                Verdict::Holds => ("holds", None, None),
                Verdict::Finding(it) => ("finding", Some(&it.seen), Some(it.exchange.to_string())),
                Verdict::Inapplicable(why) => ("inapplicable", Some(why), None),
                Verdict::Unclear(why) => ("unclear", Some(why), None),
            };
            json!({
                "rule": judged.rule.id,
                "level": judged.rule.level.to_string(),
                "section": judged.rule.section,
                "revision": judged.revision.as_str(),
                "verdict": verdict,
                "seen": why,
                "exchange": exchange,
            })
        });
        let revisions: Vec<_> = self.revisions.iter().map(|it| it.as_str()).collect();
        json!({
            "target": self.target,
            "revisions": revisions,
            "rules": judged.collect::<Vec<_>>(),
        })
    }
}
