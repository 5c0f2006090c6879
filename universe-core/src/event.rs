//! What a command did, or why it did nothing.

use serde::{Deserialize, Serialize};

use crate::entity::Id;

/// What a command did, or, in a refusal, why it did nothing.
///
/// In JSON an object whose `type` is the name in camel case: `{"type":"starAdded","id":"sol"}`.
/// `tick` gives no event, every other command exactly one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the members are the ids the command was about")]
pub enum Event {
    /// A body was added.
    StarAdded { id: Id },
    /// Members of a body were set.
    StarUpdated { id: Id },
    /// A body and all below it were removed: each before its children, children in order.
    StarRemoved { id: Id, removed_ids: Vec<Id> },
    /// Refused: no such body.
    StarNotFound { id: Id },
    /// A body got a parent.
    StarAttached { child_id: Id, parent_id: Id },
    /// Refused: the body cannot get this parent.
    AttachFailed { reason: Reason, child_id: Id, parent_id: Option<Id> },
    /// A body became a root body.
    StarDetached { child_id: Id },
    /// Refused: the body cannot lose its parent.
    DetachFailed { reason: Reason, child_id: Id },
    /// A group was added.
    GroupAdded { id: Id },
    /// Members of a group were set.
    GroupUpdated { id: Id },
    /// A group was removed; its subgroups moved up, its systems became ungrouped.
    GroupRemoved { id: Id },
    /// Refused: no such group.
    GroupNotFound { id: Id },
    /// A system or a group was put in a group.
    ChildAddedToGroup { group_id: Id, child_id: Id },
    /// Refused: it is in this group.
    ChildAlreadyInGroup { group_id: Id, child_id: Id },
    /// A system or a group was taken out of a group.
    ChildRemovedFromGroup { group_id: Id, child_id: Id },
    /// Refused: it is not in this group.
    ChildNotInGroup { group_id: Id, child_id: Id },
    /// A system or a group was moved; a null target means out of all groups.
    MovedToGroup { child_id: Id, target_group_id: Option<Id> },
    /// Refused: it cannot be moved there.
    MoveToGroupFailed { reason: Reason, child_id: Id, target_group_id: Option<Id> },
    /// All small body fields were replaced.
    SmallBodyFieldsSet,
    /// Members of a small body field were set.
    SmallBodyFieldUpdated { id: Id },
    /// A small body field is gone, or was never there.
    SmallBodyFieldRemoved { id: Id },
    /// Refused: no such small body field.
    SmallBodyFieldNotFound { id: Id },
    /// All protoplanetary disks were replaced.
    ProtoplanetaryDisksSet,
    /// A protoplanetary disk was added or replaced.
    ProtoplanetaryDiskAdded { id: Id },
    /// Members of a protoplanetary disk were set.
    ProtoplanetaryDiskUpdated { id: Id },
    /// A protoplanetary disk is gone, or was never there.
    ProtoplanetaryDiskRemoved { id: Id },
    /// Refused: no such protoplanetary disk.
    ProtoplanetaryDiskNotFound { id: Id },
    /// All nebulae were replaced.
    NebulaeSet,
    /// Members of a nebula were set.
    NebulaUpdated { id: Id },
    /// A nebula is gone, or was never there.
    NebulaRemoved { id: Id },
    /// Refused: no such nebula.
    NebulaNotFound { id: Id },
    /// Members of a body's ring were set.
    RingUpdated { planet_id: Id },
    /// A body's ring was removed.
    RingRemoved { planet_id: Id },
    /// Refused: no such body, or it has no ring.
    RingNotFound { planet_id: Id },
    /// Everything but the time was replaced.
    SnapshotReplaced,
}

/// Why a hierarchy stays unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// One of the ids is unknown.
    NotFound,
    /// Something would end up above itself.
    Cycle,
    /// The body has no parent.
    NotAttached,
    /// The id is taken.
    AlreadyExists,
    /// The member is changed by the hierarchy commands only.
    ManagedMember,
}
