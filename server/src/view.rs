//! What both dialects answer about universes, as short as its facts: the result of a command, and parts of a state.

mod answer;
mod changes;
mod fit;
pub(crate) mod history;
mod instant;
mod known;
mod places;
mod select;
pub(crate) mod tree;

pub use answer::{CommandAnswer, ResultForm};
pub use changes::Changes;
pub(crate) use instant::{instant, now};
pub(crate) use known::NearbyUniverses;
pub(crate) use places::{MAX_PLACES, MAX_SEPARATED, PlacesAsked, PlacesError, places};
pub use select::{EntityPage, SelectedEntity, Selection};

/// The size in bytes of JSON up to which an answer includes a state, or the changes of a command, by default.
pub const FITTING_BYTES: usize = 8 * 1024;
