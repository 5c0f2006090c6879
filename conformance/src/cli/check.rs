//! `check`: the rules of the protocol against a server.

use std::io::Write;
use std::time::Duration;

use clap::Args;
use mcp_conformance::{BoxError, Check, Login, Results, Subject, TargetError, Tool, rules};

use super::Verdict;
use super::login::{LoginArgs, log_in};
use super::output::{OutputArgs, Progress, RuleArgs, RuleText};
use super::server::{AskArgs, HeaderArgs, words};

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The URL of the server's MCP endpoint, such as http://127.0.0.1:3001/mcp. Repeatable.
    #[arg(long, value_name = "URL")]
    url: Vec<String>,
    /// The command that starts a server on stdin and stdout, quoted as in a shell. Repeatable.
    #[arg(long, value_name = "COMMAND")]
    command: Vec<String>,
    /// The name of a server in reports. Give one for each --url, then one for each --command. By default the URL or
    /// the program.
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    #[command(flatten)]
    headers: HeaderArgs,
    /// Also test with a second user, whose bearer token is the value of this environment variable: the server must not
    /// give this user what belongs to the first one.
    #[arg(long, value_name = "VARIABLE")]
    other_token_env: Option<String>,
    #[command(flatten)]
    login: LoginArgs,
    #[command(flatten)]
    rules: RuleArgs,
    #[command(flatten)]
    ask: AskArgs,
    /// Wait this many seconds for a keep-alive comment on a stream without events.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u64).range(1..=3600))]
    keep_alive: u64,
    /// Check this many revisions at the same time. Each has sessions and processes of its own.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u8).range(1..=16))]
    jobs: u8,
    #[command(flatten)]
    output: OutputArgs,
}

impl CheckArgs {
    pub(super) async fn run(self, mut out: impl Write) -> Result<Verdict, BoxError> {
        let texts: Vec<RuleText> = rules()
            .map(|rule| RuleText {
                id: rule.id,
                level: rule.level,
                title: rule.title,
                section: rule.section,
                applies: format!("Applies to: {}", rule.holds_for()),
                fix: rule.fix,
            })
            .collect();
        if self.rules.show(&texts, &mut out)? {
            return Ok(Verdict::Holds);
        }
        let subjects = self.subjects()?;
        let known = self.output.known()?;
        let named = self.ask.named()?;
        let mut results = Results::new(Tool::Check);
        let mut progress = Progress::new();
        for (index, (check, login)) in subjects.into_iter().enumerate() {
            let name = self.name.get(index).cloned();
            let check = match login {
                None => check,
                Some(login) => match log_in(login).await {
                    Ok(logged_in) => check.login(logged_in)?,
                    Err(error) => {
                        let subject = Subject::unreachable(check.target(), error.to_string());
                        results.targets.push(subject.named(name));
                        continue;
                    }
                },
            };
            let mut check = check
                .only(self.rules.only.iter().cloned())
                .skip(self.rules.skip.iter().cloned())
                .call(named.iter().cloned())
                .keep_alive(Duration::from_secs(self.keep_alive))
                .jobs(self.jobs.into())
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
            results.targets.push(subject.named(name));
        }
        drop(progress);
        self.output.finish(results, known.as_ref(), false, out)
    }

    /// The servers, in the order in which names are given, each with its login.
    fn subjects(&self) -> Result<Vec<(Check, Option<Login>)>, BoxError> {
        let count = self.url.len() + self.command.len();
        if count == 0 {
            return Err("no server was given; use --url URL or --command COMMAND".into());
        }
        if !self.name.is_empty() && self.name.len() != count {
            return Err(format!(
                "--name is given {} times for {count} servers; give one for each --url, then one for each --command",
                self.name.len()
            )
            .into());
        }
        let urls = self.url.iter().map(|url| {
            let check = Check::url(self.headers.target(url)?);
            let check = match &self.other_token_env {
                Some(variable) => check.other(self.headers.target_of_another(url, variable)?),
                None => check,
            };
            Ok((check, self.login.at(url, self.ask.timeout())?))
        });
        let commands = self.command.iter().map(|command| {
            let (program, arguments) = words(command)?;
            Ok((Check::command(program, arguments), None))
        });
        urls.chain(commands).collect()
    }
}
