//! Jumps counted, whatever they cost: what lies around a system.

use super::{Extras, PerSystem};
use crate::map::{Map, SystemIndex};

/// How many jumps each system is from one. Keeps its memory from walk to walk.
#[derive(Debug)]
pub(crate) struct Walk {
    jumps: PerSystem<u32>,
    reached: Vec<SystemIndex>,
}

const NOT_REACHED: u32 = u32::MAX;

impl Walk {
    pub(crate) fn new(map: &Map) -> Self {
        Self {
            jumps: PerSystem::new(map, NOT_REACHED),
            reached: Vec::new(),
        }
    }

    /// Walks from a system by gates and extra connections, at most this many jumps, into systems that may be entered.
    pub(crate) fn run(
        &mut self,
        map: &Map,
        extras: &Extras,
        origin: SystemIndex,
        most_jumps: u32,
        may_enter: impl Fn(SystemIndex) -> bool,
    ) {
        self.clear();
        self.reach(origin, 0);
        let mut at = 0;
        while let Some(&here) = self.reached.get(at) {
            at += 1;
            let jumps = self.jumps[here];
            if jumps == most_jumps {
                return;
            }
            let extra = extras.leading_from(here);
            map.neighbours(here)
                .iter()
                .copied()
                .chain(extra)
                .for_each(|far| {
                    if self.jumps[far] == NOT_REACHED && may_enter(far) {
                        self.reach(far, jumps + 1);
                    }
                });
        }
    }

    /// The same against the direction of the extra connections: from where this system can be reached.
    pub(super) fn run_back(&mut self, map: &Map, extras: &Extras, destination: SystemIndex) {
        self.clear();
        self.reach(destination, 0);
        let mut at = 0;
        while let Some(&here) = self.reached.get(at) {
            at += 1;
            let jumps = self.jumps[here] + 1;
            let extra = extras.arriving(here).iter().map(|arc| arc.far);
            for far in map.neighbours(here).iter().copied().chain(extra) {
                if self.jumps[far] == NOT_REACHED {
                    self.reach(far, jumps);
                }
            }
        }
    }

    /// How many jumps it is to this system; `None` if the walk did not come there.
    pub(crate) fn jumps(&self, system: SystemIndex) -> Option<u32> {
        let jumps = self.jumps[system];
        (jumps != NOT_REACHED).then_some(jumps)
    }

    /// Where the walk came to, nearest first, its origin included.
    pub(crate) fn reached(&self) -> &[SystemIndex] {
        &self.reached
    }

    fn reach(&mut self, system: SystemIndex, jumps: u32) {
        self.jumps[system] = jumps;
        self.reached.push(system);
    }

    fn clear(&mut self) {
        for system in self.reached.drain(..) {
            self.jumps[system] = NOT_REACHED;
        }
    }
}
