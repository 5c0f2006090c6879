//! Pictures of the map as SVG: seen from above with north up, like the game's flat map.
//!
//! The same map gives the same bytes. A picture has at most [`MAX_DRAWN`] systems and is at most [`MAX_SIDE`] pixels
//! wide and high.

mod labels;
mod layout;
mod svg;

use std::collections::BTreeSet;

use crate::map::{Map, RegionIndex, SystemIndex};
use layout::Layout;

/// The most systems that are drawn. For a larger area the first ones by id are drawn, with a note in the picture.
pub const MAX_DRAWN: usize = 600;
/// The longest side of a picture in pixels, not counting its title and legend.
pub const MAX_SIDE: f64 = 3_000.0;

/// The contents of a picture.
#[derive(Debug, Clone)]
struct Scene<'m> {
    map: &'m Map,
    title: String,
    /// The subject of the picture: the systems with their names.
    systems: Vec<SystemIndex>,
    /// Systems around them, which are drawn faintly.
    around: Vec<SystemIndex>,
    /// Whether the surrounding systems have names.
    named: bool,
    /// A route that is drawn as a thick line, from system to system.
    route: &'m [SystemIndex],
    /// What is to be known of it, below the picture.
    notes: &'m [String],
    /// How many systems were left out.
    left_out: usize,
}

/// A route, with the systems around it. `title` is written above it, and `notes` are written below.
pub fn route(map: &Map, route: &[SystemIndex], title: &str, notes: &[String]) -> String {
    let mut seen = BTreeSet::new();
    let systems = route.iter().filter(|at| seen.insert(**at)).copied();
    let mut scene = Scene::new(map, title.to_owned(), systems.collect());
    (scene.route, scene.notes) = (route, notes);
    // A very short route shows a place, so the names of the surrounding systems are of interest.
    scene.named = scene.systems.len() <= 8;
    draw(&scene)
}

/// A region, with the systems that its gates lead to.
pub fn region(map: &Map, region: RegionIndex) -> String {
    let title = format!("{} (region)", map.region(region).name);
    draw(&Scene { named: true, ..Scene::new(map, title, map.systems_of(region).collect()) })
}

impl<'m> Scene<'m> {
    fn new(map: &'m Map, title: String, mut systems: Vec<SystemIndex>) -> Self {
        let left_out = systems.len().saturating_sub(MAX_DRAWN);
        systems.truncate(MAX_DRAWN);
        let inside: BTreeSet<SystemIndex> = systems.iter().copied().collect();
        let around: BTreeSet<SystemIndex> = systems
            .iter()
            .flat_map(|&system| map.neighbours(system))
            .copied()
            .filter(|system| !inside.contains(system))
            .collect();
        let room = MAX_DRAWN - systems.len();
        Self {
            map,
            title,
            systems,
            around: around.into_iter().take(room).collect(),
            named: false,
            route: &[],
            notes: &[],
            left_out,
        }
    }
}

fn draw(scene: &Scene<'_>) -> String {
    let layout = Layout::of(scene.map, &scene.systems, &scene.around);
    svg::write(scene, &layout)
}
