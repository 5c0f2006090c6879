//! The project's whole test: what a newcomer runs and what CI runs.

use std::process::Command;
use std::time::Instant;

use crate::{Result, chat, interop, process, root, say, suites, target};

/// One step of the test; the first that fails ends it.
struct Step {
    name: &'static str,
    cargo: &'static [&'static str],
    /// Environment variables besides those of the caller.
    environment: &'static [(&'static str, &'static str)],
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
        environment: &[],
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
        if !timed(step.name, || cargo(step))? {
            return Ok(false);
        }
    }
    let replayed = timed("transcripts against the binary, in both eras", replay)?;
    let mapped = timed(
        "transcripts against the star-map server, in both eras",
        replay_starmap,
    )?;
    let chatted = timed(
        "transcripts against the chat server, in both eras",
        replay_chat,
    )?;
    let conforming = timed("conformance suites", || {
        suites::run(&suites::Arguments::whole(arguments.ci))
    })?;
    let understood = timed("official clients", || interop::run(arguments))?;
    Ok(replayed && mapped && chatted && conforming && understood)
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

fn cargo(step: &Step) -> Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(step.cargo)
        .envs(step.environment.iter().copied())
        .current_dir(root())
        .status()?;
    Ok(status.success())
}

/// Replays the transcripts of the universe server against the release binary, as a stranger would.
fn replay() -> Result<bool> {
    let binaries = target().join("release");
    let arguments = ["--demo", "--store", "memory", "--listen", "127.0.0.1:0"].map(Into::into);
    let server = process::Server::start(&binaries.join("universe-server"), &arguments)?;
    // The transcripts speak to REST beside MCP.
    let url = server.url().trim_end_matches("/mcp");
    let status = Command::new(binaries.join("mcp-conformance"))
        .args(["replay", "--url", url, "--era", "both"])
        .arg(root().join("conformance/transcripts/universe"))
        .status()?;
    Ok(status.success())
}

/// The same of the star-map server, on the map beside its transcripts.
fn replay_starmap() -> Result<bool> {
    let binaries = target().join("release");
    let mut arguments = interop::starmap_arguments();
    arguments.extend(["--listen", "127.0.0.1:0"].map(Into::into));
    let server = process::Server::start(&binaries.join("starmap-server"), &arguments)?;
    let status = Command::new(binaries.join("mcp-conformance"))
        .args(["replay", "--era", "both", "--url"])
        .arg(server.url().trim_end_matches("/mcp"))
        .arg(root().join("conformance/transcripts/starmap"))
        .status()?;
    Ok(status.success())
}

/// The same of the chat server, on the exports of its tests.
fn replay_chat() -> Result<bool> {
    let binaries = target().join("release");
    for chat in chat::SERVERS {
        let server = chat.start(&binaries.join("chat-server"))?;
        let mut replay = Command::new(binaries.join("mcp-conformance"));
        let url = server.url().trim_end_matches("/mcp");
        replay.args(["replay", "--era", "both", "--url", url]);
        if let Some(fixture) = chat.fixture {
            replay.args(["--fixture", fixture]);
        }
        replay.arg(root().join("conformance/transcripts/chat"));
        if !replay.status()?.success() {
            return Ok(false);
        }
    }
    Ok(true)
}
