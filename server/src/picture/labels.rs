//! Names next to bodies, where they cover neither each other nor another body.

use super::color::Color;
use super::scene::{At, Size, Text};

/// The most names in a picture.
const MAX_LABELS: usize = 90;
/// The most areas that names avoid.
const MAX_OBSTACLES: usize = 2_000;
/// The most characters of a name.
const MAX_LETTERS: usize = 28;

/// A name to be placed.
pub(super) struct Wanted {
    pub(super) at: At,
    /// The distance from that point to the beginning of the name.
    pub(super) distance: f64,
    pub(super) text: String,
    pub(super) color: Color,
    /// Names with a lower rank are placed first.
    pub(super) rank: f64,
}

/// A rectangle: left, top, right, bottom.
type Rect = [f64; 4];

/// The texts of a picture, and the areas that are taken.
pub(super) struct Labels {
    frame: Rect,
    taken: Vec<Rect>,
    wanted: Vec<Wanted>,
    /// Texts that are placed.
    placed: Vec<Text>,
}

impl Labels {
    pub(super) fn new(frame: Rect) -> Self {
        Self { frame, taken: Vec::new(), wanted: Vec::new(), placed: Vec::new() }
    }

    /// Keeps names off a circle.
    pub(super) fn keep_off(&mut self, [x, y]: At, radius: f64) {
        if self.taken.len() < MAX_OBSTACLES {
            self.taken.push([x - radius, y - radius, x + radius, y + radius]);
        }
    }

    pub(super) fn want(&mut self, wanted: Wanted) {
        // There are enough names to choose from.
        if self.wanted.len() < MAX_OBSTACLES {
            self.wanted.push(wanted);
        }
    }

    /// Writes a text at its position, if that is free.
    pub(super) fn write(&mut self, text: Text) {
        if self.placed.len() < MAX_OBSTACLES
            && let Some(text) = self.put(text)
        {
            self.placed.push(text);
        }
    }

    /// Returns the text and takes its area, if that is free.
    pub(super) fn put(&mut self, text: Text) -> Option<Text> {
        let [x, y] = text.at;
        let half = text.size.height() / 2.0;
        let rect = [x, y - half, x + text.size.width(&text.text), y + half];
        if self.is_taken(&rect) {
            return None;
        }
        self.taken.push(rect);
        Some(text)
    }

    /// Places the names, and returns those that fit.
    pub(super) fn place(mut self) -> Vec<Text> {
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.sort_by(|a, b| a.rank.total_cmp(&b.rank));
        let mut placed = std::mem::take(&mut self.placed);
        let most = placed.len() + MAX_LABELS;
        for wanted in wanted {
            if placed.len() == most {
                break;
            }
            placed.extend(self.place_one(&wanted));
        }
        placed
    }

    fn place_one(&mut self, wanted: &Wanted) -> Option<Text> {
        let Wanted { at: [x, y], distance, color, .. } = *wanted;
        let size = Size::Label;
        let text = shortened(&wanted.text, MAX_LETTERS);
        let (width, height) = (size.width(&text), size.height());
        let (side, diagonal) = (distance + 3.0, distance * 0.7 + 2.0);
        let (beside, above) = (y, distance + height / 2.0 + 1.0);
        // The start and the vertical center of the text: right, left, below, above, then the corners.
        let places = [
            [x + side, beside],
            [x - side - width, beside],
            [x - width / 2.0, y + above],
            [x - width / 2.0, y - above],
            [x + diagonal, y - diagonal - 4.0],
            [x + diagonal, y + diagonal + 4.0],
            [x - diagonal - width, y - diagonal - 4.0],
            [x - diagonal - width, y + diagonal + 4.0],
        ];
        places.into_iter().find_map(|at| {
            let text = text.clone();
            self.put(Text { at, text, size, color })
        })
    }

    fn is_taken(&self, rect: &Rect) -> bool {
        let [left, top, right, bottom] = *rect;
        let [first, begin, last, end] = self.frame;
        left < first
            || top < begin
            || right > last
            || bottom > end
            || self
                .taken
                .iter()
                .any(|[a, b, c, d]| left < *c && right > *a && top < *d && bottom > *b)
    }
}

/// A text shortened to at most this many characters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect(),
    }
}
