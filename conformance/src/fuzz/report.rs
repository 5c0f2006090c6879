//! What came of broken requests, for people and as data.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::judge::Oracle;
use crate::probe::{Exchange, Revision};
use crate::shorten::Printable;

/// A request that a server does not bear, made as small as it could be.
#[derive(Debug, Clone, Serialize)]
pub struct FuzzFinding {
    /// What shows that it is wrong.
    pub oracle: Oracle,
    /// What was seen, in a sentence.
    pub seen: String,
    /// The number of the case; with the seed it makes the request again.
    pub case: u64,
    /// The revision in which it was sent.
    pub revision: Revision,
    /// The valid request that it was made from.
    pub request: String,
    /// How that was broken.
    pub how: String,
    /// The exchange.
    #[serde(serialize_with = "in_words")]
    pub exchange: Exchange,
    /// Lines for a shell that send it once more.
    pub reproduce: String,
    /// A transcript that a server passes once this is fixed; `None` for what a transcript cannot express.
    pub transcript: Option<String>,
}

/// What came of all cases.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FuzzReport {
    /// The server.
    pub target: String,
    /// The name and version that it gives.
    pub server: Option<String>,
    /// The revisions that were asked in, in turns.
    pub revisions: Vec<Revision>,
    /// The seed of the cases.
    pub seed: u64,
    /// How many cases were tried.
    pub cases: u64,
    /// How many were not sent because they might have called a tool that changes something.
    pub left_out: u64,
    /// Valid requests that got no answer in time, such as tools that wait for something. No case is made from them.
    pub silent: BTreeSet<String>,
    /// How many failed like a finding did before.
    pub repeats: u64,
    /// How many failed once, and not on a fresh session or process.
    pub unconfirmed: u64,
    /// The first of those, in a line each.
    pub once: Vec<String>,
    /// How long it took, in seconds.
    #[serde(serialize_with = "rounded")]
    pub seconds: f64,
    /// One of each kind.
    pub findings: Vec<FuzzFinding>,
}

fn in_words<S: Serializer>(exchange: &Exchange, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(exchange)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn rounded<S: Serializer>(seconds: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((seconds * 10.0).round() / 10.0)
}

impl FuzzReport {
    pub(super) fn new(target: String, seed: u64) -> Self {
        Self { target, seed, ..Self::default() }
    }

    /// As data.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut report = json!({"fuzz": 1, "version": env!("CARGO_PKG_VERSION")});
        if let (Some(report), Value::Object(own)) = (report.as_object_mut(), json!(self)) {
            report.extend(own);
        }
        report
    }

    /// For people.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_text(&self, out: impl Write) -> io::Result<()> {
        let mut out = Printable(out);
        let server = self.server.as_ref().map_or(String::new(), |it| format!(", {it}"));
        let revisions: Vec<_> = self.revisions.iter().map(|it| it.as_str()).collect();
        writeln!(out, "{}{server}, {}", self.target, revisions.join(", "))?;
        writeln!(
            out,
            "seed {}: {} cases in {:.1} s, {} skipped because they might have called a tool that changes something\n",
            self.seed, self.cases, self.seconds, self.left_out
        )?;
        for silent in &self.silent {
            writeln!(
                out,
                "{silent}: the valid request got no answer, so no cases were made from it"
            )?;
        }
        for finding in &self.findings {
            writeln!(out, "{} ({}, case {})", finding.oracle, finding.revision, finding.case)?;
            writeln!(out, "  {}", finding.seen)?;
            writeln!(out, "  made from {} with these changes: {}", finding.request, finding.how)?;
            for line in finding.exchange.to_string().lines() {
                writeln!(out, "  {line}")?;
            }
            writeln!(out, "  to repeat:")?;
            for line in finding.reproduce.lines() {
                writeln!(out, "    {line}")?;
            }
            writeln!(out)?;
        }
        let more = match self.repeats {
            0 => String::new(),
            repeats => format!("; {repeats} more cases failed in the same way as one of them"),
        };
        writeln!(out, "{} findings{more}", self.findings.len())?;
        if self.unconfirmed > 0 {
            writeln!(
                out,
                "{} cases failed once, but not again in a new session or process:",
                self.unconfirmed
            )?;
        }
        self.once.iter().try_for_each(|once| writeln!(out, "  {once}"))
    }
}
