//! The commands of small body fields, protoplanetary disks and nebulae, which are all alike.

use std::sync::Arc;

use super::Outcome;
use super::stars::merge;
use crate::command::RecordKind;
use crate::entity::{Id, Members, Record};
use crate::event::Event;
use crate::refusal::Refusal;
use crate::state::{Records, State};

impl State {
    pub(super) fn set_records(&mut self, kind: RecordKind, records: &Records) -> Event {
        *self.records_mut(kind) = records.clone();
        match kind {
            RecordKind::SmallBodyField => Event::SmallBodyFieldsSet,
            RecordKind::ProtoplanetaryDisk => Event::ProtoplanetaryDisksSet,
            RecordKind::Nebula => Event::NebulaeSet,
        }
    }

    /// Adds or replaces. (Only disks have a command for this.)
    pub(super) fn add_record(&mut self, kind: RecordKind, id: &Id, record: &Record) -> Event {
        self.records_mut(kind).insert(Arc::clone(id), record.clone());
        Event::ProtoplanetaryDiskAdded { id: Arc::clone(id) }
    }

    pub(super) fn update_record(&mut self, kind: RecordKind, id: &Id, patch: &Members) -> Outcome {
        let record = self.records_mut(kind).get_mut(id).ok_or_else(|| not_found(kind, id))?;
        record.members.update(|members| merge(members, patch, &["id"]));
        let id = Arc::clone(id);
        Ok(match kind {
            RecordKind::SmallBodyField => Event::SmallBodyFieldUpdated { id },
            RecordKind::ProtoplanetaryDisk => Event::ProtoplanetaryDiskUpdated { id },
            RecordKind::Nebula => Event::NebulaUpdated { id },
        })
    }

    /// Succeeds for an unknown id, too: afterwards the record does not exist.
    pub(super) fn remove_record(&mut self, kind: RecordKind, id: &Id) -> Event {
        self.records_mut(kind).remove(id);
        let id = Arc::clone(id);
        match kind {
            RecordKind::SmallBodyField => Event::SmallBodyFieldRemoved { id },
            RecordKind::ProtoplanetaryDisk => Event::ProtoplanetaryDiskRemoved { id },
            RecordKind::Nebula => Event::NebulaRemoved { id },
        }
    }

    fn records_mut(&mut self, kind: RecordKind) -> &mut Records {
        match kind {
            RecordKind::SmallBodyField => &mut self.small_body_fields,
            RecordKind::ProtoplanetaryDisk => &mut self.protoplanetary_disks,
            RecordKind::Nebula => &mut self.nebulae,
        }
    }
}

fn not_found(kind: RecordKind, id: &Id) -> Refusal {
    let event_id = Arc::clone(id);
    let (code, event, name, section) = match kind {
        RecordKind::SmallBodyField => (
            "SMALL_BODY_FIELD_NOT_FOUND",
            Event::SmallBodyFieldNotFound { id: event_id },
            "small body field",
            "smallBodyFields",
        ),
        RecordKind::ProtoplanetaryDisk => (
            "PROTOPLANETARY_DISK_NOT_FOUND",
            Event::ProtoplanetaryDiskNotFound { id: event_id },
            "protoplanetary disk",
            "protoplanetaryDisks",
        ),
        RecordKind::Nebula => {
            ("NEBULA_NOT_FOUND", Event::NebulaNotFound { id: event_id }, "nebula", "nebulae")
        }
    };
    let message = format!("{name} {id:?} does not exist in this universe; name one in {section:?}");
    Refusal::new(code, event, message)
}
