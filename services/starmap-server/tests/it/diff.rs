//! What is different between two maps.

use starmap_server::diff::{Diff, diff};
use starmap_server::load::load;
use starmap_server::map::{Map, Parts, PartsConstellation, PartsSystem};

use super::common::{LIGHT_YEAR, id_of, real, real_folder, small, small_parts};

/// How a change of the small map is described.
fn change(change: impl FnOnce(&mut Parts)) -> Diff {
    let mut parts = small_parts();
    parts.version = "changed".to_owned();
    change(&mut parts);
    diff(&small(), &Map::new(parts).unwrap().0)
}

fn system<'p>(parts: &'p mut Parts, name: &str) -> &'p mut PartsSystem {
    let id = id_of(name);
    parts.systems.iter_mut().find(|it| it.id == id).unwrap()
}

#[test]
fn a_map_is_not_different_from_itself() {
    let diff = change(|_| {});
    assert!(diff.is_empty(), "{diff:?}");
    assert_eq!((&*diff.old_version, &*diff.new_version), ("hand-made", "changed"));
}

#[test]
fn each_change_is_told_and_nothing_else() {
    let only = |diff: Diff, expected: serde_json::Value| {
        assert!(!diff.is_empty());
        let mut told = serde_json::to_value(&diff).unwrap();
        let mut same = serde_json::to_value(change(|_| {})).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(told[key].take(), *value, "{key}");
            same[key].take();
        }
        assert_eq!(told, same);
    };
    use serde_json::json;
    let named = |name: &str| json!({ "id": id_of(name), "name": name });
    only(
        change(|parts| system(parts, "Jita").name = "Jitta".to_owned()),
        json!({ "systems": { "added": [], "removed": [],
            "renamed": [{ "id": id_of("Jita"), "old": "Jita", "new": "Jitta" }] } }),
    );
    only(
        change(|parts| parts.regions[1].name = "Deep South".to_owned()),
        json!({ "regions": { "added": [], "removed": [],
            "renamed": [{ "id": 10_000_002, "old": "Southreach", "new": "Deep South" }] } }),
    );
    only(
        change(|parts| {
            parts.constellations.push(PartsConstellation {
                id: 20_000_006,
                name: "Fir".to_owned(),
                region: 10_000_003,
            });
        }),
        json!({ "constellations": { "removed": [], "renamed": [],
            "added": [{ "id": 20_000_006, "name": "Fir" }] } }),
    );
    only(
        change(|parts| system(parts, "Ostra").security = 0.8001),
        json!({ "security": [
            { "id": id_of("Ostra"), "name": "Ostra", "old": 0.8, "new": 0.8001, "class": null }] }),
    );
    only(
        change(|parts| system(parts, "Marrow").security = 0.45),
        json!({ "security": [{ "id": id_of("Marrow"), "name": "Marrow", "old": 0.4499, "new": 0.45,
            "class": ["LOW", "HIGH"] }] }),
    );
    only(
        change(|parts| system(parts, "Rook").constellation = 20_000_003),
        json!({ "moved": [{ "id": id_of("Rook"), "name": "Rook",
            "old": ["Birch", "Northmark"], "new": ["Cedar", "Southreach"] }] }),
    );
    only(
        change(|parts| {
            parts
                .gates
                .extend([(id_of("Lonely"), id_of("Isle-B")), (id_of("Isle-B"), id_of("Lonely"))])
        }),
        json!({ "gates_added": [{ "from": named("Isle-B"), "to": named("Lonely") }] }),
    );
    let (isle_a, isle_b) = (id_of("Isle-A"), id_of("Isle-B"));
    only(
        change(|parts| parts.gates.retain(|(from, _)| *from != isle_a && *from != isle_b)),
        json!({ "gates_removed": [{ "from": named("Isle-A"), "to": named("Isle-B") }] }),
    );
    only(
        change(|parts| parts.systems.retain(|it| it.name != "J000001")),
        json!({ "systems": { "added": [], "renamed": [], "removed": [named("J000001")] } }),
    );
    only(
        change(|parts| {
            system(parts, "Jita").position = Some([0.0, 0.0, 1.0]);
            system(parts, "J000002").position = Some([0.0; 3]);
            system(parts, "Velm").position = None;
        }),
        json!({ "positions":
            { "moved": [named("Jita")], "became_known": 1, "became_unknown": 1 } }),
    );
}

#[test]
fn rounding_is_no_change_unless_it_changes_the_class() {
    let diff = change(|parts| {
        system(parts, "Ostra").security = 0.800_049;
        system(parts, "Umbra").position = Some([16.000_01, 1.0, 2.0].map(|it| it * LIGHT_YEAR));
    });
    assert!(diff.is_empty(), "{diff:?}");
    let diff = change(|parts| system(parts, "Rook").security = 0.449_99);
    assert_eq!(diff.security.len(), 1);
    let far = [16.000_1, 1.0, 2.0].map(|it| it * LIGHT_YEAR);
    let diff = change(|parts| system(parts, "Umbra").position = Some(far));
    assert_eq!(diff.positions.moved.len(), 1);
}

#[test]
fn the_real_files_differ_in_positions_only() {
    let (Some(folder), Some(map)) = (real_folder(), real()) else {
        return;
    };
    let cache = load(&folder.join("universe_cache.json.gz")).unwrap().map;
    let mut diff = diff(&cache, &map);
    assert_eq!(diff.positions.became_known, 8_436);
    diff.positions.became_known = 0;
    assert!(diff.is_empty(), "{diff:?}");
}
