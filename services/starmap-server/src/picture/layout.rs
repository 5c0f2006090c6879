//! The position of each system in a picture.

use std::collections::BTreeMap;

use crate::map::{Map, SystemIndex};

use super::MAX_SIDE;

/// The median distance in pixels between two systems that a gate joins.
const STEP: f64 = 75.0;
/// The greatest distance of a surrounding system from the system that it is joined with.
const AROUND: f64 = 120.0;
/// The shortest side of a picture.
const MIN_SIDE: f64 = 360.0;
/// The space around the outermost systems, for their names.
const MARGIN: f64 = 90.0;
/// No two systems are nearer than this, so that both can be seen.
const APART: f64 = 26.0;
/// How often systems that are too near each other are pushed apart.
const PUSHES: usize = 40;
/// A light year in metres.
pub(super) const LIGHT_YEAR: f64 = 9.46e15;

/// A system, with its distance to the right and down, in metres or in pixels.
type Point = (SystemIndex, f64, f64);

/// Positions in pixels.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) places: BTreeMap<SystemIndex, (f64, f64)>,
    pub(super) width: f64,
    pub(super) height: f64,
    /// The length of a light year in pixels; `None` in a picture that is drawn without positions.
    pub(super) light_year: Option<f64>,
}

impl Layout {
    /// Systems seen from above. Those without a position are left out, unless most have none: then all are put on a
    /// grid in their order. Surrounding systems are at their true position if it is near, else nearer in the same
    /// direction, so that one long gate does not make everything else small.
    pub(super) fn of(map: &Map, systems: &[SystemIndex], around: &[SystemIndex]) -> Self {
        let from_above = |system: &SystemIndex| {
            let [x, _, z] = map.system(*system).position?;
            // North is up, but pixels count downwards.
            Some((*system, x, -z))
        };
        let mut points: Vec<Point> = systems.iter().filter_map(from_above).collect();
        if points.len() * 2 <= systems.len() {
            return Self::grid(systems);
        }
        let room = MAX_SIDE - 2.0 * (MARGIN + AROUND);
        let scale = fit(&points, STEP / middle_step(map, &points), room);
        let inside = points.len();
        points.extend(around.iter().filter_map(from_above));
        for (_, x, y) in &mut points {
            *x *= scale;
            *y *= scale;
        }
        bring_near(map, &mut points, inside);
        push_apart(&mut points);
        // If many systems are close together, pushing them apart has made the picture wider.
        let shrink = fit(&points, 1.0, MAX_SIDE - 2.0 * MARGIN);
        for (_, x, y) in &mut points {
            *x *= shrink;
            *y *= shrink;
        }
        let (left, right) = span(&points, |point| point.1);
        let (top, bottom) = span(&points, |point| point.2);
        let width = (right - left + 2.0 * MARGIN).max(MIN_SIDE);
        let height = (bottom - top + 2.0 * MARGIN).max(MIN_SIDE);
        // A drawing narrower than the minimum is centered in the picture.
        let shift_x = (width - (right - left)) / 2.0 - left;
        let shift_y = (height - (bottom - top)) / 2.0 - top;
        let places = points.into_iter();
        Self {
            places: places.map(|(system, x, y)| (system, (x + shift_x, y + shift_y))).collect(),
            width,
            height,
            light_year: Some(scale * shrink * LIGHT_YEAR),
        }
    }

    /// Rows in alternating directions, so that consecutive systems stay close to each other.
    fn grid(systems: &[SystemIndex]) -> Self {
        let columns = (systems.len() as f64).sqrt().ceil().max(1.0) as usize;
        let rows = systems.len().div_ceil(columns).max(1);
        let place = |at: usize| {
            let (row, column) = (at / columns, at % columns);
            let column = if row % 2 == 0 { column } else { columns - 1 - column };
            (MARGIN + column as f64 * STEP * 1.3, MARGIN + row as f64 * STEP)
        };
        let side =
            |count: usize, step: f64| ((count - 1) as f64 * step + 2.0 * MARGIN).max(MIN_SIDE);
        Self {
            places: (0..).map(place).zip(systems).map(|(at, system)| (*system, at)).collect(),
            width: side(columns, STEP * 1.3),
            height: side(rows, STEP),
            light_year: None,
        }
    }
}

/// The median length of all gates between the points, in metres; a light year if there are no gates.
fn middle_step(map: &Map, points: &[Point]) -> f64 {
    let places: BTreeMap<SystemIndex, (f64, f64)> =
        points.iter().map(|&(at, x, y)| (at, (x, y))).collect();
    let mut lengths: Vec<f64> = points
        .iter()
        .flat_map(|&(system, x, y)| {
            let places = &places;
            map.neighbours(system).iter().filter_map(move |to| {
                let (to_x, to_y) = places.get(to)?;
                Some((to_x - x).hypot(to_y - y))
            })
        })
        // Systems less than a metre apart are at the same position.
        .filter(|length| *length >= 1.0)
        .collect();
    lengths.sort_unstable_by(f64::total_cmp);
    lengths.get(lengths.len() / 2).copied().unwrap_or(LIGHT_YEAR)
}

/// The wanted scale, or the largest scale at which the points fit.
fn fit(points: &[Point], wanted: f64, room: f64) -> f64 {
    let length = |(least, most): (f64, f64)| most - least;
    let wide = length(span(points, |point| point.1));
    let high = length(span(points, |point| point.2));
    let longest = wide.max(high);
    if longest * wanted > room { room / longest } else { wanted }
}

/// Moves each point after the first `inside` towards the nearest point that a gate joins it with, keeping its
/// direction.
fn bring_near(map: &Map, points: &mut [Point], inside: usize) {
    let (inside, around) = points.split_at_mut(inside);
    let places: BTreeMap<SystemIndex, (f64, f64)> =
        inside.iter().map(|&(at, x, y)| (at, (x, y))).collect();
    for (system, x, y) in around {
        let joined = map.neighbours(*system).iter();
        let ends = joined.filter_map(|to| places.get(to));
        let far = |end: &&(f64, f64)| (*x - end.0).hypot(*y - end.1);
        let Some(&(end_x, end_y)) = ends.min_by(|one, other| far(one).total_cmp(&far(other)))
        else {
            continue;
        };
        let distance = (*x - end_x).hypot(*y - end_y);
        if distance > AROUND {
            *x = end_x + (*x - end_x) * AROUND / distance;
            *y = end_y + (*y - end_y) * AROUND / distance;
        }
    }
}

/// Moves pairs that are too near away from each other, in a few passes over all pairs. Pictures are small enough for
/// this.
fn push_apart(points: &mut [Point]) {
    for _ in 0..PUSHES {
        let mut moved = false;
        for at in 1..points.len() {
            let (before, rest) = points.split_at_mut(at);
            let Some((_, x, y)) = rest.first_mut() else {
                break;
            };
            for (_, other_x, other_y) in before {
                let (dx, dy) = (*x - *other_x, *y - *other_y);
                let distance = dx.hypot(dy);
                if distance >= APART {
                    continue;
                }
                moved = true;
                // Two systems at the same position are moved apart sideways.
                let (dx, dy) =
                    if distance > 1e-6 { (dx / distance, dy / distance) } else { (1.0, 0.0) };
                let by = (APART - distance) / 2.0;
                *x += dx * by;
                *y += dy * by;
                *other_x -= dx * by;
                *other_y -= dy * by;
            }
        }
        if !moved {
            return;
        }
    }
}

/// The minimum and the maximum on an axis.
fn span(points: &[Point], axis: impl Fn(&Point) -> f64) -> (f64, f64) {
    let nothing = (f64::INFINITY, f64::NEG_INFINITY);
    points.iter().map(axis).fold(nothing, |(least, most), at| (least.min(at), most.max(at)))
}
