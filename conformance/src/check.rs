//! `check`: what any MCP server must do, seen from outside and without a fixture.
//!
//! Each [`Rule`] is one sentence of the specification that can be tested from outside. A rule is checked once for each
//! revision that the server supports. The requests are safe: tools are called only where they are annotated as
//! read-only or were named.

mod calling;
mod heard;
mod report;
mod rule;
mod rules;
mod verdict;

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};

use crate::calls::{Calls, ToolCall};
use crate::probe::LoggedIn;
use crate::probe::{Bench, Endpoint, Revision, Revisions, revisions};
use crate::target::{Target, TargetError};

pub use report::{CheckReport, Judged};
pub use rule::{Finding, Level, Rule, Verdict};
pub(crate) use rule::{Selection, applies};
pub use rules::all as rules;
pub(crate) use verdict::{Outcome, inapplicable, unclear, verdict};

/// How long each answer may take by default.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a stream may be quiet by default.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// Rules to hold against one server.
#[derive(Debug, Clone)]
#[must_use]
pub struct Check {
    endpoint: Endpoint,
    other: Option<Target>,
    login: Option<Arc<LoggedIn>>,
    selection: Selection,
    revisions: Vec<Revision>,
    tools: Vec<ToolCall>,
    timeout: Duration,
    keep_alive: Duration,
    jobs: usize,
}

impl Check {
    /// Against the endpoint of a [`Target`] over HTTP.
    pub fn url(target: Target) -> Self {
        Self::of(Endpoint::Http(target))
    }

    /// Against a program on its stdin and stdout, which is started for each revision, and for each rule that may end
    /// it.
    pub fn command(program: impl Into<OsString>, arguments: Vec<OsString>) -> Self {
        Self::of(Endpoint::Command(program.into(), arguments))
    }

    fn of(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            other: None,
            login: None,
            selection: Selection::default(),
            revisions: Revision::ALL.to_vec(),
            tools: Vec::new(),
            timeout: TIMEOUT,
            keep_alive: KEEP_ALIVE,
            jobs: 1,
        }
    }

    /// The same endpoint with another user's token. Things that belong to one caller are then requested by the other.
    pub fn other(mut self, target: Target) -> Self {
        self.other = Some(target);
        self
    }

    /// With the token of a login, which is judged too.
    ///
    /// # Errors
    /// The token cannot be sent.
    pub fn login(mut self, login: LoggedIn) -> Result<Self, TargetError> {
        if let Endpoint::Http(target) = self.endpoint {
            let token = format!("Bearer {}", login.token);
            self.endpoint = Endpoint::Http(target.header("authorization", &token)?);
        }
        self.login = Some(Arc::new(login));
        Ok(self)
    }

    /// Only rules whose id has one of these prefixes; by default all.
    pub fn only(mut self, prefixes: impl IntoIterator<Item = String>) -> Self {
        self.selection.only.extend(prefixes);
        self
    }

    /// No rule whose id has one of these prefixes.
    pub fn skip(mut self, prefixes: impl IntoIterator<Item = String>) -> Self {
        self.selection.skip.extend(prefixes);
        self
    }

    /// Only these revisions; by default all that the server supports.
    pub fn revisions(mut self, revisions: Vec<Revision>) -> Self {
        self.revisions = revisions;
        self
    }

    /// Tools that may be called, besides those that are annotated as read-only, and with which arguments. Without
    /// arguments, they are made from the schema of the tool.
    pub fn call(mut self, tools: impl IntoIterator<Item: Into<ToolCall>>) -> Self {
        self.tools.extend(tools.into_iter().map(Into::into));
        self
    }

    /// How long each answer may take, and a program to end; 10 s by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How long a stream may be quiet until the server keeps it alive by a comment; 30 s by default.
    pub fn keep_alive(mut self, most: Duration) -> Self {
        self.keep_alive = most;
        self
    }

    /// How many revisions are checked at the same time; one by default.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs.max(1);
        self
    }

    /// The URL or the program.
    #[must_use]
    pub fn target(&self) -> String {
        self.endpoint.to_string()
    }

    /// Asks every rule in every revision.
    ///
    /// # Errors
    /// The server cannot be reached, or does not have a tool that was named.
    pub async fn run(&self, mut progress: impl FnMut(&Judged)) -> Result<CheckReport, TargetError> {
        let mut report = CheckReport::new(self.endpoint.to_string());
        let Revisions { spoken, unlisted } = revisions(&self.endpoint, self.timeout).await?;
        let wanted = self.revisions.iter().copied();
        let mut asked: Vec<_> = wanted.clone().filter(|it| spoken.contains(it)).collect();
        asked.sort_unstable();
        // One that is answered and not served is a finding of its own, and nothing else is judged in it.
        let unlisted = unlisted.into_iter().filter(|(it, _)| self.revisions.contains(it));
        let judged = unlisted.filter_map(|(it, greeting)| rules::unlisted(it, &greeting));
        let judged: Vec<_> = judged.filter(|it| self.selection.has(it.rule.id)).collect();
        // A server that supports none of them is checked against one rule, in the latest revision that has a handshake.
        let is_finding = |it: &Judged| matches!(it.verdict, Verdict::Finding(_));
        let silent = asked.is_empty() && !judged.iter().any(is_finding);
        if silent {
            let latest = wanted.clone().filter(|it| !it.is_modern()).max();
            asked.extend(latest.or(wanted.max()));
        } else {
            report.judged = judged;
            report.judged.iter().for_each(&mut progress);
        }
        // Tools are called in the newest revision of each era.
        let newest = |it: &Revision| {
            !asked.iter().any(|other| other > it && other.is_modern() == it.is_modern())
        };
        let progress = Mutex::new(progress);
        let each = asked.iter();
        let each = each.map(|it| self.judge(*it, newest(it), &spoken, silent, &progress));
        let mut each = stream::iter(each).buffered(self.jobs);
        while let Some(judged) = each.next().await {
            let (mut bench, judged) = judged?;
            report.server = bench.server().or(report.server);
            report.called(bench.calls.take(), bench.revision);
            report.judged.extend(judged);
        }
        drop(each);
        report.revisions = spoken;
        Ok(report)
    }

    /// Asks every rule in one revision. Tools are called there if `calling`.
    async fn judge(
        &self,
        revision: Revision,
        calling: bool,
        spoken: &[Revision],
        silent: bool,
        progress: &Mutex<impl FnMut(&Judged)>,
    ) -> Result<(Bench, Vec<Judged>), TargetError> {
        let mut bench = Bench::new(self.endpoint.clone(), revision, self.timeout);
        bench.spoken = spoken.to_vec();
        bench.other.clone_from(&self.other);
        bench.login.clone_from(&self.login);
        bench.log = Some(Arc::default());
        bench.learn(&self.tools).await;
        if !silent {
            bench.has_tools(&self.tools)?;
            bench.find_plain().await;
        }
        if !calling {
            bench.calls = Some((Vec::new(), Calls::default()));
        }
        if revision.is_modern() && self.endpoint.is_http() && self.selection.has(rules::KEEP_ALIVE)
        {
            let wanted = rules::wanted(&bench);
            bench.watch(wanted, self.keep_alive).await;
        }
        let (mut all, mut presence) = (Vec::new(), Presence::default());
        // It was answered in this revision before, so that nothing else is proved by what is not there now.
        if !silent && bench.greeting.result().is_none() {
            let outcome = bench.greeting.outcome();
            presence.gone = Some(format!("the server could not be opened again: {outcome}"));
        }
        for rule in rules().filter(|rule| silent || self.selection.has(rule.id)) {
            if !rule.is_for(revision, self.endpoint.is_http()) || silent && rule.id != rules::SPEAKS
            {
                continue;
            }
            let began = Instant::now();
            let verdict = match &presence.gone {
                Some(why) if !rules::looks_back(rule) => Verdict::Unclear(why.clone()),
                _ => ask(rule, &mut bench, &mut presence).await,
            };
            let judged = Judged { rule, revision, verdict, elapsed: began.elapsed() };
            (progress.lock().unwrap_or_else(PoisonError::into_inner))(&judged);
            all.push(judged);
        }
        bench.end().await;
        Ok((bench, all))
    }
}

/// Whether the session or program of a bench is there.
#[derive(Default)]
struct Presence {
    /// How many requests were without an answer when it was there last.
    unanswered: usize,
    /// Why it cannot be had again.
    gone: Option<String>,
}

/// Asks one rule. A finding counts only if the session or the program is still there afterwards: otherwise it may be
/// gone for another reason, and the rule is asked once more in a new one.
async fn ask(rule: &'static Rule, bench: &mut Bench, presence: &mut Presence) -> Verdict {
    let mut verdict = rule.judge(bench).await;
    for may_repeat in [true, false] {
        let is_good = matches!(verdict, Verdict::Holds | Verdict::Inapplicable(_));
        if is_good || presence.gone.is_some() {
            break;
        }
        let gone = bench.gone().await;
        let unanswered = bench.log.as_ref().map_or(0, |log| log.read().unanswered.len());
        // That a request without an answer ended it is found by another rule.
        let is_told = std::mem::replace(&mut presence.unanswered, unanswered) < unanswered;
        let Some(exchange) = gone else {
            break;
        };
        if let Some(log) = bench.log.as_ref().filter(|_| !is_told) {
            let lost = &mut log.read().lost;
            // A rule that finds the same twice says itself what ended it.
            match verdict {
                Verdict::Finding(_) if !may_repeat => drop(lost.pop_if(|(id, _)| *id == rule.id)),
                _ => lost.push((rule.id, exchange)),
            }
        }
        if !bench.reopen().await {
            let outcome = bench.greeting.outcome();
            let why = format!("after {} the server could not be opened again: {outcome}", rule.id);
            presence.gone = Some(why);
        } else if may_repeat {
            verdict = rule.judge(bench).await;
        }
    }
    verdict
}
