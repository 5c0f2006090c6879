//! Servers, clients, and what goes wrong.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;
use universe_core::{Command, State};
use universe_server::commands::{
    CommandService, LogEntry, Request, ServiceError, ServiceLimits, Universe,
};
use universe_server::store::{CommandId, Revision, UniverseId, UniverseLog};

use super::history::{Log, Operation, Outcome};
use super::weather::{Flaw, Link};
use super::wire::Wire;
use crate::harness::add_star;
use crate::harness::local::memory;

const SERVERS: usize = 3;
const UNIVERSES: usize = 2;
const CLIENTS: u64 = 5;
/// What each client asks for.
const OPERATIONS: u64 = 14;
/// How many faults there are before all is well again.
const FAULTS: usize = 12;
/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often a client tries until it has an answer. All is well again long before.
const TRIES: usize = 500;

/// What happened in schedules.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) written: u64,
    pub(crate) read: u64,
    pub(crate) unknown: u64,
    pub(crate) crashes: u64,
    pub(crate) partitions: u64,
    pub(crate) lost: u64,
    pub(crate) conflicts: u64,
}

/// A server's place, with a server in it or not.
struct Server {
    running: Mutex<Option<(CommandService, Arc<Link>)>>,
    /// How often it has crashed.
    crashes: watch::Sender<u64>,
}

pub(crate) struct World {
    flaw: Flaw,
    store: Arc<dyn UniverseLog>,
    universes: Vec<UniverseId>,
    servers: Vec<Server>,
    links: Mutex<Vec<Arc<Link>>>,
    random: Mutex<Rng>,
    /// Counts all that happens.
    clock: AtomicU64,
    operations: Mutex<Vec<Operation>>,
    /// What no server answered, however often it was asked. A store that acknowledges what it has not leads to that,
    /// too.
    unanswered: Mutex<Option<String>>,
    faults: Mutex<Tally>,
}

impl World {
    pub(crate) async fn new(seed: u64, flaw: Flaw) -> Self {
        let store: Arc<dyn UniverseLog> = memory();
        let service = CommandService::new(Arc::clone(&store), ServiceLimits::default());
        let mut universes = Vec::new();
        for number in 0..UNIVERSES {
            let id = UniverseId::new(format!("u-{number}")).unwrap();
            let state = State::from_partial(json!({})).unwrap();
            service.create(id.clone(), "u".to_owned(), state).await.unwrap();
            universes.push(id);
        }
        let server = || Server { running: Mutex::default(), crashes: watch::channel(0).0 };
        let world = Self {
            flaw,
            store,
            universes,
            servers: (0..SERVERS).map(|_| server()).collect(),
            links: Mutex::default(),
            random: Mutex::new(Rng::with_seed(seed)),
            clock: AtomicU64::new(0),
            operations: Mutex::default(),
            unanswered: Mutex::default(),
            faults: Mutex::default(),
        };
        world.servers.iter().for_each(|server| world.start(server));
        world
    }

    /// Plays it to its end.
    pub(crate) async fn run(&self) {
        let clients = join_all((0..CLIENTS).map(|client| self.client(client)));
        tokio::join!(clients, self.faults());
        // What everyone sees at last.
        for server in 0..SERVERS {
            for universe in 0..UNIVERSES {
                self.read(universe, Some(server)).await;
            }
        }
    }

    pub(crate) fn history(&self) -> Vec<Operation> {
        self.operations.lock().unwrap().clone()
    }

    /// What is wrong, where something was never answered.
    pub(crate) fn unanswered(&self) -> Option<String> {
        self.unanswered.lock().unwrap().clone()
    }

    fn give_up(&self, problem: String) {
        self.unanswered.lock().unwrap().get_or_insert(problem);
    }

    pub(crate) fn tally(&self) -> Tally {
        let mut tally = *self.faults.lock().unwrap();
        for operation in self.operations.lock().unwrap().iter() {
            match &operation.outcome {
                Outcome::Unknown => tally.unknown += 1,
                Outcome::Done(..) if operation.commands.is_empty() => tally.read += 1,
                Outcome::Done(..) => tally.written += 1,
                Outcome::Failed(_) => {}
            }
        }
        for link in self.links.lock().unwrap().iter() {
            tally.lost += link.lost.load(Ordering::SeqCst);
            tally.conflicts += link.conflicts.load(Ordering::SeqCst);
        }
        tally
    }

    /// The logs as the store has them.
    pub(crate) async fn logs(&self) -> Vec<Log> {
        let mut logs = Vec::new();
        for id in &self.universes {
            let head = self.store.record(id).await.unwrap().head.revision;
            let mut state = State::from_partial(json!({})).unwrap();
            let mut log = Log { commands: Vec::new(), states: vec![written(&state)] };
            let entries = self.store.tail(id, Revision::GENESIS);
            let mut entries = entries.take(usize::try_from(head.0).unwrap());
            while let Some(entry) = entries.next().await {
                let body = entry.unwrap().body;
                let command = LogEntry::read(&body).unwrap().command.unwrap().get();
                let command: Value = serde_json::from_str(command).unwrap();
                let applied = state.apply(&Command::from_value(command.clone()).unwrap());
                state = applied.unwrap().state;
                log.commands.push(command);
                log.states.push(written(&state));
            }
            logs.push(log);
        }
        logs
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.random.lock().unwrap())
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    async fn pause(&self, most: u64) {
        let pause = self.draw(|random| random.u64(0..most));
        sleep(Duration::from_micros(pause)).await;
    }

    fn start(&self, server: &Server) {
        let seed = self.draw(|random| random.u64(..));
        let link = Arc::new(Link::new(seed, self.flaw));
        self.links.lock().unwrap().push(Arc::clone(&link));
        let wire = Wire::new(Arc::clone(&self.store), Arc::clone(&link));
        let service = CommandService::new(Arc::new(wire), ServiceLimits::default());
        *server.running.lock().unwrap() = Some((service, link));
    }

    /// Crashes, partitions and storms, and then none of them.
    async fn faults(&self) {
        for _ in 0..FAULTS {
            self.pause(150_000).await;
            let server = &self.servers[self.draw(|random| random.usize(0..SERVERS))];
            let running = server.running.lock().unwrap().clone();
            let Some((_, link)) = running else { continue };
            match self.draw(|random| random.u8(0..4)) {
                0 | 1 => {
                    self.faults.lock().unwrap().crashes += 1;
                    link.kill();
                    *server.running.lock().unwrap() = None;
                    server.crashes.send_modify(|count| *count += 1);
                    self.pause(300_000).await;
                    self.start(server);
                }
                2 => {
                    self.faults.lock().unwrap().partitions += 1;
                    link.part(true);
                    self.pause(1_500_000).await;
                    link.part(false);
                }
                _ => {
                    link.lose(250);
                    self.pause(500_000).await;
                    link.lose(0);
                }
            }
        }
    }

    async fn client(&self, client: u64) {
        for number in 0..OPERATIONS {
            self.pause(60_000).await;
            let universe = self.draw(|random| random.usize(0..UNIVERSES));
            match self.draw(|random| random.u8(0..10)) {
                0..4 => self.read(universe, None).await,
                kind => {
                    let several = self.draw(|random| random.u64(1..3));
                    let is_keyed = kind < 8;
                    // Each command is made once. A universe itself refuses the same star once more, and no tick.
                    let command = |part: u64| {
                        if is_keyed {
                            json!({"type": "tick", "dt": client * 1_000 + number * 10 + part + 1})
                        } else {
                            add_star(&format!("{client}-{number}-{part}"))
                        }
                    };
                    let commands = (0..several).map(command).collect();
                    self.write(universe, commands, is_keyed.then(|| key(client, number))).await;
                }
            }
        }
    }

    /// Writes: with a key until that is answered, without one once.
    async fn write(&self, universe: usize, commands: Vec<Value>, key: Option<CommandId>) {
        let began = self.tick();
        let read = |command: &Value| Command::from_value(command.clone()).unwrap();
        let request =
            Request { commands: commands.iter().map(read).collect(), expected: None, key };
        let id = &self.universes[universe];
        let mut outcome = Outcome::Unknown;
        for attempt in 1.. {
            let request = request.clone();
            let asked = async |service: CommandService| {
                let processed = service.process(id, request).await?;
                Ok((processed.revision, processed.state))
            };
            outcome = self.call(None, asked).await;
            if key.is_none() || matches!(outcome, Outcome::Done(..)) {
                break;
            }
            if attempt == TRIES {
                self.give_up(format!("no answer at all: {commands:?}"));
                break;
            }
            self.pause(100_000).await;
        }
        self.keep(universe, commands, began, outcome);
    }

    /// Reads at any server, or at this one until it answers.
    async fn read(&self, universe: usize, server: Option<usize>) {
        for attempt in 1.. {
            let began = self.tick();
            let id = &self.universes[universe];
            let asked = async |service: CommandService| {
                let Universe { revision, state, .. } = service.get(id).await?;
                Ok((revision, state))
            };
            let outcome = self.call(server, asked).await;
            if matches!(outcome, Outcome::Done(..)) {
                return self.keep(universe, Vec::new(), began, outcome);
            }
            if attempt == TRIES {
                return self.give_up(format!("universe {universe} cannot be read: {outcome:?}"));
            }
            self.pause(100_000).await;
        }
    }

    fn keep(&self, universe: usize, commands: Vec<Value>, began: u64, outcome: Outcome) {
        let ended = self.tick();
        let operation = Operation { universe, commands, began, ended, outcome };
        self.operations.lock().unwrap().push(operation);
    }

    /// Asks a server, which may crash meanwhile, over a network on which answers are lost at times.
    async fn call(
        &self,
        server: Option<usize>,
        ask: impl AsyncFnOnce(CommandService) -> Result<(Revision, State), ServiceError>,
    ) -> Outcome {
        let any = self.draw(|random| random.usize(0..SERVERS));
        let server = &self.servers[server.unwrap_or(any)];
        self.pause(2_000).await;
        let running = server.running.lock().unwrap().clone();
        let Some((service, _)) = running else {
            return Outcome::Failed("no server listens".to_owned());
        };
        let mut crashes = server.crashes.subscribe();
        let answer = tokio::select! {
            biased;
            _ = crashes.changed() => return Outcome::Unknown,
            () = sleep(PATIENCE) => return Outcome::Unknown,
            answer = ask(service) => answer,
        };
        self.pause(2_000).await;
        if self.draw(|random| random.u8(0..20)) == 0 {
            return Outcome::Unknown;
        }
        match answer {
            Ok((revision, state)) => Outcome::Done(revision.0, written(&state)),
            Err(ServiceError::Uncertain) => Outcome::Unknown,
            Err(error) => Outcome::Failed(error.to_string()),
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.written += other.written;
        self.read += other.read;
        self.unknown += other.unknown;
        self.crashes += other.crashes;
        self.partitions += other.partitions;
        self.lost += other.lost;
        self.conflicts += other.conflicts;
    }
}

fn written(state: &State) -> String {
    serde_json::to_string(state).unwrap()
}

/// The client's name for a request of its own.
fn key(client: u64, number: u64) -> CommandId {
    CommandId::of_key(&format!("{client}-{number}")).unwrap()
}
