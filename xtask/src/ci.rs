//! The whole test: what CI runs, and a part of it that is quick enough to run before each push.

mod quick;

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use xtask::install::{self, Toolbox};
use xtask::programs::{JUDGED, cargo_line, workspaces};
use xtask::{Result, is_ci, process, root, say};

use crate::{api, app, interop, oracle, page, pypi, semantic, suites};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Run what a change most often breaks, and nothing that has to be installed: formatting, lints, and the tests
    /// without documentation tests, fuzz targets, databases, and those that take seconds each.
    #[arg(long, conflicts_with_all = ["full", "after_tests"])]
    quick: bool,
    /// Run what takes long, too: `soak`, memory under a long load, `siege`, attacks on the servers (Linux), half an
    /// hour of `nodes`, the universe server's traces and its streams of NATS, twenty kills of it while it trims its
    /// logs, and half an hour of renames and edits with subscribers of specs.
    #[arg(long)]
    full: bool,
    /// Leave out `cargo test --workspace`, which has just passed.
    #[arg(long)]
    after_tests: bool,
}

/// The time limit for a cargo step in CI: several times the usual time on two cores.
const DEADLINE: Duration = Duration::from_secs(30 * 60);

/// The same source gets the same verdict. Plain `cargo test` searches further, with new cases each time.
const SAME_CASES: [&str; 2] = ["PROPTEST_RNG_SEED", "20260728"];

/// Chores that run after the programs are built, each by its command line.
const CHORES: [(&str, &str); 15] = [
    (
        "lints of traces",
        "cargo clippy --locked -p universe-server --features otlp --all-targets -- -D warnings",
    ),
    ("dependencies and links", "audit"),
    ("the public interface, beside its lists", "public-api"),
    ("the smallest server", "lean"),
    ("instructions of a call", "bench --short"),
    ("transcripts against the binaries, in both eras", "replay"),
    ("documentation and its commands", "docs check"),
    ("conformance suites", "suites"),
    ("verdicts on specs, beside OpenSpec's own", "oracle"),
    ("packages of npm and PyPI", "wrappers"),
    ("REST, beside its description", "api"),
    ("the live page, in a browser", "page"),
    ("official clients", "interop"),
    ("the view in a browser", "app"),
    ("servers under load, with faults", "nodes"),
];

/// How long the servers are under load, in minutes, unless the variable is set; with `--full`, half an hour.
const LOADED: [&str; 2] = ["UNIVERSE_NODES_MINUTES", "1"];

/// Chores that take too long to run after every change. The universe server's traces and its streams of NATS add more
/// crates than the rest, and few users build them.
const LONG: [(&str, &str); 9] = [
    ("memory under a long load", "soak"),
    (
        "kills, and many schedules of several servers",
        "cargo test --locked -p universe-server --test it -- care::kills simulation::",
    ),
    // Without what only tests and packages have.
    ("lints of the server alone", "cargo clippy --locked -p universe-server -- -D warnings"),
    ("traces", "cargo test --locked -p universe-server --features otlp --test it looking::traces"),
    (
        "lints of servers on streams",
        "cargo clippy --locked -p universe-server --features nats --all-targets -- -D warnings",
    ),
    (
        "servers on streams",
        "cargo test --locked -p universe-server --features nats --test it -- nats:: nodes::",
    ),
    ("attacks on the servers", "siege"),
    ("servers on NATS under load, with faults", "nodes --engine nats"),
    ("subscribers of specs under renames", "renames"),
];

/// The environment of long steps: twenty kills and 10,000 schedules, instead of a few.
const MANY: [[&str; 2]; 2] = [["UNIVERSE_KILLS", "20"], ["UNIVERSE_SCHEDULES", "10000"]];

/// Tools that are installed while cargo compiles: both take long, and hardly slow each other down.
const INSTALLED: [(Toolbox, &str); 8] = [
    (Toolbox::Python, pypi::SOURCE),
    (Toolbox::Python, semantic::SOURCE),
    (Toolbox::Node, suites::SOURCE),
    (Toolbox::Node, oracle::SOURCE),
    (Toolbox::Python, api::SOURCE),
    (Toolbox::Node, app::SOURCE),
    (Toolbox::Node, interop::SOURCE),
    (Toolbox::Python, interop::SOURCE),
];

/// Runs everything. `true` when nothing failed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    if arguments.quick {
        return quick::run();
    }
    // An installation that fails here fails again in the step that needs it, and is reported there.
    let installing = thread::spawn(|| {
        for (toolbox, source) in INSTALLED {
            let _ = install::install(toolbox, source);
        }
        let _ = install::install_from(Toolbox::Node, &root().join(page::SOURCE), page::NAME);
    });
    if !compiled(arguments.after_tests)? {
        return Ok(false);
    }
    timed("clients, suites and tools that are installed", || Ok(installing.join().is_ok()))?;
    let mut passed = true;
    for (name, line) in CHORES {
        passed &= step(name, line, &if arguments.full { vec![] } else { vec![LOADED] })?;
    }
    if arguments.full {
        for (name, line) in LONG {
            passed &= step(name, line, &MANY)?;
        }
    }
    // At the end: their programs are not needed before, and cargo's own figures are then easy to find.
    for (name, manifest) in workspaces().filter(|(name, _)| *name != "root") {
        passed &= tested(name, manifest)?;
    }
    Ok(passed)
}

/// What cargo checks and builds, in the order that shows a mistake soonest. The first step that fails ends it.
fn compiled(after_tests: bool) -> Result<bool> {
    if !(formatted()? && linted()?) {
        return Ok(false);
    }
    // With examples, cargo chooses the same features as for lints, and compiles nothing again.
    for (name, manifest) in workspaces().filter(|(name, _)| *name != "lab") {
        let line = format!(
            "cargo doc --locked --manifest-path {manifest} --workspace --no-deps --lib --bins --examples"
        );
        let strict = [["RUSTDOCFLAGS", "-D warnings"]];
        if !step(&format!("documentation: {name}"), &line, &strict)? {
            return Ok(false);
        }
    }
    for (_, manifest) in workspaces().filter(|(name, _)| *name == "root" && !after_tests) {
        if !tested("root", manifest)? {
            return Ok(false);
        }
    }
    for line in JUDGED {
        if !step("servers to be judged", &format!("cargo {line}"), &[])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The tests of one workspace.
fn tested(name: &str, manifest: &str) -> Result<bool> {
    let mut environment = vec![SAME_CASES.map(str::to_owned)];
    let model = if name == "services" { semantic::model()? } else { None };
    environment.extend(model.map(|(name, model)| [name.to_owned(), model.display().to_string()]));
    let environment: Vec<_> =
        environment.iter().map(|pair| pair.each_ref().map(String::as_str)).collect();
    // Shows all failures, not only the first.
    let line = format!("cargo test --locked --manifest-path {manifest} --workspace --no-fail-fast");
    step(&format!("tests: {name}"), &line, &environment)
}

fn formatted() -> Result<bool> {
    in_each("formatting", "fmt", "--all --check")
}

fn linted() -> Result<bool> {
    in_each("lints", "clippy --locked", "--workspace --all-targets -- -D warnings")
}

fn in_each(what: &str, command: &str, options: &str) -> Result<bool> {
    for (name, manifest) in workspaces() {
        let line = format!("cargo {command} --manifest-path {manifest} {options}");
        if !step(&format!("{what}: {name}"), &line, &[])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Runs a command of cargo, or a chore, with these variables besides those of the caller, unless they are set there.
fn step(name: &str, line: &str, environment: &[[&str; 2]]) -> Result<bool> {
    timed(name, || {
        let mut command = match line.strip_prefix("cargo ") {
            Some(line) => cargo_line(line),
            None => {
                let mut chore = Command::new(std::env::current_exe()?);
                chore.args(line.split_whitespace());
                chore
            }
        };
        let unset = environment.iter().filter(|[name, _]| std::env::var_os(name).is_none());
        command.envs(unset.map(|[name, value]| (name, value)));
        if is_ci() && line.starts_with("cargo ") {
            process::shown(&mut command, DEADLINE)
        } else {
            // The user can end it from the keyboard.
            Ok(command.status()?.success())
        }
    })
}

fn timed(name: &str, step: impl FnOnce() -> Result<bool>) -> Result<bool> {
    say(&format!("== {name}"))?;
    let begun = Instant::now();
    let passed = step()?;
    let verdict = if passed { "passed" } else { "FAILED" };
    say(&format!("== {name}: {verdict} after {} s", begun.elapsed().as_secs()))?;
    Ok(passed)
}
