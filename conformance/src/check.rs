//! `check`: what any MCP server must do, seen from outside and without a fixture.
//!
//! Each [`Rule`] is one sentence of the specification that can be tested from outside. A rule is checked once for each
//! revision that the server supports. The requests are safe: tools are called only where they are annotated as
//! read-only or were named.

mod calling;
mod report;
mod rule;
mod rules;

use std::ffi::OsString;
use std::time::Duration;

use crate::calls::{Calls, ToolCall};
use crate::probe::{Bench, Endpoint, Revision, revisions};
use crate::target::{Target, TargetError};

pub use report::{CheckReport, Judged};
pub(crate) use rule::Selection;
pub use rule::{Finding, Level, Rule, Verdict};
pub use rules::all as rules;

/// How long each answer may take by default.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a stream may be quiet by default.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// Rules to hold against one server.
#[derive(Debug, Clone)]
pub struct Check {
    endpoint: Endpoint,
    other: Option<Target>,
    selection: Selection,
    revisions: Vec<Revision>,
    tools: Vec<ToolCall>,
    timeout: Duration,
    keep_alive: Duration,
}

impl Check {
    /// Against the endpoint of a [`Target`] over HTTP.
    #[must_use]
    pub fn url(target: Target) -> Self {
        Self::of(Endpoint::Http(target))
    }

    /// Against a program on its stdin and stdout, which is started for each revision, and for each rule that may end
    /// it.
    #[must_use]
    pub fn command(program: impl Into<OsString>, arguments: Vec<OsString>) -> Self {
        Self::of(Endpoint::Command(program.into(), arguments))
    }

    fn of(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            other: None,
            selection: Selection::default(),
            revisions: Revision::ALL.to_vec(),
            tools: Vec::new(),
            timeout: TIMEOUT,
            keep_alive: KEEP_ALIVE,
        }
    }

    /// The same endpoint with another user's token. Things that belong to one caller are then requested by the other.
    #[must_use]
    pub fn other(mut self, target: Target) -> Self {
        self.other = Some(target);
        self
    }

    /// Only rules whose id has one of these prefixes; by default all.
    #[must_use]
    pub fn only(mut self, prefixes: impl IntoIterator<Item = String>) -> Self {
        self.selection.only.extend(prefixes);
        self
    }

    /// No rule whose id has one of these prefixes.
    #[must_use]
    pub fn skip(mut self, prefixes: impl IntoIterator<Item = String>) -> Self {
        self.selection.skip.extend(prefixes);
        self
    }

    /// Only these revisions; by default all that the server supports.
    #[must_use]
    pub fn revisions(mut self, revisions: Vec<Revision>) -> Self {
        self.revisions = revisions;
        self
    }

    /// Tools that may be called, besides those that are annotated as read-only, and with which arguments. Without
    /// arguments, they are made from the schema of the tool.
    #[must_use]
    pub fn call(mut self, tools: impl IntoIterator<Item: Into<ToolCall>>) -> Self {
        self.tools.extend(tools.into_iter().map(Into::into));
        self
    }

    /// How long each answer may take, and a program to end; 10 s by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How long a stream may be quiet until the server keeps it alive by a comment; 30 s by default.
    #[must_use]
    pub fn keep_alive(mut self, most: Duration) -> Self {
        self.keep_alive = most;
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
        let spoken = revisions(&self.endpoint, self.timeout).await?;
        let wanted = self.revisions.iter().copied();
        let mut asked: Vec<_> = wanted.clone().filter(|it| spoken.contains(it)).collect();
        asked.sort_unstable();
        // A server that supports none of them is checked against one rule, in the latest revision that has a handshake.
        let silent = asked.is_empty();
        if silent {
            let latest = wanted.clone().filter(|it| !it.is_modern()).max();
            asked.extend(latest.or(wanted.max()));
        }
        // Tools are called in the newest revision of each era.
        let newest = |it: &Revision| {
            !asked.iter().any(|other| other > it && other.is_modern() == it.is_modern())
        };
        let calling: Vec<_> = asked.iter().copied().filter(newest).collect();
        for revision in asked {
            let mut bench = Bench::new(self.endpoint.clone(), revision, self.timeout);
            bench.spoken.clone_from(&spoken);
            bench.other.clone_from(&self.other);
            bench.learn(&self.tools).await;
            report.server = bench.server().or(report.server);
            if !silent {
                calling::known(&bench, &self.tools)?;
            }
            if !calling.contains(&revision) {
                bench.calls = Some((Vec::new(), Calls::default()));
            }
            if revision.is_modern()
                && self.endpoint.is_http()
                && self.selection.has(rules::KEEP_ALIVE)
            {
                let wanted = rules::wanted(&bench);
                bench.watch(wanted, self.keep_alive).await;
            }
            for rule in rules().filter(|rule| silent || self.selection.has(rule.id)) {
                if !rule.is_for(revision, self.endpoint.is_http())
                    || silent && rule.id != rules::SPEAKS
                {
                    continue;
                }
                let judged = Judged { rule, revision, verdict: (rule.probe)(&mut bench).await };
                progress(&judged);
                report.judged.push(judged);
            }
            report.called(bench.calls.take(), revision);
            bench.end().await;
        }
        report.revisions = spoken;
        Ok(report)
    }
}
