//! The project's whole test: what a newcomer runs and what CI runs.

mod quick;

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;

use crate::install::{self, Toolbox};
use crate::programs::{self, cargo_line, judged};
use crate::servers::{SERVERS, Shown};
use crate::twins::Twins;
use crate::{
    Result, api, app, bench, docs, interop, lean, nodes, oracle, page, process, renames, root, say,
    semantic, siege, soak, suites, wrappers,
};

// The group's default name would clash with that of the group it contains.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Arguments {
    #[command(flatten)]
    clients: interop::Arguments,
    /// Run what a change most often breaks, and nothing that has to be installed: formatting, lints, and the tests
    /// without documentation tests, fuzz targets, databases, and those that take seconds each.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Run what takes long, too: `soak`, memory under a long load, `siege`, attacks on the servers (Linux), half an
    /// hour of `nodes`, the universe server's traces and its streams of NATS, twenty kills of it while it trims its
    /// logs, and half an hour of renames and edits with subscribers of specs.
    #[arg(long)]
    full: bool,
}

/// The time limit for a cargo step in CI: several times the usual time on two cores.
const DEADLINE: Duration = Duration::from_secs(30 * 60);

/// One step of the test; the first that fails ends it.
struct Step {
    name: &'static str,
    /// The arguments of `cargo`, separated by spaces.
    cargo: &'static str,
    /// Environment variables besides those of the caller.
    environment: &'static [(&'static str, &'static str)],
}

/// The step that needs a model for search by sense.
const TESTS: &str = "tests";

/// The steps, in the order that shows a mistake soonest.
const STEPS: [Step; 6] = [
    Step { name: "formatting", cargo: "fmt --all --check", environment: &[] },
    Step {
        name: "lints",
        cargo: "clippy --locked --workspace --all-targets -- -D warnings",
        environment: &[],
    },
    Step {
        // Without what only tests and packages have.
        name: "lints of the server as `cargo build` makes it",
        cargo: "clippy --locked -p universe-server -- -D warnings",
        environment: &[],
    },
    Step {
        name: TESTS,
        // Shows all failures, not only the first.
        cargo: "test --locked --workspace --no-fail-fast",
        // The same source gets the same verdict. Plain `cargo test` searches further, with new cases each time.
        environment: &[("PROPTEST_RNG_SEED", "20260728")],
    },
    Step {
        name: "documentation",
        // With features that are otherwise used only in tests and packages.
        cargo: "doc --locked --workspace --no-deps --features mcp-proto/oauth,postgres",
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    Step { name: "servers to be judged", cargo: programs::JUDGED, environment: &[] },
];

/// Tools that are installed while cargo compiles: both take long, and hardly slow each other down.
const INSTALLED: [(Toolbox, &str); 7] = [
    (Toolbox::Python, semantic::SOURCE),
    (Toolbox::Node, suites::SOURCE),
    (Toolbox::Node, oracle::SOURCE),
    (Toolbox::Python, api::SOURCE),
    (Toolbox::Node, app::SOURCE),
    (Toolbox::Node, interop::SOURCE),
    (Toolbox::Python, interop::SOURCE),
];

/// Chores that take too long to run after every change, in the order in which they run.
const LONG: [(&str, Chore); 8] = [
    ("soak: memory under a long load", soak::whole),
    ("kills: universes that are trimmed, servers that are many", kills),
    ("traces: the feature otlp", traces),
    ("streams: the feature nats", nats),
    ("siege: attacks on the servers", siege::whole),
    ("nodes: half an hour of load with faults", nodes::whole),
    ("nodes: the same on NATS", nodes::whole_on_nats),
    ("renames: subscribers of specs miss nothing", renames::whole),
];

/// Twenty kills of the universe server and 10,000 schedules of several servers, instead of a few.
const KILLS: Step = Step {
    name: "kills",
    cargo: "test --locked -p universe-server --test it -- care::kills simulation::",
    environment: &[("UNIVERSE_KILLS", "20"), ("UNIVERSE_SCHEDULES", "10000")],
};

/// The steps for the feature `otlp`. Few users build it, and it would make every other step compile more.
const TRACES: [Step; 2] = [
    Step {
        name: "lints of traces",
        cargo: "clippy --locked -p universe-server --features otlp --all-targets -- -D warnings",
        environment: &[],
    },
    Step {
        name: "traces",
        cargo: "test --locked -p universe-server --features otlp --test it looking::traces",
        environment: &[],
    },
];

fn traces() -> Result<bool> {
    all_pass(&TRACES)
}

fn kills() -> Result<bool> {
    all_pass(&[KILLS])
}

/// The steps for the feature `nats`. It adds more crates than the rest of the store, and needs servers that few
/// machines have.
const NATS: [Step; 4] = [
    Step {
        name: "lints of streams",
        cargo: "clippy --locked --manifest-path contrib/Cargo.toml --target-dir target -p universe-nats --all-targets -- -D warnings",
        environment: &[],
    },
    Step {
        name: "lints of servers on streams",
        cargo: "clippy --locked -p universe-server --features nats --all-targets -- -D warnings",
        environment: &[],
    },
    Step {
        name: "streams",
        // All tests: this store must follow the same rules as every store.
        cargo: "test --locked --manifest-path contrib/Cargo.toml --target-dir target -p universe-nats --test it",
        environment: &[],
    },
    Step {
        name: "servers on streams",
        cargo: "test --locked -p universe-server --features nats --test it -- nats:: nodes::",
        environment: &[],
    },
];

fn nats() -> Result<bool> {
    all_pass(&NATS)
}

fn all_pass(steps: &[Step]) -> Result<bool> {
    for step in steps {
        if !command(step).status()?.success() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `true` when nothing failed.
type Chore = fn() -> Result<bool>;

/// Runs everything. `true` when nothing failed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    if arguments.quick {
        let [formatting, lints, ..] = &STEPS;
        return quick::run(formatting, lints);
    }
    let ci = arguments.clients.ci;
    // An installation that fails here fails again in the step that needs it, and is reported there.
    let installing = thread::spawn(|| {
        for (toolbox, source) in INSTALLED {
            let _ = install::install(toolbox, source);
        }
        let _ = install::install_from(Toolbox::Node, &root().join(page::SOURCE), page::NAME);
    });
    for step in &STEPS {
        let mut command = command(step);
        if step.name == TESTS {
            command.envs(semantic::model(ci)?);
        }
        let succeeded = || match ci {
            true => process::shown(&mut command, DEADLINE),
            // The user can end it from the keyboard.
            false => Ok(command.status()?.success()),
        };
        if !timed(step.name, succeeded)? {
            return Ok(false);
        }
    }
    timed("clients, suites and tools that are installed", || Ok(installing.join().is_ok()))?;
    let mut passed = timed("the smallest server", lean::run)?;
    passed &= timed("instructions of a call", || bench::short(ci))?;
    passed &= timed("transcripts against the binaries, in both eras", || replay(ci))?;
    passed &= timed("documentation and its commands", || docs::whole(ci))?;
    passed &= timed("conformance suites", || suites::whole(ci))?;
    passed &= timed("verdicts on specs, beside OpenSpec's own", || oracle::whole(ci))?;
    passed &= timed("packages of npm and PyPI", || wrappers::whole(ci))?;
    passed &= timed("REST, beside its description", || api::whole(ci))?;
    passed &= timed("the live page, in a browser", || page::whole(ci))?;
    passed &= timed("official clients", || interop::run(&arguments.clients))?;
    passed &= timed("the view in a browser", || app::whole(ci))?;
    if !arguments.full {
        passed &= timed("servers under load, with faults", nodes::short)?;
    }
    if arguments.full {
        for (name, long) in LONG {
            passed &= timed(name, long)?;
        }
    }
    Ok(passed)
}

fn timed(name: &str, step: impl FnOnce() -> Result<bool>) -> Result<bool> {
    say(&format!("== {name}"))?;
    let begun = Instant::now();
    let passed = step()?;
    let verdict = if passed { "passed" } else { "FAILED" };
    say(&format!("== {name}: {verdict} after {} s", begun.elapsed().as_secs()))?;
    Ok(passed)
}

/// The command of a step, to be run in the workspace.
fn command(step: &Step) -> Command {
    let mut command = cargo_line(step.cargo);
    command.envs(step.environment.iter().copied());
    command
}

/// Replays the transcripts of the servers against their judged programs, as an outside user would.
fn replay(ci: bool) -> Result<bool> {
    for shown in SERVERS {
        let server = shown.start(&shown.binary())?;
        // The transcripts name the endpoint themselves: some use REST as well as MCP.
        let url = server.url().trim_end_matches("/mcp");
        if !replay_against(&shown, ["--url", url])? {
            return Ok(false);
        }
        if shown.on_pipes && !replay_against(&shown, ["--command", &shown.command()?])? {
            return Ok(false);
        }
    }
    replay_on_twins(ci)
}

/// The transcript that proves that a stream is open by the error for a second one. Only the server that holds the first
/// stream returns that error.
const ONE_SERVER: &str = "REQ-MCP-25";

/// Replays the universe server's transcripts again, with requests that alternate between two servers on one database.
fn replay_on_twins(ci: bool) -> Result<bool> {
    let shown = Shown::first("universe-server")?;
    match Twins::start(&shown.binary()) {
        Ok(twins) => {
            let url = twins.url().trim_end_matches("/mcp");
            let mut replay = Command::new(judged("mcp-conformance"));
            replay.args(["replay", "--url", url, "--era", "both"]);
            for entry in std::fs::read_dir(root().join("conformance/transcripts/universe"))? {
                let path = entry?.path();
                if path.file_stem().is_none_or(|name| name != ONE_SERVER) {
                    replay.arg(path);
                }
            }
            Ok(replay.status()?.success() & twins.both_served()?)
        }
        Err(missing) => {
            say(&format!("skipped: two servers on one database: {missing}"))?;
            Ok(!ci)
        }
    }
}

/// Replays those of its transcripts that apply to the data it serves.
fn replay_against(shown: &Shown, server: [&str; 2]) -> Result<bool> {
    let mut replay = Command::new(judged("mcp-conformance"));
    replay.arg("replay").args(server).args(["--era", "both"]);
    if let Some(fixture) = shown.fixture {
        replay.args(["--fixture", fixture]);
    }
    replay.arg(root().join("conformance/transcripts").join(shown.transcripts));
    Ok(replay.status()?.success())
}
