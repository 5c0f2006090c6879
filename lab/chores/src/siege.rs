//! Attacks on a running server, with a check whether another client notices.
//!
//! For each attack, a release build of a server is started with its default limits. A victim on 127.0.0.1 calls it
//! steadily in both eras and holds a session, a stream of that session, a running call and a listen; an attacker on
//! 127.0.0.2 does one thing to it. Server, victim and attacker are separate processes. One line is printed for each
//! attack:
//!
//! ```text
//! server     attack     succeeded/calls  p50 (quiet) p99 (quiet)  memory before > peak > after  what was held
//! ```
//!
//! Times are those of the victim's calls, measured from when each was due. Those in parentheses come from a run of the
//! same length without an attacker. Memory is the server's resident memory in MiB. "After" is the memory five to ten
//! seconds after the attacker has ended. The lines below show what the attacker achieved, so that an attack without
//! effect is visible, and each limit that was exceeded ([`report`]). Any such limit fails the siege.
//!
//! An attack is stopped early when the server holds [`run::MEMORY_CAP`] MiB, so that the siege does not take the
//! machine down.

mod attack;
mod attacker;
mod crowd;
mod http2;
pub(crate) mod memory;
mod part;
mod report;
mod run;
mod swarm;
mod target;
mod victim;
pub(crate) mod wire;

use std::fs;
use std::iter;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use self::attack::ATTACKS;
use self::part::Orders;
use self::report::Report;
use self::run::Built;
use self::target::{ATTACKER, Kind, Target, VICTIM};
use xtask::{Result, say};

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

/// The roles of the processes that the siege starts.
#[derive(Debug, Subcommand)]
enum Role {
    #[command(hide = true)]
    Victim(Orders),
    #[command(hide = true)]
    Attacker(Orders),
}

/// Runs the attacks and prints the figures of each. `true` when every limit was kept.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    match &arguments.part {
        Some(Role::Victim(orders)) => {
            let time = Duration::from_secs(orders.seconds);
            return victim::run(Target::new(orders, VICTIM), time);
        }
        Some(Role::Attacker(orders)) => {
            return attack::run(orders, Target::new(orders, ATTACKER));
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
        let built = Built::new(*kind, arguments.address_space, arguments.seconds)?;
        besiege(&built, arguments, &mut all)?;
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
        Self { kind: orders.server, address: orders.address, from }
    }
}

/// Makes a quiet run and runs the selected attacks. Prints and writes each result as soon as it is known.
fn besiege(built: &Built, arguments: &Arguments, all: &mut Vec<Report>) -> Result<()> {
    let quiet = built.outcome(None)?;
    let wanted = ATTACKS.iter().filter(|attack| {
        let named = arguments.only.iter().any(|name| name == attack.name);
        (named || arguments.only.is_empty()) && attack.on.contains(&built.kind)
    });
    for attack in iter::once(None).chain(wanted.map(Some)) {
        let outcome = match attack {
            None => quiet.clone(),
            Some(attack) => built.outcome(Some(attack))?,
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
