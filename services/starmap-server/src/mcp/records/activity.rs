//! What happened in a system, as answers tell it: a dump without kills has no zeros for them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::activity::{Activity, Level, Measure};

/// What happened in a system in the hour before the dump.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ActivityInfo {
    #[serde(flatten)]
    figures: Counted,
    /// How much was killed: none, low (1), medium (5), high (20), extreme (50).
    #[serde(skip_serializing_if = "Option::is_none")]
    kills_level: Option<Level>,
}

/// The figures of a system. Those of an array that the dump does not have are absent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Counted {
    /// Players' ships killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    ship_kills: Option<u32>,
    /// Players' capsules killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pod_kills: Option<u32>,
    /// Ships of non-players killed: how much is ratted there.
    #[serde(skip_serializing_if = "Option::is_none")]
    npc_kills: Option<u32>,
    /// Ships that jumped in.
    #[serde(skip_serializing_if = "Option::is_none")]
    ship_jumps: Option<u32>,
}

impl ActivityInfo {
    pub(crate) fn of(activity: &Activity, system: u32) -> Self {
        Self {
            figures: Counted::of(activity, system),
            kills_level: level(activity, system, Measure::Kills),
        }
    }
}

impl Counted {
    pub(crate) fn of(activity: &Activity, system: u32) -> Self {
        let figures = activity.figures(system);
        let has = activity.has();
        Self {
            ship_kills: has.kills.then_some(figures.ship_kills),
            pod_kills: has.kills.then_some(figures.pod_kills),
            npc_kills: has.kills.then_some(figures.npc_kills),
            ship_jumps: has.jumps.then_some(figures.ship_jumps),
        }
    }
}

/// How much of something there was, if the dump tells of it.
pub(crate) fn level(activity: &Activity, system: u32, measure: Measure) -> Option<Level> {
    let known = activity.counts(measure);
    known.then(|| activity.figures(system).level(measure))
}
