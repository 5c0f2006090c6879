//! Options of a picture: size, time, theme, what is in the middle.

use universe_core::{Findings, Instant, nearest};

use super::VERSION;
use super::theme::Theme;
use crate::store::Revision;
use crate::view::instant;

/// The query parameters of pictures.
pub(crate) const PARAMETERS: [&str; 5] = ["width", "height", "time", "theme", "focus"];

pub(crate) const THEMES: [&str; 2] = ["dark", "light"];
/// The smallest and the largest width and height, in pixels.
pub(crate) const SIDES: (u32, u32) = (64, 2_048);
/// Options of a picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Options {
    /// The width in pixels; 1,200 by default.
    pub(crate) width: u32,
    /// The height in pixels; 900 by default.
    pub(crate) height: u32,
    /// The simulated time or its date; that of the universe by default.
    pub(crate) time: Option<Instant>,
    /// The theme; dark by default.
    pub(crate) theme: Theme,
    /// The body or group that is shown; everything by default.
    pub(crate) focus: Option<String>,
}

impl Options {
    /// Reads the options by their names.
    ///
    /// # Errors
    /// All invalid options.
    pub(crate) fn read(given: impl Fn(&str) -> Option<String>) -> Result<Self, Findings> {
        let mut findings = Findings::default();
        let mut options = Self::default();
        for (name, side) in [("width", &mut options.width), ("height", &mut options.height)] {
            let (least, most) = SIDES;
            let Some(text) = given(name) else { continue };
            match text.parse() {
                Ok(pixels) if (least..=most).contains(&pixels) => *side = pixels,
                _ => findings
                    .add(name, format_args!("must be a whole number from {least} to {most}")),
            }
        }
        if let Some(text) = given("time") {
            match instant(&text) {
                Ok(time) => options.time = Some(time),
                Err(message) => findings.add("time", message),
            }
        }
        match given("theme").as_deref() {
            None | Some("dark") => {}
            Some("light") => options.theme = Theme::Light,
            Some(other) => {
                let hint = nearest::hint(other, THEMES);
                findings.add("theme", format_args!("must be dark or light{hint}"));
            }
        }
        options.focus = given("focus").filter(|id| !id.is_empty());
        if findings.is_empty() { Ok(options) } else { Err(findings) }
    }

    /// The entity tag, without quotes, of a picture of this revision with these options.
    pub(crate) fn tag(&self, revision: Revision) -> String {
        let digest = crc32fast::hash(format!("{VERSION} {self:?}").as_bytes());
        format!("{revision}.{digest:08x}")
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 1_200, height: 900, time: None, theme: Theme::Dark, focus: None }
    }
}
