//! How single bodies look, and their names.

use super::super::color::Color;
use super::super::labels::Wanted;
use super::super::painter::Painter;
use super::super::scene::{At, Shape};
use super::super::theme::Theme;
use super::super::view::{Body, Kind};

impl Painter<'_> {
    /// Draws a single body.
    pub(super) fn body(&mut self, body: &Body, at: At, radius: f64) {
        let (color, theme) = (body.color, self.theme);
        match body.kind {
            Kind::Star if radius > 1.5 => {
                let paint = color.at(if theme == Theme::Dark { 0.55 } else { 0.8 });
                self.shapes.push(Shape::Glow { at, radius: radius * 3.2, paint });
            }
            Kind::BlackHole => {
                let glow = Color([0xFF, 0xA0, 0x50]);
                self.shapes.push(Shape::Glow { at, radius: radius * 3.0, paint: glow.at(0.7) });
                self.shapes.push(Shape::Disc { at, radius, paint: Color([0, 0, 0]).at(1.0) });
                self.shapes.push(Shape::Circle { at, radius, width: 1.5, paint: glow.at(1.0) });
                return;
            }
            Kind::Marker => {
                self.shapes.push(Shape::Circle {
                    at,
                    radius: radius + 0.5,
                    width: 0.8,
                    paint: color.at(0.7),
                });
                return;
            }
            Kind::Comet => {
                self.shapes.push(Shape::Glow { at, radius: radius * 3.0, paint: color.at(0.5) });
            }
            _ => {}
        }
        self.shapes.push(Shape::Disc { at, radius, paint: color.at(1.0) });
        if theme == Theme::Light && radius > 1.5 {
            // An outline for pale bodies on a pale background.
            self.shapes.push(Shape::Circle {
                at,
                radius,
                width: 0.7,
                paint: theme.letters().at(0.45),
            });
        }
        if body.has_ring && radius > 1.6 {
            let points = (0..24).map(|n| {
                let angle = f64::from(n) * std::f64::consts::TAU / 24.0;
                let [x, y] = at;
                let (along, across) = (radius * 2.0 * angle.cos(), radius * 0.6 * angle.sin());
                [x + along * 0.94 - across * 0.34, y + along * 0.34 + across * 0.94]
            });
            let points = points.collect();
            let width = (radius * 0.28).clamp(0.6, 2.0);
            self.shapes.push(Shape::Line { points, closed: true, width, paint: color.at(0.75) });
        }
    }

    pub(super) fn name(&mut self, body: &Body, at: At, radius: f64, rank: f64) {
        self.labels.keep_off(at, radius);
        let color = if rank < 2.0 { self.theme.letters() } else { self.theme.muted() };
        let text = body.name.clone();
        self.labels.want(Wanted { at, distance: radius, text, color, rank });
    }
}
