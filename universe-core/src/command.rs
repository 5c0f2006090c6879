//! Commands that change a universe, parsed once and checked in full.

mod action;
pub(crate) mod kind;
mod parse;

use serde::ser::{Serialize, SerializeMap, Serializer};

pub(crate) use action::{Action, RecordKind, Snapshot};
pub use kind::CommandKind;
pub use parse::CommandError;

use crate::entity::Members;

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
