//! Finding what a name means, and what an unknown one may have meant.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::TRADE_HUBS;
use super::judge::is_name;
use super::{
    Constellation, ConstellationIndex, Kind, MapError, Region, RegionIndex, System, SystemIndex,
    Warning,
};

/// The highest id of systems that are reached by gates.
const LAST_KNOWN_SPACE: u32 = 30_999_999;

/// Names in lower case → the places of what bears them.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    systems: HashMap<Box<str>, u32>,
    constellations: HashMap<Box<str>, u32>,
    regions: HashMap<Box<str>, u32>,
    /// The names of all systems as they are typed in a hurry, one after the other, and where each ends: a search by a
    /// part of the name then reads one text from front to back.
    plain: String,
    plain_ends: Vec<usize>,
}

impl Names {
    /// Takes the names of all, sorted by id. Where a name occurs again, the one with the lower id keeps it, and the
    /// other gets its id behind it: every name then means one thing, and nothing is left out for its name.
    pub(super) fn new(
        systems: &mut [System],
        constellations: &mut [Constellation],
        regions: &mut [Region],
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
        for system in systems {
            names.plain.extend(plain_chars(&system.name));
            names.plain_ends.push(names.plain.len());
        }
        Ok(names)
    }

    pub(super) fn plain(&self, system: SystemIndex) -> &str {
        let end = |place: usize| self.plain_ends.get(place).copied().unwrap_or_default();
        let start = system.index().checked_sub(1).map_or(0, end);
        (self.plain.get(start..end(system.index()))).unwrap_or_default()
    }

    pub(super) fn system(&self, name: &str) -> Option<SystemIndex> {
        self.systems.get(&*fold(name)).copied().map(SystemIndex)
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
        // Of few letters, most names are a letter or two away.
        let long = typed.chars().count();
        let far = (long / 3).max(2);
        let near = Typed::new(&typed);
        let same_start = |name: &str| name.chars().next() == typed.chars().next();
        let ranked = self.systems.iter().filter_map(|(name, place)| {
            let distance = near.distance_within(name, far);
            let rank = match (distance, name.find(&typed)) {
                (Some(1), _) if long > 2 => 0,
                (_, Some(0)) => 1,
                (Some(2), _) if long > 3 && same_start(name) => 2,
                (_, Some(_)) => 3,
                (Some(distance), None) => 2 + distance,
                (None, None) => return None,
            };
            let system = systems.get(*place as usize)?;
            // Of those alike, where most fly comes first.
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
        let mut near = self
            .systems
            .iter()
            .filter(|(folded, _)| typed.distance_within(folded, 1) == Some(1));
        let (_, only) = near.next()?;
        near.next().is_none().then_some(SystemIndex(*only))
    }
}

/// The plain form of a misspelt name; `None` for an empty one, and for one longer than any name, which is near to none.
fn typed(name: &str) -> Option<String> {
    let typed = fold(name);
    (!typed.is_empty() && typed.len() <= super::MAX_NAME_BYTES).then_some(typed)
}

/// A name that was typed, to be compared with many.
struct Typed<'n> {
    name: &'n str,
    length: usize,
    letters: u64,
}

impl<'n> Typed<'n> {
    fn new(name: &'n str) -> Self {
        Self {
            name,
            length: name.chars().count(),
            letters: letters(name),
        }
    }

    /// How many letters another name is apart, if that is at most `far`.
    ///
    /// Counting them takes time, and most names are farther: each letter more or less makes a name longer or shorter by
    /// one, and each that is changed takes one letter out of the set of all and puts another in.
    fn distance_within(&self, other: &str, far: usize) -> Option<usize> {
        let differing = (self.letters ^ letters(other)).count_ones() as usize;
        if differing > 2 * far || self.length.abs_diff(other.chars().count()) > far {
            return None;
        }
        Some(strsim::osa_distance(self.name, other)).filter(|distance| *distance <= far)
    }
}

/// Which letters a name has, each as a bit. Two letters may share one; by 37 hardly any of a name do.
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
        warnings.push(Warning::SameName {
            kind,
            id,
            name,
            first,
        });
    }
    Ok(places)
}

/// A name as it is typed in a hurry: in lower case, without hyphens and blanks.
pub(crate) fn plain(name: &str) -> String {
    plain_chars(name).collect()
}

fn plain_chars(name: &str) -> impl Iterator<Item = char> {
    let typed = |c: &char| !c.is_whitespace() && *c != '-';
    name.chars().filter(typed).flat_map(char::to_lowercase)
}

/// Case and blanks around a name do not distinguish names.
pub(super) fn fold(name: &str) -> String {
    name.trim().to_lowercase()
}
