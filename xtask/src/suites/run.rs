//! The runs, and how each is started and its results are read.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::excused::EXCUSED;
use super::results::{self, SuiteSubject};
use super::verdict::{Verdict, judge};
use xtask::Result;
use xtask::install::Installed;
use xtask::process as child;

/// The time limit for one run. It usually takes about two minutes, plus 30 s for each scenario that hangs.
const RUN_DEADLINE: Duration = Duration::from_secs(1200);
/// How long a suite may take to list its scenarios.
const LIST_DEADLINE: Duration = Duration::from_secs(60);

/// One suite with one choice of scenarios.
#[derive(Debug)]
pub(super) struct Run {
    /// Its name in the output.
    pub(super) name: &'static str,
    /// The folder of its results.
    folder: &'static str,
    script: &'static str,
    pub(super) side: SuiteSubject,
    scope: Scope,
}

/// The scenarios, and the revision of the protocol.
#[derive(Debug, Clone, Copy)]
enum Scope {
    /// All scenarios, each at the revision that the suite chooses.
    All,
    /// The scenarios that a revision requires, at that revision.
    Revision(&'static str),
}

const STABLE: &str = "node_modules/conformance-stable/dist/index.js";
const NEWEST: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
/// All scenarios of the newest suite for servers, one per line.
const FOR_SERVERS: &str = include_str!("../../suites/scenarios.txt");
/// All scenarios of the newest suite for clients.
const FOR_CLIENTS: &str = include_str!("../../suites/client-scenarios.txt");

/// All scenarios of the newest suite. A row of the checklist may name any of them.
pub(crate) fn scenarios() -> impl Iterator<Item = &'static str> {
    FOR_SERVERS.lines().chain(FOR_CLIENTS.lines())
}

fn committed(side: SuiteSubject) -> BTreeSet<&'static str> {
    match side {
        SuiteSubject::Server => FOR_SERVERS.lines().collect(),
        SuiteSubject::Client => FOR_CLIENTS.lines().collect(),
    }
}

/// The runs, in order. Each revision is a separate run, because the same scenario makes different checks there.
pub(super) const RUNS: [Run; 7] = [
    Run {
        name: "0.1.16 all",
        folder: "stable-all",
        script: STABLE,
        side: SuiteSubject::Server,
        scope: Scope::All,
    },
    Run {
        name: "0.2.0-alpha.12 all",
        folder: "all",
        script: NEWEST,
        side: SuiteSubject::Server,
        scope: Scope::All,
    },
    Run {
        name: "0.2.0-alpha.12 2025-11-25 required",
        folder: "2025-11-25",
        script: NEWEST,
        side: SuiteSubject::Server,
        scope: Scope::Revision("2025-11-25"),
    },
    Run {
        name: "0.2.0-alpha.12 2026-07-28 required",
        folder: "2026-07-28",
        script: NEWEST,
        side: SuiteSubject::Server,
        scope: Scope::Revision("2026-07-28"),
    },
    Run {
        name: "0.2.0-alpha.12 clients all",
        folder: "client-all",
        script: NEWEST,
        side: SuiteSubject::Client,
        scope: Scope::All,
    },
    Run {
        name: "0.2.0-alpha.12 clients 2025-11-25",
        folder: "client-2025-11-25",
        script: NEWEST,
        side: SuiteSubject::Client,
        scope: Scope::Revision("2025-11-25"),
    },
    Run {
        name: "0.2.0-alpha.12 clients 2026-07-28",
        folder: "client-2026-07-28",
        script: NEWEST,
        side: SuiteSubject::Client,
        scope: Scope::Revision("2026-07-28"),
    },
];

/// Runs the suite, or one of its scenarios, against `judged`: the URL of a server or the program of a client. Judges
/// the results. `None` when the suite does not have that scenario.
///
/// # Errors
/// When the suite does not start or end, or its results cannot be read.
pub(super) fn run(
    run: &Run,
    installed: &Installed,
    judged: &str,
    results: &Path,
    scenario: Option<&str>,
) -> Result<Option<Verdict>> {
    let mut listed = list(run, installed)?;
    let known = known(run, &listed);
    if let Some(wanted) = scenario {
        listed.retain(|name| name == wanted);
        if listed.is_empty() {
            return Ok(None);
        }
    }
    let folder = results.join(run.folder);
    if folder.exists() {
        return Err(format!("{} exists already", folder.display()).into());
    }
    fs::create_dir_all(&folder)?;
    let mut command = installed.command(run.script);
    match run.side {
        SuiteSubject::Server => command.args(["server", "--url", judged]),
        // All clients run at once.
        SuiteSubject::Client => command.args(["client", "--timeout", "60000", "--command", judged]),
    };
    command.arg("--output-dir").arg(&folder);
    choose(&mut command, run.scope, scenario);
    let finished = child::run(&mut command, RUN_DEADLINE)?;
    let mut verdict = judge(&listed, &results::read(&folder, run.side)?, &EXCUSED);
    if !known {
        let finding = "the suite lists other scenarios than the files in xtask/suites";
        verdict.findings.push(finding.to_owned());
    }
    if !finished.success && verdict.failed == 0 {
        // The suite prints the reason to stderr.
        let last = finished.stderr.lines().rfind(|line| !line.trim().is_empty());
        let last = last.unwrap_or("no reason given").trim();
        verdict.findings.push(format!("the suite failed without a failed check: {last}"));
    }
    Ok(Some(verdict))
}

/// Whether the newest suite has exactly the scenarios of the committed list, and any other run a subset of it.
fn known(run: &Run, listed: &BTreeSet<String>) -> bool {
    let committed = committed(run.side);
    let whole = run.script == NEWEST && matches!(run.scope, Scope::All);
    listed.iter().all(|name| committed.contains(name.as_str()))
        && (!whole || listed.len() == committed.len())
}

/// The options that choose the scenarios.
fn choose(command: &mut Command, scope: Scope, scenario: Option<&str>) {
    match (scope, scenario) {
        (Scope::All, None) => command.args(["--suite", "all"]),
        (Scope::All, Some(scenario)) => command.args(["--scenario", scenario]),
        (Scope::Revision(revision), None) => command.args(["--requirements", revision]),
        // The suite does not accept a scenario together with a set of requirements. For a set, it acts as with
        // `--force`.
        (Scope::Revision(revision), Some(scenario)) => {
            command.args(["--scenario", scenario, "--spec-version", revision, "--force"])
        }
    };
}

/// The scenarios for this side that the suite lists in this scope.
fn list(run: &Run, installed: &Installed) -> Result<BTreeSet<String>> {
    let mut command = installed.command(run.script);
    match run.scope {
        Scope::All => command.args(["list", run.side.option()]),
        Scope::Revision(revision) => command.args(["list", "--requirements", revision]),
    };
    let finished = child::run(&mut command, LIST_DEADLINE)?;
    let listed = results::scenarios(&finished.stdout, run.side);
    if !finished.success || listed.is_empty() {
        return Err(format!(
            "{} does not list its scenarios: {}",
            run.name,
            finished.stderr.trim()
        )
        .into());
    }
    Ok(listed)
}
