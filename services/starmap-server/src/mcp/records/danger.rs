//! The activity in the systems of an answer, and the warnings that follow from it.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::Serialize;

use crate::activity::{
    Activity, DANGEROUS_KILLS, FeedReport, Level, Measure, OLD_SECONDS, STALE_SECONDS, Scene,
    SceneKind,
};
use crate::map::{Map, SystemIndex};

use super::super::universe::Snapshot;

/// How many dangerous systems a warning names.
const MAX_NAMED: usize = 5;

/// The activity in the systems of an answer.
#[derive(Debug, Serialize)]
pub(crate) struct Danger {
    /// How many seconds ago the kills were reported.
    pub(crate) age_seconds: Option<u64>,
    /// Ships and capsules killed in an hour, by system; 0 for systems that are not listed. Absent if there is no data
    /// on kills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kills: Option<BTreeMap<String, u32>>,
    /// The systems where a feed shows a gate camp.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) camps: Vec<String>,
    /// The systems of high security where a feed shows ganks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ganks: Vec<String>,
    /// The systems where a feed shows a fight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fights: Vec<String>,
}

/// The figures of a system. Figures that the overlay lacks are absent.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Counted {
    /// Players' ships killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ship_kills: Option<u32>,
    /// Players' capsules killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pod_kills: Option<u32>,
    /// Ships of non-players killed: a measure of ratting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) npc_kills: Option<u32>,
    /// Ships that jumped in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ship_jumps: Option<u32>,
    /// The level of kills: none, low (1), medium (5), high (20), extreme (50).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kills_level: Option<Level>,
}

impl Danger {
    /// The activity in these systems according to the overlay, and the warnings that follow from it. With a way, what
    /// happens at other gates than those it takes is told as such.
    pub(crate) fn of(
        now: &Snapshot,
        systems: impl IntoIterator<Item = SystemIndex>,
        way: &[SystemIndex],
        time: SystemTime,
    ) -> Option<(Self, Vec<String>)> {
        let activity = now.activity.as_deref()?;
        let counted = activity.counts(Measure::Kills);
        let mut danger = Self {
            age_seconds: activity.kills_age(time),
            kills: counted.then(BTreeMap::new),
            camps: Vec::new(),
            ganks: Vec::new(),
            fights: Vec::new(),
        };
        let mut all: Vec<SystemIndex> = systems.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        let mut dangerous: Vec<(u32, String)> = Vec::new();
        for (system, record) in all.iter().map(|&system| (system, now.map.system(system))) {
            let kills = activity.figures(record.id).kills();
            if let Some(counts) = danger.kills.as_mut().filter(|_| kills > 0) {
                counts.insert(record.name.to_string(), kills);
            }
            let scene = activity.scene(record.id);
            match scene.map(|scene| scene.kind) {
                Some(SceneKind::Camp) => danger.camps.push(record.name.to_string()),
                Some(SceneKind::Gank) => danger.ganks.push(record.name.to_string()),
                Some(SceneKind::Fight) => danger.fights.push(record.name.to_string()),
                _ => {}
            }
            if kills >= DANGEROUS_KILLS || scene.is_some_and(Scene::is_danger) {
                let told = scene.map_or_else(String::new, |it| told(&now.map, system, it, way));
                let unit = if kills == 1 { "kill" } else { "kills" };
                dangerous.push((kills, format!("{} ({kills} {unit}{told})", record.name)));
            }
        }
        let mut warnings = Vec::new();
        if !dangerous.is_empty() {
            dangerous.sort_unstable_by(|a, b| b.cmp(a));
            let named = dangerous.iter().take(MAX_NAMED).map(|(_, told)| told.as_str());
            let named: Vec<&str> = named.collect();
            let more = match dangerous.len().saturating_sub(MAX_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            warnings.push(format!("Dangerous: {}{more}", named.join(", ")));
        }
        warnings.extend(old(activity, time));
        warnings.extend(activity.feed().and_then(FeedReport::sentence));
        Some((danger, warnings))
    }
}

/// What a feed shows in a system, to follow the number of kills.
fn told(map: &Map, system: SystemIndex, scene: &Scene, way: &[SystemIndex]) -> String {
    let mut text = match scene.kind {
        SceneKind::Camp => ", a gate camp",
        SceneKind::Gank => ", ganks",
        SceneKind::Fight => ", a fight",
        SceneKind::Kills => "",
    }
    .to_owned();
    if scene.tags.interdictors {
        text.push_str(", interdictors");
    }
    if scene.tags.smartbombs {
        text.push_str(", smartbombs");
    }
    if let Some(behind) = scene.gates.first().and_then(|gate| map.behind(system, *gate)) {
        text.push_str(&format!(", at the gate to {}", map.name(behind)));
    }
    if scene.is_beside(&gates_of(map, way, system)) {
        text.push_str(", which this way does not take");
    }
    text
}

/// The stargates of a system that a way takes in or out of it.
pub(crate) fn gates_of(map: &Map, way: &[SystemIndex], system: SystemIndex) -> Vec<u32> {
    let steps = way.iter().zip(way.iter().skip(1));
    let other = steps.filter_map(|(from, to)| match system {
        it if it == *from => Some(*to),
        it if it == *to => Some(*from),
        _ => None,
    });
    other.filter_map(|other| map.stargate(system, other)).collect()
}

/// The warning that the kills are old, if they are.
pub(crate) fn old(activity: &Activity, time: SystemTime) -> Option<String> {
    let age = activity.kills_age(time)?;
    match age {
        ..=OLD_SECONDS => None,
        _ if age < STALE_SECONDS => Some(format!(
            "The activity data is {} minutes old: things may have changed since",
            age / 60
        )),
        _ => Some(format!(
            "The activity data is {} days old and says nothing about now",
            age / STALE_SECONDS
        )),
    }
}

impl Counted {
    pub(crate) fn of(activity: &Activity, system: u32) -> Self {
        let figures = activity.figures(system);
        let has = activity.has();
        Self {
            ship_kills: has.kills.then_some(figures.ship_kills),
            pod_kills: has.kills.then_some(figures.pod_kills),
            npc_kills: has.ratting.then_some(figures.npc_kills),
            ship_jumps: has.jumps.then_some(figures.ship_jumps),
            kills_level: level(activity, system, Measure::Kills),
        }
    }
}

/// The level for a measure, if the overlay has data for it.
pub(crate) fn level(activity: &Activity, system: u32, measure: Measure) -> Option<Level> {
    let known = activity.counts(measure);
    known.then(|| activity.figures(system).level(measure))
}
