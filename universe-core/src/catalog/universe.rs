//! Simulation and Snapshot.

use super::CommandSpec;
use crate::command::kind::CommandKind;
use crate::entity::tables::UNIVERSE;
use crate::member::Kind::{Instant, Number, Object};
use crate::member::Mode::New;
use crate::member::Need::{Omittable, Required};
use crate::member::{Table, row};

// Members are read by column.
#[rustfmt::skip]
pub(super) static SIMULATION: [CommandSpec; 1] = [CommandSpec {
    kind: CommandKind::Tick,
    description: "Advances the simulated time by dt seconds, or to `until`; positions follow from the time.",
    fields: &Table { name: "tick", members: &[
            row("dt", Number, Omittable, "seconds, may be negative; 1 if absent"),
            row("until", Instant, Omittable, "date or seconds to go to"),
        ] },
    example: r#"{"type":"tick","dt":0.5}"#,
}];

#[rustfmt::skip]
pub(super) static SNAPSHOT: [CommandSpec; 1] = [CommandSpec {
    kind: CommandKind::ReplaceSnapshot,
    description: "Replaces the whole universe except its time; sections left out become empty.",
    fields: &Table { name: "replaceSnapshot", members: &[
            row("snapshot", Object(&UNIVERSE, New), Required, "the universe to be"),
        ] },
    example: r##"{"type":"replaceSnapshot","snapshot":{"stars":{"sol":{"id":"sol","name":"Sol","mass":333000,"radius":10,"color":"#FFDD44","children":[],"parentId":null,"orbitalDistance":0,"orbitalSpeed":0,"orbitalPhase":0,"bodyType":"star"}},"rootIds":["sol"]}}"##,
}];
