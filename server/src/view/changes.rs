//! What a command changed: the entities that it created or changed, whole, and the ids that went.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use universe_core::{Family, State};

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
    /// Compares two states. Includes changes up to `max` bytes of JSON and counts the others.
    ///
    /// The cost is that of [`State::changed_since`] and of writing the included changes.
    #[must_use]
    pub fn between(before: &State, after: &State, max: usize) -> Self {
        let mut changes = Self::default();
        let mut room = max;
        for (family, id) in after.changed_since(before) {
            if !changes.show(after, family, id, &mut room) {
                *changes.omitted.entry(family.name()).or_default() += 1;
            }
        }
        changes
    }

    /// Whether some changes are not included.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        !self.omitted.is_empty()
    }

    fn show(&mut self, after: &State, family: Family, id: &str, room: &mut usize) -> bool {
        let name = family.name();
        let Some(entity) = after.entity(family, id) else {
            let Some(rest) = room.checked_sub(id.len() + 3) else {
                return false;
            };
            *room = rest;
            self.removed.entry(name).or_default().push(id.to_owned());
            return true;
        };
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
