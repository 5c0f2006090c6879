//! `client`: the rules of the protocol against a client.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write};
use std::time::Duration;

use clap::Args;
use mcp_conformance::{BoxError, ClientCheck, Results, Subject, Tool, client_rules};

use super::Verdict;
use super::output::{OutputArgs, RuleArgs, RuleText};

#[derive(Debug, Args)]
pub(crate) struct ClientArgs {
    /// The command that runs the client, after `--`. `{url}` in it is replaced by the URL of a test server; without
    /// `{url}`, the URL is added as the last argument. The client should connect, list the tools, call each tool with
    /// the JSON in the environment variable MCP_TOOL_ARGUMENTS, and exit.
    #[arg(last = true, required_unless_present_any = ["list", "explain"], value_name = "COMMAND")]
    command: Vec<OsString>,
    #[command(flatten)]
    rules: RuleArgs,
    /// Stop the client after this many seconds in each of the 11 scenes.
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    #[command(flatten)]
    output: OutputArgs,
}

impl ClientArgs {
    pub(super) async fn run(self, mut out: impl Write) -> Result<Verdict, BoxError> {
        let texts: Vec<RuleText> = client_rules()
            .map(|rule| {
                let scenes: Vec<&str> = rule.scenes.iter().map(|scene| scene.name()).collect();
                RuleText {
                    id: rule.id,
                    level: rule.level,
                    title: rule.title,
                    section: rule.section,
                    applies: format!("Scenes: {}", scenes.join(", ")),
                    fix: rule.fix,
                }
            })
            .collect();
        if self.rules.show(&texts, &mut out)? {
            return Ok(Verdict::Holds);
        }
        let known = self.output.known()?;
        let mut words = self.command.into_iter();
        let program = words.next().ok_or("the command is empty")?;
        let check = ClientCheck::command(program.clone(), words.collect())
            .only(self.rules.only)
            .skip(self.rules.skip)
            .timeout(Duration::from_secs(self.timeout));
        let shows = std::io::stderr().is_terminal();
        let report = check.run(|scene| {
            if shows {
                let _ = writeln!(std::io::stderr(), "scene {scene} …");
            }
        });
        let subject = match report.await {
            Ok(report) => Subject::from(&report),
            Err(error) => {
                let program = program.to_string_lossy().into_owned();
                let why = format!("cannot run {program}: {error}");
                Subject::unreachable(program, why)
            }
        };
        let mut results = Results::new(Tool::Client);
        results.targets.push(subject);
        self.output.finish(results, known.as_ref(), false, out)
    }
}
