//! Runs the official conformance suites against `mcp-proto/examples/everything.rs` and
//! `mcp-client/examples/conformance_client.rs`, and judges their results.
//!
//! A suite reports success even if it skipped half of its checks: it counts neither warnings nor skips. Here each
//! result file is read, and every result other than success needs a reason in `suites/excused.rs`.

mod excused;
mod results;
mod run;
mod verdict;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use self::results::SuiteSubject;
pub(crate) use self::run::scenarios;
use self::run::{RUNS, Run};
use self::verdict::Verdict;
use xtask::install::{self, Installed, Toolbox};
use xtask::{Result, fixture, is_ci, say};

/// The folder below `xtask` with the lock file of the suites.
pub(crate) const SOURCE: &str = "suites";

#[derive(Debug, Default, Args)]
pub(crate) struct Arguments {
    /// The one scenario to run; by default all.
    scenario: Option<String>,
    /// Keep the suites' own result files in this folder, one folder for each run; none of them may exist yet.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Test the server at this address, and no client, instead of the fixtures, which are built otherwise.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

/// Runs the suites one after another and reports the result of each. `true` when none has a finding.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let installed = install::install(Toolbox::Node, SOURCE);
    let Some(installed) = install::or_report("the suites", installed)? else {
        return Ok(!is_ci());
    };
    let results = match &arguments.keep {
        Some(keep) => std::path::absolute(keep)?,
        None => {
            let results = installed.folder().join("results");
            if results.exists() {
                std::fs::remove_dir_all(&results)?;
            }
            results
        }
    };
    let fixtures = match &arguments.url {
        Some(_) => None,
        None => Some(fixture::build_for_tests()?),
    };
    // The servers end when this function returns, in every case.
    let server = fixtures.as_ref().map(|it| fixture::start(&it.server)).transpose()?;
    let twins = fixtures.as_ref().map(|it| fixture::start_twins(&it.server)).transpose()?;
    let url = match (&arguments.url, &server) {
        (Some(url), _) => url.as_str(),
        (None, Some(server)) => server.url(),
        (None, None) => return Err("there is no server to test".into()),
    };
    let client = fixtures.as_ref().map(|it| it.client.display().to_string());
    let scenario = arguments.scenario.as_deref();
    let mut verdicts = Vec::new();
    for run in &RUNS {
        let judged = match run.side {
            SuiteSubject::Server => Some(url),
            SuiteSubject::Client => client.as_deref(),
        };
        if let Some(judged) = judged {
            verdicts.extend(try_run(run, &installed, judged, &results, scenario)?);
        }
    }
    if let Some((_, balancer)) = &twins {
        say("on two servers that share everything, each request at the other one:")?;
        let (url, results) = (balancer.url(), results.join("twins"));
        for run in RUNS.iter().filter(|run| run.side == SuiteSubject::Server) {
            verdicts.extend(try_run(run, &installed, &url, &results, scenario)?);
        }
        if !balancer.all_served()? {
            return Ok(false);
        }
    }
    if verdicts.is_empty() {
        return Err("no run has such a scenario".into());
    }
    Ok(verdicts.iter().all(|verdict| verdict.findings.is_empty()))
}

/// Makes one run, and reports it in one line, plus one line for each skip and finding. `None` when the run does not
/// have the scenario.
fn try_run(
    run: &Run,
    installed: &Installed,
    judged: &str,
    results: &Path,
    scenario: Option<&str>,
) -> Result<Option<Verdict>> {
    let begun = Instant::now();
    let Some(verdict) = run::run(run, installed, judged, results, scenario)? else {
        return Ok(None);
    };
    let seconds = begun.elapsed().as_secs();
    say(&format!("{:<38} {verdict}, {seconds} s", run.name))?;
    for line in verdict.excused.iter().chain(&verdict.findings) {
        say(&format!("  {line}"))?;
    }
    Ok(Some(verdict))
}
