//! ARIA's cache.

use serde_json::{Value, json};
use starmap_server::load::Format;
use starmap_server::map::{Kind, Warning};

use super::{file, loaded, refusal};
use crate::assert_has;
use crate::common::{
    aria, assert_same, generated, gzip, id_of, index_of, real, real_folder, small, small_parts,
};

#[test]
fn the_cache_is_read_whatever_the_file_is_called() {
    let text = aria(&small_parts()).to_string();
    for (name, bytes) in [
        ("universe_cache.json", text.clone().into_bytes()),
        ("map.csv", format!("\u{feff}\r\n {text}").into_bytes()),
        ("universe_cache.json.gz", gzip(text.as_bytes())),
    ] {
        let loaded = loaded(name, bytes).unwrap();
        assert_same(&loaded.map, &small());
        assert_eq!(loaded.map.version(), "hand-made");
        assert_eq!(loaded.warnings, []);
        assert_eq!(loaded.format, Format::Json);
    }
}

#[test]
fn the_members_of_the_paper_are_read_as_well() {
    let mut cache = aria(&small_parts());
    cache["version"] = json!(7);
    cache.as_object_mut().unwrap().remove("generated");
    let regions: Vec<(String, Value)> = cache["constellations"]
        .as_object_mut()
        .unwrap()
        .iter_mut()
        .map(|(id, it)| (id.clone(), it.as_object_mut().unwrap().remove("region_id").unwrap()))
        .collect();
    let systems = std::mem::take(cache["systems"].as_object_mut().unwrap());
    let renamed = systems.into_iter().map(|(id, mut system)| {
        let object = system.as_object_mut().unwrap();
        let security = object.remove("security").unwrap();
        object.insert("security_status".to_owned(), security);
        object.insert("system_id".to_owned(), json!(id.parse::<u32>().unwrap()));
        let constellation = object["constellation_id"].to_string();
        let region = regions.iter().find(|(id, _)| *id == constellation).unwrap();
        object.insert("region_id".to_owned(), region.1.clone());
        (object["name"].as_str().unwrap().to_owned(), system)
    });
    cache["systems"] = Value::Object(renamed.collect());
    let loaded = loaded("a", cache.to_string()).unwrap();
    assert_same(&loaded.map, &small());
    assert_eq!(loaded.map.version(), "7");
}

#[test]
fn gates_of_the_public_api_are_read_as_well() {
    let parts = small_parts();
    let mut cache = aria(&parts);
    for system in cache["systems"].as_object_mut().unwrap().values_mut() {
        system.as_object_mut().unwrap().remove("stargates");
    }
    for (gate, (from, to)) in
        cache["stargates"].as_object_mut().unwrap().values_mut().zip(&parts.gates)
    {
        *gate = json!({ "system_id": from, "destination": { "stargate_id": 9, "system_id": to } });
    }
    assert_same(&loaded("a", cache.to_string()).unwrap().map, &small());
}

#[test]
fn gates_that_no_system_lists_are_told_if_they_lead_nowhere() {
    let mut cache = aria(&small_parts());
    let gates = cache["stargates"].as_object_mut().unwrap();
    gates.insert("60000002".to_owned(), json!({ "destination_system_id": id_of("Jita") }));
    gates.insert("60000001".to_owned(), json!({ "system_id": id_of("Jita") }));
    let (from, to) = (id_of("Jita"), id_of("Velm"));
    gates.insert("60000003".to_owned(), json!({ "system_id": from, "destination_system_id": to }));
    let loaded = loaded("a", cache.to_string()).unwrap();
    let incomplete = |id, lacks| Warning::Incomplete { kind: Kind::Gate, id, lacks };
    assert_eq!(
        loaded.warnings,
        [
            incomplete(60_000_001, "destination"),
            incomplete(60_000_002, "system"),
            Warning::OneWay { from, to },
        ]
    );
    assert_eq!(loaded.map.connections(), 19);
}

#[test]
fn what_names_what_is_not_there_is_left_out_and_told() {
    let mut cache = aria(&small_parts());
    let id = |name: &str| id_of(name).to_string();
    cache["constellations"]["20000009"] = json!({ "name": "Nowhere", "region_id": 9 });
    cache["constellations"]["20000008"] = json!({ "name": "Regionless" });
    cache["systems"][id("Lonely")]["constellation_id"] = json!(20_000_009);
    cache["systems"][id("Isle-B")]["security"] = Value::Null;
    cache["systems"][id("J000001")].as_object_mut().unwrap().remove("constellation_id");
    cache["systems"][id("Jita")]["stargates"].as_array_mut().unwrap().push(json!(5));
    cache["stargates"]["50000001"]["destination_system_id"] = json!(6);
    let loaded = loaded("a", cache.to_string()).unwrap();
    let incomplete = |kind, id, lacks| Warning::Incomplete { kind, id, lacks };
    assert_eq!(
        loaded.warnings,
        [
            incomplete(Kind::Constellation, 20_000_008, "region"),
            Warning::NoGate { system: id_of("Jita"), gate: 5 },
            incomplete(Kind::System, id_of("Isle-B"), "security status"),
            incomplete(Kind::System, id_of("J000001"), "constellation"),
            Warning::NoRegion { constellation: 20_000_009, region: 9 },
            Warning::NoConstellation { system: id_of("Lonely"), constellation: 20_000_009 },
            Warning::NoSystem { from: id_of("Jita"), to: 6 },
            Warning::NoSystem { from: id_of("Isle-A"), to: id_of("Isle-B") },
            Warning::NoSystem { from: id_of("Isle-B"), to: id_of("Isle-A") },
            Warning::OneWay { from: id_of("Ostra"), to: id_of("Jita") },
        ]
    );
    assert_eq!(loaded.map.systems().len(), 17);
    // A connection that one of its gates still lists is there.
    assert_eq!(loaded.map.connections(), 17);
    let brief = loaded.warnings_in_brief(2);
    assert_eq!(
        brief,
        [
            "constellation 20000008 is left out: it has no region",
            "stargate 5 of system 30000001 is left out: the file does not say where it leads",
            "8 more entries are left out or changed",
        ]
    );
}

#[test]
fn a_map_of_which_nothing_is_left_is_refused_with_the_reason() {
    let mut cache = aria(&small_parts());
    cache["regions"] = json!({});
    let (_folder, path) = file("a", cache.to_string());
    assert!(refusal(&path).contains(
        "none of its entries can be used (25 are left out; the first: constellation 20000001 is left out"
    ), "{}", refusal(&path));
}

#[test]
fn other_json_and_broken_json_are_refused() {
    for (text, what) in [
        ("{}", "it has no member \"systems\""),
        (
            "{\"systems\": 5}",
            "invalid type: integer `5`, expected an object with an entry for each id",
        ),
        ("[1]", "this is a list in JSON"),
        ("{\"systems\": {}}", "this makes no map: there is no system in it"),
        (
            "{\"systems\": {\"x\": {\"name\": \"X\"}}}",
            "a system is there under a key that is not an id",
        ),
        (
            "{\"systems\": {\"3\": {\"name\": \"X\"",
            "EOF while parsing an object at line 1 column 30",
        ),
        ("{\"systems\": {}, \"systems\": {}}", "duplicate field `systems`"),
    ] {
        let (_folder, path) = file("a.json", text);
        let said = refusal(&path);
        assert!(said.contains(what) && said.contains("a.json"), "{text}: {said}");
    }
}

#[test]
fn more_entries_than_a_map_may_have_are_refused() {
    let regions: serde_json::Map<String, Value> =
        (0..=5_000).map(|id: u32| (id.to_string(), json!({ "name": "R" }))).collect();
    let (_folder, path) = file("a", json!({ "regions": regions, "systems": {} }).to_string());
    assert_has(&refusal(&path), &["there are more than the 5000 entries"]);
    let mut cache = aria(&small_parts());
    cache["systems"][id_of("Jita").to_string()]["stargates"] = json!(vec![1; 1_000_001]);
    let (_folder, path) = file("a", cache.to_string());
    assert_has(&refusal(&path), &["more than the 1000000 stargates"]);
}

#[test]
fn a_large_map_comes_back() {
    let parts = generated(5, 3_000);
    let loaded = loaded("a", serde_json::to_string_pretty(&aria(&parts)).unwrap()).unwrap();
    assert_same(&loaded.map, &starmap_server::map::Map::new(parts).unwrap().0);
}

#[test]
fn the_real_cache_is_the_real_map() {
    let (Some(folder), Some(real)) = (real_folder(), real()) else {
        return;
    };
    let loaded = starmap_server::load::load(&folder.join("universe_cache.json.gz")).unwrap();
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.map.version(), "2026-02-03T12:35:19Z");
    assert_eq!(loaded.map.connections(), real.connections());
    for (index, (a, b)) in real.indices().zip(real.systems().iter().zip(loaded.map.systems())) {
        assert_eq!((a.id, &a.name, a.security.to_bits()), (b.id, &b.name, b.security.to_bits()));
        assert_eq!(real.neighbours(index), loaded.map.neighbours(index));
    }
    assert_eq!(index_of(&loaded.map, "Jita"), index_of(&real, "Jita"));
}
