//! Checks that no map from a file can fail, so the map is broken by hand here.

use super::*;
use crate::map::{Parts, PartsConstellation, PartsRegion, PartsSystem};

/// Three systems in a row: HIGH, LOW, NULL.
fn map() -> Map {
    let name = |name: &str| name.to_owned();
    let system = |(id, security): (u32, f64)| PartsSystem {
        id,
        name: format!("S{id}"),
        security,
        constellation: 2,
        position: None,
    };
    let (map, _) = Map::new(Parts {
        version: name("3"),
        regions: vec![PartsRegion { id: 1, name: name("R") }],
        constellations: vec![PartsConstellation { id: 2, name: name("C"), region: 1 }],
        systems: [(3, 0.45), (4, 0.4499), (5, 0.0)].map(system).into(),
        gates: vec![(3, 4), (4, 5)],
        ..Parts::default()
    })
    .unwrap();
    map
}

#[test]
fn a_class_that_is_not_of_the_status_fails() {
    let mut systems = map().systems().to_vec();
    assert_eq!(classes(&systems).0, Outcome::Passed);
    systems[1].class = SecurityClass::High;
    assert_eq!(classes(&systems), (Outcome::Failed, "1 of 3 are not: S4".to_owned()));
}

#[test]
fn a_border_too_many_and_one_too_few_fail() {
    let map = map();
    let around: Vec<_> = map.indices().map(|it| map.neighbours(it)).collect();
    let mut systems = map.systems().to_vec();
    assert_eq!(borders(&systems, &around).0, Outcome::Passed);
    systems[0].border = false;
    systems[1].border = true;
    let note = "2 of 3 are not: S3, S4".to_owned();
    assert_eq!(borders(&systems, &around), (Outcome::Failed, note));
}
