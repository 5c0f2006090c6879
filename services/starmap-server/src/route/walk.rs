//! The surroundings of a system, by jumps and without costs.

use super::Travel;
use crate::map::{Map, PerSystem, SystemIndex};

/// The number of jumps from one system to each other system. It reuses its memory for each walk.
#[derive(Debug)]
pub(crate) struct Walk {
    jumps: PerSystem<u32>,
    /// Space for all systems, and how many of them have been reached.
    reached: Vec<SystemIndex>,
    count: usize,
}

const NOT_REACHED: u32 = u32::MAX;

impl Walk {
    pub(crate) fn new(map: &Map) -> Self {
        Self { jumps: PerSystem::new(map, NOT_REACHED), reached: map.indices().collect(), count: 0 }
    }

    /// Walks from a system by gates and extra connections, at most this many jumps, into systems that may be entered.
    pub(crate) fn run(
        &mut self,
        map: &Map,
        travel: &Travel,
        origin: SystemIndex,
        most_jumps: u32,
        may_enter: impl Fn(SystemIndex) -> bool,
    ) {
        let extra = |here| travel.leading_from(here);
        let passes = |here| travel.may_pass(map, here);
        self.walk(map, origin, extra, most_jumps, passes, |far, _| {
            may_enter(far) && travel.closed(map, far).is_none()
        });
    }

    /// The same against the direction of the extra connections: it finds the systems that can reach this one.
    /// `may_enter` decides whether a system may be entered after a number of jumps.
    pub(crate) fn run_back(
        &mut self,
        map: &Map,
        travel: &Travel,
        destination: SystemIndex,
        most_jumps: u32,
        may_enter: impl Fn(SystemIndex, u32) -> bool,
    ) {
        let extra = |here| travel.into.of(here).iter().map(|arc| arc.far);
        let passes = |here| travel.may_pass(map, here);
        self.walk(map, destination, extra, most_jumps, passes, |far, jumps| {
            may_enter(far, jumps) && travel.closed(map, far).is_none()
        });
    }

    /// Walks into systems that may be entered after a number of jumps, and on from those that it may pass.
    fn walk<I: Iterator<Item = SystemIndex>>(
        &mut self,
        map: &Map,
        end: SystemIndex,
        extra: impl Fn(SystemIndex) -> I,
        most_jumps: u32,
        passes: impl Fn(SystemIndex) -> bool,
        may_enter: impl Fn(SystemIndex, u32) -> bool,
    ) {
        self.clear();
        self.reach_if(true, end, 0);
        let mut at = 0;
        while let Some(&here) = self.reached().get(at) {
            at += 1;
            let jumps = self.jumps[here];
            if jumps == most_jumps {
                return;
            }
            if jumps > 0 && !passes(here) {
                continue;
            }
            let around = map.neighbours(here).iter().copied().chain(extra(here));
            around.for_each(|far| self.reach_if(may_enter(far, jumps + 1), far, jumps + 1));
        }
    }

    /// The number of jumps to this system; `None` if the walk did not reach it.
    pub(crate) fn jumps(&self, system: SystemIndex) -> Option<u32> {
        let jumps = self.jumps[system];
        (jumps != NOT_REACHED).then_some(jumps)
    }

    /// The number of jumps to a system that the walk did not enter, through the systems that it passed.
    pub(crate) fn jumps_into(
        &self,
        map: &Map,
        travel: &Travel,
        system: SystemIndex,
    ) -> Option<u32> {
        if travel.closed(map, system).is_some() {
            return None;
        }
        let extra = travel.into.of(system).iter().map(|arc| arc.far);
        let before = map.neighbours(system).iter().copied().chain(extra);
        let passed = before.filter(|it| self.jumps(*it) == Some(0) || travel.may_pass(map, *it));
        passed.filter_map(|it| self.jumps(it)).min().map(|jumps| jumps + 1)
    }

    /// The systems that the walk reached, nearest first, its origin included.
    pub(crate) fn reached(&self) -> &[SystemIndex] {
        known_range::items(&self.reached, ..self.count)
    }

    /// Writes a system behind those that have been reached, and keeps it there if it may be entered and is new. The
    /// outcome is unpredictable for a processor, so this code has no branch.
    fn reach_if(&mut self, may: bool, system: SystemIndex, jumps: u32) {
        let known = &mut self.jumps[system];
        let new = may & (*known == NOT_REACHED);
        *known = if new { jumps } else { *known };
        if let Some(next) = self.reached.get_mut(self.count) {
            *next = system;
        }
        self.count += usize::from(new);
    }

    fn clear(&mut self) {
        for system in self.reached.iter().take(self.count) {
            self.jumps[*system] = NOT_REACHED;
        }
        self.count = 0;
    }
}
