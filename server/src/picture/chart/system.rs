//! A body, the bodies that orbit it, and the bodies that orbit those, as far as space allows.

use std::collections::VecDeque;

use super::super::cells::Cell;
use super::super::color::Color;
use super::super::labels::shortened;
use super::super::painter::Painter;
use super::super::scale::Scale;
use super::super::scene::{At, Shape, Size, Text};
use super::super::view::{Body, Kind};

/// The smallest radius that is worth drawing in, in pixels.
const LEAST_ROOM: f64 = 5.0;
/// The most orbits around one body. More of them would look like a gray disk.
const MAX_ORBITS: usize = 160;
/// The most bodies around one body that are measured exactly.
const MAX_MEASURED: usize = 400;
/// The smallest radius in which names are written, in pixels.
const NAMED_ROOM: f64 = 120.0;

/// A body to draw, with everything that orbits it.
struct Centre {
    id: String,
    at: At,
    /// The largest radius of the orbits around it, in pixels.
    reach: f64,
    /// The radius of the body itself, in pixels.
    radius: f64,
    /// The number of bodies above it in the hierarchy of the picture.
    depth: u32,
}

/// A body that orbits another.
struct Around {
    body: Body,
    place: [f64; 2],
    /// Its orbit from above, if it is drawn.
    path: Vec<[f64; 2]>,
    nearest: f64,
    farthest: f64,
}

/// The view from above: x to the right, z upward, so that a rotation from x to z is counterclockwise.
fn above([x, _, z]: [f64; 3]) -> [f64; 2] {
    [x, -z]
}

impl Painter<'_> {
    /// Draws a cell: its root in the center, and its name below if there are several cells.
    pub(in crate::picture) fn system(&mut self, cell: &Cell, color: Option<Color>, alone: bool) {
        let title = self.words && !alone && cell.reach > 34.0;
        let [x, y] = cell.at;
        let at = if title { [x, y - 8.0] } else { cell.at };
        let reach = cell.reach - if title { 16.0 } else { 6.0 };
        let reach = reach.max(1.0);
        if let Some(color) = color.filter(|_| !alone && reach > 12.0) {
            self.shapes.push(Shape::Circle {
                at,
                radius: reach,
                width: 1.0,
                paint: color.at(0.35),
            });
        }
        if self.left == 0 {
            return;
        }
        let radius = (reach * 0.055).clamp(1.2, 15.0);
        self.left -= 1;
        self.body(&cell.root, at, radius);
        if title {
            let text = shortened(&cell.root.name, (cell.reach * 2.0 / 7.0) as usize);
            let begin = x - Size::Label.width(&text) / 2.0;
            let color = self.theme.letters();
            let at = [begin, y + cell.reach - 10.0];
            self.labels.write(Text { at, text, size: Size::Label, color });
        } else if alone && self.words {
            self.name(&cell.root, at, radius, 0.0);
        }
        let root = Centre { id: cell.root.id.clone(), at, reach: reach - 4.0, radius, depth: 0 };
        let mut waiting = VecDeque::from([root]);
        while let Some(centre) = waiting.pop_front() {
            waiting.extend(self.around(&centre));
        }
    }

    /// Draws the bodies that orbit a body. Returns those that have satellites themselves and enough space for them.
    fn around(&mut self, centre: &Centre) -> Vec<Centre> {
        let Some(star) = self.state.star(&centre.id) else {
            return Vec::new();
        };
        let count = star.children().len();
        let taken = count.min(self.left);
        self.left -= taken;
        let ids: Vec<_> = star.children().take(taken).collect();
        let measured = count <= MAX_MEASURED;
        // Lines closer together than this would look like a gray disk.
        let drawn = count <= MAX_ORBITS && count as f64 * 2.2 <= centre.reach;
        let bodies = ids.into_iter().filter_map(|id| self.state.star(id));
        let bodies = bodies.map(|star| Body::of(self.state, star));
        let points = ((centre.reach * 0.6) as u32).clamp(24, 120);
        let around: Vec<_> = bodies
            .map(|body| Around::of(body, self.time, if measured { points } else { 0 }))
            .collect();
        let bands = self.bands.around(&centre.id);
        let mut extents: Vec<_> = around.iter().map(|it| (it.nearest, it.farthest)).collect();
        extents.extend(bands.iter().map(|band| (band.inner, band.outer)));
        let Some(scale) = Scale::fitting(&extents, centre.reach, centre.radius) else {
            return Vec::new();
        };
        if centre.reach > 20.0 {
            for band in bands {
                self.band(band, centre.at, &scale);
            }
        }
        if drawn {
            for it in &around {
                self.orbit(it, centre, &scale);
            }
        }
        self.bodies(around, centre, &scale)
    }

    fn orbit(&mut self, it: &Around, centre: &Centre, scale: &Scale) {
        let opacity = match it.body.kind {
            Kind::Marker => return,
            _ if it.body.is_trojan => return,
            Kind::Comet | Kind::Small => 0.3,
            _ => 0.6,
        };
        let paint = self.theme.orbits().at(opacity);
        let width = if centre.depth == 0 { 1.0 } else { 0.6 };
        // An orbit that looks like a circle is written as a circle.
        let (near, far) = (scale.pixels(it.nearest), scale.pixels(it.farthest));
        if far - near < 0.7 {
            let radius = f64::midpoint(near, far);
            self.shapes.push(Shape::Circle { at: centre.at, radius, width, paint });
        } else if !it.path.is_empty() {
            let points = it.path.iter().map(|&point| scale.place(centre.at, point)).collect();
            self.shapes.push(Shape::Line { points, closed: true, width, paint });
        }
    }

    fn bodies(&mut self, around: Vec<Around>, centre: &Centre, scale: &Scale) -> Vec<Centre> {
        let many = around.len() > MAX_MEASURED;
        let largest = around.iter().map(|it| it.body.radius).fold(0.0, f64::max);
        // The neighbors between which a body has space for its satellites.
        let majors = around.iter().filter(|it| it.body.is_major());
        let mut ways: Vec<_> =
            majors.map(|it| scale.pixels(f64::midpoint(it.nearest, it.farthest))).collect();
        ways.sort_by(f64::total_cmp);
        let most = (centre.reach * 0.03).clamp(0.8, 9.0);
        let mut next = Vec::new();
        let mut crowd: std::collections::BTreeMap<Color, Vec<At>> =
            std::collections::BTreeMap::new();
        for it in around {
            let at = scale.place(centre.at, it.place);
            if many {
                crowd.entry(it.body.color).or_default().push(at);
                continue;
            }
            let share = if largest > 0.0 { (it.body.radius / largest).powf(0.4) } else { 0.5 };
            let way = scale.pixels(f64::midpoint(it.nearest, it.farthest));
            let room = scale.room(&ways, way).min(centre.reach * 0.16);
            let radius = match it.body.kind {
                Kind::Marker => 1.5,
                Kind::Small | Kind::Comet => (most * 0.4).clamp(0.8, 2.2),
                _ => (most * share).max(0.9).min((room * 0.45).max(1.0)),
            };
            self.body(&it.body, at, radius);
            if self.words && centre.reach >= NAMED_ROOM && !it.body.is_trojan {
                let minor = if it.body.is_major() { 0.0 } else { 2.0 };
                let marker = if it.body.kind == Kind::Marker { 1.0 } else { 0.0 };
                self.name(
                    &it.body,
                    at,
                    radius,
                    1.0 + f64::from(centre.depth) + minor + marker - share * 0.5,
                );
            } else if centre.depth == 0 || radius > 2.0 {
                self.labels.keep_off(at, radius);
            }
            if it.body.has_children && room >= LEAST_ROOM {
                let (id, depth) = (it.body.id, centre.depth + 1);
                next.push(Centre { id, at, reach: room, radius, depth });
            }
        }
        for (color, points) in crowd {
            self.shapes.push(Shape::Dots { points, radius: 0.9, paint: color.at(0.85) });
        }
        next
    }
}

impl Around {
    /// Its position at a time, and its orbit as this many points.
    fn of(body: Body, time: f64, points: u32) -> Self {
        let place = above(body.orbit.place(time));
        let mut path = Vec::new();
        let [x, y] = place;
        let (mut nearest, mut farthest) = (x.hypot(y), x.hypot(y));
        if body.orbit.is_round() {
            path = body.orbit.round(points, time).into_iter().map(above).collect();
            for distance in path.iter().map(|[x, y]| x.hypot(*y)) {
                nearest = nearest.min(distance);
                farthest = farthest.max(distance);
            }
        }
        Self { body, place, path, nearest, farthest }
    }
}
