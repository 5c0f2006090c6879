//! Where and how reports are written, and the baseline that they are held against.

use std::fs;
use std::io::{IsTerminal as _, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use mcp_conformance::{Baseline, BoxError, Format, Level, Results};

use super::Verdict;

#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// The format of the report.
    #[arg(long, value_enum, default_value = "text")]
    format: Kind,
    /// Write the report to this file. Standard output then shows the text report.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The lowest level of a rule whose findings make the exit code 1. Findings of lower levels are only reported.
    /// Transcripts that differ always make it 1.
    #[arg(long, value_enum, default_value = "must", value_name = "LEVEL")]
    fail_on: FailOn,
    /// A file of known failures, as --write-baseline writes it. They do not fail the run, but a listed rule or
    /// transcript that passes now does.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the failures to this file, for --baseline. They do not fail this run.
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// Text for people.
    Text,
    /// JSON.
    Json,
    /// JUnit XML, for test tools.
    Junit,
    /// SARIF 2.1.0, for code scanners.
    Sarif,
    /// One HTML page without scripts or other files.
    Html,
    /// A Markdown page.
    Markdown,
}

/// From which level on a finding makes the run fail.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum FailOn {
    /// MUST and MUST NOT.
    Must,
    /// Those, and SHOULD and SHOULD NOT.
    Should,
    /// All of them.
    Practice,
}

/// How a report is written that has no other forms.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ReportFormat {
    /// Text for people.
    Text,
    /// JSON.
    Json,
}

/// What `--list` and `--explain` show of a rule.
pub(super) struct RuleText {
    pub(super) id: &'static str,
    pub(super) level: Level,
    pub(super) title: &'static str,
    pub(super) section: &'static str,
    /// Where it applies, as a sentence.
    pub(super) applies: String,
    pub(super) fix: &'static str,
}

/// Which rules are checked, or shown.
#[derive(Debug, Args)]
pub(super) struct RuleArgs {
    /// Check only rules whose name begins with this text; --list shows the names. Repeatable.
    #[arg(long, value_name = "RULE")]
    pub(super) only: Vec<String>,
    /// Skip rules whose name begins with this text. Repeatable.
    #[arg(long, value_name = "RULE")]
    pub(super) skip: Vec<String>,
    /// List all rules and exit.
    #[arg(long)]
    list: bool,
    /// Explain one rule and exit.
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
}

impl RuleArgs {
    /// Lists the rules or explains one of them, if that is wanted; whether it was. Otherwise rules begin with each of
    /// the texts that select some.
    pub(super) fn show(&self, rules: &[RuleText], out: &mut impl Write) -> Result<bool, BoxError> {
        if self.list {
            for rule in rules {
                writeln!(out, "{:8} {:28} {}", rule.level.to_string(), rule.id, rule.title)?;
            }
        } else if let Some(id) = &self.explain {
            let rule = rules.iter().find(|rule| rule.id == id);
            let rule = rule.ok_or_else(|| unknown_rule(rules, "there is no rule", id))?;
            writeln!(out, "{} ({})\n{}.", rule.id, rule.level, rule.title)?;
            writeln!(out, "Section: {}. {}.", rule.section, rule.applies)?;
            writeln!(out, "To fix a violation: {}.", rule.fix)?;
        } else {
            let known =
                |prefix: &&String| rules.iter().any(|it| it.id.starts_with(prefix.as_str()));
            let mut prefixes = self.only.iter().chain(&self.skip);
            if let Some(prefix) = prefixes.find(|prefix| !known(prefix)) {
                return Err(unknown_rule(rules, "no rule begins with", prefix).into());
            }
            return Ok(false);
        }
        Ok(true)
    }
}

/// What is wrong with the name of a rule, and the most similar one.
fn unknown_rule(rules: &[RuleText], problem: &str, named: &str) -> String {
    let near = |it: &&RuleText| strsim::jaro_winkler(it.id, named);
    let nearest = rules.iter().max_by(|one, other| near(one).total_cmp(&near(other)));
    let nearest = nearest.map_or("", |rule| rule.id);
    format!("{problem} {named:?}; the most similar one is {nearest}, and --list shows all")
}

impl From<Kind> for Format {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text,
            Kind::Json => Self::Json,
            Kind::Junit => Self::Junit,
            Kind::Sarif => Self::Sarif,
            Kind::Html => Self::Html,
            Kind::Markdown => Self::Markdown,
        }
    }
}

impl OutputArgs {
    /// Reads the baseline, before any request is sent.
    pub(super) fn known(&self) -> Result<Option<Baseline>, BoxError> {
        let Some(path) = &self.baseline else {
            return Ok(None);
        };
        let text = fs::read_to_string(path)
            .map_err(|error| format!("cannot read the baseline {}: {error}", path.display()))?;
        Ok(Some(Baseline::from_json(&text)?))
    }

    /// Whether people read what standard output gets.
    pub(super) fn is_text(&self) -> bool {
        self.format == Kind::Text || self.output.is_some()
    }

    /// Writes the report and the baseline. `is_reported`: whether the text was already printed.
    pub(super) fn finish(
        &self,
        mut results: Results,
        known: Option<&Baseline>,
        is_reported: bool,
        mut out: impl Write,
    ) -> Result<Verdict, BoxError> {
        results.fail_on = match self.fail_on {
            FailOn::Must => Level::Must,
            FailOn::Should => Level::Should,
            FailOn::Practice => Level::Practice,
        };
        if let Some(known) = known {
            known.apply(&mut results);
        }
        if self.is_text() {
            if is_reported {
                results.write_changes(&mut out)?
            } else {
                results.write(Format::Text, &mut out)?
            }
        }
        let refused = |path: &PathBuf, error| format!("cannot write {}: {error}", path.display());
        match &self.output {
            Some(path) => {
                let mut text = Vec::new();
                results.write(self.format.into(), &mut text)?;
                fs::write(path, text).map_err(|error| refused(path, error))?;
            }
            None if self.format == Kind::Text => {}
            None => results.write(self.format.into(), &mut out)?,
        }
        if let Some(path) = &self.write_baseline {
            let baseline = Baseline::of(&results);
            fs::write(path, baseline.to_json()).map_err(|error| refused(path, error))?;
        }
        Ok(match () {
            () if results.is_unreachable() => Verdict::Unreachable,
            () if results.has_findings() && self.write_baseline.is_none() => Verdict::Differs,
            () => Verdict::Holds,
        })
    }
}

/// A line on a terminal that says how far it is; in a log, where standard error is no terminal, one each [`QUIET`].
#[derive(Debug)]
pub(super) struct Progress {
    shown: bool,
    done: usize,
    said: Instant,
}

/// How long a log may be without a word: a person who waits for a CI job should see that it goes on.
const QUIET: Duration = Duration::from_secs(30);

/// The most characters of the line.
const WIDTH: usize = 78;

impl Progress {
    pub(super) fn new() -> Self {
        Self { shown: std::io::stderr().is_terminal(), done: 0, said: Instant::now() }
    }

    /// One more is done, or begins.
    pub(super) fn step(&mut self, what: &str) {
        self.done += 1;
        if self.shown {
            let line: String = format!("{} {what}", self.done).chars().take(WIDTH).collect();
            // A terminal that is gone needs no progress.
            let _ = write!(std::io::stderr(), "\r\x1b[2K{line}");
        } else if self.said.elapsed() >= QUIET {
            self.said = Instant::now();
            let _ = writeln!(std::io::stderr(), "{} done, now {what}", self.done);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown && self.done > 0 {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
