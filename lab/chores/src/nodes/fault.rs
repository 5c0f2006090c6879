//! The faults that are injected into the servers and the database, and how each is healed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use clap::ValueEnum;
use fastrand::Rng;
use sha2::{Digest as _, Sha256};

use super::NODES;
use super::database::Database;
use super::network::{self, Network, Side};
use super::server::{Recipe, Server};
use super::streams::Streams;
use xtask::{Result, target};

/// A fault. Each is healed before the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Fault {
    /// A server is killed, and started again after some seconds.
    Kill,
    /// All servers are ended (SIGTERM) and started again, one after the other.
    Rolling,
    /// The primary is killed and the standby takes its place; then another standby is made. On NATS the leader is
    /// killed, and comes back.
    Failover,
    /// As `Failover`, while a server is frozen: it goes on with connections to a primary that is gone.
    FrozenFailover,
    /// The primary crashes and is started again. On NATS all servers do.
    Crash,
    /// A server is cut off from the database: nothing comes through, and neither end sees that.
    CutDatabase,
    /// A server is cut off from its clients in the same way.
    CutClients,
    /// The link of a server to the database is slow and loses packets.
    Slow,
    /// A server is stopped (SIGSTOP) and goes on (SIGCONT).
    Freeze,
}

impl Fault {
    pub(super) const ALL: [Self; 9] = [
        Self::Kill,
        Self::Rolling,
        Self::Failover,
        Self::FrozenFailover,
        Self::Crash,
        Self::CutDatabase,
        Self::CutClients,
        Self::Slow,
        Self::Freeze,
    ];

    /// The printed name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kill => "server killed",
            Self::Rolling => "rolling restart",
            Self::Failover => "failover",
            Self::FrozenFailover => "failover, one server frozen",
            Self::Crash => "database crashed",
            Self::CutDatabase => "cut off from database",
            Self::CutClients => "cut off from clients",
            Self::Slow => "slow link to database",
            Self::Freeze => "server frozen",
        }
    }
}

/// What keeps the universes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Engine {
    /// A primary of PostgreSQL with a synchronous standby.
    Postgres,
    /// Three servers of NATS JetStream.
    Nats,
}

/// The running servers of an engine.
#[derive(Debug)]
enum Store {
    Postgres(Database),
    Nats(Streams),
}

impl Store {
    fn start(engine: Engine) -> Result<(Self, String)> {
        Ok(match engine {
            Engine::Postgres => (Self::Postgres(Database::start()?), Database::url()),
            Engine::Nats => (Self::Nats(Streams::start()?), Streams::url()),
        })
    }

    fn fail_over(&mut self, away: Duration) -> Result<()> {
        match self {
            Self::Postgres(database) => database.fail_over(away),
            Self::Nats(streams) => streams.fail_over(away),
        }
    }

    fn crash(&mut self, away: Duration) -> Result<()> {
        match self {
            Self::Postgres(database) => database.crash(away),
            Self::Nats(streams) => streams.crash(away),
        }
    }
}

/// Whether a fault can be injected on this machine.
pub(super) fn can(fault: Fault) -> bool {
    match fault {
        Fault::Slow => {
            let slow = network::slow(0, Side::Database);
            slow.and_then(|()| network::quick(0, Side::Database)).is_ok()
        }
        _ => true,
    }
}

/// The running system: servers, store and networks.
#[derive(Debug)]
pub(super) struct System {
    // Dropped in this order: the servers end before the store and the networks that they use.
    servers: Vec<Server>,
    recipe: Recipe,
    store: Store,
    _network: Network,
    pub(super) random: Rng,
}

impl System {
    /// Starts the store and the servers.
    ///
    /// # Errors
    /// When one of them does not start.
    pub(super) fn start(engine: Engine, binary: &Path, random: Rng) -> Result<Self> {
        let network = Network::new()?;
        let (store, url) = Store::start(engine)?;
        let logs = target().join("nodes");
        let _ = fs::remove_dir_all(&logs);
        fs::create_dir_all(&logs)?;
        let keys = logs.join("keys");
        let key = Sha256::digest(random.get_seed().to_le_bytes());
        fs::write(&keys, data_encoding::BASE64.encode(&key))?;
        fs::set_permissions(&keys, fs::Permissions::from_mode(0o600))?;
        let recipe = Recipe { binary: fs::canonicalize(binary)?, store: url, keys, logs };
        let servers = (0..NODES).map(|node| Server::start(&recipe, node));
        Ok(Self {
            servers: servers.collect::<Result<_>>()?,
            recipe,
            store,
            _network: network,
            random,
        })
    }

    /// The resident memory of each server, in MiB.
    ///
    /// # Errors
    /// When one has ended.
    pub(super) fn memory(&self) -> Result<Vec<u64>> {
        self.servers.iter().map(Server::memory).collect()
    }

    /// Injects a fault and heals it.
    ///
    /// # Errors
    /// When something does not recover, or a server ends by itself.
    pub(super) fn inject(&mut self, fault: Fault) -> Result<()> {
        let node = self.random.usize(..NODES);
        match fault {
            Fault::Kill => {
                self.server(node)?.kill()?;
                self.pause(500..3_000);
                self.restart(node)
            }
            Fault::Rolling => {
                for node in 0..NODES {
                    self.server(node)?.stop()?;
                    self.restart(node)?;
                }
                Ok(())
            }
            Fault::Failover => {
                let away = self.time(100..4_000);
                self.store.fail_over(away)
            }
            Fault::FrozenFailover => {
                let away = self.time(100..1_000);
                self.server(node)?.signal("STOP")?;
                self.store.fail_over(away)?;
                self.server(node)?.signal("CONT")
            }
            Fault::Crash => {
                let away = self.time(10..3_000);
                self.store.crash(away)
            }
            Fault::CutDatabase => self.cut(node, Side::Database, 1_000..15_000),
            Fault::CutClients => self.cut(node, Side::Clients, 1_000..10_000),
            Fault::Slow => {
                network::slow(node, Side::Database)?;
                self.pause(3_000..12_000);
                network::quick(node, Side::Database)
            }
            Fault::Freeze => {
                self.server(node)?.signal("STOP")?;
                self.pause(500..8_000);
                self.server(node)?.signal("CONT")
            }
        }
    }

    fn cut(&mut self, node: usize, side: Side, time: std::ops::Range<u64>) -> Result<()> {
        network::cut(node, side)?;
        self.pause(time);
        network::join(node, side)
    }

    fn restart(&mut self, node: usize) -> Result<()> {
        let started = Server::start(&self.recipe, node)?;
        *self.server(node)? = started;
        Ok(())
    }

    fn server(&mut self, node: usize) -> Result<&mut Server> {
        let server = self.servers.get_mut(node);
        server.ok_or_else(|| format!("there is no server {node}").into())
    }

    fn time(&mut self, milliseconds: std::ops::Range<u64>) -> Duration {
        Duration::from_millis(self.random.u64(milliseconds))
    }

    fn pause(&mut self, milliseconds: std::ops::Range<u64>) {
        thread::sleep(self.time(milliseconds));
    }
}
