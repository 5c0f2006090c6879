//! The names of the commands. One that only removes something begins with `remove`: a universe that has outgrown its
//! limit still takes it. Requests find a command by its entry in the [catalog](crate::catalog).

use std::fmt;

use serde::{Serialize, Serializer};

/// Which of the 25 commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the catalog describes each")]
pub enum CommandKind {
    Tick,
    AddStar,
    UpdateStar,
    RemoveStar,
    AttachStar,
    DetachStar,
    AddGroup,
    UpdateGroup,
    RemoveGroup,
    AddToGroup,
    RemoveFromGroup,
    MoveToGroup,
    SetSmallBodyFields,
    UpdateSmallBodyField,
    RemoveSmallBodyField,
    SetProtoplanetaryDisks,
    AddProtoplanetaryDisk,
    UpdateProtoplanetaryDisk,
    RemoveProtoplanetaryDisk,
    SetNebulae,
    UpdateNebula,
    RemoveNebula,
    UpdateRing,
    RemoveRing,
    ReplaceSnapshot,
}

impl CommandKind {
    /// The value of `type` in JSON, e.g. `addStar`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tick => "tick",
            Self::AddStar => "addStar",
            Self::UpdateStar => "updateStar",
            Self::RemoveStar => "removeStar",
            Self::AttachStar => "attachStar",
            Self::DetachStar => "detachStar",
            Self::AddGroup => "addGroup",
            Self::UpdateGroup => "updateGroup",
            Self::RemoveGroup => "removeGroup",
            Self::AddToGroup => "addToGroup",
            Self::RemoveFromGroup => "removeFromGroup",
            Self::MoveToGroup => "moveToGroup",
            Self::SetSmallBodyFields => "setSmallBodyFields",
            Self::UpdateSmallBodyField => "updateSmallBodyField",
            Self::RemoveSmallBodyField => "removeSmallBodyField",
            Self::SetProtoplanetaryDisks => "setProtoplanetaryDisks",
            Self::AddProtoplanetaryDisk => "addProtoplanetaryDisk",
            Self::UpdateProtoplanetaryDisk => "updateProtoplanetaryDisk",
            Self::RemoveProtoplanetaryDisk => "removeProtoplanetaryDisk",
            Self::SetNebulae => "setNebulae",
            Self::UpdateNebula => "updateNebula",
            Self::RemoveNebula => "removeNebula",
            Self::UpdateRing => "updateRing",
            Self::RemoveRing => "removeRing",
            Self::ReplaceSnapshot => "replaceSnapshot",
        }
    }
}

impl fmt::Display for CommandKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for CommandKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
