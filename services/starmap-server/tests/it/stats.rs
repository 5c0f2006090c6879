//! Counting what is on a map.

use std::collections::BTreeMap;

use starmap_server::stats::{Classes, ConnectedPart, stats};

use super::common::{real, small};

#[test]
fn the_small_map_is_counted_as_it_is_drawn() {
    let stats = stats(&small());
    assert_eq!(stats.version, "hand-made");
    assert_eq!((stats.systems, stats.connections), (20, 18));
    assert_eq!((stats.constellations, stats.regions), (5, 3));
    let classes = |high, low, null| Classes { high, low, null };
    assert_eq!(stats.classes, classes(10, 3, 7));
    assert_eq!(stats.gated, classes(9, 3, 5));
    assert_eq!((stats.borders, stats.positions, stats.alone), (4, 19, 3));
    let part = |systems, first: &str| ConnectedPart { systems, first: first.to_owned() };
    assert_eq!(stats.parts, [part(15, "Jita"), part(2, "Isle-A")]);
    let degrees = BTreeMap::from([(0, 3), (1, 2), (2, 11), (3, 4)]);
    assert_eq!(stats.degrees, degrees);
    let regions = stats.by_region.iter();
    let regions: Vec<_> = regions
        .map(|it| (&*it.name, it.constellations, it.classes, it.borders, it.exits))
        .collect();
    assert_eq!(
        regions,
        [
            ("Northmark", 2, classes(7, 2, 0), 4, 1),
            ("Southreach", 2, classes(3, 1, 5), 0, 1),
            ("Farvoid", 1, classes(0, 0, 2), 0, 0),
        ]
    );
}

#[test]
fn the_real_map_has_the_numbers_it_is_known_by() {
    let Some(map) = real() else { return };
    let stats = stats(&map);
    let classes = |high, low, null| Classes { high, low, null };
    assert_eq!(stats.classes, classes(1_194, 687, 6_556));
    assert_eq!(stats.gated, classes(1_193, 687, 3_335));
    assert_eq!((stats.borders, stats.positions, stats.alone), (239, 8_436, 3_222));
    let parts: Vec<usize> = stats.parts.iter().map(|it| it.systems).collect();
    assert_eq!(parts, [5_175, 27, 7, 6]);
    assert_eq!(stats.degrees.last_key_value().map(|it| *it.0), Some(8));
    assert_eq!((stats.constellations, stats.regions), (1_175, 113));
    let systems = |it: Classes| it.high + it.low + it.null;
    assert_eq!(stats.by_region.iter().map(|it| systems(it.classes)).sum::<usize>(), 8_437);
}
