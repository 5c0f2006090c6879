//! The state of a drawing in progress.

use universe_core::State;

use super::bands::Bands;
use super::labels::Labels;
use super::scene::Shape;
use super::theme::Theme;

/// The state of a drawing in progress.
pub(super) struct Painter<'u> {
    pub(super) state: &'u State,
    pub(super) bands: &'u Bands,
    pub(super) time: f64,
    pub(super) theme: Theme,
    pub(super) shapes: Vec<Shape>,
    pub(super) labels: Labels,
    pub(super) words: bool,
    /// The number of bodies that may still be drawn.
    pub(super) left: usize,
}
