//! What a command changed: the entities that it created or changed, whole, and the ids that went.

use std::collections::BTreeMap;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use universe_core::{Command, Entity, Family, Given, Members, State};

use super::fit;

/// The difference between two states, as JSON `{"stars": {"earth": {…}}, "removed": {"stars": ["luna"]}}`. Families
/// without changes are absent.
#[derive(Debug, Default, Serialize)]
pub struct Changes {
    #[serde(flatten)]
    entities: BTreeMap<&'static str, BTreeMap<String, Box<RawValue>>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    removed: BTreeMap<&'static str, Vec<String>>,
    /// The number of changed or removed entities that are not included.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    omitted: BTreeMap<&'static str, usize>,
}

impl Changes {
    /// Compares two states. Includes changes up to `max` bytes of JSON and counts the others. Of entities that `sent`
    /// gave whole, only the members that are not as sent are included, and of entities that it does not name only those
    /// that changed. If it is empty, all entities are included whole.
    ///
    /// The cost is that of [`State::changed_since`] and of writing the included changes.
    pub fn between(before: &State, after: &State, max: usize, sent: &[Command]) -> Self {
        let mut changes = Self::default();
        let mut room = max;
        for (family, id) in after.changed_since(before) {
            let known = known(before, family, id, sent);
            if !changes.show(after, family, id, known.as_ref(), &mut room) {
                *changes.omitted.entry(family.name()).or_default() += 1;
            }
        }
        changes
    }

    /// Whether some changes are not included.
    pub fn is_cut(&self) -> bool {
        !self.omitted.is_empty()
    }

    fn show(
        &mut self,
        after: &State,
        family: Family,
        id: &str,
        known: Option<&Members>,
        room: &mut usize,
    ) -> bool {
        let name = family.name();
        let Some(entity) = after.entity(family, id) else {
            let Some(rest) = room.checked_sub(id.len() + 3) else {
                return false;
            };
            *room = rest;
            self.removed.entry(name).or_default().push(id.to_owned());
            return true;
        };
        let entity = Shown { entity, known };
        // Without a limit no size needs to be compared, which saves a copy.
        let written = match *room {
            usize::MAX => to_raw_value(&entity).ok(),
            room => fit::within(&entity, room.saturating_sub(id.len() + 4)),
        };
        let Some(written) = written else {
            return false;
        };
        if *room != usize::MAX {
            *room = room.saturating_sub(id.len() + 4 + written.get().len());
        }
        self.entities.entry(name).or_default().insert(id.to_owned(), written);
        true
    }
}

/// The members of an entity that the author of commands knows: those that they gave it, or those before them. `None` if
/// all of it is to be shown.
fn known(before: &State, family: Family, id: &str, sent: &[Command]) -> Option<Members> {
    match sent.iter().rev().find_map(|command| command.gives(family, id)) {
        Some(Given::Whole(members)) => Some(members),
        Some(Given::Part) => None,
        None if sent.is_empty() => None,
        None => match serde_json::to_value(before.entity(family, id)?) {
            Ok(Value::Object(members)) => Some(members),
            _ => None,
        },
    }
}

/// An entity without the members that are known.
struct Shown<'s> {
    entity: Entity<'s>,
    known: Option<&'s Members>,
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(known) = self.known else {
            return self.entity.serialize(serializer);
        };
        let entity = serde_json::to_value(self.entity).map_err(S::Error::custom)?;
        // Children name their parent themselves, and may be many.
        let is_news = |(name, value): &(&String, &Value)| match known.get(*name) {
            _ if matches!(name.as_str(), "id" | "children") => false,
            Some(known) => known != *value,
            None => !value.is_null(),
        };
        serializer.collect_map(entity.as_object().into_iter().flatten().filter(is_news))
    }
}
