//! What came of all rules for clients.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::rule::ClientRule;
use crate::check::{Level, Verdict};
use crate::results::parts;

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

    /// Writes it for people: each finding with the requests and what to change, and the counts.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_text(&self, mut out: impl Write) -> io::Result<()> {
        for judged in &self.judged {
            let rule = judged.rule;
            match &judged.verdict {
                Verdict::Holds => {}
                Verdict::Inapplicable(why) => {
                    writeln!(out, "does not apply {}: {why}", rule.id)?;
                }
                Verdict::Unclear(why) => writeln!(out, "not judged {}: {why}", rule.id)?,
                Verdict::Finding(finding) => {
                    writeln!(out, "{} {} ({})", rule.level, rule.id, rule.section)?;
                    writeln!(out, "  rule: {}", rule.title)?;
                    writeln!(out, "  seen: {}", finding.seen)?;
                    writeln!(out, "  change: {}", rule.fix)?;
                    for line in finding.exchange.to_string().lines() {
                        writeln!(out, "    {line}")?;
                    }
                }
            }
        }
        let of = |wanted: fn(&Verdict) -> bool| {
            let judged = self.judged.iter();
            judged.filter(|judged| wanted(&judged.verdict)).count()
        };
        let at = |level| {
            let findings = self.findings();
            findings.filter(|judged| judged.rule.level == level).count()
        };
        writeln!(
            out,
            "{}: {} hold, findings: {} MUST, {} SHOULD, {} practice; {} do not apply, {} not judged",
            self.client,
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
            let (verdict, seen, exchange) = parts(&judged.verdict);
            json!({
                "rule": judged.rule.id,
                "level": judged.rule.level.to_string(),
                "section": judged.rule.section,
                "verdict": verdict,
                "seen": seen,
                "exchange": exchange,
            })
        });
        json!({ "client": self.client, "rules": judged.collect::<Vec<_>>() })
    }
}
