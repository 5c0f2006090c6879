//! `load`: how many requests a server answers, and how long each takes.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use clap::Args;
use mcp_conformance::{
    BoxError, Call, Load, LoadError, LoadTarget, MAX_CONNECTIONS, MAX_ROUNDS, Revision, Target,
    TargetError,
};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use super::Verdict;
use super::output::Progress;
use super::output::ReportFormat;
use super::server::{ServerArgs, command, words};

/// How long a server that was started may take until it can be connected to.
const START: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Start the server at --url with this command, and stop it at the end. On Linux, its CPU time and memory are
    /// measured too.
    #[arg(long, value_name = "COMMAND", requires = "url")]
    start: Option<String>,
    /// Compare with another server, measured in alternating rounds: its URL, or the command that starts it on stdin and
    /// stdout.
    #[arg(long, value_name = "URL_OR_COMMAND")]
    vs: Option<String>,
    /// Start the server at the URL of --vs with this command, and stop it at the end.
    #[arg(long, value_name = "COMMAND", requires = "vs")]
    vs_start: Option<String>,
    /// A method to call, with parameters if it needs some, such as tools/list or
    /// 'resources/read={"uri":"test://one"}'. Repeatable; calls are sent in turn. By default ping or server/discover,
    /// and each list that the server offers.
    #[arg(long = "method", value_name = "METHOD[=PARAMS]")]
    methods: Vec<Call>,
    /// A tool to call, with arguments if it needs some, such as 'echo={"message":"a"}'. Repeatable.
    #[arg(long = "tool", value_name = "TOOL[=ARGUMENTS]", value_parser = |text: &str| Call::parse_tool(text))]
    tools: Vec<Call>,
    /// The number of connections, or of processes with --command. Each has one request in progress at a time.
    #[arg(long, value_name = "N", default_value = "8", value_parser = in_range(1, MAX_CONNECTIONS))]
    connections: usize,
    /// Let the connections share this many sessions, in revisions with sessions. By default each connection has its
    /// own.
    #[arg(long, value_name = "N", value_parser = in_range(1, MAX_CONNECTIONS))]
    sessions: Option<usize>,
    /// Measure each server for this many seconds.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    duration: u64,
    /// Divide the time into this many rounds. With --vs, the servers are measured in turn, round by round.
    #[arg(long, value_name = "N", default_value = "5", value_parser = in_range(1, MAX_ROUNDS))]
    rounds: usize,
    /// Send this many requests per second in total, whether or not the server keeps up. The time of a request then
    /// counts from when it was due. By default each connection sends its next request as soon as it has the answer.
    #[arg(long, value_name = "REQUESTS", value_parser = rate)]
    rate: Option<f64>,
    /// Use this revision of the protocol, such as 2025-11-25. Repeatable; of several, and by default of all, the newest
    /// that the server supports is used.
    #[arg(long, value_name = "DATE")]
    revision: Vec<Revision>,
    /// Do not count JSON-RPC errors and failed tool calls (isError) as failures.
    #[arg(long)]
    allow_errors: bool,
    /// Wait at most this many seconds for each answer.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// The format of the report.
    #[arg(long, value_enum, default_value = "text")]
    format: ReportFormat,
}

fn in_range(least: usize, most: usize) -> impl Fn(&str) -> Result<usize, String> + Clone {
    move |text| match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("not a whole number from {least} to {most}")),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|rate| (0.01..=1_000_000.0).contains(rate));
    number.ok_or_else(|| "not a number from 0.01 to 1000000".to_owned())
}

impl LoadArgs {
    pub(super) async fn run(self, mut out: impl Write) -> Result<Verdict, BoxError> {
        match self.measure().await {
            Ok(report) => {
                match self.format {
                    ReportFormat::Text => report.write_text(&mut out)?,
                    ReportFormat::Json => writeln!(out, "{:#}", report.to_json())?,
                }
                Ok(if report.has_failures() { Verdict::Differs } else { Verdict::Holds })
            }
            Err(LoadError::Target(
                error @ (TargetError::Unreachable { .. } | TargetError::NoAnswer { .. }),
            )) => {
                writeln!(out, "{error}")?;
                Ok(Verdict::Unreachable)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn measure(&self) -> Result<mcp_conformance::LoadReport, LoadError> {
        let (first, _server) = self.first().await?;
        let mut load = Load::new(first);
        let mut _other = None;
        if let Some(address) = &self.vs {
            let (second, server) = self.second(address).await?;
            _other = server;
            load = load.beside(second);
        }
        load = load
            .calls(self.methods.iter().chain(&self.tools).cloned().collect())
            .connections(self.connections)
            .duration(Duration::from_secs(self.duration))
            .rounds(self.rounds)
            .timeout(Duration::from_secs(self.timeout));
        if let Some(sessions) = self.sessions {
            load = load.sessions(sessions);
        }
        if let Some(rate) = self.rate {
            load = load.rate(rate);
        }
        if !self.revision.is_empty() {
            load = load.revisions(self.revision.clone());
        }
        if self.allow_errors {
            load = load.allow_errors();
        }
        let mut progress = Progress::new();
        load.run(|target, round| {
            progress.step(&format!(
                "{target}: {:.0} answers/s, p99 {:.1} ms",
                round.all.per_second(),
                round.all.within(0.99)
            ));
        })
        .await
    }

    async fn first(&self) -> Result<(LoadTarget, Option<Child>), LoadError> {
        let target = self.server.target().map_err(|error| unusable(&error.to_string()))?;
        started(target, self.start.as_deref()).await
    }

    async fn second(&self, address: &str) -> Result<(LoadTarget, Option<Child>), LoadError> {
        if address.starts_with("http://") || address.starts_with("https://") {
            let target = self.server.headers().apply(Target::url(address)?);
            let target = target.map_err(|error| unusable(&error.to_string()))?;
            return started(target, self.vs_start.as_deref()).await;
        }
        if self.vs_start.is_some() {
            return Err(unusable("--vs-start needs a URL in --vs"));
        }
        let target = command(address).map_err(|error| unusable(&error.to_string()))?;
        Ok((LoadTarget::new(target), None))
    }
}

/// A server, which is started if a command is given; it ends with the process that is given back.
async fn started(
    target: Target,
    start: Option<&str>,
) -> Result<(LoadTarget, Option<Child>), LoadError> {
    let Some(command) = start else {
        return Ok((LoadTarget::new(target), None));
    };
    let (program, arguments) = words(command).map_err(|error| unusable(&error.to_string()))?;
    let refused = |source: std::io::Error| TargetError::Unreachable {
        target: program.clone(),
        source: source.into(),
    };
    let mut child = Command::new(&program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(refused)?;
    let end = Instant::now() + START;
    // A request that no server of MCP does anything for.
    while let Err(error) = target.send(http::Request::default()).await {
        let ended = child.try_wait().map_err(refused)?;
        if ended.is_some() || Instant::now() > end {
            return Err(error.into());
        }
        sleep(Duration::from_millis(50)).await;
    }
    let id = child.id();
    let target = LoadTarget::new(target);
    Ok((id.map_or(target.clone(), |id| target.process(id)), Some(child)))
}

fn unusable(problem: &str) -> LoadError {
    LoadError::Unusable(problem.to_owned())
}
