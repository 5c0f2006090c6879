//! Finding what a name means, and what an unknown one may have meant.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::judge::is_name;
use super::{
    Constellation, ConstellationIndex, Kind, MapError, Region, RegionIndex, System, SystemIndex,
    Warning,
};

/// Names in lower case → the places of what bears them.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    systems: HashMap<Box<str>, u32>,
    constellations: HashMap<Box<str>, u32>,
    regions: HashMap<Box<str>, u32>,
}

impl Names {
    /// Takes the names of all, sorted by id. Where a name occurs again, the one with the lower id keeps it, and the other
    /// gets its id behind it: every name then means one thing, and nothing is left out for its name.
    pub(super) fn new(
        systems: &mut [System],
        constellations: &mut [Constellation],
        regions: &mut [Region],
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, MapError> {
        let regions = regions.iter_mut().map(|it| (it.id, &mut it.name));
        let constellations = constellations.iter_mut().map(|it| (it.id, &mut it.name));
        let systems = systems.iter_mut().map(|it| (it.id, &mut it.name));
        Ok(Self {
            regions: places(Kind::Region, regions, warnings)?,
            constellations: places(Kind::Constellation, constellations, warnings)?,
            systems: places(Kind::System, systems, warnings)?,
        })
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
        let far = (typed.chars().count() / 3).max(2);
        let named = |place: u32| systems.get(place as usize).map(|system| &*system.name);
        let mut holding = Vec::new();
        let mut near = Vec::new();
        for (folded, place) in &self.systems {
            if folded.contains(&typed) {
                holding.push((!folded.starts_with(&typed), named(*place)));
            } else if holding.is_empty()
                && let Some(distance) = distance_within(&typed, folded, far)
            {
                near.push((distance, named(*place)));
            }
        }
        holding.sort_unstable();
        near.sort_unstable();
        let holding = holding.into_iter().filter_map(|(_, name)| name);
        let found: Vec<&str> = holding.take(limit).collect();
        if found.is_empty() {
            let near = near.into_iter().filter_map(|(_, name)| name);
            near.take(limit).collect()
        } else {
            found
        }
    }

    pub(super) fn correct(&self, name: &str) -> Option<SystemIndex> {
        let typed = typed(name)?;
        let mut near = self
            .systems
            .iter()
            .filter(|(folded, _)| distance_within(&typed, folded, 1) == Some(1));
        let (_, only) = near.next()?;
        near.next().is_none().then_some(SystemIndex(*only))
    }
}

/// What somebody may have meant by something: nobody means anything by nothing, and nothing is near what is longer than
/// any name.
fn typed(name: &str) -> Option<String> {
    let typed = fold(name);
    (!typed.is_empty() && typed.len() <= super::MAX_NAME_BYTES).then_some(typed)
}

/// How many letters two names are apart, if that is at most `far`. Each letter more or less is one, so lengths that
/// differ by more need no look at the letters.
fn distance_within(a: &str, b: &str, far: usize) -> Option<usize> {
    if a.chars().count().abs_diff(b.chars().count()) > far {
        return None;
    }
    Some(strsim::osa_distance(a, b)).filter(|distance| *distance <= far)
}

fn places<'n>(
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

/// Case and blanks around a name do not tell names apart.
pub(super) fn fold(name: &str) -> String {
    name.trim().to_lowercase()
}
