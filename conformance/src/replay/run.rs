//! One transcript under way: what it has captured and opened, and how its steps follow each other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, select_all, try_join_all};
use http::{Request, Response};
use tokio::time::timeout;

use super::Limits;
use crate::client::RpcClient;
use crate::error::Problem;
use crate::pattern::Mismatch;
use crate::report::Failure;
use crate::sse::Frame;
use crate::target::{Body, Target, TargetError};
use crate::template::Vars;
use crate::transcript::{Action, Era, Step};
use crate::wire::EventStream;

/// Why a step did not go as expected.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(super) problem: String,
    pub(super) mismatches: Vec<Mismatch>,
}

impl Fault {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            mismatches: Vec::new(),
        }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self::new(problem.to_string())
    }
}

impl From<TargetError> for Fault {
    fn from(error: TargetError) -> Self {
        Self::new(error.to_string())
    }
}

/// The locks are held for a lookup or a comparison, never while something is waited for.
pub(super) struct Run<'a> {
    target: &'a Target,
    pub(super) endpoint: &'a str,
    pub(super) era: Era,
    limits: Limits,
    vars: Mutex<Vars>,
    clients: Mutex<BTreeMap<String, Arc<RpcClient>>>,
    /// A stream that a step is waiting on is not in here.
    streams: Mutex<BTreeMap<String, EventStream>>,
}

impl<'a> Run<'a> {
    pub(super) fn new(target: &'a Target, endpoint: &'a str, era: Era, limits: Limits) -> Self {
        Self {
            target,
            endpoint,
            era,
            limits,
            vars: Mutex::default(),
            clients: Mutex::default(),
            streams: Mutex::default(),
        }
    }

    /// Runs those of the steps that are for this era, in their order, up to the first that fails.
    pub(super) fn steps<'s>(&'s self, steps: &'s [Step]) -> BoxFuture<'s, Result<(), Failure>> {
        async move {
            for step in steps {
                if step.is_for(self.era) {
                    self.step(step).await?;
                }
            }
            Ok(())
        }
        .boxed()
    }

    /// Runs one step. What a nested step shows is, unless it says so itself, what the step around it shows.
    async fn step(&self, step: &Step) -> Result<(), Failure> {
        let outcome = match &step.action {
            Action::Parallel(branches) => {
                let mut running = Vec::with_capacity(branches.len());
                for branch in branches {
                    running.push(self.steps(branch));
                }
                try_join_all(running).await.map(drop)
            }
            Action::Silent { streams, steps } => self.silent(step, streams, steps).await,
            action => match timeout(self.limits.step, self.act(action)).await {
                Ok(done) => done.map_err(|fault| step.failed(fault)),
                Err(_) => Err(step.failed(Fault::new(format!(
                    "nothing came within {:?}",
                    self.limits.step
                )))),
            },
        };
        outcome.map_err(|failure| Failure {
            note: failure.note.or_else(|| step.note.clone()),
            ..failure
        })
    }

    /// Runs steps while it listens to streams on which nothing may come.
    async fn silent(&self, step: &Step, names: &[String], steps: &[Step]) -> Result<(), Failure> {
        let mut streams = Vec::with_capacity(names.len());
        for name in names {
            streams.push((
                name.as_str(),
                self.take_stream(name).map_err(|fault| step.failed(fault))?,
            ));
        }
        let mut watches = Vec::with_capacity(streams.len());
        for (name, stream) in &mut streams {
            watches.push(disturbance(name, stream).boxed());
        }
        let mut disturbed = select_all(watches);
        tokio::select! {
            (fault, ..) = &mut disturbed => return Err(step.failed(fault)),
            done = self.steps(steps) => done?,
        }
        // What the steps caused may still be on its way. Silence cannot be awaited, only listened to for a while: too
        // short a while can miss a disturbance, never invent one.
        if let Ok((fault, ..)) = timeout(self.limits.settle, disturbed).await {
            return Err(step.failed(fault));
        }
        for (name, stream) in streams {
            self.put_stream(name, stream);
        }
        Ok(())
    }

    pub(super) async fn send(&self, request: Request<Bytes>) -> Result<Response<Body>, Fault> {
        Ok(self.target.send(request).await?)
    }

    pub(super) fn vars(&self) -> MutexGuard<'_, Vars> {
        lock(&self.vars)
    }

    pub(super) fn client(&self, name: &str) -> Result<Arc<RpcClient>, Fault> {
        lock(&self.clients)
            .get(name)
            .cloned()
            .ok_or_else(|| Fault::new(format!("the client {name} is not open")))
    }

    pub(super) fn put_client(&self, name: &str, client: RpcClient) {
        lock(&self.clients).insert(name.to_owned(), Arc::new(client));
    }

    pub(super) fn take_stream(&self, name: &str) -> Result<EventStream, Fault> {
        lock(&self.streams).remove(name).ok_or_else(|| {
            Fault::new(format!(
                "the stream {name} is not open, or another step is waiting on it"
            ))
        })
    }

    pub(super) fn put_stream(&self, name: &str, stream: EventStream) {
        lock(&self.streams).insert(name.to_owned(), stream);
    }
}

impl Step {
    fn failed(
        &self,
        Fault {
            problem,
            mismatches,
        }: Fault,
    ) -> Failure {
        Failure {
            line: self.line,
            step: self.action.summary(),
            note: self.note.clone(),
            problem,
            mismatches,
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
                    "the stream {name} said {event:?}; it ought to be silent"
                ));
            }
            Ok(None) => {
                return Fault::new(format!("the stream {name} ended; it ought to stay open"));
            }
            Err(fault) => return fault,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
