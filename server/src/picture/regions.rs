//! Drawing belts, fields and disks around bodies, and nebulae behind everything.

use std::collections::BTreeSet;

use serde::Deserialize;
use universe_core::generate::{Random, Seed};

use super::bands::Band;
use super::cells::Shown;
use super::color::Color;
use super::labels::Wanted;
use super::painter::Painter;
use super::scale::Scale;
use super::scene::{At, Shape};
use super::theme::Theme;

/// The most nebulae that a picture reads.
const MAX_NEBULAE: usize = 16;
/// The most dots of a belt.
const MAX_SPECKS: f64 = 220.0;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Nebula {
    name: Option<String>,
    position: Option<Position>,
    base_color: Option<String>,
    accent_color: Option<String>,
    associated_group_ids: Option<Vec<String>>,
    visible: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Position {
    x: Option<f64>,
    z: Option<f64>,
}

impl Painter<'_> {
    pub(super) fn band(&mut self, band: &Band, at: At, scale: &Scale) {
        let (inner, outer) = (scale.pixels(band.inner), scale.pixels(band.outer));
        let width = outer - inner;
        if band.is_disk {
            // Brighter toward the inside.
            for (part, opacity) in [(1.0, 0.10), (0.7, 0.10), (0.4, 0.12)] {
                let outer = inner + width * part;
                self.shapes.push(Shape::Band { at, inner, outer, paint: band.color.at(opacity) });
            }
        } else {
            self.shapes.push(Shape::Band { at, inner, outer, paint: band.color.at(0.16) });
        }
        let mut random = Random::new(&Seed::Text(band.id.clone()));
        let count = (width * (inner + outer) * 0.02).clamp(0.0, MAX_SPECKS) as u32;
        let points: Vec<_> = (0..count)
            .map(|_| {
                let angle = random.float() * std::f64::consts::TAU;
                let distance = inner + width * random.float();
                let [x, y] = at;
                [x + distance * angle.cos(), y + distance * angle.sin()]
            })
            .collect();
        if !points.is_empty() {
            self.shapes.push(Shape::Dots { points, radius: 0.6, paint: band.specks.at(0.6) });
        }
        if self.words && outer > 120.0 && !band.name.is_empty() {
            // At the lower right of the band, where the eye looks last.
            let middle = f64::midpoint(inner, outer);
            let [x, y] = at;
            self.labels.want(Wanted {
                at: [x + middle * 0.5, y + middle * 0.866],
                distance: 0.0,
                text: band.name.clone(),
                color: self.theme.muted(),
                rank: 1.6,
            });
        }
    }
}

/// Draws nebulae, behind their groups or else in their direction.
pub(super) fn nebulae(
    painter: &mut Painter<'_>,
    shown: &Shown,
    [left, top, width, height]: [f64; 4],
) {
    if shown.is_part {
        // They are behind all systems and would hide a single one.
        return;
    }
    let light = if painter.theme == Theme::Light { 0.6 } else { 1.0 };
    let radius = width.min(height) * 0.3;
    let records = painter.state.nebulae().take(MAX_NEBULAE);
    let nebulae: Vec<Nebula> = records.filter_map(|(_, record)| record.read()).collect();
    for (nebula, n) in nebulae.into_iter().zip(0_u32..) {
        if nebula.visible == Some(false) {
            continue;
        }
        let groups = nebula.associated_group_ids.unwrap_or_default();
        let named: BTreeSet<_> = groups.iter().map(String::as_str).collect();
        let own: Vec<_> =
            shown.groups.iter().map(|group| named.contains(group.id.as_str())).collect();
        let is_own = |at: usize| own.get(at) == Some(&true);
        let cells = shown.cells.iter().filter(|cell| cell.group.is_some_and(is_own));
        let places: Vec<At> = cells.map(|cell| cell.at).collect();
        let count = places.len() as f64;
        let aside = f64::from(n) * 2.4;
        let at = if shown.cells.len() > 1 && !places.is_empty() {
            let sum = places.iter().fold([0.0; 2], |[a, b], [x, y]| [a + x, b + y]);
            // Several nebulae of a group are not drawn on top of each other.
            [
                sum[0] / count + radius * 0.4 * aside.cos(),
                sum[1] / count + radius * 0.4 * aside.sin(),
            ]
        } else {
            let position = nebula.position.unwrap_or_default();
            let (x, z) = (position.x.unwrap_or_default(), position.z.unwrap_or_default());
            let angle = if x == 0.0 && z == 0.0 { aside } else { (-z).atan2(x) };
            [left + width * (0.5 + 0.36 * angle.cos()), top + height * (0.5 + 0.36 * angle.sin())]
        };
        for (color, size, opacity) in
            [(nebula.base_color, 1.0, 0.30), (nebula.accent_color, 0.5, 0.16)]
        {
            let paint = Color::read(color.as_deref()).at(opacity * light);
            painter.shapes.push(Shape::Glow { at, radius: radius * size, paint });
        }
        if painter.words {
            painter.labels.want(Wanted {
                at,
                distance: 0.0,
                text: nebula.name.unwrap_or_default(),
                color: painter.theme.muted(),
                rank: 5.0,
            });
        }
    }
}
