//! The families of entities, for code that treats all of them alike.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::entity::{Group, LazyMembers, Record, Star, regions, tables};
use crate::member::Table;

/// A family of entities: one of the maps of a universe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Bodies of any kind.
    Stars,
    /// Folders of bodies and groups.
    Groups,
    /// Asteroid belts.
    Belts,
    /// Belts of particles.
    SmallBodyFields,
    /// Protoplanetary disks.
    ProtoplanetaryDisks,
    /// Nebulae.
    Nebulae,
}

/// An entity of any family. As JSON, it is the object of its members.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entity<'s> {
    /// A body.
    Star(&'s Star),
    /// A group.
    Group(&'s Group),
    /// A belt, field, disk or nebula.
    Record(&'s Record),
}

impl Family {
    /// All of them, in the order of their maps in JSON.
    pub const ALL: [Self; 6] = [
        Self::Stars,
        Self::Groups,
        Self::Belts,
        Self::SmallBodyFields,
        Self::ProtoplanetaryDisks,
        Self::Nebulae,
    ];

    /// The member of a universe's JSON that holds them, such as `stars`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stars => "stars",
            Self::Groups => "groups",
            Self::Belts => "belts",
            Self::SmallBodyFields => "smallBodyFields",
            Self::ProtoplanetaryDisks => "protoplanetaryDisks",
            Self::Nebulae => "nebulae",
        }
    }

    /// The members that its entities are known to have.
    pub fn table(self) -> &'static Table {
        match self {
            Self::Stars => &tables::STAR,
            Self::Groups => &tables::GROUP,
            Self::Belts => &regions::BELT,
            Self::SmallBodyFields => &regions::FIELD,
            Self::ProtoplanetaryDisks => &regions::DISK,
            Self::Nebulae => &regions::NEBULA,
        }
    }

    /// The family of this [`name`](Self::name); case matters.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }
}

impl<'s> Entity<'s> {
    /// A member by its JSON name, other than its links to other entities.
    pub fn get(self, member: &str) -> Option<&'s Value> {
        match self {
            Self::Star(star) => star.get(member),
            _ => self.members().get(member),
        }
    }

    /// Whether it has a member, other than its links to other entities. Costs as little as [`text`](Self::text).
    pub fn has(self, member: &str) -> bool {
        let is_derived =
            |star: &Star| star.derived.as_ref().is_some_and(|derived| derived.contains_key(member));
        matches!(self, Self::Star(star) if is_derived(star)) || self.members().has(member)
    }

    fn members(self) -> &'s LazyMembers {
        match self {
            Self::Star(star) => &star.members,
            Self::Group(group) => &group.members,
            Self::Record(record) => &record.members,
        }
    }

    /// Its name, if it has one.
    pub fn name(self) -> Option<Cow<'s, str>> {
        self.text("name")
    }

    /// A text member by its JSON name, other than its links to other entities. Costs less than
    /// [`get`](Self::get) and keeps nothing in memory, so use it to read many entities.
    pub fn text(self, member: &str) -> Option<Cow<'s, str>> {
        self.members().text_of(member)
    }

    /// How many entities it lists as its children.
    pub fn child_count(self) -> usize {
        match self {
            Self::Star(star) => star.children.len(),
            Self::Group(group) => group.children.len(),
            Self::Record(_) => 0,
        }
    }
}

impl Serialize for Entity<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Star(star) => star.serialize(serializer),
            Self::Group(group) => group.serialize(serializer),
            Self::Record(record) => record.serialize(serializer),
        }
    }
}
