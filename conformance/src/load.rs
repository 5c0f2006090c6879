//! `load`: how many requests a server answers in a second, and how long each takes.
//!
//! Several connections ask at once, for a while, and every answer is looked at. Two servers are measured in turns, in
//! short rounds, so that what else the machine does falls on both.

mod call;
mod connection;
mod figures;
mod report;
mod round;
mod usage;

use std::time::Duration;

use crate::probe::{Bench, Endpoint, Revision, newest};
use crate::target::{Target, TargetError};

pub use call::{Call, CallError};
use connection::Connection;
pub use figures::Figures;
pub use report::{LoadReport, Measured, RoundFigures};
use round::{Pace, Round};
pub use usage::Usage;

/// The most connections to one server.
pub const MAX_CONNECTIONS: usize = 1_024;
/// The most different calls of one load.
pub const MAX_CALLS: usize = 64;
/// The most rounds of one load.
pub const MAX_ROUNDS: usize = 1_000;

/// A server to measure.
#[derive(Debug, Clone)]
#[must_use]
pub struct LoadTarget {
    endpoint: Endpoint,
    process: Option<u32>,
}

impl LoadTarget {
    /// A server. A program is started once for each connection.
    pub fn new(target: Target) -> Self {
        Self { endpoint: target.into(), process: None }
    }

    /// The process of the server, whose CPU and memory are measured with those of its children. Programs on stdio are
    /// measured without this.
    pub fn process(mut self, id: u32) -> Self {
        self.process = Some(id);
        self
    }
}

/// Requests to send to one server or to two, for a while.
#[derive(Debug, Clone)]
#[must_use]
pub struct Load {
    targets: Vec<LoadTarget>,
    calls: Vec<Call>,
    revisions: Vec<Revision>,
    connections: usize,
    sessions: Option<usize>,
    duration: Duration,
    rounds: usize,
    rate: Option<f64>,
    allows_errors: bool,
    timeout: Duration,
}

/// Why a load could not be run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The server cannot be reached.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// It answers in none of the requested revisions, or two servers have none of them in common.
    #[error("{0} supports none of the requested protocol revisions")]
    Revision(String),
    /// A call that cannot be sent to this server.
    #[error(transparent)]
    Call(#[from] CallError),
    /// What was given cannot be meant.
    #[error("{0}")]
    Unusable(String),
}

impl Load {
    /// Against one server, by 8 connections, for 10 s in 5 rounds.
    pub fn new(target: LoadTarget) -> Self {
        Self {
            targets: vec![target],
            calls: Vec::new(),
            revisions: Revision::ALL.to_vec(),
            connections: 8,
            sessions: None,
            duration: Duration::from_secs(10),
            rounds: 5,
            rate: None,
            allows_errors: false,
            timeout: Duration::from_secs(10),
        }
    }

    /// Beside another server, in turns. It replaces one that was given before.
    pub fn beside(mut self, other: LoadTarget) -> Self {
        self.targets.truncate(1);
        self.targets.push(other);
        self
    }

    /// What to ask, in turns; at most [`MAX_CALLS`] of them are used. By default what is safe on every server: what it
    /// is, and each of its lists.
    pub fn calls(mut self, calls: Vec<Call>) -> Self {
        self.calls = calls;
        self.calls.truncate(MAX_CALLS);
        self
    }

    /// The newest of these that the servers support; by default of all.
    pub fn revisions(mut self, revisions: Vec<Revision>) -> Self {
        self.revisions = revisions;
        self
    }

    /// How many connections are kept open, or programs run on stdio; each has one request under way. 1 to
    /// [`MAX_CONNECTIONS`].
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections.clamp(1, MAX_CONNECTIONS);
        self
    }

    /// How many sessions the connections share, in revisions that have sessions over HTTP; by default each has its own.
    pub fn sessions(mut self, sessions: usize) -> Self {
        self.sessions = Some(sessions.max(1));
        self
    }

    /// How long each server is measured, over all rounds.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.duration = duration;
        self
    }

    /// Into how many rounds that is divided, 1 to [`MAX_ROUNDS`].
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds.clamp(1, MAX_ROUNDS);
        self
    }

    /// So many requests a second are due, whether the server keeps up or not, and the time of each counts from when it
    /// was due (an open loop). Without a rate each connection sends the next request when it has an answer.
    pub fn rate(mut self, per_second: f64) -> Self {
        self.rate = Some(per_second);
        self
    }

    /// Answers that are errors, and results of tools with `isError`, count as answers.
    pub fn allow_errors(mut self) -> Self {
        self.allows_errors = true;
        self
    }

    /// How long each answer may take; 10 s by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Opens the connections, asks each call once on each, and then measures. `done` gets each round.
    ///
    /// # Errors
    /// [`LoadError`]; a wrong answer is not an error but counted.
    pub async fn run(
        &self,
        mut done: impl FnMut(&str, &RoundFigures),
    ) -> Result<LoadReport, LoadError> {
        let mut sides = Vec::with_capacity(self.targets.len());
        let mut revisions = self.revisions.clone();
        for target in &self.targets {
            let side = self.open(target, &revisions).await?;
            // The next server uses the same revision.
            revisions = vec![side.revision];
            sides.push(side);
        }
        let length = self.duration / u32::try_from(self.rounds).unwrap_or(u32::MAX);
        let pace = self.rate.map_or(Pace::Closed, Pace::Open);
        let own = usage::own();
        let begin = std::time::Instant::now();
        for index in 0..self.rounds {
            // Each goes first as often as the other.
            let order = [index % 2, (index + 1) % 2];
            for which in order {
                let Some(side) = sides.get_mut(which) else {
                    continue;
                };
                let round = Round { length, pace };
                let before = side.usage();
                let (figures, per_call) = round.run(&mut side.connections).await;
                let after = side.usage();
                let figures = side.measured.add(figures, &per_call, before, after);
                done(&side.measured.target, &figures);
            }
        }
        let own = usage::cores(own, begin.elapsed());
        let mut report = LoadReport::new(self, own);
        for mut side in sides {
            for connection in &mut side.connections {
                connection.end().await;
            }
            report.targets.push(side.measured);
        }
        Ok(report)
    }

    async fn open(
        &self,
        target: &LoadTarget,
        revisions: &[Revision],
    ) -> Result<LoadedServer, LoadError> {
        let first = newest(&target.endpoint, revisions, self.timeout).await?;
        let mut first = first.ok_or_else(|| LoadError::Revision(target.endpoint.to_string()))?;
        first.look(&[]).await;
        let calls = if self.calls.is_empty() { Call::safe(&first) } else { self.calls.clone() };
        let revision = first.revision;
        let measured = Measured::new(&target.endpoint, &first, &calls);
        let tools = first.lists.clone();
        let shares = self.sessions.unwrap_or(self.connections).min(self.connections);
        let mut sessions = vec![first.session().map(str::to_owned)];
        let mut benches = vec![first];
        for index in 1..self.connections {
            let endpoint = target.endpoint.reconnected()?;
            let mut bench = Bench::new(endpoint, revision, self.timeout);
            bench.lists.clone_from(&tools);
            let shared = sessions.get(index % shares).cloned();
            match shared.filter(|_| index >= shares && !revision.is_modern()) {
                Some(session) if bench.endpoint.is_http() => bench.join(session),
                _ if revision.is_modern() => {}
                _ => {
                    if !bench.open().await {
                        let problem = bench.greeting.outcome();
                        return Err(LoadError::Target(TargetError::Unreachable {
                            target: target.endpoint.to_string(),
                            source: format!("connection {}: {problem}", index + 1).into(),
                        }));
                    }
                    sessions.push(bench.session().map(str::to_owned));
                }
            }
            benches.push(bench);
        }
        let mut connections = Vec::with_capacity(benches.len());
        for (index, bench) in benches.into_iter().enumerate() {
            let owns = index < shares;
            let mut connection = Connection::new(bench, &calls, owns, self.allows_errors);
            connection.warm().await;
            connections.push(connection);
        }
        Ok(LoadedServer { revision, connections, measured, process: target.process })
    }
}

/// One server while it is measured.
struct LoadedServer {
    revision: Revision,
    connections: Vec<Connection>,
    measured: Measured,
    process: Option<u32>,
}

impl LoadedServer {
    /// What its processes have used so far.
    fn usage(&mut self) -> Option<Usage> {
        let on_pipes = self.connections.iter_mut().filter_map(Connection::process);
        let roots: Vec<u32> = self.process.into_iter().chain(on_pipes).collect();
        usage::of(&roots)
    }
}
