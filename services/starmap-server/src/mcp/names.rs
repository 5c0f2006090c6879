//! Resolving the names and the words in a call. Unknown ones are refused with the nearest known one.

use std::collections::BTreeMap;

use crate::errors::{SystemNotFoundError, UniverseError, invalid, shown};
use crate::map::{ConstellationIndex, MAX_NAME_BYTES, Map, RegionIndex, SystemIndex};
use crate::name::Name;

/// The most suggestions for an unknown name.
const MAX_SUGGESTIONS: usize = 3;

/// An unknown name may belong to a newer map if this map is at least this many days old.
const OLD_MAP_DAYS: i32 = 180;

/// The system with this name, ignoring case, or with this id.
///
/// # Errors
/// An unknown name, with at most three suggestions.
pub fn resolve_system_name(map: &Map, name: &str) -> Result<SystemIndex, SystemNotFoundError> {
    map.find(name).ok_or_else(|| unknown(map, name))
}

fn unknown(map: &Map, name: &str) -> SystemNotFoundError {
    let (hint, place) = what_it_is(map, name);
    let suggestions = match place {
        Some(system) => vec![map.name(system)],
        None => map.suggest(name, MAX_SUGGESTIONS),
    };
    let hint = hint.or_else(|| {
        let released = map.released()?;
        let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
        let days = (today - released).get_days();
        (days > OLD_MAP_DAYS).then(|| format!("not on this map, which is of {released}"))
    });
    SystemNotFoundError { hint, ..SystemNotFoundError::new(name, suggestions) }
}

/// What a name refers to if no system has it. For a station, a moon or a planet it also finds the system.
fn what_it_is(map: &Map, name: &str) -> (Option<String>, Option<SystemIndex>) {
    if let Some(region) = map.region_by_name(name) {
        let name = &map.region(region).name;
        let hint = format!(
            "that is a region; name one of its systems (search with region {name:?} lists them)"
        );
        return (Some(hint), None);
    }
    if let Some(constellation) = map.constellation_by_name(name) {
        let it = map.constellation(constellation);
        let systems = it.systems.iter().take(MAX_SUGGESTIONS);
        let names: Vec<&str> = systems.map(|&system| map.name(system)).collect();
        let hint = format!("that is a constellation; its systems are {}, …", names.join(", "));
        return (Some(hint), None);
    }
    // "Jita IV - Moon 4 - Caldari Navy Assembly Plant", "Amarr VIII (Oris)", "Jita 4-4"
    let ends = name.char_indices().filter(|(_, c)| c.is_whitespace());
    for (end, _) in ends.rev() {
        let (head, rest) = name.split_at(end);
        let number = |c: char| c.is_ascii_digit() || "IVX-".contains(c.to_ascii_uppercase());
        let orbit = rest.split_whitespace().next().unwrap_or_default();
        if orbit.chars().all(number)
            && let Some(system) = map.system_by_name(head)
        {
            let hint = format!("that is a station, moon or planet in {}", map.name(system));
            return (Some(hint), Some(system));
        }
    }
    (None, None)
}

/// The names of one call, and the corrections made in them.
#[derive(Debug)]
pub(crate) struct Names<'m> {
    map: &'m Map,
    correct: bool,
    corrections: BTreeMap<String, String>,
}

impl<'m> Names<'m> {
    /// Names are corrected only if the caller asks for it, and only if exactly one name differs by one letter, or if
    /// it is that of a station, a moon or a planet.
    pub(crate) fn new(map: &'m Map, correct: Option<bool>) -> Self {
        Self { map, correct: correct.unwrap_or(false), corrections: BTreeMap::new() }
    }

    /// The system with this name.
    pub(crate) fn system(&mut self, name: &str) -> Result<SystemIndex, UniverseError> {
        let found = self.find(name);
        found.ok_or_else(|| unknown(self.map, name).into())
    }

    /// The same without suggestions, because finding suggestions takes longer than everything else.
    pub(crate) fn find(&mut self, name: &str) -> Option<SystemIndex> {
        if let Some(system) = self.map.find(name) {
            return Some(system);
        }
        let near = || self.map.correct(name).or_else(|| what_it_is(self.map, name).1);
        let system = self.correct.then(near).flatten()?;
        let used = self.map.name(system).to_owned();
        self.corrections.insert(shown(name), used);
        Some(system)
    }

    /// The systems with these names, in the same order.
    pub(crate) fn systems(&mut self, names: &[Name]) -> Result<Vec<SystemIndex>, UniverseError> {
        names.iter().map(|name| self.system(name)).collect()
    }

    /// Reports a word that was taken for another.
    pub(crate) fn took(&mut self, typed: Option<&str>, used: &str) {
        if let Some(typed) = typed.filter(|typed| plain_word(typed) != used) {
            self.corrections.insert(shown(typed), used.to_owned());
        }
    }

    /// The names as they were typed, and the names that replaced them.
    pub(crate) fn corrections(self) -> BTreeMap<String, String> {
        self.corrections
    }
}

/// The question at the end of an error; empty if there are no suggestions.
pub(crate) fn did_you_mean<'n>(near: impl IntoIterator<Item = &'n String>) -> String {
    let near: Vec<&str> = near.into_iter().map(String::as_str).collect();
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) }
}

/// The value that a word stands for. Case is ignored, and blanks and hyphens count as underscores. `None` if no word is
/// given.
///
/// # Errors
/// An unknown word, with the nearest known one.
pub(crate) fn word<T: Copy>(
    parameter: &str,
    given: Option<&str>,
    words: &[(&str, T)],
) -> Result<Option<T>, UniverseError> {
    let Some(given) = given else {
        return Ok(None);
    };
    let plain = plain_word(given);
    if let Some((_, meant)) = words.iter().find(|(word, _)| *word == plain) {
        return Ok(Some(*meant));
    }
    let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    // A suggestion never turns the meaning round.
    let alike = all.iter().copied().filter(|word| denies(word) == denies(&plain));
    let near = did_you_mean(nearest_names(&plain, alike).first());
    Err(invalid(parameter, given, format!("it is one of {}{near}", all.join(", "))))
}

/// A word as it is compared: in lower case, with underscores.
pub(crate) fn plain_word(given: &str) -> String {
    given.trim().to_lowercase().replace([' ', '-'], "_")
}

/// Whether a word says the opposite of the rest of it, as unsafe and `less_secure` do.
fn denies(word: &str) -> bool {
    ["un", "in", "no", "less", "least"].iter().any(|start| word.starts_with(start))
}

/// A region or a constellation that is not on the map.
#[derive(Debug)]
pub(crate) struct UnknownArea {
    /// The error message, with suggestions.
    pub(crate) message: String,
    pub(crate) suggestions: Vec<String>,
}

impl UnknownArea {
    fn new<'m>(kind: &str, name: &str, names: impl Iterator<Item = &'m str>) -> Self {
        let suggestions = nearest_names(name, names);
        let near = did_you_mean(&suggestions);
        Self { message: format!("Unknown {kind}: {}{near}", shown(name)), suggestions }
    }
}

/// The region with this name.
pub(crate) fn known_region(map: &Map, name: &str) -> Result<RegionIndex, UnknownArea> {
    let names = map.regions().iter().map(|it| &*it.name);
    (map.region_by_name(name)).ok_or_else(|| UnknownArea::new("region", name, names))
}

/// The constellation with this name.
pub(crate) fn known_constellation(
    map: &Map,
    name: &str,
) -> Result<ConstellationIndex, UnknownArea> {
    let names = map.constellations().iter().map(|it| &*it.name);
    (map.constellation_by_name(name)).ok_or_else(|| UnknownArea::new("constellation", name, names))
}

/// At most three of these names as suggestions for an unknown one: first those that differ by one letter, then those
/// that begin with it, then those that contain it or differ by a few letters.
pub(crate) fn nearest_names<'m>(name: &str, names: impl Iterator<Item = &'m str>) -> Vec<String> {
    let typed = name.trim().to_lowercase();
    if typed.is_empty() || typed.len() > MAX_NAME_BYTES {
        return Vec::new();
    }
    let far = (typed.chars().count() / 3).max(2);
    let mut near: Vec<(usize, &str)> = names
        .filter_map(|candidate| {
            let folded = candidate.to_lowercase();
            let distance = strsim::osa_distance(&typed, &folded);
            match folded.find(&typed) {
                _ if distance == 1 => Some((0, candidate)),
                Some(0) => Some((1, candidate)),
                _ if distance <= far => Some((distance, candidate)),
                Some(_) => Some((far, candidate)),
                None => None,
            }
        })
        .collect();
    near.sort_unstable();
    let near = near.into_iter().take(MAX_SUGGESTIONS);
    near.map(|(_, name)| name.to_owned()).collect()
}
