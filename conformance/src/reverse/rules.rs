//! All rules for clients, by what they are about.

mod base;
mod careful;
mod legacy;
mod modern;
mod streams;

use super::rule::ClientRule;
use super::scene::Scene;
use super::seen::{Heard, Runs};
use crate::check::Level;

/// Every rule, in the order in which they are reported.
pub fn all() -> impl Iterator<Item = &'static ClientRule> {
    let rooms = [
        base::RULES,
        legacy::RULES,
        streams::RULES,
        modern::RULES,
        careful::RULES,
    ];
    rooms.into_iter().flatten()
}

const MUST: Level = Level::Must;
const SHOULD: Level = Level::Should;
const PRACTICE: Level = Level::Practice;

/// The scenes in which the server behaves normally.
const CALM: &[Scene] = &[Scene::Legacy, Scene::Modern];

/// The requests to the server's own origin in all scenes that were run.
fn heard(runs: &Runs) -> impl Iterator<Item = &Heard> {
    let all = runs.all().flat_map(|(_, seen)| &seen.heard);
    all.filter(|heard| !heard.elsewhere)
}

/// The messages among it.
fn posts(runs: &Runs) -> impl Iterator<Item = &Heard> {
    heard(runs).filter(|heard| heard.method == http::Method::POST)
}

/// The messages of 2026-07-28 to the server of that revision.
fn modern(runs: &Runs) -> impl Iterator<Item = &Heard> {
    let scenes = [Scene::Modern, Scene::Asks];
    let seen = scenes.into_iter().filter_map(|scene| runs.of(scene));
    seen.flat_map(|seen| &seen.heard)
        .filter(|heard| heard.is_modern())
}
