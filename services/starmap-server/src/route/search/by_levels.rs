//! A search level by level, for jumps that all cost the same.

use super::{Far, Jump};
use crate::map::{Map, PerSystem, SystemIndex};

/// A breadth-first search that can be interrupted.
#[derive(Debug)]
pub(super) struct ByLevels {
    jumps: PerSystem<u32>,
    /// All systems that were found, nearest first, and the position up to which their jumps have been followed.
    found: Vec<SystemIndex>,
    at: usize,
}

const NOT_REACHED: u32 = u32::MAX;

impl ByLevels {
    pub(super) fn new(map: &Map, end: SystemIndex) -> Self {
        let mut jumps = PerSystem::new(map, NOT_REACHED);
        jumps[end] = 0;
        Self { jumps, found: vec![end], at: 0 }
    }

    pub(super) fn jumps(&self, system: SystemIndex) -> Option<u32> {
        let jumps = self.jumps[system];
        (jumps != NOT_REACHED).then_some(jumps)
    }

    pub(super) fn run<I: Iterator<Item = Jump>>(
        &mut self,
        around: impl Fn(SystemIndex) -> I,
        stop: impl Fn(SystemIndex, Far) -> bool,
        enter: impl Fn(SystemIndex, Far) -> bool,
    ) {
        while let Some(&here) = self.found.get(self.at) {
            let jumps = self.jumps[here];
            // Nearer systems have been found before it.
            if stop(here, Far::of_jumps(jumps)) {
                return;
            }
            self.at += 1;
            around(here).for_each(|jump| {
                let known = &mut self.jumps[jump.far];
                if *known == NOT_REACHED && enter(jump.far, Far::of_jumps(jumps + 1)) {
                    *known = jumps + 1;
                    self.found.push(jump.far);
                }
            });
        }
    }
}
