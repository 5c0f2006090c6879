//! All rules for clients, by what they are about.

mod base;
mod careful;
mod legacy;
mod modern;
mod streams;

use super::rule::ClientRule;
use super::scene::Scene;
use super::seen::{ReceivedRequest, Runs};
use crate::check::Level;

/// Every rule, in the order in which they are reported.
pub fn all() -> impl Iterator<Item = &'static ClientRule> {
    let groups = [base::RULES, legacy::RULES, streams::RULES, modern::RULES, careful::RULES];
    groups.into_iter().flatten()
}

const MUST: Level = Level::Must;
const SHOULD: Level = Level::Should;
const PRACTICE: Level = Level::Practice;

/// The scenes in which the server behaves normally.
const CALM: &[Scene] = &[Scene::Legacy, Scene::Modern];

/// The requests to the server's own origin in all scenes that were run.
fn own_requests(runs: &Runs) -> impl Iterator<Item = &ReceivedRequest> {
    let all = runs.all().flat_map(|(_, seen)| &seen.requests);
    all.filter(|request| !request.elsewhere)
}

/// The messages among it.
fn posts(runs: &Runs) -> impl Iterator<Item = &ReceivedRequest> {
    own_requests(runs).filter(|request| request.method == http::Method::POST)
}

/// The messages of 2026-07-28 to the server of that revision.
fn modern(runs: &Runs) -> impl Iterator<Item = &ReceivedRequest> {
    let scenes = [Scene::Modern, Scene::Asks];
    let seen = scenes.into_iter().filter_map(|scene| runs.of(scene));
    seen.flat_map(|seen| &seen.requests).filter(|request| request.is_modern())
}
