//! The Static Data Export in JSON Lines.

use std::fs;

use starmap_server::load::{Format, load};
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
            incomplete(Kind::System, id_of("Pell"), "security status"),
            incomplete(Kind::System, id_of("Lonely"), "security status"),
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
