//! Small body fields, Protoplanetary disks and Nebulae.

use super::CommandSpec;
use crate::command::kind::CommandKind;
use crate::entity::regions::{DISK, FIELD, NEBULA};
use crate::member::Kind::{Map, Object, Text};
use crate::member::Mode::{Part, Whole};
use crate::member::Need::Required;
use crate::member::{Table, row};

// Members are read by column.
#[rustfmt::skip]
pub(super) static FIELDS: [CommandSpec; 3] = [
    CommandSpec {
        kind: CommandKind::SetSmallBodyFields,
        description: "Replaces all small body fields (particle belts); to add one, send all.",
        fields: &Table { name: "setSmallBodyFields", members: &[
            row("fields", Map(&FIELD), Required, "every field under its id"),
        ] },
        example: r##"{"type":"setSmallBodyFields","fields":{"kuiper":{"id":"kuiper","systemId":"sol","hostStarId":"sol","innerRadius":300,"outerRadius":500,"thickness":10,"particleCount":5000,"baseColor":"#8899AA","highlightColor":"#DDEEFF","opacity":0.5,"brightness":0.6,"clumpiness":0.3,"rotationSpeedMultiplier":0.2,"beltType":"kuiper","regionLabel":"Kuiper belt","isIcy":true,"seed":1951,"style":"scattered"}}}"##,
    },
    CommandSpec {
        kind: CommandKind::UpdateSmallBodyField,
        description: "Sets the given members of a small body field and leaves the others.",
        fields: &Table { name: "updateSmallBodyField", members: &[
            row("id", Text, Required, "id of the field"),
            row("patch", Object(&FIELD, Part), Required, "the members to set"),
        ] },
        example: r#"{"type":"updateSmallBodyField","id":"main","patch":{"opacity":0.4,"visible":true}}"#,
    },
    CommandSpec {
        kind: CommandKind::RemoveSmallBodyField,
        description: "Removes a small body field; succeeds if it does not exist.",
        fields: &Table { name: "removeSmallBodyField", members: &[row("id", Text, Required, "id of the field")] },
        example: r#"{"type":"removeSmallBodyField","id":"main"}"#,
    },
];

#[rustfmt::skip]
pub(super) static DISKS: [CommandSpec; 4] = [
    CommandSpec {
        kind: CommandKind::SetProtoplanetaryDisks,
        description: "Replaces all protoplanetary disks.",
        fields: &Table { name: "setProtoplanetaryDisks", members: &[
            row("disks", Map(&DISK), Required, "every disk under its id; {} for none"),
        ] },
        example: r#"{"type":"setProtoplanetaryDisks","disks":{}}"#,
    },
    CommandSpec {
        kind: CommandKind::AddProtoplanetaryDisk,
        description: "Adds a protoplanetary disk, replacing one of the same id.",
        fields: &Table { name: "addProtoplanetaryDisk", members: &[
            row("disk", Object(&DISK, Whole), Required, "the disk"),
        ] },
        example: r##"{"type":"addProtoplanetaryDisk","disk":{"id":"young","systemId":"sol","centralStarId":"sol","innerRadius":15,"outerRadius":120,"thickness":4,"particleCount":8000,"baseColor":"#553311","highlightColor":"#FFCC88","opacity":0.5,"brightness":0.6,"clumpiness":0.3,"rotationSpeedMultiplier":0.25,"seed":"young","style":"thin"}}"##,
    },
    CommandSpec {
        kind: CommandKind::UpdateProtoplanetaryDisk,
        description: "Sets the given members of a protoplanetary disk and leaves the others.",
        fields: &Table { name: "updateProtoplanetaryDisk", members: &[
            row("id", Text, Required, "id of the disk"),
            row("patch", Object(&DISK, Part), Required, "the members to set"),
        ] },
        example: r#"{"type":"updateProtoplanetaryDisk","id":"old","patch":{"spiralArmCount":2}}"#,
    },
    CommandSpec {
        kind: CommandKind::RemoveProtoplanetaryDisk,
        description: "Removes a protoplanetary disk; succeeds if it does not exist.",
        fields: &Table { name: "removeProtoplanetaryDisk", members: &[row("id", Text, Required, "id of the disk")] },
        example: r#"{"type":"removeProtoplanetaryDisk","id":"old"}"#,
    },
];

#[rustfmt::skip]
pub(super) static NEBULAE: [CommandSpec; 3] = [
    CommandSpec {
        kind: CommandKind::SetNebulae,
        description: "Replaces all nebulae; to add one, send all.",
        fields: &Table { name: "setNebulae", members: &[
            row("nebulae", Map(&NEBULA), Required, "every nebula under its id"),
        ] },
        example: r##"{"type":"setNebulae","nebulae":{"orion":{"id":"orion","name":"Orion","position":{"x":900,"y":-200,"z":450},"radius":120,"density":0.4,"brightness":0.7,"baseColor":"#331155","accentColor":"#AA66FF","noiseScale":1.2,"noiseDetail":4,"seed":42}}}"##,
    },
    CommandSpec {
        kind: CommandKind::UpdateNebula,
        description: "Sets the given members of a nebula and leaves the others; a position is \
                      replaced whole.",
        fields: &Table { name: "updateNebula", members: &[
            row("id", Text, Required, "id of the nebula"),
            row("patch", Object(&NEBULA, Part), Required, "the members to set"),
        ] },
        example: r#"{"type":"updateNebula","id":"veil","patch":{"density":0.9}}"#,
    },
    CommandSpec {
        kind: CommandKind::RemoveNebula,
        description: "Removes a nebula; succeeds if it does not exist.",
        fields: &Table { name: "removeNebula", members: &[row("id", Text, Required, "id of the nebula")] },
        example: r#"{"type":"removeNebula","id":"veil"}"#,
    },
];
