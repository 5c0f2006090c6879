//! What a rule for clients is.

use super::scene::Scene;
use super::seen::{ReceivedRequest, Runs, SceneRun};
use crate::check::{Finding, Level, Outcome, Verdict, applies, unclear, verdict};
use crate::probe::Exchange;

/// One sentence of the specification that a server sees kept or broken.
#[derive(Debug)]
pub struct ClientRule {
    /// Its stable name, such as `client.session-header`.
    pub id: &'static str,
    /// How much it binds.
    pub level: Level,
    /// The section of the specification that the rule is from.
    pub section: &'static str,
    /// The rule in a sentence.
    pub title: &'static str,
    /// What to change in a client that breaks it.
    pub fix: &'static str,
    /// The scenes by which it is judged.
    pub scenes: &'static [Scene],
    pub(super) judge: Judge,
}

/// How a rule is judged.
#[derive(Debug)]
pub(super) enum Judge {
    /// By all that was seen.
    All(fn(&Runs) -> Outcome),
    /// By its scene.
    In(fn(&SceneRun) -> Outcome),
    /// The same, if the client sent a request of this method; else it does not apply, for this reason.
    After(&'static str, &'static str, fn(&SceneRun) -> Outcome),
}

impl ClientRule {
    pub(super) fn verdict(&self, runs: &Runs) -> Verdict {
        verdict(self.outcome(runs))
    }

    fn outcome(&self, runs: &Runs) -> Outcome {
        let seen = self.scenes.first().and_then(|scene| runs.of(*scene));
        let seen = seen.ok_or_else(|| unclear("the scene was not run"));
        match self.judge {
            Judge::All(judge) => judge(runs),
            Judge::In(judge) => judge(seen?),
            Judge::After(method, none, judge) => {
                let seen = seen?;
                applies(seen.calls(method).next().is_some(), none)?;
                judge(seen)
            }
        }
    }
}

/// A finding for the first of these for which `wrong` returns what is wrong; holds without one. Inapplicable, for the
/// reason `none`, if nothing was received.
pub(super) fn each<'h>(
    requests: impl IntoIterator<Item = &'h ReceivedRequest>,
    none: &str,
    wrong: impl Fn(&ReceivedRequest) -> Option<String>,
) -> Outcome {
    let mut any = false;
    for request in requests {
        any = true;
        if let Some(seen) = wrong(request) {
            return finding(seen, request);
        }
    }
    applies(any, none)
}

pub(super) fn finding(seen: impl Into<String>, request: &ReceivedRequest) -> Outcome {
    found(seen, request.exchange())
}

/// A finding about a message that never arrived.
pub(super) fn missing(seen: impl Into<String>) -> Outcome {
    found(seen, Exchange::default())
}

/// A finding about this request, or about one that never arrived.
pub(super) fn last(request: Option<&ReceivedRequest>, seen: &str, otherwise: &str) -> Outcome {
    request.map_or_else(|| missing(otherwise), |request| finding(seen, request))
}

/// A finding if there is such a request.
pub(super) fn never(request: Option<&ReceivedRequest>, seen: impl Into<String>) -> Outcome {
    request.map_or(Ok(()), |request| finding(seen, request))
}

fn found(seen: impl Into<String>, exchange: Exchange) -> Outcome {
    Err(Verdict::Finding(Finding { seen: seen.into(), exchange }.into()))
}
