//! Jumps by gates alone between any two systems, without a search.
//!
//! Each system has a label: some hubs and the jumps to each of them. The labels of any two systems that gates join
//! share a hub on a shortest path between them. Labels are made by pruned breadth-first searches (Akiba, Iwata and
//! Yoshida, "Fast exact shortest-path distance queries on large networks by pruned landmark labeling", 2013). In New
//! Eden a label has 43 hubs on average. All labels take 1.8 MB and some ten milliseconds when distances are first
//! needed.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Map, PerSystem, SystemIndex};

/// The most entries of all labels: 8 MiB. A map that needs more has no labels; its distances are searched for instead.
const MAX_ENTRIES: usize = 1 << 20;

/// The number of systems from which the busiest systems are estimated. Good hubs make short labels.
const SAMPLES: usize = 32;

/// The labels of all systems of a map.
#[derive(Debug, Clone)]
pub(crate) struct Hubs {
    labels: PerSystem<Vec<HubJumps>>,
}

/// A hub, or a column of a matrix, and the jumps to it.
type HubJumps<T = SystemIndex> = (T, u32);

/// More than any number of jumps, and small enough that two of them can be added.
const UNKNOWN: u32 = u32::MAX / 2;

impl Hubs {
    /// `None` if the labels of the map would be too large.
    ///
    /// No path leads through a system that is only an end ([`Map::only_ends`]), so none is a hub. Its label is made of
    /// those of its neighbours. That is not enough for two of them, so a map with more than one has no labels.
    pub(super) fn new(map: &Map) -> Option<Self> {
        if map.only_ends().len() > 1 {
            return None;
        }
        let passed = |it: &SystemIndex| !map.only_ends().contains(it);
        let mut labels: PerSystem<Vec<HubJumps>> = PerSystem::new(map, Vec::new());
        let mut from_hub = PerSystem::new(map, UNKNOWN);
        let mut jumps = PerSystem::new(map, UNKNOWN);
        let mut total = 0;
        let mut reached: Vec<SystemIndex> = Vec::new();
        for hub in by_ways_passed(map).into_iter().filter(passed) {
            for &(other, far) in &labels[hub] {
                from_hub[other] = far;
            }
            reached.push(hub);
            jumps[hub] = 0;
            let mut at = 0;
            while let Some(&here) = reached.get(at) {
                at += 1;
                // If a better hub is on a shortest path, the search does not continue here.
                let known = |&(other, far): &HubJumps| from_hub[other] + far <= jumps[here];
                if labels[here].iter().any(known) {
                    continue;
                }
                labels[here].push((hub, jumps[here]));
                total += 1;
                for &next in map.neighbours(here).iter().filter(|it| passed(it)) {
                    if jumps[next] == UNKNOWN {
                        jumps[next] = jumps[here] + 1;
                        reached.push(next);
                    }
                }
            }
            if total > MAX_ENTRIES {
                return None;
            }
            reached.drain(..).for_each(|it| jumps[it] = UNKNOWN);
            for &(other, _) in &labels[hub] {
                from_hub[other] = UNKNOWN;
            }
        }
        for &end in map.only_ends() {
            let mut nearest = BTreeMap::new();
            for (hub, far) in map.neighbours(end).iter().flat_map(|it| &labels[*it]) {
                let known: &mut u32 = nearest.entry(*hub).or_insert(UNKNOWN);
                *known = (far + 1).min(*known);
            }
            labels[end] = nearest.into_iter().collect();
        }
        map.indices().for_each(|it| labels[it].shrink_to_fit());
        Some(Self { labels })
    }

    /// The jumps from each of `from` (a row) to each of `to` (a column); `None` if gates do not connect them.
    pub(crate) fn matrix(
        &self,
        map: &Map,
        from: &[SystemIndex],
        to: &[SystemIndex],
    ) -> Vec<Vec<Option<u32>>> {
        // All columns by their hubs, grouped by hub.
        let mut ends = PerSystem::new(map, 0);
        for (hub, _) in to.iter().flat_map(|it| &self.labels[*it]) {
            ends[*hub] += 1;
        }
        let mut end = 0;
        for hub in map.indices() {
            end += ends[hub];
            // The end of the entries of this hub. Once all are filled in, it is their start.
            ends[hub] = end;
        }
        let mut starts = ends.clone();
        let mut columns: Vec<HubJumps<usize>> = vec![(0, 0); end];
        for (column, system) in to.iter().enumerate() {
            for &(hub, far) in &self.labels[*system] {
                starts[hub] -= 1;
                if let Some(place) = columns.get_mut(starts[hub]) {
                    *place = (column, far);
                }
            }
        }
        let row = |from: &SystemIndex| {
            let mut row = vec![UNKNOWN; to.len()];
            for &(hub, near) in &self.labels[*from] {
                for &(column, far) in known_range::items(&columns, starts[hub]..ends[hub]) {
                    if let Some(cell) = row.get_mut(column) {
                        *cell = near.saturating_add(far).min(*cell);
                    }
                }
            }
            let cells =
                row.into_iter().zip(to).map(|(jumps, to)| if from == to { 0 } else { jumps });
            cells.map(|jumps| (jumps < UNKNOWN).then_some(jumps)).collect()
        };
        from.iter().map(row).collect()
    }
}

/// All systems, ordered by how many shortest paths pass them. It is estimated by how many systems lie beyond each, seen
/// from some origins.
fn by_ways_passed(map: &Map) -> Vec<SystemIndex> {
    let mut order: Vec<SystemIndex> = map.indices().collect();
    let mut passed = PerSystem::new(map, 0_usize);
    for origin in order.iter().step_by(order.len().div_ceil(SAMPLES).max(1)) {
        let mut seen = PerSystem::new(map, false);
        seen[*origin] = true;
        // With the position of the predecessor.
        let mut reached = vec![(*origin, 0)];
        let mut at = 0;
        while let Some(&(here, _)) = reached.get(at) {
            for &next in map.neighbours(here) {
                if !seen[next] {
                    seen[next] = true;
                    reached.push((next, at));
                }
            }
            at += 1;
        }
        let mut beyond = vec![1; reached.len()];
        for (at, &(system, before)) in reached.iter().enumerate().skip(1).rev() {
            let all = beyond.get(at).copied().unwrap_or_default();
            passed[system] += all;
            if let Some(it) = beyond.get_mut(before) {
                *it += all;
            }
        }
    }
    order.sort_by_key(|it| Reverse(passed[*it]));
    order
}
