//! The kinds of space that gates and the game's rules distinguish.

use std::fmt;

use super::{Region, SecurityClass};

/// A kind of space. The security status of wormhole space is that of null security, but it is none.
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
    /// Low security.
    Low,
    /// Null security.
    Null,
    /// The region of the Triglavians.
    Pochven,
    /// The regions of the Jove.
    Jove,
    /// Wormhole space of this class; 0 if it is not known.
    Wormhole(u8),
    /// Abyssal and void space.
    Beyond,
}

const POCHVEN: u32 = 10_000_070;
const JOVE: [u32; 3] = [10_000_004, 10_000_017, 10_000_019];
/// Wormhole space of the Drifters has five classes.
const DRIFTERS: u8 = 14;

impl Space {
    /// The kind of space of a system of this id and security in this region. The class of wormhole space is given by
    /// some maps; else it is that of the region, whose name begins with a letter for it. All 2,604 systems of New Eden
    /// agree with the Static Data Export in this, except that the five of K-R00033 have classes of their own.
    pub(super) fn new(
        id: u32,
        class: SecurityClass,
        region: &Region,
        wormhole: Option<u8>,
    ) -> Self {
        match id {
            31_000_000..32_000_000 => {
                let letter = region.name.split_once("-R0").map_or("", |(letter, _)| letter);
                Self::Wormhole(wormhole.unwrap_or(match letter {
                    "A" => 1,
                    "B" => 2,
                    "C" => 3,
                    "D" => 4,
                    "E" => 5,
                    "F" => 6,
                    "G" => 12,
                    "H" => 13,
                    "K" => DRIFTERS,
                    _ => 0,
                }))
            }
            32_000_000..40_000_000 => Self::Beyond,
            _ if region.id == POCHVEN => Self::Pochven,
            _ if JOVE.contains(&region.id) => Self::Jove,
            _ => match class {
                SecurityClass::High => Self::High,
                SecurityClass::Low => Self::Low,
                SecurityClass::Null => Self::Null,
            },
        }
    }

    /// The same without the class of wormhole space.
    #[must_use]
    pub const fn without_class(self) -> Self {
        match self {
            Self::Wormhole(_) => Self::Wormhole(0),
            other => other,
        }
    }

    /// Whether a jump drive can bring a ship into this space.
    pub const fn lets_drives_in(self) -> bool {
        matches!(self, Self::Low | Self::Null)
    }

    /// Whether a jump drive can take a ship out of this space.
    pub const fn lets_drives_out(self) -> bool {
        !matches!(self, Self::Wormhole(_) | Self::Beyond)
    }

    /// Whether gates do not connect it to the rest of space.
    pub const fn is_apart(self) -> bool {
        !matches!(self, Self::High | Self::Low | Self::Null)
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::High => "high security",
            Self::Low => "low security",
            Self::Null => "null security",
            Self::Pochven => "Pochven",
            Self::Jove => "Jove space",
            Self::Wormhole(0) => "wormhole space",
            Self::Wormhole(12) => "wormhole space, class 12 (Thera)",
            Self::Wormhole(DRIFTERS..=18) => "wormhole space, of the Drifters",
            Self::Wormhole(class) => return write!(f, "wormhole space, class {class}"),
            Self::Beyond => "abyssal space",
        })
    }
}
