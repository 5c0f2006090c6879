//! What the reducer does: the commands as typed values.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::date::Instant;
use crate::entity::{ChildKind, GroupChild, Id, Members, Record};
use crate::family::Family;
use crate::state::{Records, SECTIONS, Section, State};

/// One command, ready to be applied. Payloads are as given: the reducer ignores what they may not
/// set. The three families of records share their actions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    Tick { dt: f64 },
    TickUntil { until: Instant },
    AddStar { id: Id, payload: Members },
    UpdateStar { id: Id, payload: Members },
    RemoveStar { id: Id },
    AttachStar { child: Id, parent: Id },
    DetachStar { child: Id },
    AddGroup { id: Id, payload: Members },
    UpdateGroup { id: Id, payload: Members },
    RemoveGroup { id: Id },
    AddToGroup { group: Id, child: Arc<GroupChild> },
    RemoveFromGroup { group: Id, child: Id },
    MoveToGroup { child: Id, kind: ChildKind, target: Option<Id> },
    SetRecords { kind: RecordKind, records: Records },
    AddRecord { kind: RecordKind, id: Id, record: Record },
    UpdateRecord { kind: RecordKind, id: Id, patch: Members },
    RemoveRecord { kind: RecordKind, id: Id },
    UpdateRing { planet: Id, patch: Members },
    RemoveRing { planet: Id },
    ReplaceSnapshot { snapshot: Box<Snapshot> },
}

/// The kind of record of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordKind {
    SmallBodyField,
    ProtoplanetaryDisk,
    Nebula,
}

/// The object of a command, as JSON.
pub(crate) enum Body<'a> {
    Members(&'a Members),
    Child(&'a GroupChild),
    Records(&'a Records),
    Snapshot(&'a Snapshot),
}

impl Action {
    /// The one member of the command's JSON that is kept in the action alone, with its name.
    pub(crate) fn body(&self) -> Option<(&'static str, Body<'_>)> {
        Some(match self {
            Self::AddStar { payload, .. }
            | Self::UpdateStar { payload, .. }
            | Self::AddGroup { payload, .. }
            | Self::UpdateGroup { payload, .. } => ("payload", Body::Members(payload)),
            Self::AddToGroup { child, .. } => ("child", Body::Child(child)),
            Self::SetRecords { kind, records } => (kind.map_name(), Body::Records(records)),
            Self::AddRecord { record, .. } => ("disk", Body::Members(&record.members)),
            Self::UpdateRecord { patch, .. } | Self::UpdateRing { patch, .. } => {
                ("patch", Body::Members(patch))
            }
            Self::ReplaceSnapshot { snapshot } => ("snapshot", Body::Snapshot(snapshot)),
            _ => return None,
        })
    }
}

impl Action {
    /// The members that an update gives.
    pub(crate) fn patch(&self) -> Option<&Members> {
        match self {
            Self::UpdateStar { payload: patch, .. }
            | Self::UpdateGroup { payload: patch, .. }
            | Self::UpdateRecord { patch, .. }
            | Self::UpdateRing { patch, .. } => Some(patch),
            _ => None,
        }
    }
}

impl RecordKind {
    /// The family of these records.
    pub(crate) fn family(self) -> Family {
        match self {
            Self::SmallBodyField => Family::SmallBodyFields,
            Self::ProtoplanetaryDisk => Family::ProtoplanetaryDisks,
            Self::Nebula => Family::Nebulae,
        }
    }

    /// The member of the `set…` command that holds the map.
    pub(super) fn map_name(self) -> &'static str {
        match self {
            Self::SmallBodyField => "fields",
            Self::ProtoplanetaryDisk => "disks",
            Self::Nebula => "nebulae",
        }
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Members(members) => members.serialize(serializer),
            Self::Child(child) => child.serialize(serializer),
            Self::Records(records) => serializer.collect_map(*records),
            Self::Snapshot(snapshot) => snapshot.serialize(serializer),
        }
    }
}

/// A universe to be, without its time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Snapshot {
    /// The members as given; the sections that `state` holds are `true` here.
    pub(super) given: Members,
    pub(crate) state: State,
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = &self.state;
        let mut map = serializer.serialize_map(Some(self.given.len()))?;
        for (name, value) in &self.given {
            if SECTIONS.contains(&name.as_str()) && !matches!(value, Value::Null) {
                map.serialize_entry(name, &Section { state, name })?;
            } else {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}
