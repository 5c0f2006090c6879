//! Colours, and how something is painted with them.

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Color(pub(super) [u8; 3]);

/// How something is painted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Paint {
    pub(super) color: Color,
    /// From 0 to 1.
    pub(super) opacity: f64,
}

impl Color {
    /// Parses a CSS color. Gray if the text is not a color.
    pub(super) fn read(text: Option<&str>) -> Self {
        let parsed = text.and_then(|text| csscolorparser::parse(text).ok());
        let [red, green, blue, _] = parsed.map_or([160, 160, 160, 255], |color| color.to_rgba8());
        Self([red, green, blue])
    }

    pub(super) fn at(self, opacity: f64) -> Paint {
        Paint { color: self, opacity }
    }
}
