//! Star CRUD, Star hierarchy and Rings.

use super::CommandSpec;
use crate::command::kind::CommandKind;
use crate::entity::parts::RING;
use crate::entity::tables::STAR;
use crate::member::Kind::{Object, Text};
use crate::member::Mode::{New, Part};
use crate::member::Need::Required;
use crate::member::{Table, row};

// Members are read by column.
#[rustfmt::skip]
pub(super) static STARS: [CommandSpec; 3] = [
    CommandSpec {
        kind: CommandKind::AddStar,
        description: "Adds a body of any kind under a new id, as a root or in orbit around a parent.",
        fields: &Table { name: "addStar", members: &[
            row("id", Text, Required, "a new id"),
            row("payload", Object(&STAR, New), Required, "the body"),
        ] },
        example: r##"{"type":"addStar","id":"venus","payload":{"name":"Venus","mass":0.815,"radius":0.95,"color":"#E8CDA2","parentId":"sol","orbitalDistance":72,"orbitalSpeed":1.6,"bodyType":"planet"}}"##,
    },
    CommandSpec {
        kind: CommandKind::UpdateStar,
        description: "Sets the given members of a body and leaves the others; its parent and \
                      children are changed with attachStar and detachStar only.",
        fields: &Table { name: "updateStar", members: &[
            row("id", Text, Required, "id of the body"),
            row("payload", Object(&STAR, Part), Required, "the members to set"),
        ] },
        example: r#"{"type":"updateStar","id":"earth","payload":{"name":"Terra","eccentricity":0.017}}"#,
    },
    CommandSpec {
        kind: CommandKind::RemoveStar,
        description: "Removes a body with all bodies below it, also from their groups.",
        fields: &Table { name: "removeStar", members: &[row("id", Text, Required, "id of the body")] },
        example: r#"{"type":"removeStar","id":"luna"}"#,
    },
];

#[rustfmt::skip]
pub(super) static HIERARCHY: [CommandSpec; 2] = [
    CommandSpec {
        kind: CommandKind::AttachStar,
        description: "Puts a body, with all bodies below it, in orbit around another body.",
        fields: &Table { name: "attachStar", members: &[
            row("childId", Text, Required, "id of the body to move"),
            row("parentId", Text, Required, "id of its new parent"),
        ] },
        example: r#"{"type":"attachStar","childId":"mars","parentId":"sol"}"#,
    },
    CommandSpec {
        kind: CommandKind::DetachStar,
        description: "Makes a body a root body and sets its orbitalDistance to 0.",
        fields: &Table { name: "detachStar", members: &[row("childId", Text, Required, "id of the body")] },
        example: r#"{"type":"detachStar","childId":"earth"}"#,
    },
];

#[rustfmt::skip]
pub(super) static RINGS: [CommandSpec; 2] = [
    CommandSpec {
        kind: CommandKind::UpdateRing,
        description: "Sets the given members of a body's ring, making a ring first if it has none.",
        fields: &Table { name: "updateRing", members: &[
            row("planetId", Text, Required, "id of the body"),
            row("patch", Object(&RING, Part), Required, "the members to set; {} for defaults"),
        ] },
        example: r#"{"type":"updateRing","planetId":"saturn","patch":{"opacity":0.7}}"#,
    },
    CommandSpec {
        kind: CommandKind::RemoveRing,
        description: "Removes the ring of a body.",
        fields: &Table { name: "removeRing", members: &[row("planetId", Text, Required, "id of the body")] },
        example: r#"{"type":"removeRing","planetId":"saturn"}"#,
    },
];
