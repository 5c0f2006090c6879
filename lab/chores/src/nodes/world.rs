//! The state that clients and readers share: addresses of the servers, acknowledged commands, and failures so far.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::fault::Fault;
use super::network::Side;
use super::request::{Dialect, get, post};
use super::{NODES, UNIVERSES};
use crate::siege::wire::Client;
use xtask::Result;

/// The maximum number of different failures that are kept.
const COMPLAINTS: usize = 60;
const DEADLINE: Duration = Duration::from_secs(20);

/// A command that was acknowledged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acknowledged {
    pub(super) number: u64,
    pub(super) universe: usize,
}

/// A summary of all events that a reader of a feed saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) universe: usize,
    pub(super) head: u64,
    /// The digest of all events, in order of arrival.
    pub(super) digest: u64,
}

/// The lengths of an outage.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Outage {
    /// From the start of the first failed request to the answer to the first successful one.
    pub(super) commands: Duration,
    /// From one event of a feed to the next.
    pub(super) feeds: Duration,
}

/// The shared state.
#[derive(Debug)]
pub(super) struct World {
    pub(super) addresses: [SocketAddr; NODES],
    pub(super) universes: Vec<String>,
    begun: Instant,
    /// If set, no new command is started.
    stopping: AtomicBool,
    /// If set, threads stop waiting and end.
    over: AtomicBool,
    next: AtomicU64,
    running: AtomicU64,
    fault: Mutex<&'static str>,
    acknowledged: Mutex<Vec<Acknowledged>>,
    answers: [AtomicU64; 3],
    outages: Mutex<BTreeMap<&'static str, Outage>>,
    complaints: Mutex<BTreeMap<String, u64>>,
    /// Failures that must never occur.
    wrongs: Mutex<Vec<String>>,
    heads: Mutex<Option<Vec<u64>>>,
    seen: Mutex<Vec<Seen>>,
}

impl World {
    /// Creates the universes.
    ///
    /// # Errors
    /// When the first server does not create them.
    pub(super) fn create(addresses: [SocketAddr; NODES]) -> Result<Self> {
        let mut client = Client::new(Side::Clients.host(), addresses[0]);
        let mut universes = Vec::new();
        for number in 0..UNIVERSES {
            let made = json!({"name": format!("u-{number}"), "state": {}});
            let request = post(addresses[0], "/universes", "", &made);
            let answer = client.call(&request, DEADLINE)?;
            let made: Value = serde_json::from_str(&answer.body)?;
            let id = made.get("id").and_then(Value::as_str).ok_or("a universe without an id")?;
            let star = json!({"type": "addStar", "id": "s", "payload": {
                "name": "n", "mass": 1, "radius": 1, "color": "#FFFFFF", "parentId": null,
                "orbitalDistance": 0, "orbitalSpeed": 0, "bodyType": "star",
            }});
            let path = format!("/universes/{id}/commands");
            let answer = client.call(&post(addresses[0], &path, "", &star), DEADLINE)?;
            if answer.status != 200 {
                return Err(format!("no star: {} {}", answer.status, answer.body).into());
            }
            universes.push(id.to_owned());
        }
        Ok(Self {
            addresses,
            universes,
            begun: Instant::now(),
            stopping: AtomicBool::new(false),
            over: AtomicBool::new(false),
            next: AtomicU64::new(1),
            running: AtomicU64::new(0),
            fault: Mutex::new("none yet"),
            acknowledged: Mutex::default(),
            answers: Default::default(),
            outages: Mutex::default(),
            complaints: Mutex::default(),
            wrongs: Mutex::default(),
            heads: Mutex::default(),
            seen: Mutex::default(),
        })
    }

    /// The number of the next command. `None` when no more commands are started.
    pub(super) fn begin(&self) -> Option<u64> {
        let goes_on = !self.stopping.load(Ordering::SeqCst);
        goes_on.then(|| self.next.fetch_add(1, Ordering::SeqCst))
    }

    /// Counts a client or a reader as running until the returned value is dropped.
    pub(super) fn enter(&self) -> impl Drop + '_ {
        self.running.fetch_add(1, Ordering::SeqCst);
        Running(&self.running)
    }

    /// Whether threads must stop waiting and end.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    pub(super) fn give_up(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.over.store(true, Ordering::SeqCst);
    }

    /// Sets the current fault.
    pub(super) fn announce(&self, fault: Fault) {
        *lock(&self.fault) = fault.name();
    }

    /// The name of the last fault.
    pub(super) fn fault(&self) -> &'static str {
        *lock(&self.fault)
    }

    pub(super) fn acknowledge(&self, dialect: Dialect, command: Acknowledged) {
        lock(&self.acknowledged).push(command);
        if let Some(count) = self.answers.get(dialect as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Records an outage. For each fault, the longest outage is kept.
    pub(super) fn outage(&self, fault: &'static str, time: Outage) {
        let mut outages = lock(&self.outages);
        let longest = outages.entry(fault).or_default();
        longest.commands = longest.commands.max(time.commands);
        longest.feeds = longest.feeds.max(time.feeds);
    }

    /// Records a failure that a client must expect.
    pub(super) fn complain(&self, problem: String) {
        let mut complaints = lock(&self.complaints);
        if complaints.len() < COMPLAINTS || complaints.contains_key(&problem) {
            *complaints.entry(problem).or_default() += 1;
        }
    }

    /// Records a failure that must never occur.
    pub(super) fn wrong(&self, problem: String) {
        let mut wrongs = lock(&self.wrongs);
        if wrongs.len() < COMPLAINTS {
            wrongs.push(problem);
        }
    }

    pub(super) fn saw(&self, seen: Seen) {
        lock(&self.seen).push(seen);
    }

    /// The last revision of a universe's feed, once it is known.
    pub(super) fn head(&self, universe: usize) -> Option<u64> {
        lock(&self.heads).as_ref()?.get(universe).copied()
    }

    /// Ends the load: lets clients finish their commands, and readers reach the end. Returns how long the load ran.
    pub(super) fn stop(&self, patience: Duration) -> Duration {
        self.stopping.store(true, Ordering::SeqCst);
        let time = self.begun.elapsed();
        let readers = (super::READERS * UNIVERSES) as u64;
        let end = Instant::now() + patience;
        while self.running.load(Ordering::SeqCst) > readers && Instant::now() < end {
            thread::sleep(Duration::from_millis(50));
        }
        let heads = self.universes.iter().map(|id| self.revision(id));
        let heads = heads.collect::<Result<Vec<u64>>>();
        match heads {
            Ok(heads) => *lock(&self.heads) = Some(heads),
            Err(problem) => self.wrong(format!("no head: {problem}")),
        }
        let end = Instant::now() + patience;
        while self.running.load(Ordering::SeqCst) > 0 && Instant::now() < end {
            thread::sleep(Duration::from_millis(50));
        }
        self.give_up();
        time
    }

    fn revision(&self, id: &str) -> Result<u64> {
        let [address, ..] = self.addresses;
        let universe = universe(address, id)?;
        let revision = universe.get("revision").and_then(Value::as_u64);
        revision.ok_or_else(|| "a universe without a revision".into())
    }

    pub(super) fn acknowledged(&self) -> Vec<Acknowledged> {
        lock(&self.acknowledged).clone()
    }

    /// The number of answers in each dialect.
    pub(super) fn answers(&self) -> [u64; 3] {
        std::array::from_fn(|at| {
            let count = self.answers.get(at);
            count.map_or(0, |count| count.load(Ordering::Relaxed))
        })
    }

    pub(super) fn outages(&self) -> BTreeMap<&'static str, Outage> {
        lock(&self.outages).clone()
    }

    pub(super) fn complaints(&self) -> BTreeMap<String, u64> {
        lock(&self.complaints).clone()
    }

    pub(super) fn wrongs(&self) -> Vec<String> {
        lock(&self.wrongs).clone()
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        lock(&self.seen).clone()
    }
}

/// The state of a universe on one server.
///
/// # Errors
/// When the server does not answer with a universe.
pub(super) fn universe(address: SocketAddr, id: &str) -> Result<Value> {
    let mut client = Client::new(Side::Clients.host(), address);
    let answer = client.call(&get(address, &format!("/universes/{id}"), ""), DEADLINE)?;
    match answer.status {
        200 => Ok(serde_json::from_str(&answer.body)?),
        status => Err(format!("status {status}: {}", answer.body).into()),
    }
}

struct Running<'a>(&'a AtomicU64);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Locks a mutex. A thread that panicked while it held the lock left the value consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
