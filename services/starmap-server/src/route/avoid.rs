//! The systems that a route does not pass through.

use std::collections::HashSet;

use crate::map::{ConstellationIndex, Map, RegionIndex, SecurityClass, SystemIndex};

/// The most things that can be avoided at once.
pub const MAX_AVOIDED: usize = 10_000;

/// The systems that are not passed through, and the things that they belong to.
#[derive(Debug, Clone, Default)]
pub struct Avoid {
    things: Vec<Avoided>,
    /// One flag per system; empty if nothing is avoided.
    systems: Vec<bool>,
}

/// Something to avoid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Avoided {
    /// One system.
    System(SystemIndex),
    /// All systems of a constellation.
    Constellation(ConstellationIndex),
    /// All systems of a region.
    Region(RegionIndex),
    /// All systems of a security class.
    Class(SecurityClass),
}

/// The security classes that a route keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SecurityFilter {
    /// High security only.
    HighSec,
    /// High and low security.
    LowSec,
    /// Everywhere.
    #[default]
    Any,
}

/// More things to avoid than [`MAX_AVOIDED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} things to avoid are more than the {MAX_AVOIDED} that are possible at once")]
pub struct TooManyAvoided(pub usize);

impl Avoid {
    /// Avoids nothing.
    pub fn nothing() -> &'static Self {
        static NOTHING: Avoid = Avoid { things: Vec::new(), systems: Vec::new() };
        &NOTHING
    }

    /// Avoids these things on this map. A thing named twice counts once.
    ///
    /// # Errors
    /// [`TooManyAvoided`]
    pub fn new(
        map: &Map,
        things: impl IntoIterator<Item = Avoided>,
    ) -> Result<Self, TooManyAvoided> {
        let mut seen = HashSet::new();
        let things: Vec<Avoided> = things.into_iter().filter(|thing| seen.insert(*thing)).collect();
        if things.len() <= MAX_AVOIDED {
            Ok(Self::of(map, things))
        } else {
            Err(TooManyAvoided(things.len()))
        }
    }

    /// The avoided things, in the order they were named.
    pub fn things(&self) -> &[Avoided] {
        &self.things
    }

    /// Whether this system is avoided.
    pub fn contains(&self, system: SystemIndex) -> bool {
        self.systems.get(system.index()).copied().unwrap_or(false)
    }

    /// The same, but these systems may be passed through.
    pub(crate) fn but_for(mut self, systems: &[SystemIndex]) -> Self {
        for system in systems {
            if let Some(avoided) = self.systems.get_mut(system.index()) {
                *avoided = false;
            }
        }
        self
    }

    /// The same, and also avoids the systems that a filter does not admit.
    pub(crate) fn and(&self, map: &Map, filter: SecurityFilter) -> Self {
        let things = self.things.iter().chain(filter.refused());
        let mut both: Vec<Avoided> = Vec::with_capacity(self.things.len() + 2);
        for thing in things {
            if !both.contains(thing) {
                both.push(*thing);
            }
        }
        Self::of(map, both)
    }

    /// The same without the things in `given_up`.
    pub(super) fn without(&self, map: &Map, given_up: &[Avoided]) -> Self {
        let kept = self.things.iter().filter(|thing| !given_up.contains(thing));
        Self::of(map, kept.copied().collect())
    }

    fn of(map: &Map, things: Vec<Avoided>) -> Self {
        let mut systems =
            if things.is_empty() { Vec::new() } else { vec![false; map.systems().len()] };
        let mut mark = |system: SystemIndex| {
            if let Some(avoided) = systems.get_mut(system.index()) {
                *avoided = true;
            }
        };
        for thing in &things {
            match *thing {
                Avoided::System(system) => mark(system),
                Avoided::Constellation(index) => {
                    map.constellation(index).systems.iter().copied().for_each(&mut mark);
                }
                Avoided::Region(index) => map.systems_of(index).for_each(&mut mark),
                Avoided::Class(class) => {
                    let of_class = |system: &SystemIndex| map.system(*system).class == class;
                    map.indices().filter(of_class).for_each(&mut mark);
                }
            }
        }
        Self { things, systems }
    }
}

impl Avoided {
    /// Whether this system is one of them.
    pub fn holds(self, map: &Map, system: SystemIndex) -> bool {
        let it = map.system(system);
        match self {
            Self::System(avoided) => system == avoided,
            Self::Constellation(avoided) => it.constellation == avoided,
            Self::Region(avoided) => it.region == avoided,
            Self::Class(avoided) => it.class == avoided,
        }
    }

    /// Its name for use in a sentence.
    pub fn name(self, map: &Map) -> String {
        match self {
            Self::System(it) => map.name(it).to_owned(),
            Self::Constellation(it) => format!("the constellation {}", map.constellation(it).name),
            Self::Region(it) => format!("the region {}", map.region(it).name),
            Self::Class(it) => format!("{it} security"),
        }
    }
}

impl SecurityFilter {
    /// Whether systems of this class may be entered.
    pub fn admits(self, class: SecurityClass) -> bool {
        !self.refused().contains(&Avoided::Class(class))
    }

    const fn refused(self) -> &'static [Avoided] {
        match self {
            Self::HighSec => {
                &[Avoided::Class(SecurityClass::Low), Avoided::Class(SecurityClass::Null)]
            }
            Self::LowSec => &[Avoided::Class(SecurityClass::Null)],
            Self::Any => &[],
        }
    }
}
