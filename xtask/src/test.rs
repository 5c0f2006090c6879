//! The project's whole test: what a newcomer runs and what CI runs.

use std::process::Command;
use std::time::Instant;

use crate::servers::{SERVERS, Shown};
use crate::{Result, interop, oracle, root, say, semantic, suites, target};

/// One step of the test; the first that fails ends it.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) cargo: &'static [&'static str],
    /// Environment variables besides those of the caller.
    pub(crate) environment: &'static [(&'static str, &'static str)],
}

/// In the order in which a mistake shows soonest.
const STEPS: [Step; 5] = [
    Step {
        name: "formatting",
        cargo: &["fmt", "--all", "--check"],
        environment: &[],
    },
    Step {
        name: "lints",
        cargo: &[
            "clippy",
            "--locked",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        environment: &[],
    },
    Step {
        name: "tests",
        cargo: &["test", "--locked", "--workspace"],
        // One tree, one verdict: plain `cargo test` is what looks for more, with other cases each time.
        environment: &[("PROPTEST_RNG_SEED", "20260728")],
    },
    Step {
        name: "documentation",
        cargo: &["doc", "--locked", "--workspace", "--no-deps"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    Step {
        name: "release build",
        cargo: &[
            "build",
            "--locked",
            "--release",
            "-p",
            "universe-server",
            "-p",
            "starmap-server",
            "-p",
            "spec-server",
            "-p",
            "chat-server",
            "-p",
            "mcp-conformance",
        ],
        environment: &[],
    },
];

/// Runs everything. `true` when nothing failed.
pub(crate) fn run(arguments: &interop::Arguments) -> Result<bool> {
    for step in &STEPS {
        if !timed(step.name, || Ok(command(step).status()?.success()))? {
            return Ok(false);
        }
    }
    let sensible = timed("search by sense", || {
        semantic::run(&semantic::Arguments::whole(arguments.ci))
    })?;
    let replayed = timed("transcripts against the binaries, in both eras", replay)?;
    let conforming = timed("conformance suites", || {
        suites::run(&suites::Arguments::whole(arguments.ci))
    })?;
    let judged = timed("verdicts on specs, beside OpenSpec's own", || {
        oracle::run(&oracle::Arguments::whole(arguments.ci))
    })?;
    let understood = timed("official clients", || interop::run(arguments))?;
    Ok(sensible && replayed && conforming && judged && understood)
}

fn timed(name: &str, step: impl FnOnce() -> Result<bool>) -> Result<bool> {
    say(&format!("== {name}"))?;
    let begun = Instant::now();
    let passed = step()?;
    let verdict = if passed { "passed" } else { "FAILED" };
    say(&format!(
        "== {name}: {verdict} after {} s",
        begun.elapsed().as_secs()
    ))?;
    Ok(passed)
}

/// The command of a step, to be run in the workspace.
pub(crate) fn command(step: &Step) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(step.cargo)
        .envs(step.environment.iter().copied())
        .current_dir(root());
    command
}

/// Replays the transcripts of the servers against their release binaries, as a stranger would.
fn replay() -> Result<bool> {
    for shown in SERVERS {
        let server = shown.start(&shown.release())?;
        // The transcripts name the endpoint themselves: some speak to REST beside MCP.
        let url = server.url().trim_end_matches("/mcp");
        if !replay_against(&shown, ["--url", url])? {
            return Ok(false);
        }
        if shown.on_pipes && !replay_against(&shown, ["--command", &shown.command()?])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Replays those of its transcripts that need what it serves.
fn replay_against(shown: &Shown, server: [&str; 2]) -> Result<bool> {
    let mut replay = Command::new(target().join("release/mcp-conformance"));
    replay.arg("replay").args(server).args(["--era", "both"]);
    if let Some(fixture) = shown.fixture {
        replay.args(["--fixture", fixture]);
    }
    replay.arg(
        root()
            .join("conformance/transcripts")
            .join(shown.transcripts),
    );
    Ok(replay.status()?.success())
}
