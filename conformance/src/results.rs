//! The results of a check, of a server or a client, or of a replay, as data from which every kind of report is written.

mod baseline;
mod case;
mod html;
mod junit;
mod markdown;
mod matrix;
mod replayed;
mod sarif;
mod text;

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::calls::Calls;
use crate::check::{CheckReport, Judged, Level, Verdict};
use crate::clients::{ClientJudged, ClientReport};
use crate::shorten::{Printable, shorten};

pub use self::baseline::{Baseline, BaselineError};
pub use self::case::{Case, Difference, FailedStep, Location, Outcome};

/// The most characters of what was seen.
const MAX_SEEN: usize = 400;
/// The version of the format.
const FORMAT: u32 = 1;

/// The results of a check, of servers or of a client, or of a replay, for one or more targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// The version of this format: 1.
    pub report: u32,
    /// What was done.
    pub tool: Tool,
    /// The version of this program.
    pub version: String,
    /// When it was done, as RFC 3339 has it, in UTC.
    pub at: String,
    /// The lowest level of a rule whose findings make the run fail.
    #[serde(default)]
    pub fail_on: Level,
    /// The targets, in the order in which they were given.
    pub targets: Vec<Subject>,
}

/// What was done with the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// They were held against the rules.
    Check,
    /// They were held against transcripts.
    Replay,
    /// They are clients, and were held against the rules for clients.
    Client,
}

/// One target, and what came of each case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// What reports call it: the name that was given, or the target.
    pub name: String,
    /// The URL or the program.
    pub target: String,
    /// The name and version that the server gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The revisions that it supports, if they were determined.
    #[serde(default)]
    pub revisions: Vec<String>,
    /// Why it could not be reached, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
    /// How many tools were called, and why the others were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
    /// The cases, in the order in which they were tried.
    pub cases: Vec<Case>,
}

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// As a text for people.
    Text,
    /// As data, in the format that [`Results`] reads.
    Json,
    /// As JUnit XML, which test tools read.
    Junit,
    /// As SARIF 2.1.0, which code scanners read.
    Sarif,
    /// As one page that needs nothing else.
    Html,
    /// As a page for a repository.
    Markdown,
}

impl Results {
    /// Results without a target.
    #[must_use]
    pub fn new(tool: Tool) -> Self {
        Self {
            report: FORMAT,
            tool,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            at: jiff::Timestamp::now()
                .round(jiff::Unit::Second)
                .map_or_else(|_| String::new(), |now| now.to_string()),
            fail_on: Level::Must,
            targets: Vec::new(),
        }
    }

    /// Reads what [`Format::Json`] wrote.
    ///
    /// # Errors
    /// The text is not that, or was written in another version of the format.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let results: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match results.report {
            FORMAT => Ok(results),
            other => Err(format!(
                "it has version {other} of the format; this program reads version {FORMAT}"
            )),
        }
    }

    /// Writes them.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&self, format: Format, mut out: impl Write) -> io::Result<()> {
        match format {
            Format::Text => text::write(self, Printable(out)),
            Format::Json => writeln!(out, "{}", serde_json::to_string_pretty(self)?),
            Format::Junit => junit::write(self, out),
            Format::Sarif => writeln!(out, "{:#}", sarif::log(self)),
            Format::Html => writeln!(Printable(out), "{}", html::page(self).into_string()),
            Format::Markdown => markdown::write(self, Printable(out)),
        }
    }

    /// Writes what a baseline changes, for people who have read how each case went.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_changes(&self, out: impl Write) -> io::Result<()> {
        text::write_changes(self, out)
    }

    /// Every case with its target.
    pub fn cases(&self) -> impl Iterator<Item = (&Subject, &Case)> {
        let targets = self.targets.iter();
        targets.flat_map(|target| target.cases.iter().map(move |case| (target, case)))
    }

    /// Whether a target could not be reached.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        self.targets.iter().any(|target| target.unreachable.is_some())
    }

    /// Whether something makes the run fail.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        self.cases().any(|(_, case)| self.fails(case))
    }

    /// Whether a case makes the run fail: a finding that no baseline knows, or one that a baseline knows no longer, of
    /// a rule of the level that counts. A transcript has no level, and always counts.
    #[must_use]
    pub fn fails(&self, case: &Case) -> bool {
        case.verdict.fails() && case.level.is_none_or(|level| level <= self.fail_on)
    }
}

impl Subject {
    /// A target that could not be reached.
    #[must_use]
    pub fn unreachable(target: String, why: String) -> Self {
        Self { name: target.clone(), target, unreachable: Some(why), ..Self::default() }
    }

    /// The same by this name.
    #[must_use]
    pub fn named(mut self, name: Option<String>) -> Self {
        self.name = name.unwrap_or(self.name);
        self
    }

    /// How many rules of each level have such cases, in words; of transcripts, how many.
    fn by_level(&self, is_wanted: fn(Outcome) -> bool) -> String {
        let wanted = || self.cases.iter().filter(|case| is_wanted(case.verdict));
        if self.cases.iter().all(|case| case.level.is_none()) {
            return wanted().count().to_string();
        }
        let levels = [Level::Must, Level::Should, Level::Practice].map(|level| {
            let rules = wanted().filter(|case| case.level == Some(level));
            let rules: BTreeSet<_> = rules.map(|case| &case.name).collect();
            format!("{} {level}", rules.len())
        });
        levels.join(", ")
    }

    /// How many cases went so.
    fn count(&self, outcome: Outcome) -> usize {
        self.cases.iter().filter(|case| case.verdict == outcome).count()
    }
}

impl From<&CheckReport> for Subject {
    fn from(report: &CheckReport) -> Self {
        let cases = report.judged.iter().map(|Judged { rule, revision, verdict, elapsed }| Case {
            revision: revision.to_string(),
            seconds: Some(elapsed.as_secs_f64()),
            ..Case::of(rule.id, rule.title, rule.level, rule.section).with(verdict, rule.fix)
        });
        Self {
            name: report.target.clone(),
            target: report.target.clone(),
            server: report.server.clone(),
            revisions: report.revisions.iter().map(ToString::to_string).collect(),
            unreachable: None,
            calls: report.calls.clone(),
            cases: cases.collect(),
        }
    }
}

impl From<&ClientReport> for Subject {
    fn from(report: &ClientReport) -> Self {
        let cases = report.judged.iter().map(|ClientJudged { rule, verdict }| {
            Case::of(rule.id, rule.title, rule.level, rule.section).with(verdict, rule.fix)
        });
        let (name, target) = (report.client.clone(), report.client.clone());
        Self { name, target, cases: cases.collect(), ..Self::default() }
    }
}

impl Case {
    fn of(id: &str, title: &str, level: Level, section: &str) -> Self {
        Self {
            name: id.to_owned(),
            title: title.to_owned(),
            level: Some(level),
            section: Some(section.to_owned()),
            ..Self::default()
        }
    }

    /// How the rule went, and what to change if it does not hold.
    fn with(mut self, verdict: &Verdict, fix: &str) -> Self {
        self.verdict = match verdict {
            Verdict::Holds => Outcome::Holds,
            Verdict::Finding(finding) => {
                self.seen = Some(shorten(&finding.seen, MAX_SEEN));
                self.exchange = Some(finding.exchange.to_string());
                self.fix = Some(fix.to_owned());
                Outcome::Finding
            }
            Verdict::Inapplicable(why) => {
                self.seen = Some(why.clone());
                Outcome::Inapplicable
            }
            Verdict::Unclear(why) => {
                self.seen = Some(why.clone());
                Outcome::Unclear
            }
        };
        self
    }
}
