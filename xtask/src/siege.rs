//! Attacks on a running server, and whether another of its clients notices.
//!
//! For each attack a server is started in its release build with its default bounds. A victim on 127.0.0.1 calls it
//! steadily in both eras and holds a session, a stream of that session, a running call and a listen; an attacker on
//! 127.0.0.2 does one thing to it. Server, victim and attacker are processes of their own. One line is printed for each:
//!
//! ```text
//! server     attack     succeeded/calls  p50 (quiet) p99 (quiet)  memory before > peak > after  what was held
//! ```
//!
//! Times are those of the victim's calls, from when each was due; those in brackets come from a run of the same length
//! without an attacker. Memory is the server's resident memory in MiB; "after" is what is left when the attacker has
//! been gone for five to ten seconds. Below a line stand what the attacker achieved, so that an attack that reaches
//! nothing is seen, and each limit that was not kept ([`report`]). Any of those fails the siege.
//!
//! An attack is stopped early when the server holds [`MEMORY_CAP`] MiB, so that the siege does not take the machine down.

mod attack;
mod attacker;
mod crowd;
mod http2;
mod memory;
mod part;
mod report;
mod swarm;
mod target;
mod victim;
mod wire;

use std::ffi::OsString;
use std::fs;
use std::iter;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use self::attack::{ATTACKS, Attack};
use self::memory::Process;
use self::part::{Orders, Part};
use self::report::{Outcome, Report};
use self::target::{ATTACKER, Kind, Target, VICTIM};
use crate::process::Server;
use crate::servers::Shown;
use crate::{Result, fixture, root, say, target as build_folder};

/// What ends an attack early, in MiB of the server's resident memory.
const MEMORY_CAP: u64 = 3_072;
/// How long a part may take to begin, and to end beyond its time.
const PART_DEADLINE: Duration = Duration::from_secs(30);
/// When the memory after an attack is read: at the first of these if it is back by then, at the second otherwise.
const SETTLED: Duration = Duration::from_secs(5);
const SETTLED_AT_LAST: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    /// Which server is attacked.
    #[arg(long, value_enum, default_value = "both")]
    server: Which,
    /// How long each attack lasts.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=120))]
    seconds: u64,
    /// Only this attack; repeatable.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Lists the attacks.
    #[arg(long)]
    list: bool,
    /// The address space that the server may have (RLIMIT_AS), in MiB.
    #[arg(long, value_name = "MIB")]
    address_space: Option<u64>,
    /// Writes all figures to a file as well.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(subcommand)]
    part: Option<Role>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    Universe,
    Everything,
    Both,
}

/// The processes that the siege starts.
#[derive(Debug, Subcommand)]
enum Role {
    #[command(hide = true)]
    Victim(Orders),
    #[command(hide = true)]
    Attacker(Orders),
}

/// A server that is built, and how it is started.
struct Built {
    kind: Kind,
    binary: PathBuf,
    address_space: Option<u64>,
    seconds: u64,
}

/// Runs the attacks and prints the figures of each. `true` when every limit was kept.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    match &arguments.part {
        Some(Role::Victim(orders)) => {
            let time = Duration::from_secs(orders.seconds);
            return victim::run(Target::new(orders, VICTIM), time);
        }
        Some(Role::Attacker(orders)) => {
            return attacker::run(orders, Target::new(orders, ATTACKER));
        }
        None => {}
    }
    if arguments.list {
        for attack in ATTACKS {
            say(&format!("{:<20} {}", attack.name, attack.what))?;
        }
        return Ok(true);
    }
    let known = |name: &&String| !ATTACKS.iter().any(|attack| attack.name == name.as_str());
    if let Some(unknown) = arguments.only.iter().find(known) {
        return Err(format!("there is no attack {unknown}: --list shows them").into());
    }
    let mut all = Vec::new();
    for kind in arguments.server.kinds() {
        Built::new(*kind, arguments)?.besiege(arguments, &mut all)?;
    }
    let failed = all.iter().filter(|outcome| outcome.failed()).count();
    say(&format!("{failed} of {} failed", all.len()))?;
    Ok(failed == 0)
}

impl Which {
    fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Universe => &[Kind::Universe],
            Self::Everything => &[Kind::Everything],
            Self::Both => &[Kind::Universe, Kind::Everything],
        }
    }
}

impl Target {
    fn new(orders: &Orders, from: std::net::Ipv4Addr) -> Self {
        Self {
            kind: orders.server,
            address: orders.address,
            from,
        }
    }
}

impl Built {
    fn new(kind: Kind, arguments: &Arguments) -> Result<Self> {
        let binary = match kind {
            Kind::Everything => fixture::build()?,
            Kind::Universe => universe_server()?,
        };
        Ok(Self {
            kind,
            binary,
            address_space: arguments.address_space,
            seconds: arguments.seconds,
        })
    }

    /// A quiet run and all attacks that are wanted; what was seen is printed, and written, as it comes.
    fn besiege(&self, arguments: &Arguments, all: &mut Vec<Report>) -> Result<()> {
        let quiet = self.outcome(None)?;
        let wanted = ATTACKS.iter().filter(|attack| {
            let named = arguments.only.iter().any(|name| name == attack.name);
            (named || arguments.only.is_empty()) && attack.on.contains(&self.kind)
        });
        for attack in iter::once(None).chain(wanted.map(Some)) {
            let outcome = match attack {
                None => quiet.clone(),
                Some(attack) => self.outcome(Some(attack))?,
            };
            let report = Report::new(&outcome, &quiet);
            say(&report.text)?;
            all.push(report);
            if let Some(file) = &arguments.json {
                let all: Vec<&Value> = all.iter().map(|report| &report.json).collect();
                fs::write(file, serde_json::to_vec_pretty(&all)?)?;
            }
        }
        Ok(())
    }

    /// One attack on a server of its own, or a quiet run.
    fn outcome(&self, attack: Option<&Attack>) -> Result<Outcome> {
        let data = build_folder().join(format!("siege-{}", std::process::id()));
        let server = self.start(&data)?;
        let process = Process(server.id());
        let address = server.url().trim_start_matches("http://");
        let address = address.trim_end_matches("/mcp").parse()?;
        let orders = |seconds| Orders {
            server: self.kind,
            address,
            seconds,
            attack: attack.map_or_else(String::new, |attack| attack.name.to_owned()),
        };
        let mut victim = Part::start("victim", &orders(self.seconds))?;
        if victim.line(PART_DEADLINE).as_deref() != Some("ready") {
            return Err("the victim cannot begin; its reason stands above".into());
        }
        process.forget_peak()?;
        let before = process.now()?;
        // Until the victim has looked at what it holds, which takes at most so long.
        let mut attacker = match attack {
            Some(_) => Some(Part::start("attacker", &orders(self.seconds + 30))?),
            None => None,
        };
        thread::sleep(Duration::from_millis(300));
        victim.tell("go")?;
        let end = Instant::now() + Duration::from_secs(self.seconds) + PART_DEADLINE;
        let (mut told, mut told_by_attacker, mut peak) = (None, None, before);
        while told.is_none() && Instant::now() < end && process.lives() {
            told = victim.line(Duration::from_millis(100));
            peak = peak.max(process.peak().unwrap_or(peak));
            if peak > MEMORY_CAP {
                told_by_attacker = told_by_attacker.or(attacker.take().map(ended));
            }
        }
        // Those of its calls that wait for a dead server end by themselves.
        let told = told.or_else(|| victim.line(PART_DEADLINE));
        let told_by_attacker = told_by_attacker.or(attacker.take().map(ended));
        let after = settle(process, before);
        // A server that is still busy with what the attacker left may go on growing.
        peak = peak.max(process.peak().unwrap_or(peak)).max(after);
        let died = !process.lives();
        drop(server);
        // It is not there on a server that keeps nothing.
        let _ = fs::remove_dir_all(&data);
        let parsed = |line: Option<String>| {
            line.and_then(|line| serde_json::from_str(&line).ok())
                .unwrap_or(Value::Null)
        };
        Ok(Outcome {
            server: self.kind.name(),
            attack: attack.map_or("quiet", |attack| attack.name),
            victim: parsed(told),
            attacker: parsed(told_by_attacker.flatten()),
            before,
            peak,
            after,
            died,
        })
    }

    fn start(&self, data: &std::path::Path) -> Result<Server> {
        let limit = self.address_space.map_or_else(
            || "unlimited".to_owned(),
            |mebibytes| (mebibytes * 1_024).to_string(),
        );
        let script = r#"ulimit -v "$0"; exec "$@""#;
        let mut words: Vec<OsString> = ["-c", script, &limit].map(OsString::from).to_vec();
        words.push(self.binary.clone().into());
        words.extend(["--listen", "127.0.0.1:0"].map(OsString::from));
        if self.kind == Kind::Universe {
            words.extend(["--data-dir".into(), data.into()]);
        }
        Server::start("sh".as_ref(), &words)
    }
}

/// Builds the universe server as it is shipped.
fn universe_server() -> Result<PathBuf> {
    let shown = Shown::first("universe-server")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--locked", "--release", "-p"])
        .arg(shown.program)
        .current_dir(root())
        .status()?;
    if !built.success() {
        return Err(format!("{} does not build", shown.program).into());
    }
    Ok(shown.release())
}

fn ended(attacker: Part) -> Option<String> {
    attacker.finish(PART_DEADLINE)
}

/// Waits until the server's memory is back, and tells what it is then in MiB. 0 when the server has ended.
fn settle(process: Process, before: u64) -> u64 {
    let begun = Instant::now();
    loop {
        let Ok(now) = process.now() else {
            return 0;
        };
        let time = begun.elapsed();
        let back = now <= before + report::LEFT;
        // One that takes more and more is not waited for: the machine has other users.
        if time > SETTLED_AT_LAST || (back && time > SETTLED) || now > MEMORY_CAP * 2 {
            return now;
        }
        thread::sleep(Duration::from_millis(250));
    }
}
