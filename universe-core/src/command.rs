//! Commands that change a universe, parsed once and checked in full.

mod action;
pub(crate) mod kind;
mod parse;

use serde::ser::{Serialize, SerializeMap, Serializer};

pub(crate) use action::{Action, RecordKind, Snapshot};
pub use kind::CommandKind;
pub use parse::CommandError;

use serde_json::Value;

use crate::entity::Members;
use crate::family::Family;

/// A well-formed command: its type is known, its members have the right types, and everything
/// that can be judged without a universe is right. The universe may still refuse it
/// (see [`State::apply`](crate::State::apply)).
///
/// It serialises to the JSON it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    kind: CommandKind,
    /// The members as given; the one that `action` holds is null here.
    given: Members,
    pub(crate) action: Action,
}

impl Command {
    /// The kind of this command.
    pub fn kind(&self) -> CommandKind {
        self.kind
    }

    /// Whether members were given beside its type, but not this one.
    pub(crate) fn lacks(&self, member: &str) -> bool {
        self.given.len() > 1 && !self.given.contains_key(member)
    }
}

/// What a command gives to an entity.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// All of its members.
    Whole(Members),
    /// Some of its members, beside those that it has.
    Part,
}

impl Command {
    /// What this command gives to an entity. `None` if it names no members of it, as `updateRing` names those of a
    /// ring.
    pub fn gives(&self, family: Family, id: &str) -> Option<Given> {
        let members = |written: serde_json::Result<Value>| match written {
            Ok(Value::Object(members)) => Some(Given::Whole(members)),
            _ => None,
        };
        let is_it = |of: Family, named: &str| of == family && named == id;
        match &self.action {
            Action::AddStar { id, payload } if is_it(Family::Stars, id) => {
                Some(Given::Whole(payload.clone()))
            }
            Action::AddGroup { id, payload } if is_it(Family::Groups, id) => {
                Some(Given::Whole(payload.clone()))
            }
            Action::AddRecord { kind, id, record } if is_it(kind.family(), id) => {
                members(serde_json::to_value(record))
            }
            Action::SetRecords { kind, records } if kind.family() == family => {
                members(serde_json::to_value(records.get(id)?))
            }
            Action::ReplaceSnapshot { snapshot } => {
                members(serde_json::to_value(snapshot.state.entity(family, id)?))
            }
            Action::UpdateStar { id, .. } if is_it(Family::Stars, id) => Some(Given::Part),
            Action::UpdateGroup { id, .. } if is_it(Family::Groups, id) => Some(Given::Part),
            Action::UpdateRecord { kind, id, .. } if is_it(kind.family(), id) => Some(Given::Part),
            _ => None,
        }
    }
}

impl Serialize for Command {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let body = self.action.body();
        let mut map = serializer.serialize_map(Some(self.given.len()))?;
        for (name, value) in &self.given {
            match &body {
                Some((held, body)) if name == held => map.serialize_entry(name, body)?,
                _ => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}
