//! The chokepoints of an area: systems and connections without which it falls apart.

use crate::map::{Map, PerSystem, SystemIndex};

/// Where an area can be cut.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cuts {
    /// The systems that every route between some other systems of the area passes, by id.
    pub systems: Vec<CutSystem>,
    /// The connections that every route between some systems of the area takes, by the ids of their ends.
    pub bridges: Vec<Bridge>,
}

/// A system without which an area falls apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CutSystem {
    /// The system.
    pub system: SystemIndex,
    /// How many systems are then cut off from the largest remaining piece.
    pub cut_off: usize,
}

/// A connection without which an area falls apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bridge {
    /// The end with the smaller id.
    pub from: SystemIndex,
    /// The other end.
    pub to: SystemIndex,
    /// How many systems the smaller of the two pieces has.
    pub cut_off: usize,
}

/// The state of the search for one system.
#[derive(Debug, Clone, Copy, Default)]
struct Visit {
    /// The position in the order of discovery, from 1; 0 if not found yet.
    found: usize,
    /// The lowest `found` that this system or its descendants are joined with.
    lowest: usize,
    /// The number of systems found through it, including itself.
    below: usize,
    /// How many of them are connected only through it, and the size of the largest such piece.
    hanging: usize,
    largest: usize,
    before: Option<SystemIndex>,
}

/// Finds the cut vertices and bridges of the graph of these systems and the gates between them, by Tarjan's low-links,
/// without recursion. Systems named twice count once. If the area consists of several unconnected parts, each is judged
/// separately.
pub fn cuts(map: &Map, area: &[SystemIndex]) -> Cuts {
    let mut inside = PerSystem::new(map, false);
    for &system in area {
        // What is only an end joins nothing.
        inside[system] = !map.only_ends().contains(&system);
    }
    let mut area: Vec<SystemIndex> = area.iter().copied().filter(|it| inside[*it]).collect();
    area.sort_unstable();
    area.dedup();
    let mut visits = PerSystem::new(map, Visit::default());
    let mut cuts = Cuts::default();
    let mut clock = 0;
    // The systems of the current part in the order they were found, and the path to the current system with the number
    // of neighbours visited so far.
    let mut part: Vec<SystemIndex> = Vec::new();
    let mut path: Vec<(SystemIndex, usize)> = Vec::new();
    for &root in &area {
        if visits[root].found != 0 {
            continue;
        }
        part.clear();
        path.push((root, 0));
        while let Some((here, looked_at)) = path.last_mut() {
            let here = *here;
            if visits[here].found == 0 {
                clock += 1;
                let visit = &mut visits[here];
                (visit.found, visit.lowest, visit.below) = (clock, clock, 1);
                part.push(here);
            }
            let next = map.neighbours(here).get(*looked_at).copied();
            *looked_at += 1;
            match next {
                Some(far) if !inside[far] || visits[here].before == Some(far) => {}
                Some(far) if visits[far].found == 0 => {
                    visits[far].before = Some(here);
                    path.push((far, 0));
                }
                Some(far) => visits[here].lowest = visits[here].lowest.min(visits[far].found),
                None => {
                    path.pop();
                    leave(&mut visits, here);
                }
            }
        }
        judge(&visits, &part, &mut cuts);
    }
    cuts.systems.sort_unstable();
    cuts.bridges.sort_unstable();
    cuts
}

/// Passes the results for this system on to its predecessor.
fn leave(visits: &mut PerSystem<Visit>, here: SystemIndex) {
    let done = visits[here];
    let Some(before) = done.before else { return };
    let visit = &mut visits[before];
    visit.lowest = visit.lowest.min(done.lowest);
    visit.below += done.below;
    if done.lowest >= visit.found {
        visit.hanging += done.below;
        visit.largest = visit.largest.max(done.below);
    }
}

fn judge(visits: &PerSystem<Visit>, part: &[SystemIndex], cuts: &mut Cuts) {
    for &system in part {
        let visit = visits[system];
        // Without this system there are the pieces connected only through it, and the rest.
        let rest = part.len() - 1 - visit.hanging;
        let cut_off = part.len() - 1 - visit.largest.max(rest);
        if cut_off > 0 {
            cuts.systems.push(CutSystem { system, cut_off });
        }
        if let Some(before) = visit.before
            && visit.lowest == visit.found
        {
            cuts.bridges.push(Bridge {
                from: before.min(system),
                to: before.max(system),
                cut_off: visit.below.min(part.len() - visit.below),
            });
        }
    }
}
