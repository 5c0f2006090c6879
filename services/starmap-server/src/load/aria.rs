//! The cache of ARIA: one object with the maps `regions`, `constellations`, `systems` and `stargates`, each by id.
//!
//! ARIA's paper and its program name some members differently, and the public API, from which the cache is made, uses
//! other names again. All of them are accepted: `security` or `security_status`, the id as the key or as `system_id`,
//! the region of a constellation in it or in its systems, `destination_system_id` or `destination.system_id`, the gates
//! of a system in it or the system in its gates, `generated` or `version`.

mod cache;

use std::collections::{HashMap, HashSet};

use super::error::{Foreign, Problem};
use super::{Read, json};
use crate::map::{Kind, PartsConstellation, PartsRegion, PartsSystem, Warning, within};
use cache::{Cache, Constellation, Gate, System};

/// Reads the cache.
pub(super) fn read(bytes: &[u8]) -> Result<Read, Problem> {
    let cache: Cache =
        serde_json::from_slice(json::without_mark(bytes)).map_err(Problem::damaged)?;
    let Some(systems) = cache.systems else {
        return Err(Problem::Foreign(Foreign::JSON));
    };
    let mut read = Read::default();
    let version = cache.generated.or(cache.version);
    read.parts.version = version.map(cache::Text::into_string).unwrap_or_default();
    for (key, region) in cache.regions.0 {
        let id = id_of(Kind::Region, key, None)?;
        let name = region.name.english();
        read.parts.regions.push(PartsRegion { id, name });
    }
    let systems = systems.0.into_iter();
    let systems = systems.map(|(key, it)| Ok((id_of(Kind::System, key, it.system_id)?, it)));
    let systems: Vec<(u32, System)> = systems.collect::<Result<_, Problem>>()?;
    let constellations = cache.constellations.0;
    read.constellations(constellations, &systems)?;
    read.gates(cache.stargates.0, &systems)?;
    for (id, system) in systems {
        read.system(id, system);
    }
    Ok(read)
}

impl Read {
    fn constellations(
        &mut self,
        constellations: Vec<(Option<u32>, Constellation)>,
        systems: &[(u32, System)],
    ) -> Result<(), Problem> {
        let said = systems.iter().filter_map(|(_, it)| it.constellation_id.zip(it.region_id));
        let regions: HashMap<u32, u32> = said.collect();
        for (key, it) in constellations {
            let id = id_of(Kind::Constellation, key, None)?;
            match it.region_id.or_else(|| regions.get(&id).copied()) {
                Some(region) => self.parts.constellations.push(PartsConstellation {
                    id,
                    name: it.name.english(),
                    region,
                }),
                None => self.incomplete(Kind::Constellation, id, "region"),
            }
        }
        Ok(())
    }

    fn gates(
        &mut self,
        gates: Vec<(Option<u32>, Gate)>,
        systems: &[(u32, System)],
    ) -> Result<(), Problem> {
        let mut known = HashMap::with_capacity(gates.len());
        for (key, gate) in gates {
            known.insert(id_of(Kind::Gate, key, None)?, gate);
        }
        let mut listed = HashSet::new();
        let mut count = 0;
        for (system, it) in systems {
            let ids = it.stargates.as_deref().unwrap_or_default();
            count += ids.len();
            within(Kind::Gate, count)?;
            for id in ids {
                listed.insert(*id);
                match known.get(id).and_then(Gate::leads_to) {
                    Some(to) => {
                        self.parts.gates.push((*system, to));
                        self.parts.gate_ids.push((*system, to, *id));
                    }
                    None => self.warnings.push(Warning::NoGate { system: *system, gate: *id }),
                }
            }
        }
        let mut unlisted: Vec<(u32, Gate)> = known.into_iter().collect();
        unlisted.retain(|(id, _)| !listed.contains(id));
        unlisted.sort_unstable_by_key(|(id, _)| *id);
        for (id, gate) in unlisted {
            match (gate.system_id, gate.leads_to()) {
                (Some(from), Some(to)) => {
                    self.parts.gates.push((from, to));
                    self.parts.gate_ids.push((from, to, id));
                }
                (None, _) => self.incomplete(Kind::Gate, id, "system"),
                (_, None) => self.incomplete(Kind::Gate, id, "destination"),
            }
        }
        Ok(())
    }

    fn system(&mut self, id: u32, mut system: System) {
        self.parts.other_names.extend(system.name.others(id));
        let Some(security) = system.security.or(system.security_status) else {
            return self.incomplete(Kind::System, id, "security status");
        };
        let Some(constellation) = system.constellation_id else {
            return self.incomplete(Kind::System, id, "constellation");
        };
        self.parts.systems.push(PartsSystem {
            id,
            name: system.name.english(),
            security,
            constellation,
            position: system.position.map(json::Position::metres),
        });
    }

    fn incomplete(&mut self, kind: Kind, id: u32, lacks: &'static str) {
        self.warnings.push(Warning::Incomplete { kind, id, lacks });
    }
}

/// An entry's own id takes precedence over its key.
fn id_of(kind: Kind, key: Option<u32>, own: Option<u32>) -> Result<u32, Problem> {
    own.or(key).ok_or_else(|| {
        Problem::damaged(format_args!("a {kind} is there under a key that is not an id"))
    })
}
