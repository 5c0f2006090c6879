//! The colours of pictures that do not come from a body.

use super::color::Color;

/// Light text on a dark background, or dark text on a light one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    Dark,
    Light,
}

impl Theme {
    pub(super) fn ground(self) -> Color {
        self.choose([0x0B, 0x0F, 0x1A], [0xFB, 0xFB, 0xF8])
    }

    pub(super) fn letters(self) -> Color {
        self.choose([0xE8, 0xEC, 0xF5], [0x1B, 0x23, 0x30])
    }

    /// The color of less important text.
    pub(super) fn muted(self) -> Color {
        self.choose([0x9A, 0xA5, 0xBA], [0x55, 0x5E, 0x6D])
    }

    pub(super) fn orbits(self) -> Color {
        self.choose([0x5A, 0x6B, 0x8C], [0x9A, 0xA4, 0xB4])
    }

    fn choose(self, dark: [u8; 3], light: [u8; 3]) -> Color {
        match self {
            Self::Dark => Color(dark),
            Self::Light => Color(light),
        }
    }
}
