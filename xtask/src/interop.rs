//! The official clients against a running universe server: client × era × transport.
//!
//! Each client is a small script beside this crate (`interop/`) that connects, lists the tools, adds a star
//! with a planet with a moon to the demo universe, reads them back, asks for a universe that does not exist
//! and disconnects. It prints one line of JSON and exits with 0 or 1.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::install::{self, Installed, Toolbox};
use crate::process::{self, Server};
use crate::{Result, say, target};

/// Where the scripts and their lock files are, below `xtask`.
const SOURCE: &str = "interop";

/// How long one client may take. The Inspector starts itself anew for each of its requests.
const CLIENT_DEADLINE: Duration = Duration::from_secs(120);

/// What the server is started with, before the choice of a transport.
const SERVER_ARGUMENTS: [&str; 3] = ["--demo", "--store", "memory"];

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The universe server to test; by default the newest of the two that cargo builds.
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// Fail when a client cannot be installed, instead of skipping it.
    #[arg(long, env = "CI", default_value = "false", value_parser = is_true, action = clap::ArgAction::Set)]
    pub(crate) ci: bool,
}

/// `CI=true` and `CI=1` mean a CI run; anything else, and nothing at all, does not.
#[expect(clippy::unnecessary_wraps, reason = "the form clap asks of a parser")]
pub(crate) fn is_true(text: &str) -> std::result::Result<bool, String> {
    Ok(matches!(text, "true" | "1"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Era {
    Legacy,
    Modern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    Http,
    Stdio,
}

#[derive(Debug)]
struct Client {
    script: &'static str,
    toolbox: Toolbox,
    eras: &'static [Era],
}

const CLIENTS: [Client; 4] = [
    Client {
        script: "sdk-v1.mjs",
        toolbox: Toolbox::Node,
        eras: &[Era::Legacy],
    },
    Client {
        script: "client-v2.mjs",
        toolbox: Toolbox::Node,
        eras: &[Era::Legacy, Era::Modern],
    },
    Client {
        script: "inspector.mjs",
        toolbox: Toolbox::Node,
        eras: &[Era::Legacy, Era::Modern],
    },
    Client {
        script: "python_client.py",
        toolbox: Toolbox::Python,
        eras: &[Era::Legacy, Era::Modern],
    },
];

/// One client in one era over one transport.
#[derive(Debug)]
struct Case<'c> {
    client: &'c Client,
    era: Era,
    transport: Transport,
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

/// Runs every case and tells a table and a closing line. `true` when nothing failed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let binary = arguments.server.clone().map_or_else(built_server, Ok)?;
    let folder = target().join("interop");
    let node = install::install(Toolbox::Node, SOURCE, &folder);
    let python = install::install(Toolbox::Python, SOURCE, &folder);

    let mut server_arguments: Vec<OsString> = SERVER_ARGUMENTS.map(OsString::from).to_vec();
    server_arguments.extend(["--listen", "127.0.0.1:0"].map(OsString::from));
    let server = Server::start(&binary, &server_arguments)?;
    let mut verdicts = Vec::new();
    for case in cases() {
        let installed = match case.client.toolbox {
            Toolbox::Node => &node,
            Toolbox::Python => &python,
        };
        let verdict = match installed {
            Ok(installed) => try_case(&case, installed, &binary, server.url()),
            Err(missing) => without(missing, arguments.ci),
        };
        say(&row(&case, &verdict))?;
        verdicts.push(verdict);
    }
    drop(server);
    say(&closing_line(&verdicts))?;
    Ok(!verdicts
        .iter()
        .any(|verdict| matches!(verdict, Verdict::Failed(_))))
}

fn cases() -> impl Iterator<Item = Case<'static>> {
    [Transport::Http, Transport::Stdio]
        .into_iter()
        .flat_map(|transport| {
            CLIENTS.iter().flat_map(move |client| {
                client.eras.iter().map(move |&era| Case {
                    client,
                    era,
                    transport,
                })
            })
        })
}

fn try_case(case: &Case<'_>, installed: &Installed, binary: &Path, url: &str) -> Verdict {
    let mut command = installed.command(case.client.script);
    command.args(["--era", case.era.name(), "--suffix", &case.suffix()]);
    match case.transport {
        Transport::Http => command.args(["--url", url]),
        Transport::Stdio => command
            .arg("--command")
            .arg(binary)
            .arg("--stdio")
            .args(SERVER_ARGUMENTS),
    };
    match process::run(&mut command, CLIENT_DEADLINE) {
        Ok(finished) if finished.success => Verdict::Passed,
        Ok(finished) => Verdict::Failed(reason(&finished.stdout, &finished.stderr)),
        Err(error) => Verdict::Failed(error.to_string()),
    }
}

/// A client that is not there is a visible gap on a developer's machine and a failure in CI.
fn without(missing: &str, ci: bool) -> Verdict {
    if ci {
        Verdict::Failed(missing.to_owned())
    } else {
        Verdict::Skipped(format!("{missing} (set CI=true to make this a failure)"))
    }
}

/// What a failed script says about itself, or else the end of what it wrote to stderr.
fn reason(stdout: &str, stderr: &str) -> String {
    let report = stdout
        .lines()
        .rev()
        .find_map(|line| serde_json::from_str::<Value>(line).ok());
    let told = report
        .as_ref()
        .and_then(|report| report.get("error"))
        .and_then(Value::as_str);
    told.or_else(|| stderr.lines().rfind(|line| !line.trim().is_empty()))
        .unwrap_or("no reason given")
        .trim()
        .to_owned()
}

fn row(case: &Case<'_>, verdict: &Verdict) -> String {
    let head = format!(
        "{:<18}{:<8}{:<7}",
        case.client.script,
        case.era.name(),
        case.transport.name()
    );
    match verdict {
        Verdict::Passed => format!("{head}passed"),
        Verdict::Failed(reason) => format!("{head}FAILED: {reason}"),
        Verdict::Skipped(reason) => format!("{head}skipped: {reason}"),
    }
}

fn closing_line(verdicts: &[Verdict]) -> String {
    let count =
        |wanted: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| wanted(verdict)).count();
    let passed = count(|verdict| matches!(verdict, Verdict::Passed));
    let failed = count(|verdict| matches!(verdict, Verdict::Failed(_)));
    match count(|verdict| matches!(verdict, Verdict::Skipped(_))) {
        0 => format!("{passed} passed, {failed} failed"),
        skipped => format!("{passed} passed, {failed} failed, {skipped} skipped"),
    }
}

/// The server cargo built last, release or debug.
fn built_server() -> Result<PathBuf> {
    let name = format!("universe-server{}", std::env::consts::EXE_SUFFIX);
    ["release", "debug"]
        .map(|profile| target().join(profile).join(&name))
        .into_iter()
        .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
        .max()
        .map(|(_, path)| path)
        .ok_or_else(|| {
            "no universe-server is built: run `cargo build` or give --server PATH".into()
        })
}

impl Era {
    fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Stdio => "stdio",
        }
    }
}

impl Case<'_> {
    /// Keeps the bodies of one case apart from those of every other.
    fn suffix(&self) -> String {
        let stem = self
            .client
            .script
            .split_once('.')
            .map_or(self.client.script, |(stem, _)| stem);
        format!("{stem}-{}-{}", self.era.name(), self.transport.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_client_runs_over_both_transports_with_bodies_of_its_own() {
        let suffixes: BTreeSet<String> = cases().map(|case| case.suffix()).collect();
        assert_eq!(suffixes.len(), 14);
        assert_eq!(cases().count(), 14);
        assert!(suffixes.contains("sdk-v1-legacy-http"));
        assert!(
            !suffixes
                .iter()
                .any(|suffix| suffix.starts_with("sdk-v1-modern"))
        );
        for client in &CLIENTS {
            assert!(
                crate::root()
                    .join("xtask/interop")
                    .join(client.script)
                    .is_file(),
                "{}",
                client.script
            );
        }
    }

    #[test]
    fn a_missing_client_is_skipped_in_sight_and_fails_in_ci() {
        let skipped =
            Verdict::Skipped("node not found (set CI=true to make this a failure)".into());
        assert_eq!(without("node not found", false), skipped);
        assert_eq!(
            without("node not found", true),
            Verdict::Failed("node not found".into())
        );
        let case = cases().next().expect("a case");
        assert!(
            row(&case, &skipped)
                .ends_with("skipped: node not found (set CI=true to make this a failure)")
        );
    }

    #[test]
    fn ci_is_what_the_environment_calls_true() {
        assert_eq!(
            ["true", "1", "false", "0", ""].map(|text| is_true(text).expect("total")),
            [true, true, false, false, false]
        );
    }

    #[test]
    fn the_closing_line_counts() {
        let failed = || Verdict::Failed(String::new());
        assert_eq!(
            closing_line(&[Verdict::Passed, failed()]),
            "1 passed, 1 failed"
        );
        assert_eq!(
            closing_line(&[Verdict::Skipped(String::new()), failed()]),
            "0 passed, 1 failed, 1 skipped"
        );
    }

    #[test]
    fn the_reason_is_the_scripts_own_or_the_end_of_stderr() {
        assert_eq!(
            reason(
                "noise\n{\"ok\":false,\"error\":\"no such tool\"}\n",
                "trace"
            ),
            "no such tool"
        );
        assert_eq!(reason("", "first\nlast \n\n"), "last");
        assert_eq!(reason("", ""), "no reason given");
    }
}
