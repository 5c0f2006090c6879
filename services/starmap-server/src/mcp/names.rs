//! What the names in a call mean.

use std::collections::BTreeMap;

use crate::errors::{SystemNotFoundError, UniverseError, shown};
use crate::map::{MAX_NAME_BYTES, Map, SystemIndex};

/// The most suggestions for an unknown name.
const MAX_SUGGESTIONS: usize = 3;

/// The system that a name means: its name in any case, or its id.
///
/// # Errors
/// An unknown name, with at most three that may have been meant.
pub fn resolve_system_name(map: &Map, name: &str) -> Result<SystemIndex, SystemNotFoundError> {
    known(map, name).ok_or_else(|| unknown(map, name))
}

fn known(map: &Map, name: &str) -> Option<SystemIndex> {
    // Names in the way that systems have them may be numbers too, so ids come second.
    let by_id = || map.system_by_id(name.trim().parse().ok()?);
    map.system_by_name(name).or_else(by_id)
}

fn unknown(map: &Map, name: &str) -> SystemNotFoundError {
    SystemNotFoundError::new(name, map.suggest(name, MAX_SUGGESTIONS))
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
        let found = self.find(name);
        found.ok_or_else(|| unknown(self.map, name).into())
    }

    /// The same where nobody asks what else may be meant: to find that out takes longer than all the rest.
    pub(crate) fn find(&mut self, name: &str) -> Option<SystemIndex> {
        if let Some(system) = known(self.map, name) {
            return Some(system);
        }
        let system = self.correct.then(|| self.map.correct(name)).flatten()?;
        let used = self.map.system(system).name.to_string();
        self.corrections.insert(shown(name), used);
        Some(system)
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

/// At most three of these names that may be meant by one that is unknown: those that begin with it, then those that have
/// it in them or are a few letters away.
pub(crate) fn nearest_names<'m>(name: &str, names: impl Iterator<Item = &'m str>) -> Vec<String> {
    let typed = name.trim().to_lowercase();
    if typed.is_empty() || typed.len() > MAX_NAME_BYTES {
        return Vec::new();
    }
    let far = (typed.chars().count() / 3).max(2);
    let mut near: Vec<(usize, &str)> = names
        .filter_map(|candidate| {
            let folded = candidate.to_lowercase();
            match folded.find(&typed) {
                Some(at) => Some((at.min(1), candidate)),
                None => {
                    let distance = strsim::osa_distance(&typed, &folded);
                    (distance <= far).then_some((distance + 1, candidate))
                }
            }
        })
        .collect();
    near.sort_unstable();
    let near = near.into_iter().take(MAX_SUGGESTIONS);
    near.map(|(_, name)| name.to_owned()).collect()
}
