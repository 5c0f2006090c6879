//! One transcript under way: what it has captured and opened, and how its steps follow each other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all, select_all};
use tokio::time::timeout;

use super::Limits;
use super::base::{self, Breaches};
use super::fault::{Cause, Fault};
use super::report::Failure;
use super::stream::EventStream;
use crate::probe::{Incoming, Raw, request};
use crate::rpc_client::RpcClient;
use crate::sse::Frame;
use crate::target::Target;
use crate::template::Vars;
use crate::transcript::{Action, Era, Step};

/// After this many steps without an answer, the rest is not run: a server that hangs would hang each time.
const MAX_TIMEOUTS: usize = 3;

/// What became of a list of steps.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) failures: Vec<Failure>,
    /// Steps that were not run because they need what a failed one would have provided.
    pub(super) not_run: usize,
    /// The server cannot be reached; nothing after it was run.
    pub(super) unreachable: bool,
}

impl Outcome {
    fn add(&mut self, mut other: Self) {
        self.failures.append(&mut other.failures);
        self.not_run += other.not_run;
        self.unreachable |= other.unreachable;
    }

    fn fail(&mut self, step: &Step, fault: Fault) {
        match fault.cause {
            Cause::EarlierStep if !self.failures.is_empty() => self.not_run += 1,
            cause => {
                self.unreachable |= cause == Cause::Unreachable;
                self.failures.push(step.failed(fault));
            }
        }
    }
}

/// The locks are held for a lookup or a comparison, never while something is waited for.
pub(super) struct Run<'a> {
    target: Target,
    pub(super) endpoint: &'a str,
    pub(super) era: Era,
    pub(super) limits: Limits,
    pub(super) ids: Arc<AtomicU64>,
    vars: Mutex<Vars>,
    clients: Mutex<BTreeMap<String, Arc<RpcClient>>>,
    /// A stream that a step is waiting on is not in here.
    streams: Mutex<BTreeMap<String, EventStream>>,
    /// Whether steps after a failed one are run.
    continues: bool,
    /// How many steps got nothing in their time.
    timeouts: AtomicUsize,
    /// Base rules that did not hold, until a step takes them.
    breaches: Breaches,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        target: &Target,
        endpoint: &'a str,
        era: Era,
        limits: Limits,
        continues: bool,
    ) -> Self {
        Self {
            target: target.fresh(),
            endpoint,
            era,
            limits,
            ids: Arc::new(AtomicU64::new(1)),
            vars: Mutex::default(),
            clients: Mutex::default(),
            streams: Mutex::default(),
            continues,
            timeouts: AtomicUsize::new(0),
            breaches: Breaches::default(),
        }
    }

    /// Runs all that are for this era, and looks at the end whether every scripted answer was asked for.
    pub(super) async fn all(&self, steps: &[Step]) -> Outcome {
        let mut outcome = self.steps(steps, false).await;
        self.target.end().await;
        if outcome.failures.is_empty() {
            // What came on streams that no step looked at again.
            if let (Err(fault), Some(last)) = (self.base_rules(), steps.last()) {
                outcome.fail(last, fault);
            }
            for step in steps.iter().filter(|step| step.is_for(self.era)) {
                if let Action::Open { client, .. } = &step.action
                    && let Ok(client) = self.client(client)
                {
                    for method in client.unused() {
                        let problem = format!(
                            "the server did not send {method}, for which the transcript has an answer"
                        );
                        outcome.failures.push(step.failed(Fault::new(problem)));
                    }
                }
            }
        }
        outcome
    }

    /// Runs those of the steps that are for this era, in their order. A step that fails does not end it, unless the
    /// server cannot be reached. `failed` says that a step before these has failed.
    fn steps<'s>(&'s self, steps: &'s [Step], failed: bool) -> BoxFuture<'s, Outcome> {
        async move {
            let mut outcome = Outcome::default();
            for step in steps.iter().filter(|step| step.is_for(self.era)) {
                let silent = self.timeouts.load(Ordering::Relaxed) >= MAX_TIMEOUTS;
                let stopped = !self.continues && !outcome.failures.is_empty();
                if outcome.unreachable || silent || stopped {
                    outcome.not_run += 1;
                    continue;
                }
                let failed = failed || !outcome.failures.is_empty();
                outcome.add(self.step(step, failed).await);
            }
            outcome
        }
        .boxed()
    }

    /// Runs one step. A nested step tests the requirements of the step around it, unless it names others.
    async fn step(&self, step: &Step, failed: bool) -> Outcome {
        let mut outcome = match &step.action {
            Action::Parallel(branches) => {
                let running = branches.iter().map(|branch| self.steps(branch, failed));
                let mut all = Outcome::default();
                for outcome in join_all(running).await {
                    all.add(outcome);
                }
                all
            }
            Action::Silent { streams, steps } => self.silent(step, streams, steps, failed).await,
            action => {
                let done = match timeout(self.limits.step, self.act(action)).await {
                    Ok(done) => done,
                    Err(_) => {
                        self.timeouts.fetch_add(1, Ordering::Relaxed);
                        let problem = format!("nothing arrived within {:?}", self.limits.step);
                        Err(Fault::new(problem))
                    }
                };
                let base_rules = self.base_rules();
                let mut outcome = Outcome::default();
                match done.and(base_rules) {
                    Err(fault) if failed && fault.cause == Cause::EarlierStep => {
                        outcome.not_run = 1
                    }
                    Err(fault) => outcome.fail(step, fault),
                    Ok(()) => {}
                }
                outcome
            }
        };
        for failure in &mut outcome.failures {
            if failure.note.is_none() {
                failure.note.clone_from(&step.note);
            }
        }
        outcome
    }

    /// Runs steps while it listens to streams on which nothing may come.
    async fn silent(&self, step: &Step, names: &[String], steps: &[Step], failed: bool) -> Outcome {
        let mut outcome = Outcome::default();
        let mut streams = Vec::with_capacity(names.len());
        for name in names {
            match self.take_stream(name) {
                Ok(stream) => streams.push((name.as_str(), stream)),
                Err(_) if failed => outcome.not_run = 1,
                Err(fault) => outcome.fail(step, fault),
            }
        }
        if streams.len() < names.len() {
            return outcome;
        }
        let watches = streams.iter_mut().map(|(name, stream)| disturbance(name, stream).boxed());
        let mut disturbed = select_all(watches);
        let disturbance = tokio::select! {
            (fault, ..) = &mut disturbed => Some(fault),
            done = self.steps(steps, failed) => {
                outcome.add(done);
                // What the steps caused may still be on its way. Silence cannot be awaited, only listened to for a
                // while: too short a while can miss a disturbance, never invent one.
                timeout(self.limits.settle, &mut disturbed).await.ok().map(|(fault, ..)| fault)
            }
        };
        drop(disturbed);
        match disturbance {
            Some(fault) => outcome.fail(step, fault),
            None => {
                for (name, stream) in streams {
                    self.put_stream(name, stream);
                }
            }
        }
        outcome
    }

    /// Whether they have held since this was last asked.
    fn base_rules(&self) -> Result<(), Fault> {
        let breaches = self.breaches.take();
        if breaches.is_empty() {
            return Ok(());
        }
        let breaches = breaches.join("; ");
        Err(Fault::new(format!("a base rule of the protocol is violated: {breaches}")))
    }

    pub(super) async fn send(&self, raw: Raw) -> Result<Incoming, Fault> {
        let path = raw.path.as_deref().unwrap_or(self.endpoint);
        let watch = base::watch(&raw, path == self.endpoint, &self.breaches);
        let placed = self.target.locate(self.endpoint, path);
        let answer = Incoming::open(&self.target, request(&self.target, raw.at(&placed))?).await?;
        Ok(match watch {
            Some(watch) => watch.over(answer),
            None => answer,
        })
    }

    /// A request of this run that can be sent from elsewhere.
    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    pub(super) fn vars(&self) -> MutexGuard<'_, Vars> {
        lock(&self.vars)
    }

    pub(super) fn client(&self, name: &str) -> Result<Arc<RpcClient>, Fault> {
        lock(&self.clients)
            .get(name)
            .cloned()
            .ok_or_else(|| Fault::missing(format!("the client {name} is not open")))
    }

    pub(super) fn put_client(&self, name: &str, client: RpcClient) {
        lock(&self.clients).insert(name.to_owned(), Arc::new(client));
    }

    pub(super) fn take_stream(&self, name: &str) -> Result<EventStream, Fault> {
        lock(&self.streams).remove(name).ok_or_else(|| {
            Fault::missing(format!(
                "the stream {name} is not open, or another step is waiting on it"
            ))
        })
    }

    pub(super) fn put_stream(&self, name: &str, stream: EventStream) {
        lock(&self.streams).insert(name.to_owned(), stream);
    }
}

impl Step {
    fn failed(&self, Fault { problem, mismatches, answer, .. }: Fault) -> Failure {
        Failure {
            line: self.line,
            step: self.action.summary(),
            note: self.note.clone(),
            problem,
            mismatches,
            answer,
        }
    }
}

/// Waits until a stream says something other than a comment or an event without data, which primes a client for
/// resumption, or ends.
async fn disturbance(name: &str, stream: &mut EventStream) -> Fault {
    loop {
        match stream.next().await {
            Ok(Some(Frame::Comment(_))) => {}
            Ok(Some(Frame::Event(event))) if event.data.is_empty() => {}
            Ok(Some(Frame::Event(event))) => {
                return Fault::new(format!(
                    "the stream {name} must be silent, but {event:?} arrived"
                ));
            }
            Ok(None) => {
                return Fault::new(format!("the stream {name} must stay open, but it ended"));
            }
            Err(fault) => return fault,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
