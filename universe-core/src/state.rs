//! A whole universe as a persistent value.

mod clock;
mod derive;
mod difference;
mod extent;
mod facts;
mod import;
mod links;
mod parts;
pub(crate) mod sequence;
mod text;
mod write;

use std::sync::Arc;

use imbl::OrdMap;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::entity::{Group, Id, Members, Record, Star};
use crate::family::{Entity, Family};
pub use facts::six_digits;
pub(crate) use import::{IN_EXTRA, read_group_child, read_records, take_group_children};
pub use parts::{EscapedPart, StateText, TextPart};
use sequence::Sequence;
pub use text::{ReadValue, TextError};

/// Entities outside the hierarchies, by id.
pub(crate) type Records = OrdMap<Id, Record>;

/// A universe: every body, group and region, and the simulated time.
///
/// A persistent value: cloning is O(1), a changed copy shares all it does not change, and no copy
/// is ever disturbed by another. `State::default()` is the empty universe at time 0.
///
/// It satisfies the invariants listed at [`State::check`] after any commands. As JSON it is one object with the members
/// `stars`, `rootIds`, `groups`, `rootGroupIds`, `belts`, `smallBodyFields`, `protoplanetaryDisks`, `nebulae` and
/// `time`, followed by `epoch`, `units` and unknown members of the imported object; entities are in the order of their
/// ids.
#[derive(Debug, Clone, Default)]
pub struct State {
    pub(crate) stars: OrdMap<Id, Arc<Star>>,
    pub(crate) root_ids: Sequence<Id>,
    pub(crate) groups: OrdMap<Id, Arc<Group>>,
    pub(crate) root_group_ids: Sequence<Id>,
    pub(crate) belts: Records,
    pub(crate) small_body_fields: Records,
    pub(crate) protoplanetary_disks: Records,
    pub(crate) nebulae: Records,
    pub(crate) time: f64,
    /// Unknown top-level members, `epoch` and `units`.
    pub(crate) extra: Arc<Members>,
    /// Where systems stand in groups, (system, group) → slot in the group's `children`. An index
    /// of what the groups say.
    pub(crate) memberships: OrdMap<(Id, Id), u64>,
}

impl State {
    /// Accumulated simulated time, seconds. Always finite; may be negative.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The body of this id.
    pub fn star(&self, id: &str) -> Option<&Star> {
        self.stars.get(id).map(|star| &**star)
    }

    /// Every body, in the order of the ids.
    pub fn stars(&self) -> impl ExactSizeIterator<Item = &Star> {
        self.stars.values().map(|star| &**star)
    }

    /// The number of bodies.
    pub fn star_count(&self) -> usize {
        self.stars.len()
    }

    /// The ids of the bodies without a parent, in order. (Rogue planets may be left out.)
    pub fn root_ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.root_ids.iter().map(|id| &**id)
    }

    /// The group of this id.
    pub fn group(&self, id: &str) -> Option<&Group> {
        self.groups.get(id).map(|group| &**group)
    }

    /// Every group, in the order of the ids.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &Group> {
        self.groups.values().map(|group| &**group)
    }

    /// The ids of the groups without a parent group, in order.
    pub fn root_group_ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.root_group_ids.iter().map(|id| &**id)
    }

    /// The asteroid belt of this id.
    pub fn belt(&self, id: &str) -> Option<&Record> {
        self.belts.get(id)
    }

    /// Every asteroid belt with its id, in the order of the ids.
    pub fn belts(&self) -> impl ExactSizeIterator<Item = (&str, &Record)> {
        self.belts.iter().map(|(id, record)| (&**id, record))
    }

    /// The small body field of this id.
    pub fn small_body_field(&self, id: &str) -> Option<&Record> {
        self.small_body_fields.get(id)
    }

    /// Every small body field with its id, in the order of the ids.
    pub fn small_body_fields(&self) -> impl ExactSizeIterator<Item = (&str, &Record)> {
        self.small_body_fields.iter().map(|(id, record)| (&**id, record))
    }

    /// The protoplanetary disk of this id.
    pub fn protoplanetary_disk(&self, id: &str) -> Option<&Record> {
        self.protoplanetary_disks.get(id)
    }

    /// Every protoplanetary disk with its id, in the order of the ids.
    pub fn protoplanetary_disks(&self) -> impl ExactSizeIterator<Item = (&str, &Record)> {
        self.protoplanetary_disks.iter().map(|(id, record)| (&**id, record))
    }

    /// The nebula of this id.
    pub fn nebula(&self, id: &str) -> Option<&Record> {
        self.nebulae.get(id)
    }

    /// Every nebula with its id, in the order of the ids.
    pub fn nebulae(&self) -> impl ExactSizeIterator<Item = (&str, &Record)> {
        self.nebulae.iter().map(|(id, record)| (&**id, record))
    }

    /// The universe as a JSON value. To write JSON, use [`write_json`](Self::write_json).
    pub fn to_value(&self) -> Value {
        // Its keys are strings and its numbers come from JSON, so this cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The entity of this family and id.
    pub fn entity(&self, family: Family, id: &str) -> Option<Entity<'_>> {
        match family {
            Family::Stars => self.star(id).map(Entity::Star),
            Family::Groups => self.group(id).map(Entity::Group),
            Family::Belts => self.belt(id).map(Entity::Record),
            Family::SmallBodyFields => self.small_body_field(id).map(Entity::Record),
            Family::ProtoplanetaryDisks => self.protoplanetary_disk(id).map(Entity::Record),
            Family::Nebulae => self.nebula(id).map(Entity::Record),
        }
    }

    /// Every entity of a family with its id, in the order of the ids.
    pub fn entities(
        &self,
        family: Family,
    ) -> Box<dyn ExactSizeIterator<Item = (&str, Entity<'_>)> + '_> {
        let record = |(id, record)| (id, Entity::Record(record));
        match family {
            Family::Stars => Box::new(self.stars().map(|star| (star.id(), Entity::Star(star)))),
            Family::Groups => {
                Box::new(self.groups().map(|group| (group.id(), Entity::Group(group))))
            }
            Family::Belts => Box::new(self.belts().map(record)),
            Family::SmallBodyFields => Box::new(self.small_body_fields().map(record)),
            Family::ProtoplanetaryDisks => Box::new(self.protoplanetary_disks().map(record)),
            Family::Nebulae => Box::new(self.nebulae().map(record)),
        }
    }
}

/// Equal as JSON.
impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.time == other.time
            && self.stars == other.stars
            && self.root_ids == other.root_ids
            && self.groups == other.groups
            && self.root_group_ids == other.root_group_ids
            && self.belts == other.belts
            && self.small_body_fields == other.small_body_fields
            && self.protoplanetary_disks == other.protoplanetary_disks
            && self.nebulae == other.nebulae
            && self.extra == other.extra
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(SECTIONS.len() + 1 + self.extra.len()))?;
        for section in SECTIONS {
            map.serialize_entry(section, &Section { state: self, name: section })?;
        }
        map.serialize_entry("time", &self.time)?;
        for (name, value) in &*self.extra {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The members of a universe besides its time.
pub(crate) const SECTIONS: [&str; 8] = [
    "stars",
    "rootIds",
    "groups",
    "rootGroupIds",
    "belts",
    "smallBodyFields",
    "protoplanetaryDisks",
    "nebulae",
];

/// One of the [`SECTIONS`] of a universe, as JSON.
pub(crate) struct Section<'a> {
    pub(crate) state: &'a State,
    pub(crate) name: &'a str,
}

impl Serialize for Section<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = self.state;
        match self.name {
            "stars" => serializer.collect_map(state.stars.iter().map(|(id, star)| (id, &**star))),
            "rootIds" => state.root_ids.serialize(serializer),
            "groups" => {
                serializer.collect_map(state.groups.iter().map(|(id, group)| (id, &**group)))
            }
            "rootGroupIds" => state.root_group_ids.serialize(serializer),
            "belts" => serializer.collect_map(&state.belts),
            "smallBodyFields" => serializer.collect_map(&state.small_body_fields),
            "protoplanetaryDisks" => serializer.collect_map(&state.protoplanetary_disks),
            "nebulae" => serializer.collect_map(&state.nebulae),
            _ => serializer.serialize_unit(),
        }
    }
}
