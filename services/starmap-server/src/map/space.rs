//! The kinds of space that gates and the game's rules distinguish.

use std::fmt;

use super::{Map, SecurityClass, SystemIndex};

/// A kind of space.
///
/// | kind | how it is known | gates | jump drives |
/// |---|---|---|---|
/// | high security | security from 0.45 | yes | out, not in: no cynosural field can be lit there (EVE University wiki, "Jump drives", section "Cynosural fields") |
/// | low and null security | the rest of known space | yes | out and in |
/// | Pochven | region 10000070 | among its 27 systems alone | out, not in (EVE University wiki, "Pochven", section "Mechanical differences") |
/// | Jove space | regions 10000004 (UUA-F4), 10000017 (J7HZ-F), 10000019 (A821-A) | none to the rest of space (the Static Data Export) | not in: a drive needs a cynosural field that a pilot has lit at its end (EVE University wiki, "Jump drives", section "Cynosural fields"), and no pilot comes there. Since the release Rhea of 2014 the Static Data Export has 32 gates in these regions, all of them from one to another (pozniak.pl, "Caroline's star": 546 before) |
/// | wormhole space | system ids from 31000000, Thera among them | none | neither (EVE University wiki, "System security", section "Wormhole space") |
/// | beyond | system ids from 32000000: abyssal and void space | none | neither: entered by filaments alone |
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// High security.
    High,
    /// Low or null security.
    Lower,
    /// The region of the Triglavians.
    Pochven,
    /// The regions of the Jove.
    Jove,
    /// Wormhole space.
    Wormhole,
    /// Abyssal and void space.
    Beyond,
}

const POCHVEN: u32 = 10_000_070;
const JOVE: [u32; 3] = [10_000_004, 10_000_017, 10_000_019];

impl Space {
    /// The kind of space that a system is in.
    pub fn of(map: &Map, index: SystemIndex) -> Self {
        let system = map.system(index);
        let region = map.region(system.region).id;
        match system.id {
            31_000_000..32_000_000 => Self::Wormhole,
            32_000_000..40_000_000 => Self::Beyond,
            _ if region == POCHVEN => Self::Pochven,
            _ if JOVE.contains(&region) => Self::Jove,
            _ if system.class == SecurityClass::High => Self::High,
            _ => Self::Lower,
        }
    }

    /// The space of a system in words: `high security`, `null security`, `wormhole space, class 3`. The security status
    /// of wormhole space is that of null security, but it is none.
    ///
    /// The class of wormhole space is that of its region, which begins with a letter for it: all 2,604 systems agree
    /// with `wormholeClassID` of the Static Data Export, except that the five systems of K-R00033 have classes of their
    /// own.
    pub fn described(map: &Map, index: SystemIndex) -> String {
        let system = map.system(index);
        let region = &map.region(system.region).name;
        match (Self::of(map, index), region.split_once("-R0").map(|(letter, _)| letter)) {
            (Self::Wormhole, Some(letter)) => {
                let classes =
                    [("A", 1), ("B", 2), ("C", 3), ("D", 4), ("E", 5), ("F", 6), ("H", 13)];
                match (classes.iter().find(|(it, _)| *it == letter), letter) {
                    (Some((_, class)), _) => format!("wormhole space, class {class}"),
                    (None, "G") => "wormhole space, class 12 (Thera)".to_owned(),
                    (None, "K") => "wormhole space, of the Drifters".to_owned(),
                    (None, _) => Self::Wormhole.to_string(),
                }
            }
            (Self::Lower, _) if system.class == SecurityClass::Low => "low security".to_owned(),
            (Self::Lower, _) => "null security".to_owned(),
            (space, _) => space.to_string(),
        }
    }

    /// Whether a jump drive can bring a ship into this space.
    pub const fn lets_drives_in(self) -> bool {
        matches!(self, Self::Lower)
    }

    /// Whether a jump drive can take a ship out of this space.
    pub const fn lets_drives_out(self) -> bool {
        !matches!(self, Self::Wormhole | Self::Beyond)
    }

    /// Whether gates do not connect it to the rest of space.
    pub const fn is_apart(self) -> bool {
        !matches!(self, Self::High | Self::Lower)
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::High => "high security",
            Self::Lower => "low or null security",
            Self::Pochven => "Pochven",
            Self::Jove => "Jove space",
            Self::Wormhole => "wormhole space",
            Self::Beyond => "abyssal space",
        })
    }
}
