//! The map: what is put together from parts, and what is asked of it.

use starmap_server::map::{Map, SecurityClass, Warning};

use super::common::{LIGHT_YEAR, generated, id_of, index_of, real, small, small_parts};

#[test]
fn the_map_made_by_hand_is_as_it_is_drawn() {
    let map = small();
    assert_eq!(map.systems().len(), 20);
    assert_eq!(map.connections(), 18);
    let names = |name: &str| -> Vec<&str> {
        let around = map.neighbours(index_of(&map, name)).iter();
        around.map(|to| &*map.system(*to).name).collect()
    };
    assert_eq!(names("Tarn"), ["Kestrel", "Amarr", "Marrow"]);
    assert_eq!(names("Lonely"), [""; 0]);
    let borders = map.systems().iter().filter(|system| system.border);
    let borders: Vec<&str> = borders.map(|system| &*system.name).collect();
    assert_eq!(borders, ["Jita", "Kestrel", "Amarr", "Rook"]);
    assert_eq!(
        map.system(index_of(&map, "rook ")).class,
        SecurityClass::High
    );
    assert!(
        map.system(index_of(&map, "Nadir"))
            .security
            .is_sign_positive()
    );
}

#[test]
fn a_gate_is_listed_once_or_twice_to_nowhere_or_back_and_harms_nothing() {
    let mut parts = small_parts();
    let (jita, ostra) = (id_of("Jita"), id_of("Ostra"));
    parts.gates.extend([(ostra, jita), (jita, jita), (jita, 5)]);
    let (map, warnings) = Map::new(parts).unwrap();
    assert_eq!(
        warnings,
        [
            Warning::Circle { system: jita },
            Warning::NoSystem { from: jita, to: 5 }
        ]
    );
    assert_eq!(map.connections(), small().connections());
    let position = map.system(index_of(&map, "Ostra")).position;
    assert_eq!(position, Some([0.0, 0.0, 2.0 * LIGHT_YEAR]));
}

#[test]
fn generated_maps_are_whole_and_repeat() {
    for (seed, count) in [(1, 1), (2, 50), (3, 2_000)] {
        assert_eq!(generated(seed, count), generated(seed, count));
        let (map, warnings) = Map::new(generated(seed, count)).unwrap();
        assert_eq!(warnings, []);
        assert_eq!(map.systems().len(), count);
    }
}

#[test]
fn the_real_map_has_the_counts_it_is_known_by() {
    let Some(map) = real() else { return };
    assert_eq!(map.systems().len(), 8_437);
    assert_eq!(map.connections(), 6_888);
    let of = |class| map.systems().iter().filter(|it| it.class == class).count();
    assert_eq!(of(SecurityClass::High), 1_194);
    assert_eq!(of(SecurityClass::Low), 687);
    assert_eq!(of(SecurityClass::Null), 6_556);
    assert_eq!(map.systems().iter().filter(|it| it.border).count(), 239);
}
