//! `check`: the rules of the protocol against a server.

use std::io::Write;
use std::time::Duration;

use clap::Args;
use mcp_conformance::{BoxError, Check, Results, Subject, TargetError, Tool, rules};

use super::Verdict;
use super::output::{OutputArgs, Progress, unknown_rule};
use super::server::{AskArgs, HeaderArgs, words};

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The URL of the server's MCP endpoint, such as http://127.0.0.1:3001/mcp. Repeatable.
    #[arg(long, value_name = "URL")]
    url: Vec<String>,
    /// The command that starts a server on stdin and stdout, in quotes. Repeatable.
    #[arg(long, value_name = "COMMAND")]
    command: Vec<String>,
    /// What reports call a target: once for each --url, then for each --command.
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    #[command(flatten)]
    headers: HeaderArgs,
    /// Send the value of this environment variable as the bearer token of another user, who must not get what belongs
    /// to the first.
    #[arg(long, value_name = "VARIABLE")]
    other_token_env: Option<String>,
    /// Only rules whose id has this prefix. Repeatable.
    #[arg(long, value_name = "RULE")]
    only: Vec<String>,
    /// No rule whose id has this prefix. Repeatable.
    #[arg(long, value_name = "RULE")]
    skip: Vec<String>,
    #[command(flatten)]
    ask: AskArgs,
    /// How many seconds a stream may be quiet until a comment keeps it alive.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u64).range(1..=3600))]
    keep_alive: u64,
    #[command(flatten)]
    output: OutputArgs,
    /// Lists the rules, without a server.
    #[arg(long)]
    list: bool,
    /// Explains a rule, without a server.
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
}

impl CheckArgs {
    pub(super) async fn run(self, mut out: impl Write) -> Result<Verdict, BoxError> {
        if self.list {
            for rule in rules() {
                writeln!(out, "{:8} {:28} {}", rule.level.to_string(), rule.id, rule.title)?;
            }
            return Ok(Verdict::Holds);
        }
        if let Some(id) = &self.explain {
            let rule = rules().find(|rule| rule.id == id.as_str());
            let rule =
                rule.ok_or_else(|| unknown_rule(rules().map(|it| it.id), "there is no rule", id))?;
            writeln!(out, "{} ({})", rule.id, rule.level)?;
            writeln!(out, "{}.", rule.title)?;
            writeln!(out, "Section: {}. Holds for {}.", rule.section, rule.holds_for())?;
            writeln!(out, "If it is broken: {}.", rule.fix)?;
            return Ok(Verdict::Holds);
        }
        for named in self.only.iter().chain(&self.skip) {
            if !rules().any(|rule| rule.id.starts_with(named.as_str())) {
                let ids = rules().map(|it| it.id);
                return Err(unknown_rule(ids, "no rule begins with", named).into());
            }
        }
        let subjects = self.subjects()?;
        let known = self.output.known()?;
        let mut results = Results::new(Tool::Check);
        let mut progress = Progress::new();
        for (index, check) in subjects.into_iter().enumerate() {
            let mut check = check
                .only(self.only.iter().cloned())
                .skip(self.skip.iter().cloned())
                .call(self.ask.call.iter().cloned())
                .keep_alive(Duration::from_secs(self.keep_alive))
                .timeout(self.ask.timeout());
            if !self.ask.revision.is_empty() {
                check = check.revisions(self.ask.revision.clone());
            }
            let run = check.run(|judged| {
                progress.step(&format!("{} ({})", judged.rule.id, judged.revision));
            });
            let subject = match run.await {
                Ok(report) => Subject::from(&report),
                Err(error @ TargetError::Unreachable { .. }) => {
                    Subject::unreachable(check.target(), error.to_string())
                }
                Err(error) => return Err(error.into()),
            };
            results.targets.push(subject.named(self.name.get(index).cloned()));
        }
        drop(progress);
        self.output.finish(results, known.as_ref(), false, out)
    }

    /// The servers, in the order in which names are given.
    fn subjects(&self) -> Result<Vec<Check>, BoxError> {
        let count = self.url.len() + self.command.len();
        if count == 0 {
            return Err("there is no server to check; give --url URL or --command COMMAND".into());
        }
        if !self.name.is_empty() && self.name.len() != count {
            return Err(format!(
                "--name is given {} times for {count} targets; give one for each --url, then for each --command",
                self.name.len()
            )
            .into());
        }
        let urls = self.url.iter().map(|url| {
            let check = Check::url(self.headers.target(url)?);
            Ok(match &self.other_token_env {
                Some(variable) => check.other(self.headers.target_of_another(url, variable)?),
                None => check,
            })
        });
        let commands = self.command.iter().map(|command| {
            let (program, arguments) = words(command)?;
            Ok(Check::command(program, arguments))
        });
        urls.chain(commands).collect()
    }
}
