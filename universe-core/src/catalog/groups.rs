//! Group CRUD and Group hierarchy.

use super::CommandSpec;
use crate::command::kind::CommandKind;
use crate::entity::parts::GROUP_CHILD;
use crate::entity::tables::GROUP;
use crate::member::Kind::{Choice, IdOrNull, Object, Text};
use crate::member::Mode::{New, Part, Whole};
use crate::member::Need::Required;
use crate::member::{Table, row};

// Members are read by column.
#[rustfmt::skip]
pub(super) static GROUPS: [CommandSpec; 3] = [
    CommandSpec {
        kind: CommandKind::AddGroup,
        description: "Adds a group (a folder of systems and groups) under a new id; the children it \
                      is given leave their former groups.",
        fields: &Table { name: "addGroup", members: &[
            row("id", Text, Required, "a new id"),
            row("payload", Object(&GROUP, New), Required, "the group"),
        ] },
        example: r##"{"type":"addGroup","id":"outer","payload":{"name":"Outer systems","children":[],"parentGroupId":null,"color":"#3366CC"}}"##,
    },
    CommandSpec {
        kind: CommandKind::UpdateGroup,
        description: "Sets the given members of a group and leaves the others; its parent and \
                      children are changed with the group hierarchy commands only.",
        fields: &Table { name: "updateGroup", members: &[
            row("id", Text, Required, "id of the group"),
            row("payload", Object(&GROUP, Part), Required, "the members to set"),
        ] },
        example: r#"{"type":"updateGroup","id":"home","payload":{"name":"Neighbourhood"}}"#,
    },
    CommandSpec {
        kind: CommandKind::RemoveGroup,
        description: "Removes a group; its groups move up to where it was, its systems become \
                      ungrouped.",
        fields: &Table { name: "removeGroup", members: &[row("id", Text, Required, "id of the group")] },
        example: r#"{"type":"removeGroup","id":"home"}"#,
    },
];

#[rustfmt::skip]
pub(super) static HIERARCHY: [CommandSpec; 3] = [
    CommandSpec {
        kind: CommandKind::AddToGroup,
        description: "Puts a system (a body) or a group into a group; it leaves its former group.",
        fields: &Table { name: "addToGroup", members: &[
            row("groupId", Text, Required, "id of the group"),
            row("child", Object(&GROUP_CHILD, Whole), Required, "the system or group"),
        ] },
        example: r#"{"type":"addToGroup","groupId":"home","child":{"id":"sol","type":"system"}}"#,
    },
    CommandSpec {
        kind: CommandKind::RemoveFromGroup,
        description: "Takes a system or a group out of a group; a group becomes a root group.",
        fields: &Table { name: "removeFromGroup", members: &[
            row("groupId", Text, Required, "id of the group"),
            row("childId", Text, Required, "id of the system or group in it"),
        ] },
        example: r#"{"type":"removeFromGroup","groupId":"home","childId":"inner"}"#,
    },
    CommandSpec {
        kind: CommandKind::MoveToGroup,
        description: "Moves a system or a group to the end of a group, or out of all groups.",
        fields: &Table { name: "moveToGroup", members: &[
            row("childId", Text, Required, "id of the system or group"),
            row("childType", Choice(&["system", "group"]), Required, "what childId names"),
            row("targetGroupId", IdOrNull, Required, "id of the group, or null for none"),
        ] },
        example: r#"{"type":"moveToGroup","childId":"sol","childType":"system","targetGroupId":"inner"}"#,
    },
];
