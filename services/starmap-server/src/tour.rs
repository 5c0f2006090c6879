//! Tours of many systems: a round trip along the border of high security, and the order of waypoints.

mod exact;
mod expand;
mod improve;
mod loop_;
mod problem;
mod select;
mod shortest;
mod waypoints;

pub use exact::MAX_EXACT;
pub use loop_::{
    Loop, LoopError, LoopQuery, MAX_BORDERS, MAX_MIN_BORDERS, MAX_TARGET_JUMPS, MIN_BORDERS,
    MIN_TARGET_JUMPS, Optimize, Suggestion, fits, loop_, tolerance,
};
pub use waypoints::{
    MAX_WAYPOINTS, Method, Start, Tour, WaypointsError, WaypointsQuery, waypoints,
};
