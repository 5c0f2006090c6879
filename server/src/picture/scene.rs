//! What a picture is made of, before it is SVG or PNG.

use super::color::{Color, Paint};
use super::theme::Theme;

/// A position in the picture, in pixels from the top left.
pub(super) type At = [f64; 2];

/// A picture.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) theme: Theme,
    /// A text alternative for people who cannot see the picture.
    pub(super) title: String,
    pub(super) shapes: Vec<Shape>,
    pub(super) texts: Vec<Text>,
}

/// A shape. Later shapes cover earlier ones.
#[derive(Debug)]
pub(super) enum Shape {
    /// Light that fades outward.
    Glow { at: At, radius: f64, paint: Paint },
    /// A flat ring.
    Band { at: At, inner: f64, outer: f64, paint: Paint },
    /// The outline of a circle.
    Circle { at: At, radius: f64, width: f64, paint: Paint },
    /// A line through points. It may be closed.
    Line { points: Vec<At>, closed: bool, width: f64, paint: Paint },
    /// A filled circle.
    Disc { at: At, radius: f64, paint: Paint },
    /// Many small filled circles.
    Dots { points: Vec<At>, radius: f64, paint: Paint },
}

/// A line of text.
#[derive(Debug)]
pub(super) struct Text {
    /// The position of its start, at half of its height.
    pub(super) at: At,
    pub(super) text: String,
    pub(super) size: Size,
    pub(super) color: Color,
}

/// The size of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Label,
    Title,
}

impl Size {
    /// The largest width of a character, in pixels.
    pub(super) fn letter(self) -> f64 {
        match self {
            Self::Label => 7.0,
            Self::Title => 9.0,
        }
    }

    /// The height of a line, in pixels.
    pub(super) fn height(self) -> f64 {
        match self {
            Self::Label => 14.0,
            Self::Title => 20.0,
        }
    }

    /// The width of a text, in pixels.
    pub(super) fn width(self, text: &str) -> f64 {
        text.chars().count() as f64 * self.letter()
    }
}
