//! `fuzz`: requests that are broken in the ways of this protocol, against a running server.
//!
//! Each case is a valid request with one to three changes. After it a good request must be answered as before. What
//! fails fails once more on a fresh session or process, and is made as small as it can be, before it is a finding.

mod judge;
mod mutate;
mod paths;
mod report;
mod reproduce;
mod safety;
mod shrink;
mod template;
mod trial;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::json;

use crate::calls::ToolCall;
use crate::probe::{Bench, Endpoint, Revision, revisions};
use crate::shorten::shorten;
use crate::target::{Target, TargetError};

pub use judge::Oracle;
pub use report::{FuzzFinding, FuzzReport};
use template::Template;
use trial::{Breach, ask, content, trial};

/// How many different findings end a run.
pub const MAX_FINDINGS: usize = 20;
/// How often a finding of the same kind is counted before a run ends.
const MAX_REPEATS: u64 = 200;

/// Broken requests to send to one server.
#[derive(Debug, Clone)]
#[must_use]
pub struct Fuzz {
    endpoint: Endpoint,
    seed: u64,
    iterations: u64,
    only: Option<u64>,
    duration: Option<Duration>,
    revisions: Vec<Revision>,
    tools: Vec<ToolCall>,
    timeout: Duration,
}

/// Why a run did not come about.
#[derive(Debug, thiserror::Error)]
pub enum FuzzError {
    /// The server cannot be reached.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// It answers in none of the requested revisions.
    #[error("{0} supports none of the requested protocol revisions")]
    Revision(String),
}

impl Fuzz {
    /// Against a server, with a seed of chance. A program is started again after each case that ends it.
    pub fn new(target: Target) -> Self {
        Self {
            endpoint: target.into(),
            seed: fastrand::u32(..).into(),
            iterations: 1_000,
            only: None,
            duration: None,
            revisions: Vec::new(),
            tools: Vec::new(),
            timeout: Duration::from_secs(5),
        }
    }

    /// The cases are the same for the same seed, as long as the server offers the same.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many cases are tried; 1,000 by default.
    pub fn iterations(mut self, iterations: u64) -> Self {
        self.iterations = iterations;
        self
    }

    /// This case of the seed alone.
    pub fn case(mut self, case: u64) -> Self {
        self.only = Some(case);
        self
    }

    /// After this time no further case begins; without it the number of cases decides alone.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.duration = Some(duration);
        self
    }

    /// The revisions to use in turn, if the server supports them; by default the newest of each era.
    pub fn revisions(mut self, revisions: Vec<Revision>) -> Self {
        self.revisions = revisions;
        self
    }

    /// Tools that may be called with anything, besides those that are annotated as read-only.
    pub fn call(mut self, tools: impl IntoIterator<Item: Into<ToolCall>>) -> Self {
        self.tools.extend(tools.into_iter().map(Into::into));
        self
    }

    /// How long each answer may take; 5 s by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The seed of the cases.
    #[must_use]
    pub fn seeded(&self) -> u64 {
        self.seed
    }

    /// Tries the cases. `progress` gets the number of each and how many findings there are.
    ///
    /// # Errors
    /// [`FuzzError`]. A server that is gone after a case is a finding.
    pub async fn run(&self, mut progress: impl FnMut(u64, usize)) -> Result<FuzzReport, FuzzError> {
        let mut report = FuzzReport::new(self.endpoint.to_string(), self.seed);
        let mut sides = self.open(&mut report).await?;
        let first = sides.first();
        report.server = first.and_then(|side| side.bench.server());
        report.revisions = sides.iter().map(|side| side.bench.revision).collect();
        let begin = Instant::now();
        let cases = match self.only {
            Some(case) => case..case.saturating_add(1),
            None => 0..self.iterations,
        };
        let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
        for case in cases {
            let is_late = self.duration.is_some_and(|it| begin.elapsed() >= it);
            if is_late || report.findings.len() >= MAX_FINDINGS {
                break;
            }
            progress(case, report.findings.len());
            let count = u64::try_from(sides.len()).unwrap_or(1).max(1);
            let index = usize::try_from(case % count).unwrap_or_default();
            let Some(side) = sides.get_mut(index) else {
                break;
            };
            let Some(failed) = self.attempt(side, case, &mut report).await else {
                continue;
            };
            let kind = failed.kind(side.bench.revision);
            let repeats = kinds.entry(kind).or_default();
            *repeats += 1;
            if *repeats > MAX_REPEATS {
                break;
            }
            if *repeats == 1 {
                let once = format!("case {case}: {}: {}", failed.breach.oracle, failed.breach.seen);
                match self.finding(side, case, failed).await {
                    Some(finding) => report.findings.push(finding),
                    None => {
                        *repeats = 0;
                        report.unconfirmed += 1;
                        if report.once.len() < MAX_FINDINGS {
                            report.once.push(shorten(&once, 200));
                        }
                    }
                }
            } else {
                report.repeats += 1;
            }
            if !side.renew().await {
                break;
            }
        }
        for mut side in sides {
            side.bench.end().await;
        }
        report.seconds = begin.elapsed().as_secs_f64();
        Ok(report)
    }

    async fn open(&self, report: &mut FuzzReport) -> Result<Vec<FuzzedRevision>, FuzzError> {
        let spoken = revisions(&self.endpoint, self.timeout).await?.spoken;
        let newest = |modern: bool| {
            let of_era = spoken.iter().filter(|it| it.is_modern() == modern);
            of_era.max().copied()
        };
        let mut asked: Vec<_> = if self.revisions.is_empty() {
            newest(true).into_iter().chain(newest(false)).collect()
        } else {
            self.revisions.clone()
        };
        asked.retain(|it| spoken.contains(it));
        if asked.is_empty() {
            return Err(FuzzError::Revision(self.endpoint.to_string()));
        }
        let mut sides = Vec::with_capacity(asked.len());
        for revision in asked {
            let mut bench = Bench::new(self.endpoint.clone(), revision, self.timeout);
            bench.learn(&self.tools).await;
            let mut side = FuzzedRevision { templates: Template::all(&bench), bench };
            let mut answered = Vec::with_capacity(side.templates.len());
            for mut template in std::mem::take(&mut side.templates) {
                let first = content(&ask(&mut side.bench, &template).await);
                if first.is_none() {
                    // For a tool that waits for something, silence is not a finding.
                    report.silent.insert(template.name());
                    if !side.bench.endpoint.is_http() {
                        side.bench = side.bench.another().await;
                    }
                    continue;
                }
                let second = content(&ask(&mut side.bench, &template).await);
                template.expected = first.filter(|it| Some(it) == second.as_ref());
                answered.push(template);
            }
            side.templates = answered;
            sides.push(side);
        }
        Ok(sides)
    }

    /// One case, unless it might do harm; what is wrong then.
    async fn attempt(
        &self,
        side: &mut FuzzedRevision,
        case: u64,
        report: &mut FuzzReport,
    ) -> Option<Failed> {
        let mut rng = Rng::with_seed(self.seed ^ case.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let index = rng.usize(0..side.templates.len().max(1));
        let template = side.templates.get(index)?.clone();
        let id = if rng.bool() { json!(1_000_000 + case) } else { json!(format!("case-{case}")) };
        let mutated = mutate::mutate(&mut rng, &side.bench, &template, id);
        if !safety::is_safe(&side.bench, &mutated.raw.body) {
            report.left_out += 1;
            return None;
        }
        report.cases += 1;
        let breach = trial(&mut side.bench, &mutated.raw, &template).await?;
        Some(Failed { template, mutated, breach })
    }

    /// The same on a fresh session or process, and then as small as it can be; nothing if it does not fail there.
    async fn finding(
        &self,
        side: &FuzzedRevision,
        case: u64,
        failed: Failed,
    ) -> Option<FuzzFinding> {
        let shrunk = shrink::shrink(&side.bench, &failed).await?;
        let raw = &shrunk.raw;
        Some(FuzzFinding {
            oracle: shrunk.breach.oracle,
            seen: shrunk.breach.seen.clone(),
            case,
            revision: side.bench.revision,
            request: failed.template.name(),
            how: failed.mutated.how,
            reproduce: reproduce::command(&side.bench, raw, &failed.template),
            transcript: reproduce::transcript(&side.bench, raw, &failed.template, case),
            exchange: shrunk.breach.exchange,
        })
    }
}

/// A server in one revision, and the requests to it.
struct FuzzedRevision {
    bench: Bench,
    templates: Vec<Template>,
}

/// A case that failed.
struct Failed {
    template: Template,
    mutated: mutate::Mutated,
    breach: Breach,
}

impl Failed {
    /// The key of findings of the same kind, of which one is enough.
    fn kind(&self, revision: Revision) -> String {
        let seen = self.breach.seen.chars().filter(|it| !it.is_ascii_digit());
        let seen: String = seen.take(60).collect();
        let oracle = self.breach.oracle;
        match oracle {
            // What is seen then is the good request.
            Oracle::Changed => format!("{revision} {oracle}"),
            _ => format!("{revision} {oracle} {seen} {}", self.template.method()),
        }
    }
}

impl FuzzedRevision {
    /// Replaces a harmed session or process with a new one. Returns whether the server still answers.
    async fn renew(&mut self) -> bool {
        let fresh = self.bench.another().await;
        let is_there = fresh.greeting.result().is_some();
        self.bench.end().await;
        self.bench = fresh;
        if is_there {
            for template in &mut self.templates {
                if template.expected.is_some() {
                    template.expected = steady(&mut self.bench, template).await;
                }
            }
        }
        is_there
    }
}

/// What a good request is answered, if it is answered so twice.
async fn steady(bench: &mut Bench, template: &Template) -> Option<serde_json::Value> {
    let first = content(&ask(bench, template).await)?;
    let second = content(&ask(bench, template).await)?;
    (first == second).then_some(first)
}
