//! Rules of the game for systems and kinds of space, as data with their sources.

use super::Space;

/// A rule that keeps ships out of a system, or from passing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The word that lifts the rule, see [`Travel::allowing`](crate::route::Travel::allowing).
    pub word: &'static str,
    /// Why, as a sentence with the date where there is one.
    pub why: &'static str,
    /// Who says so: a page as of November 2026.
    pub source: &'static str,
}

/// The largest ship that a connection or a system lets through, as wormholes tell ships apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ship {
    /// Frigates and destroyers.
    Small,
    /// Up to battlecruisers.
    Medium,
    /// Up to battleships.
    Large,
    /// Up to freighters.
    Xlarge,
    /// Any ship.
    Capital,
}

/// The systems that ships may enter, but not pass: a way may begin or end there, and never leads through.
pub const ONLY_ENDS: [(u32, &Rule); 1] = [(30_100_000, &ZARZAKH)];

const ZARZAKH: Rule = Rule {
    word: "zarzakh",
    why: "since September 2024 a ship that enters Zarzakh can for six hours leave only by the gate it came in by",
    source: "CCP, news \"Zarzakh is under siege\"",
};
const HIGH: Rule = Rule {
    word: "capitals",
    why: "capital ships cannot enter high security",
    source: "CCP, support, \"Capital Ships in High Security Space\"",
};
const POCHVEN: Rule = Rule {
    word: "capitals",
    why: "capital ships cannot use the gates of Pochven",
    source: "EVE University wiki, \"Pochven\"",
};
const JOVE: Rule = Rule {
    word: "jove",
    why: "since 2014 no gate leads into Jove space, and no pilot comes there",
    source: "CCP, developer documentation, \"Map data\"",
};
const CLASS_1: Rule = Rule {
    word: "wormhole_class",
    why: "wormholes to class 1 let through ships up to battlecruisers",
    source: "EVE University wiki, \"Wormholes\"",
};
const CLASS_13: Rule = Rule {
    word: "wormhole_class",
    why: "wormholes to class 13 let through frigates and destroyers alone",
    source: "CCP, news \"Thera and the Shattered Wormholes\", 2014",
};

/// All rules.
pub const RULES: [&Rule; 6] = [&ZARZAKH, &HIGH, &POCHVEN, &JOVE, &CLASS_1, &CLASS_13];

impl Rule {
    /// The rule as a sentence, with its source and the argument that lifts it.
    pub fn sentence(&self) -> String {
        format!("{} ({}); allow {:?} lifts this rule", self.why, self.source, self.word)
    }

    /// The rule that keeps a ship out of a kind of space.
    pub fn of_entry(space: Space, ship: Option<Ship>) -> Option<&'static Self> {
        match (space, ship) {
            (Space::Jove, _) => Some(&JOVE),
            (Space::High, Some(Ship::Capital)) => Some(&HIGH),
            (Space::Pochven, Some(Ship::Capital)) => Some(&POCHVEN),
            (Space::Wormhole(1), Some(ship)) if ship > Ship::Medium => Some(&CLASS_1),
            (Space::Wormhole(13), Some(ship)) if ship > Ship::Small => Some(&CLASS_13),
            _ => None,
        }
    }
}

impl Ship {
    /// The words for the sizes, the smallest first.
    pub const WORDS: [(&str, Self); 5] = [
        ("small", Self::Small),
        ("medium", Self::Medium),
        ("large", Self::Large),
        ("xlarge", Self::Xlarge),
        ("capital", Self::Capital),
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, ship)| *ship == self).map_or("", |(word, _)| word)
    }
}
