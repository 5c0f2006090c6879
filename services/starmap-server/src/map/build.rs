//! Building a map from its parts.

use std::collections::{BTreeMap, HashMap};

use super::digest::digest;
use super::judge::{MapError, distinct, is_name, judge};
use super::names::Names;
use super::{
    Constellation, ConstellationIndex, Kind, Map, ONLY_ENDS, Parts, PartsConstellation,
    PartsRegion, PartsSystem, Region, RegionIndex, SecurityClass, Space, System, SystemIndex,
    Warning,
};

pub(super) fn build(mut parts: Parts) -> Result<(Map, Vec<Warning>), MapError> {
    judge(&parts)?;
    parts.regions.sort_unstable_by_key(|it| it.id);
    parts.constellations.sort_unstable_by_key(|it| it.id);
    parts.systems.sort_unstable_by_key(|it| it.id);
    distinct(Kind::Region, parts.regions.iter().map(|it| it.id))?;
    distinct(Kind::Constellation, parts.constellations.iter().map(|it| it.id))?;
    distinct(Kind::System, parts.systems.iter().map(|it| it.id))?;
    let mut warnings = Vec::new();
    let regions = parts.regions.into_iter().map(|it| Region {
        id: it.id,
        name: it.name.trim().into(),
        constellations: Vec::new(),
    });
    let mut regions: Vec<Region> = regions.collect();
    let mut constellations = constellations(parts.constellations, &mut regions, &mut warnings);
    let mut systems = systems(parts.systems, &mut constellations, &mut warnings);
    if systems.is_empty() {
        return Err(match warnings.first().cloned() {
            Some(first) => MapError::NothingLeft { warnings: warnings.len(), first },
            None => MapError::Empty,
        });
    }
    let (starts, neighbours) = arcs(&parts.gates, &systems, &mut warnings);
    let names = Names::new(
        &mut systems,
        &mut constellations,
        &mut regions,
        &parts.other_names,
        &mut warnings,
    )?;
    let classes: Vec<SecurityClass> = systems.iter().map(|system| system.class).collect();
    mark_borders(&mut systems, &classes, &starts, &neighbours);
    let mut map = Map {
        version: parts.version.trim().to_owned(),
        regions,
        constellations,
        systems,
        classes,
        connections: neighbours.len() / 2,
        only_ends: Vec::new(),
        gates: Vec::new(),
        spaces: Vec::new(),
        starts,
        neighbours,
        names,
        landmarks: Default::default(),
    };
    map.only_ends = ONLY_ENDS.iter().filter_map(|(id, _)| map.system_by_id(*id)).collect();
    map.gates = map.gates_with(&parts.gate_ids);
    map.spaces = map.spaces_with(&parts.wormhole_classes);
    if !is_name(&map.version) {
        map.version = digest(&map);
    }
    Ok((map, warnings))
}

impl Map {
    /// The ids of the stargates, at the places of the neighbours.
    fn gates_with(&self, ids: &[(u32, u32, u32)]) -> Vec<u32> {
        let ids: HashMap<(u32, u32), u32> =
            ids.iter().map(|(from, to, id)| ((*from, *to), *id)).collect();
        let gates = self.indices().flat_map(|from| {
            let end = move |at: SystemIndex| self.system(at).id;
            self.neighbours(from).iter().map(move |to| (end(from), end(*to)))
        });
        gates.map(|ends| ids.get(&ends).copied().unwrap_or_default()).collect()
    }

    fn spaces_with(&self, classes: &BTreeMap<u32, u8>) -> Vec<Space> {
        let space = |it: &System| {
            let region = self.region(it.region);
            let ids = [it.id, self.constellation(it.constellation).id, region.id];
            let class = ids.iter().find_map(|id| classes.get(id)).copied();
            Space::new(it.id, it.class, region, class)
        };
        self.systems.iter().map(space).collect()
    }

    /// What the map is made of; building it again gives the same map.
    pub fn parts(&self) -> Parts {
        let id = |system: SystemIndex| self.system(system).id;
        let arcs = || {
            self.indices().flat_map(|from| self.neighbours(from).iter().map(move |to| (from, *to)))
        };
        let ids =
            arcs().filter_map(|(from, to)| Some((id(from), id(to), self.stargate(from, to)?)));
        let classes = self.indices().filter_map(|at| match self.space(at) {
            Space::Wormhole(class @ 1..) => Some((id(at), class)),
            _ => None,
        });
        Parts {
            version: self.version.clone(),
            regions: (self.regions.iter())
                .map(|it| PartsRegion { id: it.id, name: it.name.to_string() })
                .collect(),
            constellations: (self.constellations.iter())
                .map(|it| PartsConstellation {
                    id: it.id,
                    name: it.name.to_string(),
                    region: self.region(it.region).id,
                })
                .collect(),
            systems: (self.systems.iter())
                .map(|it| PartsSystem {
                    id: it.id,
                    name: it.name.to_string(),
                    security: it.security,
                    constellation: self.constellation(it.constellation).id,
                    position: it.position,
                })
                .collect(),
            gates: arcs()
                .filter(|(from, to)| from < to)
                .map(|(from, to)| (id(from), id(to)))
                .collect(),
            gate_ids: ids.collect(),
            wormhole_classes: classes.collect(),
            other_names: self.names.in_other_languages(&self.systems),
        }
    }
}

fn constellations(
    parts: Vec<PartsConstellation>,
    regions: &mut [Region],
    warnings: &mut Vec<Warning>,
) -> Vec<Constellation> {
    let mut constellations = Vec::with_capacity(parts.len());
    for part in parts {
        let found = regions.binary_search_by_key(&part.region, |region| region.id);
        let found = found.ok().and_then(|at| Some((handle(at), regions.get_mut(at)?)));
        let Some((at, region)) = found else {
            warnings.push(Warning::NoRegion { constellation: part.id, region: part.region });
            continue;
        };
        let own = ConstellationIndex(handle(constellations.len()));
        region.constellations.push(own);
        constellations.push(Constellation {
            id: part.id,
            name: part.name.trim().into(),
            region: RegionIndex(at),
            systems: Vec::new(),
        });
    }
    constellations
}

fn systems(
    parts: Vec<PartsSystem>,
    constellations: &mut [Constellation],
    warnings: &mut Vec<Warning>,
) -> Vec<System> {
    let mut systems = Vec::with_capacity(parts.len());
    for part in parts {
        let found = constellations.binary_search_by_key(&part.constellation, |it| it.id);
        let found = found.ok().and_then(|at| Some((handle(at), constellations.get_mut(at)?)));
        let Some((at, constellation)) = found else {
            warnings.push(Warning::NoConstellation {
                system: part.id,
                constellation: part.constellation,
            });
            continue;
        };
        let own = SystemIndex(handle(systems.len()));
        constellation.systems.push(own);
        systems.push(System {
            id: part.id,
            name: part.name.trim().into(),
            // Some files write -0.0; adding zero turns it into 0.
            security: part.security + 0.0,
            class: SecurityClass::of(part.security),
            constellation: ConstellationIndex(at),
            region: constellation.region,
            position: part.position,
            border: false,
        });
    }
    systems
}

/// The neighbours of all systems in one list, sorted by id for each system, and where each system's neighbours begin.
fn arcs(
    gates: &[(u32, u32)],
    systems: &[System],
    warnings: &mut Vec<Warning>,
) -> (Vec<u32>, Vec<SystemIndex>) {
    let places: HashMap<u32, u32> =
        (0..).zip(systems).map(|(at, system)| (system.id, at)).collect();
    let mut arcs = Vec::with_capacity(gates.len() * 2);
    for &(from, to) in gates {
        match (places.get(&from), places.get(&to)) {
            (Some(a), Some(b)) if a == b => warnings.push(Warning::Circle { system: from }),
            (Some(&a), Some(&b)) => arcs.push((a, b)),
            _ => warnings.push(Warning::NoSystem { from, to }),
        }
    }
    arcs.sort_unstable();
    arcs.dedup();
    warn_of_one_way(&arcs, systems, warnings);
    arcs.extend_from_within(..);
    let listed = arcs.len() / 2;
    for (from, to) in arcs.iter_mut().skip(listed) {
        std::mem::swap(from, to);
    }
    arcs.sort_unstable();
    arcs.dedup();
    let mut starts = vec![0; systems.len() + 1];
    for &(from, _) in &arcs {
        if let Some(count) = starts.get_mut(from as usize + 1) {
            *count += 1;
        }
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let neighbours = arcs.into_iter().map(|(_, to)| SystemIndex(to)).collect();
    (starts, neighbours)
}

/// In a file that lists most gates from both ends, a gate listed once is worth a warning. In other files it is not.
fn warn_of_one_way(arcs: &[(u32, u32)], systems: &[System], warnings: &mut Vec<Warning>) {
    let alone = |(from, to): &&(u32, u32)| arcs.binary_search(&(*to, *from)).is_err();
    let count = arcs.iter().filter(alone).count();
    if count > arcs.len() / 2 {
        return;
    }
    let id = |at: u32| systems.get(at as usize).map_or(0, |system| system.id);
    let alone = arcs.iter().filter(alone);
    warnings.extend(alone.map(|&(from, to)| Warning::OneWay { from: id(from), to: id(to) }));
}

fn mark_borders(
    systems: &mut [System],
    classes: &[SecurityClass],
    starts: &[u32],
    neighbours: &[SystemIndex],
) {
    let lower = |to: &SystemIndex| {
        classes.get(to.index()).is_some_and(|class| *class != SecurityClass::High)
    };
    for (system, span) in systems.iter_mut().zip(starts.windows(2)) {
        let [start, end] = span else { continue };
        let around = known_range::items(neighbours, *start as usize..*end as usize);
        system.border = system.class == SecurityClass::High && around.iter().any(lower);
    }
}

/// Counts are limited by [`MAX_SYSTEMS`](super::MAX_SYSTEMS) and similar constants, far below the limit of the type.
fn handle(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
