//! The Static Data Export in JSON Lines.

use std::fs;

use starmap_server::load::{Format, Losses, load, load_with};
use starmap_server::map::{Kind, Map, Warning};
use tempfile::TempDir;

use super::{file, loaded, refusal};
use crate::assert_has;
use crate::common::{assert_same, export, generated, id_of, put, small, small_parts, zip};

#[test]
fn the_zip_is_read_as_it_is_downloaded() {
    let mut documents = export(&small_parts());
    documents.push(("types.jsonl", "{\"_key\": 18}\n".repeat(1_000)));
    let loaded = loaded("sde.zip", zip(&documents)).unwrap();
    assert_same(&loaded.map, &small());
    assert_eq!(loaded.map.version(), "SDE 3142455, 2026-01-01");
    assert_eq!(loaded.map.released().unwrap().to_string(), "2026-01-01");
    assert_eq!(loaded.format, Format::Sde);
    assert_eq!(loaded.warnings, []);
}

#[test]
fn the_unpacked_folder_and_a_document_in_it_are_read_as_well() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &export(&small_parts()));
    for name in ["", "mapSolarSystems.jsonl", "mapRegions.jsonl"] {
        let loaded = load(&folder.path().join(name)).unwrap();
        assert_same(&loaded.map, &small());
        assert_eq!(loaded.format, Format::Sde);
    }
    fs::remove_file(folder.path().join("mapStargates.jsonl")).unwrap();
    let said = refusal(folder.path());
    assert_has(&said, &["no table of stargates", "mapStargates.jsonl"]);
}

#[test]
fn names_may_be_plain_and_documents_in_a_folder_of_the_zip() {
    let documents = export(&small_parts()).into_iter().map(|(name, text)| {
        let text = text.replace("{\"de\":\"anders\",\"en\":", "").replace("\"},", "\",");
        (format!("eve/{name}"), text.replace("\"}}", "\"}"))
    });
    let documents: Vec<(String, String)> = documents.collect();
    assert!(!documents[3].1.contains("anders"));
    let entries: Vec<(&str, String)> =
        documents.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    assert_same(&loaded("a", zip(&entries)).unwrap().map, &small());
}

#[test]
fn what_is_wrong_with_a_line_is_said_with_its_document() {
    type Change<'c> = &'c dyn Fn(&str) -> String;
    let cases: [(usize, Change<'_>, &str); 6] = [
        (
            3,
            &|it| it.replacen("\"_key\":30000003", "\"_key\":\"x\"", 1),
            "mapSolarSystems.jsonl: line 3: column",
        ),
        (3, &|it| it.replacen("\"en\"", "\"fr\"", 1), "mapSolarSystems.jsonl: line 1: column"),
        (
            4,
            &|it| it.get(..it.len() - 9).unwrap().to_owned(),
            "mapStargates.jsonl: line 36: column",
        ),
        (2, &|it| format!("{it}5\n"), "mapConstellations.jsonl: line 6: column"),
        (1, &|it| it.repeat(2), "two regions have the id 10000001"),
        (1, &|it| "{\"_key\":1,\"name\":\"R\"}\n".repeat(5_001) + it, "more than the 5000 regions"),
    ];
    for (place, change, what) in cases {
        let mut documents = export(&small_parts());
        documents[place].1 = change(&documents[place].1);
        let (_folder, path) = file("a.zip", zip(&documents));
        let said = refusal(&path);
        assert!(said.contains(what), "{what}: {said}");
    }
}

#[test]
fn what_is_incomplete_is_left_out_and_told() {
    let mut documents = export(&small_parts());
    documents[3].1 = documents[3].1.replace("\"securityStatus\":0.5,\"", "\"");
    documents[4].1 = documents[4].1.replacen("\"destination\":", "\"other\":", 1);
    let loaded = loaded("a", zip(&documents)).unwrap();
    let incomplete = |kind, id, lacks| Warning::Incomplete { kind, id, lacks };
    assert_eq!(
        loaded.warnings[..3],
        [
            incomplete(Kind::System, id_of("Pell"), "securityStatus"),
            incomplete(Kind::System, id_of("Lonely"), "securityStatus"),
            incomplete(Kind::Gate, 50_000_001, "destination"),
        ]
    );
}

#[test]
fn a_zip_with_a_document_twice_is_refused() {
    let mut documents = export(&small_parts());
    documents.push(documents[3].clone());
    let (_folder, path) = file("a.zip", zip(&documents));
    assert!(refusal(&path).contains("mapSolarSystems.jsonl is in it twice"));
}

#[test]
fn a_line_without_end_is_refused_before_it_fills_the_memory() {
    let mut documents = export(&small_parts());
    documents[3].1 = format!("{{\"_key\":1,\"x\":\"{}", " ".repeat(2 << 20));
    let (_folder, path) = file("a.zip", zip(&documents));
    let said = refusal(&path);
    assert_has(&said, &["line 1 is larger than the 1048576 bytes"]);
}

#[test]
fn a_document_that_unpacks_to_very_much_is_refused() {
    let mut documents = export(&small_parts());
    // Blank lines are no entries, so only their bytes count.
    documents[3].1 = format!("{}\n", " ".repeat(65_535)).repeat(4_097);
    let bomb = zip(&documents);
    // How small depends on the compressor.
    assert!(bomb.len() < 4 << 20, "{}", bomb.len());
    let (_folder, path) = file("a.zip", bomb);
    let said = refusal(&path);
    assert!(said.contains("larger than the 268435456 bytes"), "{said}");
}

#[test]
fn a_large_map_comes_back() {
    let parts = generated(7, 3_000);
    let loaded = loaded("a", zip(&export(&parts))).unwrap();
    assert_same(&loaded.map, &Map::new(parts).unwrap().0);
}

/// The export of a large map, with a change in the document at a place.
fn lost(place: usize, change: impl Fn(&str) -> String) -> String {
    let mut documents = export(&generated(11, 1_500));
    documents[place].1 = change(&documents[place].1);
    let (_folder, path) = file("a.zip", zip(&documents));
    let said = refusal(&path);
    assert_has(&said, &["the parts of the map do not agree", "--accept-losses"]);
    said
}

// GoldenGnu/jeveassets#547: fields of the export are renamed and lost
#[test]
fn a_map_that_has_lost_much_is_refused_with_file_and_field() {
    let said = lost(4, |gates| gates.replace("\"destination\":", "\"target\":"));
    assert_has(
        &said,
        &["mapStargates.jsonl: ", "have no destination (they have: _key, solarSystemID, target)"],
    );
    let said = lost(3, |systems| systems.replace("securityStatus", "security"));
    assert_has(
        &said,
        &[
            "mapSolarSystems.jsonl: 1500 of 1500 systems have no securityStatus",
            "(they have: _key, constellationID, name",
        ],
    );
    // Cut at a line.
    let said = lost(4, |gates| {
        let lines: Vec<&str> = gates.split_inclusive('\n').collect();
        lines[..lines.len() / 2].concat()
    });
    assert_has(&said, &["mapStargates.jsonl: ", "are listed by their systems and not there"]);
    let said = lost(2, |lines| {
        let lines: Vec<&str> = lines.split_inclusive('\n').collect();
        lines[..lines.len() / 2].concat()
    });
    assert_has(
        &said,
        &["mapSolarSystems.jsonl: ", "are in a constellation that is not in the file"],
    );
}

#[test]
fn the_losses_can_be_accepted() {
    let mut documents = export(&generated(11, 1_500));
    let gates = documents[4].1.clone();
    let lines: Vec<&str> = gates.split_inclusive('\n').collect();
    documents[4].1 = lines[..lines.len() / 2].concat();
    let (_folder, path) = file("a.zip", zip(&documents));
    assert!(load(&path).is_err());
    let loaded = load_with(&path, Losses::Accepted).unwrap();
    assert_eq!(loaded.map.systems().len(), 1_500);
    assert!(loaded.warnings.len() > 100);
}

// Names in other languages and the class of wormholes are in the export
#[test]
fn names_in_other_languages_and_classes_of_wormholes_are_read() {
    let mut documents = export(&small_parts());
    documents[3].1 = documents[3]
        .1
        .replace(
            "{\"de\":\"anders\",\"en\":\"Jita\"}",
            "{\"de\":\"Jita\",\"en\":\"Jita\",\"ru\":\"\u{416}\u{438}\u{442}\u{430}\",\"zh\":\"\u{5409}\u{4ed6}\"}",
        )
        .replace(&format!("\"_key\":{},", id_of("J000001")), "\"_key\":31000001,\"wormholeClassID\":3,");
    let map = loaded("a", zip(&documents)).unwrap().map;
    let jita = map.system_by_name("Jita");
    assert_eq!(map.system_by_name("\u{5409}\u{4ed6}"), jita);
    assert_eq!(map.system_by_name("\u{436}\u{438}\u{442}\u{430}"), jita);
    // What several systems are called is not the name of one.
    assert_eq!(map.system_by_name("anders"), None);
    let hole = map.system_by_id(31_000_001).unwrap();
    assert_eq!(map.space(hole).to_string(), "wormhole space, class 3");
}
