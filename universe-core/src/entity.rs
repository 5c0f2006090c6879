//! The entities of a universe: bodies, groups, and records outside the hierarchies.
//!
//! An entity keeps its members as JSON, unknown ones included, except its links to other entities:
//! these are typed, so that the hierarchies can be changed in logarithmic time. The JSON stays text
//! until it is first read.

pub(crate) mod elements;
pub(crate) mod members;
pub(crate) mod parts;
pub(crate) mod regions;
pub(crate) mod tables;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::state::sequence::Sequence;
pub(crate) use members::LazyMembers;

/// An id: any text, the empty one included. Cheap to clone.
pub type Id = Arc<str>;

/// The members of a JSON object.
pub type Members = Map<String, Value>;

/// A body of any kind: star, planet, moon, asteroid, comet, Lagrange point, black hole.
///
/// Cheap to clone: its members are shared.
#[derive(Debug, Clone)]
pub struct Star {
    pub(crate) id: Id,
    pub(crate) parent: Option<Id>,
    /// Where it stands in the parent's `children`, or in `rootIds`. `None` for a body without a
    /// parent that is not listed (a rogue planet of an imported universe).
    pub(crate) slot: Option<u64>,
    pub(crate) children: Sequence<Id>,
    /// Everything but `id`, `parentId` and `children`.
    pub(crate) members: LazyMembers,
    /// What follows from its `elements`, in place of the members of the same names. `None` without elements.
    pub(crate) derived: Option<Arc<Members>>,
}

impl Star {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The body it orbits; `None` for a root body.
    pub fn parent_id(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// The ids of the bodies in orbit around it, in order.
    pub fn children(&self) -> impl ExactSizeIterator<Item = &str> {
        self.children.iter().map(|id| &**id)
    }

    /// A member by its JSON name, other than `id`, `parentId` and `children`.
    /// What follows from its `elements` is read from them.
    pub fn get(&self, member: &str) -> Option<&Value> {
        let derived = self.derived.as_ref().and_then(|derived| derived.get(member));
        derived.or_else(|| self.members.get(member))
    }

    /// Its members as stored, except `id`, `parentId` and `children`, as a type of the caller; `None` if they do not
    /// fit. Keeps nothing in memory, unlike [`get`](Self::get), so use it to read many bodies once.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        self.members.parsed()
    }
}

/// Equal as JSON.
impl PartialEq for Star {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
            && self.parent == other.parent
            && self.children == other.children
            && self.members == other.members
            && self.derived == other.derived
    }
}

/// An organisational folder of bodies and groups. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Group {
    pub(crate) id: Id,
    pub(crate) parent: Option<Id>,
    /// Where it stands in the parent's `children`, or in `rootGroupIds`.
    pub(crate) slot: Option<u64>,
    pub(crate) children: Sequence<Arc<GroupChild>>,
    /// Everything but `id`, `parentGroupId` and `children`.
    pub(crate) members: LazyMembers,
}

impl Group {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The group it is in; `None` for a root group.
    pub fn parent_group_id(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// Its members, in order.
    pub fn children(&self) -> impl ExactSizeIterator<Item = &GroupChild> {
        self.children.iter().map(|child| &**child)
    }

    /// A member by its JSON name, other than `id`, `parentGroupId` and `children`.
    pub fn get(&self, member: &str) -> Option<&Value> {
        self.members.get(member)
    }
}

/// Equal as JSON.
impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
            && self.parent == other.parent
            && self.children == other.children
            && self.members == other.members
    }
}

/// One entry in the `children` of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupChild {
    pub(crate) id: Id,
    pub(crate) kind: ChildKind,
    /// Everything but `id` and `type`.
    pub(crate) members: Members,
}

/// The kind of entity that an entry in a group refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildKind {
    /// A body, `"system"` in JSON.
    System,
    /// A group, `"group"` in JSON.
    Group,
}

impl ChildKind {
    /// The JSON value of `type`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Group => "group",
        }
    }
}

impl GroupChild {
    pub(crate) fn new(id: Id, kind: ChildKind) -> Self {
        let members = Members::new();
        Self { id, kind, members }
    }

    /// The id of the body or group.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The kind of entity that has this id.
    pub fn kind(&self) -> ChildKind {
        self.kind
    }
}

impl Serialize for GroupChild {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len() + 2))?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("type", self.kind.as_str())?;
        for (name, value) in &self.members {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// An entity outside the hierarchy: asteroid belt, small body field, protoplanetary disk or nebula. Its references to
/// other entities are not checked. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Everything, `id` included.
    pub(crate) members: LazyMembers,
}

impl Record {
    /// A member by its JSON name.
    pub fn get(&self, member: &str) -> Option<&Value> {
        self.members.get(member)
    }

    /// Its members as a type of the caller; `None` if they do not fit. Keeps nothing in memory.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        self.members.parsed()
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members.serialize(serializer)
    }
}
