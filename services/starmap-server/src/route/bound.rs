//! The least that a way costs, known beforehand: it leads a search to where it ends.

use super::Cost;
use crate::map::{LANDMARKS, PerSystem, SystemIndex};

/// The least that a way from the origin of a query to a system costs, by the distances of both from some landmarks, as
/// in Goldberg and Harrelson, "Computing the Shortest Path: A* Search Meets Graph Theory", 2005. Avoided systems, rules
/// and surcharges only make ways dearer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound<'q> {
    pub(super) landmarks: &'q PerSystem<Row>,
    pub(super) origin: &'q Row,
    /// Whether ways may touch the first landmark, which those of the landmarks do not.
    pub(super) touches_first: bool,
}

/// For each landmark, what a way from it costs, and one to it, in thousandths of a jump. It is rounded down.
pub(super) type Row = [[u32; 2]; LANDMARKS];

/// More than any route costs. A larger number means that there is no route.
pub(super) const FAR: u32 = u32::MAX / 2;

impl Bound<'_> {
    /// The least to a system; `None` if there is no way.
    pub(super) fn least(&self, system: SystemIndex) -> Option<Cost> {
        // A way from a landmark is no longer than one by the origin, and one from the origin no longer than one by the
        // system.
        let apart = self.landmarks[system].iter().zip(self.origin).map(|(here, origin)| {
            here[0].saturating_sub(origin[0]).max(origin[1].saturating_sub(here[1]))
        });
        // Both were rounded.
        let mut least = thousandths(apart.max()?.saturating_sub(1));
        if self.touches_first {
            least = least.min(self.by_first(system));
        }
        (least < thousandths(FAR)).then_some(least)
    }

    /// The least by the first landmark.
    pub(super) fn by_first(&self, system: SystemIndex) -> Cost {
        let (to, from) = (self.origin[0][1], self.landmarks[system][0][0]);
        thousandths(to.saturating_add(from))
    }
}

fn thousandths(number: u32) -> Cost {
    Cost::from_millionths(u64::from(number) * 1_000)
}
