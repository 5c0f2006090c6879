//! `check`: the rules of the protocol against a server.

use std::io::Write;
use std::time::Duration;

use clap::{Args, ValueEnum};
use mcp_conformance::{BoxError, Check, Revision, Rule, Target, TargetError, rules};

use super::Verdict;

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The URL of the server's MCP endpoint, such as http://127.0.0.1:3001/mcp.
    #[arg(long, value_name = "URL", required_unless_present_any = ["command", "list", "explain"], conflicts_with = "command")]
    url: Option<String>,
    /// The command that starts a server on stdin and stdout, in quotes.
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
    /// Sends this header with every request, such as "Authorization: Bearer TOKEN". Repeatable.
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// Only rules whose id begins so. Repeatable.
    #[arg(long, value_name = "RULE")]
    only: Vec<String>,
    /// No rule whose id begins so. Repeatable.
    #[arg(long, value_name = "RULE")]
    skip: Vec<String>,
    /// Only this revision, such as 2025-11-25. Repeatable.
    #[arg(long, value_name = "DATE")]
    revision: Vec<Revision>,
    /// A tool that may be called though it is not annotated as read-only. Repeatable.
    #[arg(long, value_name = "TOOL")]
    call: Vec<String>,
    /// Wait at most this many seconds for each answer.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// How the report is written.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Lists the rules and asks nobody.
    #[arg(long)]
    list: bool,
    /// Says what a rule means and asks nobody.
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
}

/// What is wrong with the name of a rule, and the name that comes nearest.
fn unknown(problem: &str, named: &str) -> String {
    let near = rules().max_by(|one, other| {
        let near = |rule: &Rule| strsim::jaro_winkler(rule.id, named);
        near(one).total_cmp(&near(other))
    });
    let near = near.map_or("", |rule| rule.id);
    format!("{problem} {named:?}; the nearest is {near}, and --list names them all")
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl CheckArgs {
    pub(super) async fn run(self, mut out: impl Write) -> Result<Verdict, BoxError> {
        if self.list {
            for rule in rules() {
                writeln!(
                    out,
                    "{:8} {:28} {}",
                    rule.level.to_string(),
                    rule.id,
                    rule.title
                )?;
            }
            return Ok(Verdict::Holds);
        }
        if let Some(id) = &self.explain {
            let rule = rules().find(|rule| rule.id == id.as_str());
            let rule = rule.ok_or_else(|| unknown("there is no rule", id))?;
            writeln!(out, "{} ({})", rule.id, rule.level)?;
            writeln!(out, "{}.", rule.title)?;
            writeln!(
                out,
                "Section: {}. Holds for {}.",
                rule.section,
                rule.holds_for()
            )?;
            writeln!(out, "If it is broken: {}.", rule.fix)?;
            return Ok(Verdict::Holds);
        }
        for named in self.only.iter().chain(&self.skip) {
            if !rules().any(|rule| rule.id.starts_with(named.as_str())) {
                return Err(unknown("no rule begins with", named).into());
            }
        }
        let mut check = self
            .subject()?
            .only(self.only)
            .skip(self.skip)
            .call(self.call)
            .timeout(Duration::from_secs(self.timeout));
        if !self.revision.is_empty() {
            check = check.revisions(self.revision);
        }
        let report = match check.run(|_| {}).await {
            Ok(report) => report,
            Err(error @ TargetError::Unreachable { .. }) => {
                writeln!(out, "{error}")?;
                return Ok(Verdict::Unreachable);
            }
            Err(error) => return Err(error.into()),
        };
        match self.format {
            Format::Text => report.write_text(&mut out)?,
            Format::Json => writeln!(out, "{:#}", report.to_json())?,
        }
        Ok(match report.findings().next() {
            None => Verdict::Holds,
            Some(_) => Verdict::Differs,
        })
    }

    fn subject(&self) -> Result<Check, BoxError> {
        if let Some(url) = &self.url {
            let mut target = Target::url(url)?;
            for header in &self.header {
                let (name, value) = header.split_once(':').ok_or("a header is NAME: VALUE")?;
                target = target.header(name.trim(), value.trim())?;
            }
            return Ok(Check::url(target));
        }
        let words = self
            .command
            .as_deref()
            .and_then(shlex::split)
            .unwrap_or_default();
        let (program, arguments) = words
            .split_first()
            .ok_or("the command is empty or its quotes do not match")?;
        Ok(Check::command(
            program,
            arguments.iter().map(Into::into).collect(),
        ))
    }
}
