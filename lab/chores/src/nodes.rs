//! Load with faults on three universe servers that share a store.
//!
//! Each server is in a separate network namespace, with one link to the clients and one to the store: a primary of
//! PostgreSQL with a synchronous standby, or three servers of NATS JetStream. Clients send commands with idempotency
//! keys over REST, over MCP sessions and over stateless MCP, each request to a different server. They repeat a failed
//! request at the next server until it is acknowledged. Readers follow the feeds from server to server. Meanwhile
//! servers and the store are killed, stopped and cut off ([`fault`]), in an order that follows from a seed. At the end
//! every server is asked for every history ([`verdict`]): each acknowledged command is there exactly once, each reader
//! received every event once and in order, and the servers agree.
//!
//! The test needs Linux, root, `ip` and the programs of PostgreSQL or NATS. Without them it is skipped, or fails if
//! `CI=true`.

mod client;
mod database;
mod fault;
mod network;
mod reader;
mod request;
mod server;
mod streams;
mod verdict;
mod world;

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use fastrand::Rng;

use self::fault::{Engine, Fault, System, can};
use self::request::Dialect;
use self::world::World;
use xtask::postgres::Postgres;
use xtask::{Result, programs, say};

/// The number of servers.
const NODES: usize = 3;
/// The number of universes. All clients write to all of them, so that servers compete for each.
const UNIVERSES: usize = 6;
/// The number of clients of each dialect.
const CLIENTS: [(Dialect, usize); 3] =
    [(Dialect::Rest, 6), (Dialect::Legacy, 3), (Dialect::Modern, 3)];
/// The number of readers that follow each universe.
const READERS: usize = 2;
/// The maximum growth of a server's memory from just after the start of the load to its end, in MiB. What a server
/// keeps of universes, clients and the newest events is bounded, and the universes here stay small.
const GROWTH: u64 = 96;
/// How long the load runs before the first fault and after the last one.
const CALM: Duration = Duration::from_secs(8);
/// How long clients and readers may take to finish when everything works.
const PATIENCE: Duration = Duration::from_secs(90);
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What keeps the universes.
    #[arg(long, value_enum, default_value_t = Engine::Postgres)]
    engine: Engine,
    /// How long the load runs, in minutes.
    #[arg(long, env = "UNIVERSE_NODES_MINUTES", default_value_t = 30.0)]
    minutes: f64,
    /// What the order of faults and requests follows from; drawn and printed by default.
    #[arg(long)]
    seed: Option<u64>,
    /// Only this fault; repeatable.
    #[arg(long, value_enum, value_name = "NAME")]
    only: Vec<Fault>,
    /// The server to load, instead of one that is built for it.
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
}

/// Loads the servers and prints the figures. `true` when nothing was lost or duplicated, and memory stayed bounded.
///
/// # Errors
/// When the servers or the store cannot be started, or `CI=true` and they cannot be isolated here.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    if let Some(missing) = missing(arguments.engine) {
        if xtask::is_ci() {
            return Err(missing.into());
        }
        say(&format!("SKIPPED: {missing}"))?;
        return Ok(true);
    }
    let binary = match &arguments.server {
        Some(binary) => binary.clone(),
        None => built(arguments.engine)?,
    };
    let seed = arguments.seed.unwrap_or_else(|| Rng::new().u64(..));
    say(&format!("seed {seed}, {} minutes", arguments.minutes))?;
    let mut system = System::start(arguments.engine, &binary, Rng::with_seed(seed))?;
    let world = World::create(std::array::from_fn(server::address))?;
    thread::scope(|scope| -> Result<bool> {
        let mut seeds = Rng::with_seed(seed);
        for (dialect, clients) in CLIENTS {
            for _ in 0..clients {
                let (world, random) = (&world, seeds.fork());
                scope.spawn(move || client::write(world, dialect, random));
            }
        }
        for reader in 0..READERS * UNIVERSES {
            let (world, random) = (&world, seeds.fork());
            scope.spawn(move || reader::follow(world, reader % UNIVERSES, random));
        }
        let played = play(&mut system, &world, arguments);
        // After a failure, the threads must end too.
        if played.is_err() {
            world.give_up();
        }
        let played = played?;
        let time = world.stop(PATIENCE);
        verdict::judge(&world, &played, time)
    })
}

/// The server that is loaded, with the feature for its store.
fn built(engine: Engine) -> Result<PathBuf> {
    if engine == Engine::Nats {
        let [line, ..] = programs::SHIPPED;
        let mut build = programs::cargo_line(line);
        if !build.args(["--features", "nats", "--release", "--quiet"]).status()?.success() {
            return Err("the server does not build".into());
        }
        return Ok(programs::judged("universe-server"));
    }
    programs::given_or_judged(None, "universe-server")
}

/// The injections of one fault.
#[derive(Debug)]
struct Injected {
    fault: Fault,
    times: u32,
    /// The longest time until it was healed.
    longest: Duration,
}

/// The faults of a load, and the memory around them.
#[derive(Debug)]
struct Played {
    faults: Vec<Injected>,
    /// The memory of each server in MiB, when the load had just begun and at its end.
    memory: Vec<[u64; 2]>,
}

/// Injects faults until the time has passed.
fn play(system: &mut System, world: &World, arguments: &Arguments) -> Result<Played> {
    let end = Instant::now() + Duration::from_secs_f64(arguments.minutes * 60.0);
    thread::sleep(CALM);
    let before = system.memory()?;
    let mut wanted: Vec<Fault> =
        if arguments.only.is_empty() { Fault::ALL.to_vec() } else { arguments.only.clone() };
    if let Some(at) = wanted.iter().position(|fault| !can(*fault)) {
        say(&format!("SKIPPED: {}: tc cannot do that on this machine", wanted.remove(at).name()))?;
    }
    let none_yet = |fault| Injected { fault, times: 0, longest: Duration::ZERO };
    let mut faults: Vec<Injected> = wanted.into_iter().map(none_yet).collect();
    // Each fault occurs once in a round. Each round has a different order.
    'play: loop {
        system.random.shuffle(&mut faults);
        for injected in &mut faults {
            if Instant::now() + CALM >= end {
                break 'play;
            }
            let begun = Instant::now();
            world.announce(injected.fault);
            system.inject(injected.fault)?;
            injected.times += 1;
            injected.longest = injected.longest.max(begun.elapsed());
            let pause = system.random.u64(2_000..6_000);
            thread::sleep(Duration::from_millis(pause));
        }
    }
    thread::sleep(CALM);
    faults.sort_unstable_by_key(|injected| injected.fault);
    let after = system.memory()?;
    let memory = before.into_iter().zip(after);
    Ok(Played { faults, memory: memory.map(<[u64; 2]>::from).collect() })
}

/// A sentence on what this machine lacks. `None` if it lacks nothing.
fn missing(engine: Engine) -> Option<String> {
    let lacks = match engine {
        Engine::Postgres if Postgres::find().is_err() => {
            "PostgreSQL is not installed (Debian: apt-get install postgresql)"
        }
        Engine::Nats if streams::program().is_none() => {
            "nats-server is not installed (2.12 or newer; the tests of contrib/universe-nats unpack one with CI=true)"
        }
        _ => return network::missing(),
    };
    Some(lacks.to_owned())
}
