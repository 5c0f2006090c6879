//! The differences between two maps: what a new export of the game's data changes for pilots.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::map::{Map, SecurityClass, System};

/// How far apart two positions of one system may be without counting as moved, per metre of distance from the origin.
/// Files round positions, some to seven digits.
pub const ROUNDING: f64 = 1e-6;

/// How far apart two security statuses of the same class may be without counting as a change: half of the fourth
/// decimal, to which some files round, and a little for floating-point error.
pub const SECURITY_ROUNDING: f64 = 0.000_051;

/// The differences, by id. All lists are empty for two maps with the same contents.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Diff {
    /// The version of the old map.
    pub old_version: String,
    /// The version of the new map.
    pub new_version: String,
    /// Regions that were added, removed or renamed.
    pub regions: Changes,
    /// Constellations that were added, removed or renamed.
    pub constellations: Changes,
    /// Systems that were added, removed or renamed.
    pub systems: Changes,
    /// Connections that are new, each with the lower id first.
    pub gates_added: Vec<Gate>,
    /// Connections that are gone.
    pub gates_removed: Vec<Gate>,
    /// Systems with another security status.
    pub security: Vec<SecurityChange>,
    /// Systems that belong to another constellation or region.
    pub moved: Vec<Move>,
    /// Systems with a different position, or whose position became known or unknown.
    pub positions: PositionChanges,
}

/// What was added, removed and renamed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// On the new map only.
    pub added: Vec<Named>,
    /// On the old map only.
    pub removed: Vec<Named>,
    /// On both, with different names.
    pub renamed: Vec<Renamed>,
}

/// Something with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Named {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: String,
}

/// A changed name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Renamed {
    /// The id of the renamed object.
    pub id: u32,
    /// The name on the old map.
    pub old: String,
    /// The name on the new one.
    pub new: String,
}

/// A connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gate {
    /// The system with the lower id.
    pub from: Named,
    /// The other one.
    pub to: Named,
}

/// A changed security status.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SecurityChange {
    /// The system.
    pub id: u32,
    /// Its name on the new map.
    pub name: String,
    /// The status on the old map.
    pub old: f64,
    /// The status on the new one.
    pub new: f64,
    /// The class on the old map and on the new one, if they differ: `["HIGH", "LOW"]`.
    pub class: Option<[String; 2]>,
}

/// A system that moved to another constellation or region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Move {
    /// The system.
    pub id: u32,
    /// Its name on the new map.
    pub name: String,
    /// Its constellation and its region on the old map.
    pub old: [String; 2],
    /// Its constellation and its region on the new one.
    pub new: [String; 2],
}

/// Changed positions in space.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PositionChanges {
    /// Systems that moved farther than rounding explains.
    pub moved: Vec<Named>,
    /// How many systems have a position on the new map only.
    pub became_known: usize,
    /// How many systems have a position on the old map only.
    pub became_unknown: usize,
}

/// Compares two maps.
pub fn diff(old: &Map, new: &Map) -> Diff {
    let gates = [gates(old), gates(new)];
    let [old_gates, new_gates] = &gates;
    let only = |here: &BTreeSet<(u32, u32)>, there: &BTreeSet<(u32, u32)>, map: &Map| {
        let only = here.difference(there);
        only.filter_map(|(from, to)| Some(Gate { from: named(map, *from)?, to: named(map, *to)? }))
            .collect()
    };
    let mut diff = Diff {
        old_version: old.version().to_owned(),
        new_version: new.version().to_owned(),
        regions: changes(
            old.regions().iter().map(|it| (it.id, &*it.name)),
            new.regions().iter().map(|it| (it.id, &*it.name)),
        ),
        constellations: changes(
            old.constellations().iter().map(|it| (it.id, &*it.name)),
            new.constellations().iter().map(|it| (it.id, &*it.name)),
        ),
        systems: changes(
            old.systems().iter().map(|it| (it.id, &*it.name)),
            new.systems().iter().map(|it| (it.id, &*it.name)),
        ),
        gates_added: only(new_gates, old_gates, new),
        gates_removed: only(old_gates, new_gates, old),
        ..Diff::default()
    };
    for after in new.systems() {
        if let Some(before) = old.system_by_id(after.id) {
            diff.system((old, old.system(before)), (new, after));
        }
    }
    diff
}

impl Diff {
    /// Whether the two maps are the same except for their versions.
    pub fn is_empty(&self) -> bool {
        let same = Self {
            old_version: self.old_version.clone(),
            new_version: self.new_version.clone(),
            ..Self::default()
        };
        *self == same
    }

    fn system(&mut self, (old, before): (&Map, &System), (new, after): (&Map, &System)) {
        let id = after.id;
        let name = || after.name.to_string();
        let change = (before.security - after.security).abs();
        if before.class != after.class || change > SECURITY_ROUNDING {
            let class = |class: SecurityClass| class.to_string();
            self.security.push(SecurityChange {
                id,
                name: name(),
                old: before.security,
                new: after.security,
                class: (before.class != after.class)
                    .then(|| [class(before.class), class(after.class)]),
            });
        }
        let ids = |map: &Map, it: &System| {
            let constellation = map.constellation(it.constellation);
            (constellation.id, map.region(it.region).id)
        };
        if ids(old, before) != ids(new, after) {
            let place = |map: &Map, it: &System| {
                let constellation = map.constellation(it.constellation).name.to_string();
                [constellation, map.region(it.region).name.to_string()]
            };
            self.moved.push(Move {
                id,
                name: name(),
                old: place(old, before),
                new: place(new, after),
            });
        }
        match (before.position, after.position) {
            (Some(before), Some(after)) if apart(before, after) => {
                self.positions.moved.push(Named { id, name: name() });
            }
            (None, Some(_)) => self.positions.became_known += 1,
            (Some(_), None) => self.positions.became_unknown += 1,
            _ => {}
        }
    }
}

fn changes<'m>(
    old: impl Iterator<Item = (u32, &'m str)>,
    new: impl Iterator<Item = (u32, &'m str)>,
) -> Changes {
    let mut old: BTreeMap<u32, &str> = old.collect();
    let mut changes = Changes::default();
    for (id, name) in new {
        match old.remove(&id) {
            Some(before) if before == name => {}
            Some(before) => {
                changes.renamed.push(Renamed { id, old: before.to_owned(), new: name.to_owned() })
            }
            None => changes.added.push(Named { id, name: name.to_owned() }),
        }
    }
    changes.removed =
        old.into_iter().map(|(id, name)| Named { id, name: name.to_owned() }).collect();
    changes
}

/// Each connection by the ids of its ends, the lower first.
fn gates(map: &Map) -> BTreeSet<(u32, u32)> {
    let systems = map.indices().zip(map.systems());
    let gates = systems.flat_map(|(index, from)| {
        let later = map.neighbours(index).iter().filter(move |to| **to > index);
        later.map(|to| (from.id, map.system(*to).id))
    });
    gates.collect()
}

fn named(map: &Map, id: u32) -> Option<Named> {
    let name = map.system(map.system_by_id(id)?).name.to_string();
    Some(Named { id, name })
}

/// Whether two positions differ by more than rounding.
fn apart(a: [f64; 3], b: [f64; 3]) -> bool {
    let length = |v: [f64; 3]| v.iter().map(|it| it * it).sum::<f64>().sqrt();
    let [ax, ay, az] = a;
    let [bx, by, bz] = b;
    length([ax - bx, ay - by, az - bz]) > ROUNDING * length(a).max(length(b))
}
