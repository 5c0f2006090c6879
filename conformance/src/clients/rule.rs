//! What a rule for clients is.

use super::scene::Scene;
use super::seen::{ReceivedRequest, Runs, SceneRun};
use crate::check::{Finding, Level, Verdict};
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

/// Why a rule cannot be judged.
pub(super) const NOT_RUN: &str = "the scene was not run";

/// How a rule is judged.
#[derive(Debug)]
pub(super) enum Judge {
    /// By all that was seen.
    All(fn(&Runs) -> Verdict),
    /// By its scene.
    In(fn(&SceneRun) -> Verdict),
    /// The same, if the client sent a request of this method; else it does not apply, for this reason.
    After(&'static str, &'static str, fn(&SceneRun) -> Verdict),
}

impl ClientRule {
    pub(super) fn verdict(&self, runs: &Runs) -> Verdict {
        let seen = self.scenes.first().and_then(|scene| runs.of(*scene));
        match (&self.judge, seen) {
            (Judge::All(judge), _) => judge(runs),
            (_, None) => Verdict::Unclear(NOT_RUN.to_owned()),
            (Judge::After(method, none, _), Some(seen)) if seen.calls(method).next().is_none() => {
                Verdict::Inapplicable((*none).to_owned())
            }
            (Judge::In(judge) | Judge::After(.., judge), Some(seen)) => judge(seen),
        }
    }
}

/// A finding for the first of these for which `wrong` returns what is wrong; holds without one. Inapplicable, for the
/// reason `none`, if nothing was received.
pub(super) fn each<'h>(
    requests: impl IntoIterator<Item = &'h ReceivedRequest>,
    none: &str,
    wrong: impl Fn(&ReceivedRequest) -> Option<String>,
) -> Verdict {
    let mut any = false;
    for request in requests {
        any = true;
        if let Some(seen) = wrong(request) {
            return finding(seen, request);
        }
    }
    if any { Verdict::Holds } else { Verdict::Inapplicable(none.to_owned()) }
}

pub(super) fn finding(seen: impl Into<String>, request: &ReceivedRequest) -> Verdict {
    Verdict::Finding(Finding { seen: seen.into(), exchange: request.exchange() }.into())
}

/// A finding about a message that never arrived.
pub(super) fn missing(seen: impl Into<String>) -> Verdict {
    Verdict::Finding(Finding { seen: seen.into(), exchange: Exchange::default() }.into())
}
