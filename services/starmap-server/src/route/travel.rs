//! How ships travel: by gates, by connections besides them, and under the rules of the game.

use std::sync::{Arc as Shared, LazyLock};

use super::Cost;
use crate::map::{Landmarks, Map, RULES, Rule, Ship, SystemIndex};

/// The most extra connections of a query.
pub const MAX_EXTRAS: usize = 5_000;

/// A connection that is not a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extra {
    /// Where it begins.
    pub from: SystemIndex,
    /// Where it leads.
    pub to: SystemIndex,
    /// Whether it can also be used in the other direction.
    pub both_ways: bool,
    /// The cost of using it; `None` for the cost of a gate between the two systems in the mode of the query.
    pub cost: Option<Cost>,
}

/// What is known of a connection besides where it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// What it is.
    pub kind: ConnectionKind,
    /// The largest ship that it lets through; `None` for any.
    pub max_ship: Option<Ship>,
    /// When it ends, in seconds since 1970; `None` for never.
    pub expires: Option<i64>,
    /// Whether it is marked as being in its last four hours.
    pub end_of_life: bool,
    /// Whether it is marked as one that may close with the next ship.
    pub critical: bool,
    /// Who named it: the file or the call.
    pub source: &'static str,
}

/// What a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConnectionKind {
    /// A stargate, or something that is like one.
    Gate,
    /// A jump bridge.
    Bridge,
    /// A wormhole.
    Wormhole,
    /// A jump of a drive to a cynosural field.
    Jump,
    /// It was not said.
    #[default]
    Other,
}

/// The travel graph over a map: its gates, the connections besides them, and the rules of the game that hold. Searches
/// ask it where a ship may go. One value can serve any number of queries.
#[derive(Debug, Clone, Default)]
pub struct Travel {
    list: Vec<Extra>,
    /// What is known of them, in the same order; it may be shorter.
    about: Vec<About>,
    /// By the system where they begin.
    pub(super) out: Arcs,
    /// By the system where they lead.
    pub(super) into: Arcs,
    /// The size of the ship, if it was said.
    pub(super) ship: Option<Ship>,
    /// The words of the rules that are lifted.
    pub(super) allowed: Vec<&'static str>,
    /// What is found out of each mode, of what serves many queries.
    pub(super) landmarks: Option<Shared<Landmarks>>,
}

/// One direction of an extra connection, seen from one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arc {
    near: SystemIndex,
    pub(super) far: SystemIndex,
    pub(super) place: usize,
    pub(super) cost: Option<Cost>,
}

/// Directions of connections by the system that they are seen from, and where those of each system begin. A search asks
/// for each system that it passes.
#[derive(Debug, Clone, Default)]
pub(super) struct Arcs(Vec<Arc>, Vec<usize>);

/// Why extra connections are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TravelError {
    /// More than [`MAX_EXTRAS`].
    #[error("{0} extra connections are more than the {MAX_EXTRAS} that are possible at once")]
    TooMany(usize),
    /// A connection from a system to itself.
    #[error("extra connection number {} leads back to where it begins", .0 + 1)]
    Circle(usize),
}

impl Travel {
    /// By gates alone, under all rules.
    pub fn by_gates() -> &'static Self {
        static GATES: LazyLock<Travel> = LazyLock::new(Travel::default);
        &GATES
    }

    /// By gates and these connections, under all rules. Two connections between the same systems are allowed: the
    /// cheaper one is taken.
    ///
    /// # Errors
    /// [`TravelError`]
    pub fn new(list: Vec<Extra>) -> Result<Self, TravelError> {
        if list.len() > MAX_EXTRAS {
            return Err(TravelError::TooMany(list.len()));
        }
        if let Some(at) = list.iter().position(|extra| extra.from == extra.to) {
            return Err(TravelError::Circle(at));
        }
        let mut out = Vec::with_capacity(list.len() * 2);
        for (place, extra) in list.iter().enumerate() {
            let there = Arc { near: extra.from, far: extra.to, place, cost: extra.cost };
            out.push(there);
            if extra.both_ways {
                out.push(there.seen_from_far());
            }
        }
        let into = Arcs::new(out.iter().map(|arc| arc.seen_from_far()).collect());
        Ok(Self { list, out: Arcs::new(out), into, ..Self::default() })
    }

    /// The same with what is known of the connections, in their order.
    #[must_use]
    pub fn knowing(self, about: Vec<About>) -> Self {
        Self { about, ..self }
    }

    /// The same for many queries on one map: what they find out of it is kept.
    #[must_use]
    pub fn kept(self) -> Self {
        Self { landmarks: Some(Shared::default()), ..self }
    }

    /// The same for a ship of this size.
    #[must_use]
    pub fn for_ship(self, ship: Option<Ship>) -> Self {
        Self { ship, ..self }
    }

    /// The same without the rules of these words.
    #[must_use]
    pub fn allowing(mut self, words: impl IntoIterator<Item = &'static str>) -> Self {
        self.allowed.extend(words);
        self
    }

    /// The same without any rule. `None` if none can hold for a way on this map.
    pub fn lifted(&self, map: &Map) -> Option<Self> {
        let words: Vec<&str> = self.held(map).map(|rule| rule.word).collect();
        (!words.is_empty()).then(|| self.clone().allowing(words))
    }

    /// The rules that may hold for a way on this map.
    pub(crate) fn held(&self, map: &Map) -> impl Iterator<Item = &'static Rule> {
        let ends = map.only_ends().iter().filter_map(|end| map.only_end(*end));
        let entry = RULES.into_iter().filter(|rule| match rule.word {
            "jove" => !self.list.is_empty(),
            "capitals" => self.ship == Some(Ship::Capital),
            "wormhole_class" => {
                self.ship.is_some_and(|it| it > Ship::Small) && !self.list.is_empty()
            }
            _ => false,
        });
        ends.chain(entry).filter(|rule| !self.allowed.contains(&rule.word))
    }

    /// Whether a way may lead through this system. It may always begin and end there, if the ship may enter it.
    pub fn may_pass(&self, map: &Map, system: SystemIndex) -> bool {
        !map.only_ends().contains(&system)
            || map.only_end(system).is_none_or(|rule| self.allowed.contains(&rule.word))
    }

    /// The rule that keeps the ship out of a system.
    pub fn closed(&self, map: &Map, system: SystemIndex) -> Option<&'static Rule> {
        if self.ship.is_none() && self.list.is_empty() {
            return None;
        }
        let rule = Rule::of_entry(map.space(system), self.ship);
        rule.filter(|rule| !self.allowed.contains(&rule.word))
    }

    /// The rule that keeps a way from leading through a system.
    pub fn rule(&self, map: &Map, system: SystemIndex) -> Option<&'static Rule> {
        let passed = || map.only_end(system).filter(|_| !self.may_pass(map, system));
        self.closed(map, system).or_else(passed)
    }

    /// What is known of the connection at this index of [`Travel::list`].
    pub fn about(&self, place: usize) -> Option<&About> {
        self.about.get(place)
    }

    /// The connections in the given order.
    pub fn list(&self) -> &[Extra] {
        &self.list
    }

    /// Whether a connection leads from one system to the other.
    pub fn joins(&self, from: SystemIndex, to: SystemIndex) -> bool {
        self.out.of(from).iter().any(|arc| arc.far == to)
    }

    /// The systems that they lead to from this system.
    pub(crate) fn leading_from(&self, system: SystemIndex) -> impl Iterator<Item = SystemIndex> {
        self.out.of(system).iter().map(|arc| arc.far)
    }
}

impl ConnectionKind {
    /// The words for the kinds, with those that other tools have.
    pub const WORDS: [(&str, Self); 14] = [
        ("gate", Self::Gate),
        ("bridge", Self::Bridge),
        ("wormhole", Self::Wormhole),
        ("jump", Self::Jump),
        ("cyno", Self::Jump),
        ("other", Self::Other),
        ("stargate", Self::Gate),
        ("jump_bridge", Self::Bridge),
        ("jumpbridge", Self::Bridge),
        ("jb", Self::Bridge),
        ("ansiblex", Self::Bridge),
        ("wh", Self::Wormhole),
        ("hole", Self::Wormhole),
        ("k162", Self::Wormhole),
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, kind)| *kind == self).map_or("other", |(word, _)| word)
    }
}

impl Arc {
    const fn seen_from_far(self) -> Self {
        Self { near: self.far, far: self.near, ..self }
    }
}

impl Arcs {
    fn new(mut arcs: Vec<Arc>) -> Self {
        arcs.sort_unstable();
        let mut starts = Vec::new();
        for (at, arc) in arcs.iter().enumerate() {
            starts.resize(starts.len().max(arc.near.index() + 1), at);
        }
        Self(arcs, starts)
    }

    /// Those of a system, by id.
    pub(super) fn of(&self, system: SystemIndex) -> &[Arc] {
        let start = |at: usize| self.1.get(at).copied().unwrap_or(self.0.len());
        known_range::items(&self.0, start(system.index())..start(system.index() + 1))
    }
}
