//! A universe as a picture: a chart of its systems, as SVG and as PNG.
//!
//! Distances span ten orders of magnitude, so they are drawn on a logarithmic scale, each system and each family of
//! moons on its own; directions are true, seen from above. Sizes are not to scale. A note in the picture states this.
//!
//! [`draw`] makes a [`Scene`] of a few kinds of shapes and texts; `svg` and `png` write it.
//!
//! To rasterise the SVG would bring a parser, styles and fonts, which differ between machines. So a scene comes first,
//! and two small writers follow.

mod bands;
mod cells;
mod chart;
mod color;
mod labels;
mod options;
mod painter;
mod png;
mod regions;
mod scale;
mod scene;
mod svg;
mod theme;
mod view;

use universe_core::State;

use crate::commands::Universe;
pub(crate) use options::{Options, PARAMETERS, SIDES, THEMES};
pub(crate) use scene::Scene;

/// The most bodies in a picture. The picture shows the number of further ones.
pub(crate) const MAX_BODIES: usize = 20_000;

/// Increased when pictures look different, so that caches drop older ones.
const VERSION: u32 = 1;

/// The reason why a picture cannot be drawn as requested.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PictureError {
    /// The body or group to focus on does not exist.
    #[error("focus: this universe has no body or group {shown:?}{hint}")]
    NoFocus { shown: String, hint: String },
    /// The time is a date, which has no meaning in this universe.
    #[error("time: {0}")]
    NoEpoch(&'static str),
    /// The drawing library failed.
    #[error("the picture could not be drawn")]
    NotDrawn,
}

/// Draws a universe. The time depends on the number of its bodies, at most [`MAX_BODIES`] of them.
///
/// # Errors
/// [`PictureError::NoFocus`]; [`PictureError::NoEpoch`].
pub(crate) fn draw(universe: &Universe, options: &Options) -> Result<Scene, PictureError> {
    chart::draw(universe, options)
}

/// A universe as an SVG document.
///
/// # Errors
/// As for [`draw`].
pub(crate) fn svg(universe: &Universe, options: &Options) -> Result<String, PictureError> {
    Ok(svg::write(&draw(universe, options)?))
}

/// A universe as a PNG file.
///
/// # Errors
/// As for [`draw`]; [`PictureError::NotDrawn`].
pub(crate) fn png(universe: &Universe, options: &Options) -> Result<Vec<u8>, PictureError> {
    png::write(&draw(universe, options)?).ok_or(PictureError::NotDrawn)
}

/// Whether a body or group with this id exists.
fn is_there(state: &State, id: &str) -> bool {
    state.star(id).is_some() || state.group(id).is_some()
}
