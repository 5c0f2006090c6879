//! Surroundings: systems nearby, systems that match a filter, weak points of a route and of an area.

mod analyze;
mod cuts;
mod distances;
mod filter;
mod jump_range;
mod near;
mod search;

pub use analyze::{Analysis, AnalyzeError, DangerZone, analyze};
pub use cuts::{Bridge, CutSystem, Cuts, cuts};
pub use distances::{MAX_DISTANCES, distances};
pub use filter::Filter;
pub use jump_range::{
    DRIVES, InRange, JumpRangeError, METRES_PER_LIGHT_YEAR, Range, jump_plan, jump_range,
    light_years_between,
};
pub use near::{Near, Nearest, adjacent_lower, borders, nearest, within};
pub use search::{Hit, Search, search};

pub(crate) use distances::matrix;

use std::cmp::Ordering;

/// The first results, and the total number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limited<T> {
    /// How many were found, before the list was cut.
    pub total: usize,
    /// The results in order, at most as many as were requested.
    pub list: Vec<T>,
}

impl<T> Limited<T> {
    /// Keeps the first `limit` entries, in order. The entries that are cut off are not sorted.
    fn first(mut all: Vec<T>, limit: usize, order: impl Fn(&T, &T) -> Ordering) -> Self {
        let total = all.len();
        if limit < total {
            all.select_nth_unstable_by(limit, &order);
            all.truncate(limit);
        }
        all.sort_unstable_by(order);
        Self { total, list: all }
    }
}
