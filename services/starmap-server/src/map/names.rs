//! Finding what a name means, and what an unknown one may have meant.

use std::collections::HashMap;

use super::{Constellation, ConstellationIndex, Region, RegionIndex, System, SystemIndex};

/// Names in lower case → what bears them.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    systems: HashMap<Box<str>, SystemIndex>,
    constellations: HashMap<Box<str>, ConstellationIndex>,
    regions: HashMap<Box<str>, RegionIndex>,
}

impl Names {
    pub(super) fn new(
        systems: &[System],
        constellations: &[Constellation],
        regions: &[Region],
    ) -> Self {
        let folded = |name: &str| fold(name).into_boxed_str();
        Self {
            systems: (0..)
                .map(SystemIndex)
                .zip(systems)
                .map(|(at, it)| (folded(&it.name), at))
                .collect(),
            constellations: (0..)
                .map(ConstellationIndex)
                .zip(constellations)
                .map(|(at, it)| (folded(&it.name), at))
                .collect(),
            regions: (0..)
                .map(RegionIndex)
                .zip(regions)
                .map(|(at, it)| (folded(&it.name), at))
                .collect(),
        }
    }

    pub(super) fn system(&self, name: &str) -> Option<SystemIndex> {
        self.systems.get(fold(name).as_str()).copied()
    }

    pub(super) fn constellation(&self, name: &str) -> Option<ConstellationIndex> {
        self.constellations.get(fold(name).as_str()).copied()
    }

    pub(super) fn region(&self, name: &str) -> Option<RegionIndex> {
        self.regions.get(fold(name).as_str()).copied()
    }

    #[expect(
        clippy::unused_self,
        reason = "what a name means is asked of the names"
    )]
    pub(super) fn suggest<'m>(
        &self,
        name: &str,
        limit: usize,
        names: impl Iterator<Item = &'m str>,
    ) -> Vec<&'m str> {
        let typed = fold(name);
        // Nobody means anything by nothing, and nothing is near what is longer than any name.
        if typed.is_empty() || typed.len() > super::MAX_NAME_BYTES {
            return Vec::new();
        }
        let far = (typed.chars().count() / 3).max(2);
        let mut holding = Vec::new();
        let mut near = Vec::new();
        for candidate in names {
            let folded = fold(candidate);
            if folded.contains(&typed) {
                holding.push((!folded.starts_with(&typed), candidate));
            } else if holding.is_empty() {
                let distance = strsim::osa_distance(&typed, &folded);
                if distance <= far {
                    near.push((distance, candidate));
                }
            }
        }
        holding.sort_unstable();
        near.sort_unstable();
        let holding = holding.into_iter().map(|(_, name)| name);
        let found: Vec<&str> = holding.take(limit).collect();
        if found.is_empty() {
            near.into_iter().map(|(_, name)| name).take(limit).collect()
        } else {
            found
        }
    }

    pub(super) fn correct<'m>(
        &self,
        name: &str,
        names: impl Iterator<Item = &'m str>,
    ) -> Option<SystemIndex> {
        let typed = fold(name);
        if typed.is_empty() || typed.len() > super::MAX_NAME_BYTES {
            return None;
        }
        let mut near = names.filter(|name| strsim::osa_distance(&typed, &fold(name)) == 1);
        let only = near.next()?;
        near.next().is_none().then(|| self.system(only)).flatten()
    }
}

/// Case and blanks around a name do not tell names apart.
pub(super) fn fold(name: &str) -> String {
    name.trim().to_lowercase()
}
