//! A reduced map for a search between some systems: junctions, the systems themselves, and the passages between them.

use std::collections::BTreeMap;

use crate::map::{Map, PerSystem, SystemIndex};
use crate::route::Travel;

/// How many levels a search has to remember: one more than the jumps of the longest passage.
pub(super) const LEVELS: usize = 8;

/// Nodes and the passages between them. Systems in the middle of a passage, and dead ends, are not nodes. That leaves
/// half of the systems.
pub(super) struct Passages {
    /// The node of each system that has one.
    nodes: PerSystem<Option<u32>>,
    /// The systems of nodes whose passages are not known yet.
    waiting: Vec<SystemIndex>,
    /// Systems that may be left but not passed. Each has a second node, which nothing enters.
    sources: BTreeMap<SystemIndex, u32>,
    count: u32,
    /// Nodes that are entered from at most two others. A missing one is replaced by the node itself.
    pub(super) two: Vec<Entered<2>>,
    /// Nodes that are entered from more.
    pub(super) four: Vec<Entered<4>>,
    /// Passages to nodes that are entered from more than four, and extra connections.
    pub(super) more: Vec<Entered<1>>,
}

/// A node and the passages by which it is entered. Each has the same number, so that loops have a fixed length and
/// branches are predictable.
pub(super) type Entered<const WAYS: usize> = (u32, [Way; WAYS]);

/// A passage from a node. The node and the jumps (in the low bits) share one number to save memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way(u32);

impl Way {
    const fn new(from: u32, jumps: usize) -> Self {
        Self(from * LEVELS as u32 + jumps as u32)
    }

    /// Where it begins.
    pub(super) const fn from(self) -> usize {
        self.0 as usize / LEVELS
    }

    /// The number of jumps, less than [`LEVELS`].
    pub(super) const fn jumps(self) -> usize {
        self.0 as usize % LEVELS
    }
}

impl Passages {
    /// The passages from some systems to others, through systems that may be passed.
    pub(super) fn new(
        map: &Map,
        travel: &Travel,
        [from, to]: [&[SystemIndex]; 2],
        may_pass: impl Fn(SystemIndex) -> bool,
    ) -> Self {
        let room = map.systems().len() / 2;
        let mut it = Self {
            nodes: PerSystem::new(map, None),
            waiting: Vec::with_capacity(room),
            sources: BTreeMap::new(),
            count: 0,
            two: Vec::with_capacity(room),
            four: Vec::with_capacity(room),
            more: Vec::new(),
        };
        let ends = travel.steps().flat_map(|(near, far)| [near, far]);
        for system in ends.chain(from.iter().chain(to).copied()) {
            it.number(system);
        }
        for system in map.indices() {
            if map.neighbours(system).len() > 2 && may_pass(system) {
                it.number(system);
            }
        }
        for origin in from.iter().filter(|origin| !may_pass(**origin)) {
            if !it.sources.contains_key(origin) {
                let node = it.new_node();
                it.sources.insert(*origin, node);
                it.enter(node, &[]);
            }
        }
        for (near, far) in travel.steps() {
            let (node, from) = (it.number(far), it.number(near));
            if let Some(way) = it.leaving(near, from, 1, &may_pass) {
                it.more.push((node, [way]));
            }
        }
        let mut ways = Vec::new();
        while let Some(system) = it.waiting.pop() {
            ways.clear();
            for &near in map.neighbours(system) {
                ways.extend(it.follow(map, system, near, &may_pass));
            }
            let node = it.number(system);
            it.enter(node, &ways);
        }
        it
    }

    /// How many nodes there are.
    pub(super) const fn count(&self) -> usize {
        self.count as usize
    }

    /// The node of a system that is an origin or a destination.
    pub(super) fn node(&self, system: SystemIndex) -> usize {
        self.nodes[system].unwrap_or_default() as usize
    }

    /// The second node from which a system is left, if it may not be passed.
    pub(super) fn source(&self, system: SystemIndex) -> Option<usize> {
        self.sources.get(&system).map(|node| *node as usize)
    }

    /// Drops the entries of nodes that no new origin can reach.
    pub(super) fn drop_done(&mut self, done: impl Fn(u32) -> bool) {
        self.two.retain(|(node, _)| !done(*node));
        self.four.retain(|(node, _)| !done(*node));
        self.more.retain(|(node, _)| !done(*node));
    }

    fn number(&mut self, system: SystemIndex) -> u32 {
        if let Some(node) = self.nodes[system] {
            return node;
        }
        let node = self.new_node();
        self.nodes[system] = Some(node);
        self.waiting.push(system);
        node
    }

    const fn new_node(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    /// The passage by which a system is entered through one of its gates.
    fn follow(
        &mut self,
        map: &Map,
        system: SystemIndex,
        near: SystemIndex,
        may_pass: impl Fn(SystemIndex) -> bool,
    ) -> Option<Way> {
        let (mut before, mut here) = (system, near);
        for jumps in 1.. {
            let long = jumps == LEVELS - 1;
            match self.nodes[here] {
                Some(node) => return self.leaving(here, node, jumps, may_pass),
                None if !may_pass(here) => return None,
                None if long => {
                    return Some(Way::new(self.number(here), jumps));
                }
                None => {}
            }
            // A system that is not a node has at most one other neighbour.
            let next = map.neighbours(here).iter().find(|it| **it != before)?;
            (before, here) = (here, *next);
        }
        None
    }

    /// The passage from a node, this many jumps long.
    fn leaving(
        &self,
        system: SystemIndex,
        node: u32,
        jumps: usize,
        may_pass: impl Fn(SystemIndex) -> bool,
    ) -> Option<Way> {
        let from = if may_pass(system) { Some(node) } else { self.sources.get(&system).copied() };
        from.map(|from| Way::new(from, jumps))
    }

    fn enter(&mut self, node: u32, ways: &[Way]) {
        let same = Way::new(node, 1);
        match *ways {
            [] => self.two.push((node, [same, same])),
            [one] => self.two.push((node, [one, same])),
            [one, other] => self.two.push((node, [one, other])),
            [a, b, c] => self.four.push((node, [a, b, c, same])),
            [a, b, c, d, ref rest @ ..] => {
                self.four.push((node, [a, b, c, d]));
                self.more.extend(rest.iter().map(|way| (node, [*way])));
            }
        }
    }
}
