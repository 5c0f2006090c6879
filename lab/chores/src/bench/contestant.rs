//! The servers of the comparison, and how each is built, started and called.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::figure::Measured;
use crate::era::Era;
use xtask::install::{self, Toolbox};
use xtask::process::{self, Server};
use xtask::programs::cargo;
use xtask::{Result, root, target};

/// The time limit for building one server: an hour, since the machine may be shared.
pub(super) const BUILD_DEADLINE: Duration = Duration::from_secs(3_600);
/// The npm packages, shared with the servers that test the client.
const TYPESCRIPT: &str = "lab/peers/typescript";

/// The name of a server that is not measured, and the reason.
pub(super) type Skipped = (String, String);

/// The program of a server.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
    /// The script, if the program is an interpreter.
    script: Option<PathBuf>,
}

/// A program, and one way to call it.
#[derive(Debug, Clone)]
pub(super) struct Contestant {
    pub(super) program: Program,
    /// The difference to other ways of calling the same program.
    pub(super) variant: &'static str,
    pub(super) era: Era,
    options: &'static [&'static str],
    /// Whether it has sessions that `DELETE` ends.
    pub(super) has_sessions: bool,
    /// Whether it notifies clients on GET streams.
    pub(super) has_streams: bool,
    pub(super) has_stdio: bool,
}

/// The name of a program in the comparison, and the ways to call it.
struct Kind {
    name: &'static str,
    calls: &'static [Called],
}

struct Called {
    variant: &'static str,
    era: Era,
    options: &'static [&'static str],
    has: &'static [Feature],
}

#[derive(PartialEq, Eq)]
enum Feature {
    Sessions,
    Streams,
    Stdio,
}

use Feature::{Sessions, Stdio, Streams};

const fn called(era: Era, has: &'static [Feature]) -> Called {
    Called { variant: "", era, options: &[], has }
}

const ALL: &[Feature] = &[Sessions, Streams, Stdio];

/// The programs, with the floor first: all others are compared with it.
const KINDS: [Kind; 7] = [
    Kind { name: "floor", calls: &[called(Era::Legacy, ALL), called(Era::Modern, &[Stdio])] },
    Kind { name: "ours", calls: &[called(Era::Legacy, ALL), called(Era::Modern, &[Stdio])] },
    // Without the validator, like the other libraries.
    Kind { name: "ours-http", calls: &[called(Era::Legacy, &[]), called(Era::Modern, &[])] },
    Kind {
        name: "flymcprust",
        calls: &[called(Era::Legacy, &[Sessions, Stdio]), called(Era::Modern, &[Stdio])],
    },
    Kind { name: "litemcp", calls: &[called(Era::Modern, &[])] },
    Kind {
        name: "rmcp",
        calls: &[
            called(Era::Legacy, ALL),
            Called { variant: "stateless JSON", era: Era::Legacy, options: &["--json"], has: &[] },
            called(Era::Modern, &[]),
        ],
    },
    Kind { name: NODE, calls: &[called(Era::Legacy, ALL), called(Era::Modern, &[])] },
];

const NODE: &str = "TypeScript";
/// The servers that need no other library for MCP.
const OWN: [&str; 3] = ["floor", "ours", "ours-http"];

impl Program {
    /// The command line that listens on a free port.
    fn listening(&self, options: &[&str]) -> Vec<OsString> {
        let mut words: Vec<OsString> = self.script.iter().map(Into::into).collect();
        words.push("127.0.0.1:0".into());
        words.extend(options.iter().map(Into::into));
        words
    }

    /// The command line that serves stdin and stdout.
    pub(super) fn on_stdio(&self) -> Vec<OsString> {
        let script = self.script.iter().map(Into::into);
        script.chain(["--stdio".into()]).collect()
    }

    /// The folder that cargo builds it in. `None` for scripts.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        self.script.is_none().then(|| folder(self.name))
    }
}

impl Measured for Contestant {
    fn name(&self) -> String {
        match self.variant {
            "" => self.program.name.to_owned(),
            variant => format!("{} ({variant})", self.program.name),
        }
    }

    fn era(&self) -> Era {
        self.era
    }
}

impl Contestant {
    pub(super) fn arguments(&self) -> Vec<OsString> {
        self.program.listening(self.options)
    }

    /// Starts it, on the first processor if `taskset` is installed.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) fn start(&self) -> Result<Server> {
        start(&self.program.path, self.arguments())
    }
}

/// Starts a server on the first processor, so that the load can use the others.
pub(super) fn start(program: &Path, arguments: Vec<OsString>) -> Result<Server> {
    match install::on_path("taskset") {
        Some(taskset) => {
            let mut words = vec!["-c".into(), "0".into(), program.into()];
            words.extend(arguments);
            Server::start(&taskset, &words)
        }
        None => Server::start(program, &arguments),
    }
}

/// Builds or installs the floor, and the servers whose names contain `only`. Also returns those that could not be
/// built, each with the reason.
///
/// # Errors
/// When the floor or the server on this library cannot be built.
pub(super) fn all(only: &str) -> Result<(Vec<Contestant>, Vec<Skipped>)> {
    let (mut found, mut skipped) = (Vec::new(), Vec::new());
    for kind in KINDS {
        if !kind.name.contains(only) && kind.name != "floor" {
            continue;
        }
        let program = match kind.name {
            NODE => node(),
            name => rust(name),
        };
        match program {
            Ok(program) => found.extend(kind.calls.iter().map(|call| Contestant {
                program: program.clone(),
                variant: call.variant,
                era: call.era,
                options: call.options,
                has_sessions: call.has.contains(&Sessions),
                has_streams: call.has.contains(&Streams),
                has_stdio: call.has.contains(&Stdio),
            })),
            Err(reason) if OWN.contains(&kind.name) => {
                return Err(reason);
            }
            Err(reason) => skipped.push((kind.name.to_owned(), reason.to_string())),
        }
    }
    Ok((found, skipped))
}

/// The manifest of the workspace that has a server.
pub(super) fn manifest(name: &str) -> PathBuf {
    let workspace = if OWN.contains(&name) { "lab" } else { "lab/peers" };
    root().join(workspace).join("Cargo.toml")
}

fn folder(name: &str) -> PathBuf {
    target().join("bench").join(name)
}

/// The file that records the processor seconds of the first build.
pub(super) fn build_note(name: &str) -> PathBuf {
    folder(name).join("cpu-seconds")
}

/// Builds one server with cargo, in a separate folder. The first build is clean, and its processor time is recorded.
fn rust(name: &'static str) -> Result<Program> {
    let folder = folder(name);
    let is_first = !build_note(name).exists();
    if is_first && folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut command = cargo(&["build", "--quiet", "--locked", "--release", "-p"]);
    command.arg(format!("bench-{name}")).arg("--manifest-path");
    command.arg(manifest(name));
    command.arg("--target-dir").arg(&folder);
    let before = children_seconds()?;
    process::succeed(&mut command, BUILD_DEADLINE)?;
    if is_first {
        let seconds = children_seconds()? - before;
        fs::write(build_note(name), format!("{seconds:.1}\n"))?;
    }
    Ok(Program { name, path: folder.join("release").join(format!("bench-{name}")), script: None })
}

fn node() -> Result<Program> {
    let installed =
        install::install_from(Toolbox::Node, &root().join(TYPESCRIPT), "peers-typescript")?;
    Ok(Program {
        name: NODE,
        path: installed.interpreter().to_owned(),
        script: Some(installed.folder().join("bench.mjs")),
    })
}

/// Processor seconds of all children that have ended (proc(5): fields 16 and 17 of `stat`, in hundredths).
fn children_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("a stat file without a name")?;
    let mut times = fields.split_whitespace().skip(13).map(str::parse::<f64>);
    match (times.next(), times.next()) {
        (Some(user), Some(system)) => Ok((user? + system?) / 100.0),
        _ => Err("a stat file without times".into()),
    }
}
