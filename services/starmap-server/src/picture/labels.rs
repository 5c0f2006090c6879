//! Places the names next to their systems, where they do not cover another name or a system.

/// The width of a character in pixels, about, and the height of a line.
const CHARACTER: f64 = 6.6;
const LINE: f64 = 13.0;
/// The distance from the center of a system to its name.
const GAP: f64 = 10.0;

/// The distance between the points that keep a line free of names.
const APART: f64 = 10.0;

/// A rectangle: left, top, right, bottom.
type Frame = (f64, f64, f64, f64);

/// How much worse it is to be outside the picture than to cover something.
const OUTSIDE: f64 = 10.0;

/// Names that have been placed.
#[derive(Debug)]
pub(super) struct Labels {
    picture: Frame,
    taken: Vec<Frame>,
}

/// The position of a name: its center or one end of it, on the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Label {
    pub(super) x: f64,
    pub(super) y: f64,
    /// `start`, `middle` or `end`, as SVG's `text-anchor`.
    pub(super) anchor: &'static str,
}

impl Labels {
    /// No names yet, in a picture of this size.
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { picture: (0.0, 0.0, width, height), taken: Vec::new() }
    }

    /// Keeps a circle free of names.
    pub(super) fn keep_free(&mut self, (x, y): (f64, f64), radius: f64) {
        self.taken.push((x - radius, y - radius, x + radius, y + radius));
    }

    /// Keeps a line free of names.
    pub(super) fn keep_line_free(&mut self, from: (f64, f64), to: (f64, f64)) {
        let steps = ((to.0 - from.0).hypot(to.1 - from.1) / APART).clamp(1.0, 400.0) as u32;
        for step in 1..steps {
            let share = f64::from(step) / f64::from(steps);
            let x = from.0 + (to.0 - from.0) * share;
            let y = from.1 + (to.1 - from.1) * share;
            self.keep_free((x, y), 3.0);
        }
    }

    /// The position for the name of a system at `at`: right, left, below or above it. If all four are taken, it returns
    /// the one that covers the least or is least outside the picture.
    pub(super) fn place(&mut self, (x, y): (f64, f64), name: &str) -> Label {
        let width = name.chars().count() as f64 * CHARACTER;
        let choices = [
            (x + GAP, y + 4.0, "start"),
            (x - GAP, y + 4.0, "end"),
            (x, y + GAP + LINE - 3.0, "middle"),
            (x, y - GAP, "middle"),
        ];
        let mut best: Option<(f64, Label, Frame)> = None;
        for (x, y, anchor) in choices {
            let left = match anchor {
                "start" => x,
                "end" => x - width,
                _ => x - width / 2.0,
            };
            let frame = (left, y - LINE + 3.0, left + width, y + 3.0);
            let outside = overlap(frame, frame) - overlap(self.picture, frame);
            let covered: f64 = self.taken.iter().map(|taken| overlap(*taken, frame)).sum();
            let covered = covered + OUTSIDE * outside;
            if best.as_ref().is_none_or(|(least, _, _)| covered < *least) {
                best = Some((covered, Label { x, y, anchor }, frame));
            }
        }
        let Some((_, label, frame)) = best else {
            return Label { x, y, anchor: "middle" };
        };
        self.taken.push(frame);
        label
    }
}

/// The area that two rectangles share.
fn overlap(one: Frame, other: Frame) -> f64 {
    let wide = one.2.min(other.2) - one.0.max(other.0);
    let high = one.3.min(other.3) - one.1.max(other.1);
    wide.max(0.0) * high.max(0.0)
}
