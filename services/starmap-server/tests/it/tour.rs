//! Tours: waypoints and round trips, by hand and by their properties.

mod loops;
mod orders;
mod random;

use starmap_server::map::{Map, SystemIndex};

use super::common::index_of;

fn systems(map: &Map, names: &[&str]) -> Vec<SystemIndex> {
    names.iter().map(|name| index_of(map, name)).collect()
}

fn names<'m>(map: &'m Map, systems: &[SystemIndex]) -> Vec<&'m str> {
    systems.iter().map(|it| &*map.system(*it).name).collect()
}
