//! Finding what a name refers to, and suggestions for an unknown name.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::TRADE_HUBS;
use super::judge::is_name;
use super::{
    Constellation, ConstellationIndex, Kind, MapError, Region, RegionIndex, System, SystemIndex,
    Warning,
};

/// The highest id of systems that are reached by gates.
const LAST_KNOWN_SPACE: u32 = 30_999_999;

/// Names in lower case → the positions of the entries with these names.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    systems: HashMap<Box<str>, u32>,
    /// Names of systems in other languages, as they are written and as they are looked up; those of several systems are
    /// left out.
    other: HashMap<Box<str>, (Box<str>, u32)>,
    constellations: HashMap<Box<str>, u32>,
    regions: HashMap<Box<str>, u32>,
    /// The simplified names of all systems in one text, and where each ends. A search for a part of a name then reads
    /// one text from front to back.
    plain: String,
    plain_ends: Vec<usize>,
}

impl Names {
    /// Takes all names, sorted by id. If a name occurs again, the entry with the lower id keeps it, and the other gets
    /// its id appended. Every name is then unique, and no entry is left out because of its name.
    pub(super) fn new(
        systems: &mut [System],
        constellations: &mut [Constellation],
        regions: &mut [Region],
        other: &[(String, u32)],
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, MapError> {
        let regions = regions.iter_mut().map(|it| (it.id, &mut it.name));
        let constellations = constellations.iter_mut().map(|it| (it.id, &mut it.name));
        let named = systems.iter_mut().map(|it| (it.id, &mut it.name));
        let mut names = Self {
            regions: by_name(Kind::Region, regions, warnings)?,
            constellations: by_name(Kind::Constellation, constellations, warnings)?,
            systems: by_name(Kind::System, named, warnings)?,
            ..Self::default()
        };
        let mut several = HashSet::new();
        for (name, id) in other.iter().filter(|(name, _)| is_name(name)) {
            let Ok(at) = systems.binary_search_by_key(id, |system| system.id) else { continue };
            let (folded, at) = (fold(name).into_boxed_str(), u32::try_from(at).unwrap_or(u32::MAX));
            let known = names.other.insert(folded.clone(), (name.as_str().into(), at));
            if known.is_some_and(|(_, before)| before != at) {
                several.insert(folded);
            }
        }
        names.other.retain(|name, _| !several.contains(name) && !names.systems.contains_key(name));
        for system in systems {
            names.plain.extend(plain_chars(&system.name));
            names.plain_ends.push(names.plain.len());
        }
        Ok(names)
    }

    pub(super) fn plain(&self, system: SystemIndex) -> &str {
        let end = |place: usize| self.plain_ends.get(place).copied().unwrap_or_default();
        let start = system.index().checked_sub(1).map_or(0, end);
        known_range::text(&self.plain, start..end(system.index()))
    }

    pub(super) fn system(&self, name: &str) -> Option<SystemIndex> {
        let name = fold(name);
        let place = self.systems.get(&*name).or_else(|| self.other.get(&*name).map(|it| &it.1));
        place.copied().map(SystemIndex)
    }

    /// The names in other languages with the ids of their systems, in order.
    pub(super) fn in_other_languages(&self, systems: &[System]) -> Vec<(String, u32)> {
        let names = self.other.values();
        let names =
            names.filter_map(|(name, at)| Some((name.to_string(), systems.get(*at as usize)?.id)));
        let mut names: Vec<(String, u32)> = names.collect();
        names.sort_unstable();
        names
    }

    pub(super) fn constellation(&self, name: &str) -> Option<ConstellationIndex> {
        let place = self.constellations.get(&*fold(name)).copied();
        place.map(ConstellationIndex)
    }

    pub(super) fn region(&self, name: &str) -> Option<RegionIndex> {
        self.regions.get(&*fold(name)).copied().map(RegionIndex)
    }

    pub(super) fn suggest<'m>(
        &self,
        name: &str,
        limit: usize,
        systems: &'m [System],
    ) -> Vec<&'m str> {
        let Some(typed) = typed(name) else {
            return Vec::new();
        };
        // For a name of few letters, most names are one or two letters away.
        let long = typed.chars().count();
        let far = (long / 3).max(2);
        let near = Typed::new(&typed);
        let same_start = |name: &str| name.chars().next() == typed.chars().next();
        let ranked = self.systems.iter().filter_map(|(name, place)| {
            let letters = letters(name);
            let distance = near.distance_within(name, letters, far);
            // Most names lack a letter of it, and need not be read again.
            let place_in = (near.letters & !letters == 0).then(|| name.find(&typed)).flatten();
            let rank = match (distance, place_in) {
                (Some(1), _) if long > 2 => 0,
                (_, Some(0)) => 1,
                (Some(2), _) if long > 3 && same_start(name) => 2,
                (_, Some(_)) => 3,
                (Some(distance), None) => 2 + distance,
                (None, None) => return None,
            };
            let system = systems.get(*place as usize)?;
            // Among equals, the busiest systems come first.
            let rare = !TRADE_HUBS.contains(&&*system.name);
            Some((rank, rare, system.id > LAST_KNOWN_SPACE, &*system.name))
        });
        let mut found: Vec<_> = ranked.collect();
        found.sort_unstable();
        let names = found.into_iter().map(|(_, _, _, name)| name);
        names.take(limit).collect()
    }

    pub(super) fn correct(&self, name: &str) -> Option<SystemIndex> {
        let typed = typed(name)?;
        let typed = Typed::new(&typed);
        let mut near = (self.systems.iter())
            .filter(|(folded, _)| typed.distance_within(folded, letters(folded), 1) == Some(1));
        let (_, only) = near.next()?;
        near.next().is_none().then_some(SystemIndex(*only))
    }
}

/// The simplified form of a misspelt name; `None` if it is empty or longer than any name, because nothing is near it.
fn typed(name: &str) -> Option<String> {
    let typed = fold(name);
    (!typed.is_empty() && typed.len() <= super::MAX_NAME_BYTES).then_some(typed)
}

/// A typed name that is compared with many others.
struct Typed<'n> {
    name: &'n str,
    length: usize,
    letters: u64,
}

impl<'n> Typed<'n> {
    fn new(name: &'n str) -> Self {
        Self { name, length: name.chars().count(), letters: letters(name) }
    }

    /// How many letters another name, which has these, differs by, if that is at most `far`.
    ///
    /// The exact count takes time, and most names differ by more. Two cheap checks come first: each added or missing
    /// letter changes the length by one, and each replaced letter takes one letter out of the set and adds another.
    fn distance_within(&self, other: &str, letters: u64, far: usize) -> Option<usize> {
        let differing = (self.letters ^ letters).count_ones() as usize;
        if differing > 2 * far || self.length.abs_diff(other.chars().count()) > far {
            return None;
        }
        Some(strsim::osa_distance(self.name, other)).filter(|distance| *distance <= far)
    }
}

/// The set of letters in a name, one bit for each. Two letters may share a bit; modulo 37 this is rare within a name.
fn letters(name: &str) -> u64 {
    let bits = name.chars().map(|letter| 1 << (u32::from(letter) % 37));
    bits.fold(0, |all, bit: u64| all | bit)
}

fn by_name<'n>(
    kind: Kind,
    named: impl ExactSizeIterator<Item = (u32, &'n mut Box<str>)>,
    warnings: &mut Vec<Warning>,
) -> Result<HashMap<Box<str>, u32>, MapError> {
    let mut places = HashMap::with_capacity(named.len());
    let mut ids = Vec::with_capacity(named.len());
    let mut again = Vec::new();
    for (at, (id, name)) in (0..).zip(named) {
        ids.push(id);
        match places.entry(fold(name).into_boxed_str()) {
            Entry::Vacant(free) => _ = free.insert(at),
            Entry::Occupied(taken) => again.push((at, id, name, *taken.get())),
        }
    }
    for (at, id, name, first) in again {
        let other = format!("{name} ({id})");
        let place = match places.entry(fold(&other).into_boxed_str()) {
            Entry::Vacant(free) if is_name(&other) => free,
            _ => {
                let name = name.to_string();
                return Err(MapError::SameName { kind, id, name });
            }
        };
        place.insert(at);
        let name = std::mem::replace(name, other.into_boxed_str());
        let first = ids.get(first as usize).copied().unwrap_or_default();
        warnings.push(Warning::SameName { kind, id, name, first });
    }
    Ok(places)
}

/// A simplified name: in lower case, without hyphens and blanks.
pub(crate) fn plain(name: &str) -> String {
    plain_chars(name).collect()
}

fn plain_chars(name: &str) -> impl Iterator<Item = char> {
    let typed = |c: &char| !c.is_whitespace() && *c != '-';
    name.chars().filter(typed).flat_map(char::to_lowercase)
}

/// Names are the same if they differ only in case and surrounding blanks.
pub(super) fn fold(name: &str) -> String {
    name.trim().to_lowercase()
}
