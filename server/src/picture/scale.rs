//! From distances to pixels, on a logarithmic scale.

use super::scene::At;

/// Converts distances to pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    least: f64,
    greatest: f64,
    inner: f64,
    outer: f64,
}

impl Scale {
    /// The scale at which all these distances fit around a body of this radius.
    pub(super) fn fitting(extents: &[(f64, f64)], reach: f64, radius: f64) -> Option<Self> {
        let finite =
            extents.iter().filter(|(near, far)| near.is_finite() && far.is_finite() && *far > 0.0);
        let (mut least, mut greatest) = (f64::INFINITY, 0.0_f64);
        for &(near, far) in finite {
            // An orbit through the center must not shrink everything else.
            least = least.min(near.max(far * 1e-3));
            greatest = greatest.max(far);
        }
        if greatest <= 0.0 {
            return None;
        }
        let outer = reach;
        let free = (radius * 1.7 + 2.0).min(outer * 0.5);
        // Few distances, or distances that are close together, do not need the whole space.
        let spread = (greatest / least).ln();
        let inner = free + (outer - free) * (0.55 / (1.0 + spread)).min(0.5);
        Some(Self { least, greatest, inner, outer })
    }

    /// The distance from the center, in pixels.
    pub(super) fn pixels(&self, distance: f64) -> f64 {
        if distance <= self.least {
            return self.inner * (distance / self.least).max(0.0);
        }
        let whole = (self.greatest / self.least).ln();
        let part = if whole > 1e-6 { (distance / self.least).ln() / whole } else { 0.0 };
        self.inner + (self.outer - self.inner) * part.min(1.0)
    }

    pub(super) fn place(&self, middle: At, [x, y]: [f64; 2]) -> At {
        let distance = x.hypot(y);
        if distance <= 0.0 {
            return middle;
        }
        let factor = self.pixels(distance) / distance;
        let [left, top] = middle;
        [left + x * factor, top + y * factor]
    }

    /// The space around an orbit, up to its neighbors.
    pub(super) fn room(&self, ways: &[f64], way: f64) -> f64 {
        let at = ways.partition_point(|other| *other < way - 1e-9);
        let before = at.checked_sub(1).and_then(|at| ways.get(at)).copied();
        let mut after = ways.iter().skip(at).filter(|other| **other > way + 1e-9);
        let inside = way - before.unwrap_or(self.inner * 0.3);
        let outside = after.next().map_or(f64::INFINITY, |after| after - way);
        inside.min(outside) * 0.48
    }
}
