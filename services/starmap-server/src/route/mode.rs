//! The preference of a route, as the cost of a jump.

use super::Cost;
use crate::map::SecurityClass;

/// The preference of a route. The cost of a jump depends on the system that it enters, and in [`Mode::Safe`] also on
/// the system that it leaves. Each direction of a connection has its own cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// The fewest jumps: each jump costs 1.
    #[default]
    Shortest,
    /// High security, but without endless detours. Into high security a jump costs 1; into low security 50 from high,
    /// else 10; into null security 100.
    Safe,
    /// Where targets are. Into null security a jump costs 1, into low 2, into high 10.
    Unsafe,
    /// The game's rule "safer": a jump into high security costs 0.9, into low e^(0.15p), into null twice that.
    Safer {
        /// How much a detour may cost.
        penalty: Penalty,
    },
    /// The game's rule "less secure": a jump into low security costs 0.9, into high e^(0.15p), into null twice that.
    LessSecure {
        /// How much a detour may cost.
        penalty: Penalty,
    },
}

/// The security penalty of the game's rules, from 0 to 100; 50 by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Penalty(u8);

/// The costs of all jumps of a mode, by the class of the system that is left and of the one that is entered.
pub(super) type Weights = [[Cost; 3]; 3];

impl Mode {
    /// Whether the mode is meant to keep a pilot in high security.
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::Safe | Self::Safer { .. })
    }

    /// The cost of a jump from a system of one class into a system of another.
    pub fn cost(self, from: SecurityClass, to: SecurityClass) -> Cost {
        match self {
            Self::Shortest => Cost::JUMP,
            Self::Safe if from == SecurityClass::High => Cost::jumps(of(to, 1, 50, 100)),
            Self::Safe => Cost::jumps(of(to, 1, 10, 100)),
            Self::Unsafe => Cost::jumps(of(to, 10, 2, 1)),
            Self::Safer { penalty } => of(to, preferred(), penalty.cost(), penalty.cost().twice()),
            Self::LessSecure { penalty } => {
                of(to, penalty.cost(), preferred(), penalty.cost().twice())
            }
        }
    }

    pub(super) fn weights(self) -> Weights {
        use SecurityClass::{High, Low, Null};
        [High, Low, Null].map(|from| [High, Low, Null].map(|to| self.cost(from, to)))
    }
}

/// The one of three values for a class.
fn of<T>(class: SecurityClass, high: T, low: T, null: T) -> T {
    match class {
        SecurityClass::High => high,
        SecurityClass::Low => low,
        SecurityClass::Null => null,
    }
}

/// The cost in the game's rules of a jump into a system of the preferred class.
fn preferred() -> Cost {
    Cost::new(0.9).unwrap_or_default()
}

impl Penalty {
    /// The largest.
    pub const MAX: u8 = 100;

    /// `None` above [`Penalty::MAX`].
    pub const fn new(penalty: u8) -> Option<Self> {
        if penalty <= Self::MAX { Some(Self(penalty)) } else { None }
    }

    /// The number.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// e^(0.15p): from 1 to about 3.3 million, always within the limits of a cost.
    fn cost(self) -> Cost {
        Cost::new((0.15 * f64::from(self.0)).exp()).unwrap_or_default()
    }
}

impl Default for Penalty {
    fn default() -> Self {
        Self(50)
    }
}
