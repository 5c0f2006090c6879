//! Whether a universe is long as JSON, without writing it.

use serde_json::Value;

use super::State;
use crate::entity::{Id, LazyMembers, Members};

/// How many bytes are left. `None` means that there are more than were allowed.
struct Left(usize);

impl State {
    /// Whether it has at most about `max` bytes as JSON. Looks no further than that, and at no text but for its length.
    pub fn is_within(&self, max: usize) -> bool {
        Left(max).state(self).is_some()
    }
}

impl Left {
    fn state(&mut self, state: &State) -> Option<()> {
        for star in state.stars.values() {
            self.id(&star.id)?;
            star.children.iter().try_for_each(|id| self.id(id))?;
            self.entity(&star.members)?;
        }
        for group in state.groups.values() {
            self.id(&group.id)?;
            for child in group.children.iter() {
                self.id(&child.id)?;
                self.members(&child.members)?;
            }
            self.entity(&group.members)?;
        }
        let records =
            [&state.belts, &state.small_body_fields, &state.protoplanetary_disks, &state.nebulae];
        for record in records.into_iter().flat_map(|records| records.values()) {
            self.entity(&record.members)?;
        }
        self.members(&state.extra)
    }

    /// An id is also written next to its entity.
    fn id(&mut self, id: &Id) -> Option<()> {
        self.bytes(2 * id.len() + 8)
    }

    fn entity(&mut self, members: &LazyMembers) -> Option<()> {
        match members.text_len() {
            Some(bytes) => self.bytes(bytes),
            None => self.members(members),
        }
    }

    fn members(&mut self, members: &Members) -> Option<()> {
        for (name, value) in members {
            self.bytes(name.len() + 4)?;
            self.value(value)?;
        }
        Some(())
    }

    /// What was read from JSON is not nested deeper than that allows.
    fn value(&mut self, value: &Value) -> Option<()> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => self.bytes(8),
            Value::String(text) => self.bytes(text.len() + 3),
            Value::Array(items) => {
                self.bytes(2)?;
                items.iter().try_for_each(|item| self.value(item))
            }
            Value::Object(members) => {
                self.bytes(2)?;
                members.iter().try_for_each(|(name, value)| {
                    self.bytes(name.len() + 4)?;
                    self.value(value)
                })
            }
        }
    }

    fn bytes(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.checked_sub(bytes)?;
        Some(())
    }
}
