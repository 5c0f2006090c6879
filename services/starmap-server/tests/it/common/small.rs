//! A map of twenty systems made by hand.
//!
//! ```text
//!  Ostra 0.8 ─ Velm 0.6 ─ Kestrel 0.4502 ─ Pell 0.5 ─ Rook 0.45 ─ Sable 0.04 ─ Nadir −0.0 ─ Quill −0.2 ─ Umbra −0.55
//!     │                      │                │                                   │                        │
//!  Jita 0.9 ─ Marrow 0.4499 ─ Tarn 0.3 ─ Amarr 1.0                             Wend −0.3 ─────────── Vex-7K −1.0
//!
//!  Isle-A 0.7 ─ Isle-B 0.7       Lonely 0.5       J000001 −1.0       J000002 −1.0 (without a position)
//! ```
//!
//! (Kestrel ─ Tarn and Pell ─ Amarr are the two gates drawn downwards in the middle.) From Jita to Amarr it is 3 jumps,
//! 5 through high security only. Northmark holds Alder (Jita … Kestrel) and Birch (Amarr, Pell, Rook, Marrow, Tarn);
//! Southreach holds Cedar (Sable … Wend) and Dogwood (the isles, Lonely); Farvoid holds Ember (J…).

use starmap_server::map::{
    Map, Parts, PartsConstellation, PartsRegion, PartsSystem, SystemIndex, Warning,
};

/// Metres of a light year, as the game counts.
pub(crate) const LIGHT_YEAR: f64 = 9.46e15;

/// Name, security, constellation, position in light years. The ids count up from 30,000,001.
const SYSTEMS: [(&str, f64, u32, Option<[f64; 3]>); 20] = [
    ("Jita", 0.9459, 20_000_001, Some([0.0, 0.0, 0.0])),
    ("Ostra", 0.8, 20_000_001, Some([0.0, 0.0, 2.0])),
    ("Velm", 0.6, 20_000_001, Some([2.0, 0.0, 2.0])),
    ("Kestrel", 0.4502, 20_000_001, Some([4.0, 0.0, 2.0])),
    ("Amarr", 1.0, 20_000_002, Some([6.0, 0.0, 0.0])),
    ("Pell", 0.5, 20_000_002, Some([6.0, 0.0, 2.0])),
    ("Rook", 0.45, 20_000_002, Some([8.0, 0.0, 2.0])),
    ("Marrow", 0.4499, 20_000_002, Some([2.0, 0.5, 0.0])),
    ("Tarn", 0.3, 20_000_002, Some([4.0, 0.5, 0.0])),
    ("Sable", 0.04, 20_000_003, Some([10.0, 0.0, 2.0])),
    ("Nadir", -0.0, 20_000_003, Some([12.0, 0.0, 2.0])),
    ("Quill", -0.2, 20_000_003, Some([14.0, 1.0, 2.0])),
    ("Umbra", -0.55, 20_000_003, Some([16.0, 1.0, 2.0])),
    ("Vex-7K", -1.0, 20_000_003, Some([16.0, 1.0, 0.0])),
    ("Wend", -0.3, 20_000_003, Some([12.0, 0.0, 0.0])),
    ("Isle-A", 0.7, 20_000_004, Some([0.0, 0.0, -9.0])),
    ("Isle-B", 0.7, 20_000_004, Some([1.5, 0.0, -9.0])),
    ("Lonely", 0.5, 20_000_004, Some([3.0, 0.0, -9.0])),
    ("J000001", -1.0, 20_000_005, Some([900.0, 0.0, 0.0])),
    ("J000002", -1.0, 20_000_005, None),
];

const GATES: [(&str, &str); 17] = [
    ("Jita", "Ostra"),
    ("Ostra", "Velm"),
    ("Velm", "Kestrel"),
    ("Kestrel", "Pell"),
    ("Pell", "Amarr"),
    ("Jita", "Marrow"),
    ("Marrow", "Tarn"),
    ("Tarn", "Amarr"),
    ("Kestrel", "Tarn"),
    ("Pell", "Rook"),
    ("Rook", "Sable"),
    ("Sable", "Nadir"),
    ("Nadir", "Quill"),
    ("Quill", "Umbra"),
    ("Umbra", "Vex-7K"),
    ("Vex-7K", "Wend"),
    ("Wend", "Nadir"),
];

/// The map of this module's drawing.
pub(crate) fn small() -> Map {
    let (map, warnings): (Map, Vec<Warning>) = Map::new(small_parts()).unwrap();
    assert_eq!(warnings, []);
    map
}

/// What [`small`] is made of, to change before it is put together. Each gate is listed from both its ends.
pub(crate) fn small_parts() -> Parts {
    let regions = [(10_000_001, "Northmark"), (10_000_002, "Southreach")];
    let regions = regions.into_iter().chain([(10_000_003, "Farvoid")]);
    let constellations = [
        (20_000_001, "Alder", 10_000_001),
        (20_000_002, "Birch", 10_000_001),
        (20_000_003, "Cedar", 10_000_002),
        (20_000_004, "Dogwood", 10_000_002),
        (20_000_005, "Ember", 10_000_003),
    ];
    let systems = SYSTEMS.iter().map(|&(name, security, constellation, position)| PartsSystem {
        id: id_of(name),
        name: name.to_owned(),
        security,
        constellation,
        position: position.map(|years| years.map(|it| it * LIGHT_YEAR)),
    });
    let gates = GATES.iter().chain(&[("Isle-A", "Isle-B")]);
    let gates = gates.map(|(from, to)| (id_of(from), id_of(to)));
    Parts {
        version: "hand-made".to_owned(),
        regions: regions.map(|(id, name)| PartsRegion { id, name: name.to_owned() }).collect(),
        constellations: constellations
            .into_iter()
            .map(|(id, name, region)| PartsConstellation { id, name: name.to_owned(), region })
            .collect(),
        systems: systems.collect(),
        gates: gates.flat_map(|(a, b)| [(a, b), (b, a)]).collect(),
        ..Parts::default()
    }
}

/// The id of a system of the small map.
pub(crate) fn id_of(name: &str) -> u32 {
    let at = SYSTEMS.iter().position(|system| system.0 == name).unwrap();
    30_000_001 + u32::try_from(at).unwrap()
}

/// The handle of a system that is on the map.
pub(crate) fn index_of(map: &Map, name: &str) -> SystemIndex {
    map.system_by_name(name).unwrap_or_else(|| panic!("{name} is not on the map"))
}
