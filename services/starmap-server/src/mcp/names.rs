//! What the names in a call mean.

use std::collections::BTreeMap;

use crate::errors::{SystemNotFoundError, UniverseError, shown};
use crate::map::{Map, SystemIndex};

/// The most suggestions for an unknown name.
const MAX_SUGGESTIONS: usize = 3;

/// The system that a name means: its name in any case, or its id.
///
/// # Errors
/// An unknown name, with at most three that may have been meant.
pub fn resolve_system_name(map: &Map, name: &str) -> Result<SystemIndex, SystemNotFoundError> {
    // Names in the way that systems have them may be numbers too, so ids come second.
    let by_id = || map.system_by_id(name.trim().parse().ok()?);
    map.system_by_name(name)
        .or_else(by_id)
        .ok_or_else(|| SystemNotFoundError::new(name, map.suggest(name, MAX_SUGGESTIONS)))
}

/// The names of one call, with what was corrected in them.
#[derive(Debug)]
pub(crate) struct Names<'m> {
    map: &'m Map,
    correct: bool,
    corrections: BTreeMap<String, String>,
}

impl<'m> Names<'m> {
    /// Names are corrected only when the caller asks for it, and only where one name alone is one letter away.
    pub(crate) fn new(map: &'m Map, correct: Option<bool>) -> Self {
        Self {
            map,
            correct: correct.unwrap_or(false),
            corrections: BTreeMap::new(),
        }
    }

    /// The system of a name.
    pub(crate) fn system(&mut self, name: &str) -> Result<SystemIndex, UniverseError> {
        let unknown = match resolve_system_name(self.map, name) {
            Ok(system) => return Ok(system),
            Err(unknown) => unknown,
        };
        let corrected = self.correct.then(|| self.map.correct(name)).flatten();
        let system = corrected.ok_or(unknown)?;
        let used = self.map.system(system).name.to_string();
        self.corrections.insert(shown(name), used);
        Ok(system)
    }

    /// The systems of names, in their order.
    pub(crate) fn systems(&mut self, names: &[String]) -> Result<Vec<SystemIndex>, UniverseError> {
        names.iter().map(|name| self.system(name)).collect()
    }

    /// What was typed, and what was taken for it.
    pub(crate) fn corrections(self) -> BTreeMap<String, String> {
        self.corrections
    }
}
