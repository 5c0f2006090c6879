//! The cost of a route, as a whole number.

use std::ops::Add;

/// A cost in jumps, exact to a millionth.
///
/// The game's own rule uses the weight 0.9 and powers of e. Sums of such floating-point numbers depend on the order of
/// addition, so two routes of equal cost would differ in their last digit, and ties would be broken by chance. Whole
/// millionths add exactly. A weight is rounded once, when it is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cost(u64);

const PER_JUMP: u64 = 1_000_000;

impl Cost {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The cost of a jump when all jumps cost the same.
    pub const JUMP: Self = Self(PER_JUMP);
    /// The most that one connection may cost, in jumps.
    pub const MOST: u32 = 10_000_000;

    /// A cost of whole jumps.
    pub const fn jumps(jumps: u32) -> Self {
        Self(jumps as u64 * PER_JUMP)
    }

    /// A cost from 0 to [`Cost::MOST`], rounded to a millionth. `None` beyond that and for NaN.
    pub fn new(jumps: f64) -> Option<Self> {
        let fits = (0.0..=f64::from(Self::MOST)).contains(&jumps);
        // Within these bounds the conversion only drops the fraction, which is zero after rounding.
        fits.then(|| Self((jumps * PER_JUMP as f64).round() as u64))
    }

    /// The cost in jumps.
    pub fn value(self) -> f64 {
        self.0 as f64 / PER_JUMP as f64
    }

    pub(super) const fn millionths(self) -> u64 {
        self.0
    }

    pub(super) const fn from_millionths(millionths: u64) -> Self {
        Self(millionths)
    }

    pub(super) const fn half(self) -> Self {
        Self(self.0 / 2)
    }

    pub(super) const fn twice(self) -> Self {
        Self(self.0 * 2)
    }
}

impl Add for Cost {
    type Output = Self;

    // A route has fewer jumps than a map has systems, so no sum comes near the limit of the type.
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
