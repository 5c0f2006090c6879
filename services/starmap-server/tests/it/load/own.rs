//! The own format.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use starmap_server::load::{Format, encode, load, write};
use starmap_server::map::{Map, Parts};
use tempfile::TempDir;

use super::{file, loaded, refusal};
use crate::assert_has;
use crate::common::{assert_same, generated, gzip, id_of, index_of, real, small, small_parts};

#[test]
fn a_map_comes_back_as_it_was_encode() {
    for map in [small(), Map::new(generated(8, 2_000)).unwrap().0] {
        let loaded = loaded("universe.graph", encode(&map)).unwrap();
        assert_same(&loaded.map, &map);
        assert_eq!(loaded.map.version(), map.version());
        assert_eq!(loaded.warnings, []);
        assert_eq!(loaded.format, Format::Own);
        // The same map is the same bytes.
        assert_eq!(encode(&loaded.map), encode(&map));
    }
}

#[test]
fn the_real_map_comes_back_and_is_small() {
    let Some(map) = real() else { return };
    let file = encode(&map);
    assert!(file.len() < 600_000, "{}", file.len());
    assert_same(&loaded("a", file).unwrap().map, &map);
}

#[test]
fn it_is_written_with_the_folders_above_it_or_not_at_all() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("share/starmap-server/universe.graph");
    write(&small(), &path).unwrap();
    assert_same(&load(&path).unwrap().map, &small());
    // A file stands where a folder should be.
    let error = write(&small(), &path.join("below")).unwrap_err().to_string();
    assert!(error.contains("universe.graph"), "{error}");
    assert_same(&load(&path).unwrap().map, &small());
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn every_changed_byte_and_every_length_is_refused_or_changes_nothing() {
    let good = encode(&small());
    let (_folder, path) = file("map", &good);
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        match load(&path) {
            Err(_) => true,
            // Nothing depends on the time and the system in the header of gzip.
            Ok(loaded) => {
                assert_same(&loaded.map, &small());
                false
            }
        }
    };
    let changed = |bit: usize| {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        refused(&bad)
    };
    // Some bits of the header and of the padding mean nothing.
    let unnoticed = (0..good.len() * 8).filter(|bit| !changed(*bit)).count();
    assert!(unnoticed < 80, "{unnoticed}");
    for length in 0..good.len() {
        assert!(refused(&good[..length]), "{length} bytes");
    }
    assert!(!refused(&good));
}

#[test]
fn a_newer_and_an_older_version_are_told() {
    for (text, told) in [
        ("{\"starmap\":3,\"map\":{}}", "version 3 of the map format, which is newer"),
        ("{\"starmap\":1,\"map\":{}}", "it has no version"),
        ("{\"starmap\":2,\"map\":{\"systems\":[5]}}", "the file is damaged"),
        ("{\"starmap\":2,\"map\":{}}", "there is no system in it"),
    ] {
        assert_has(&said(text.as_bytes()), &[told]);
        assert_has(&said(&gzip(text.as_bytes())), &[told]);
    }
    assert_has(
        &said(b"\x93STARMAP\x01\0"),
        &["an earlier version of this program", "build SOURCE"],
    );
}

fn said(bytes: &[u8]) -> String {
    let (_folder, path) = file("map", bytes);
    refusal(&path)
}

#[test]
fn what_only_some_sources_have_comes_back_as_well() {
    let mut parts = small_parts();
    let id = id_of;
    parts.gate_ids =
        vec![(id("Jita"), id("Ostra"), 50_000_001), (id("Ostra"), id("Jita"), 50_000_002)];
    parts.other_names = vec![("吉他".to_owned(), id("Jita")), ("Жита".to_owned(), id("Jita"))];
    let (map, _) = Map::new(parts.clone()).unwrap();
    let again = loaded("a", encode(&map)).unwrap().map;
    let ends = |a, b| (index_of(&again, a), index_of(&again, b));
    let (jita, ostra) = ends("Jita", "Ostra");
    assert_eq!(again.stargate(jita, ostra), Some(50_000_001));
    assert_eq!(again.stargate(ostra, jita), Some(50_000_002));
    assert_eq!(again.behind(jita, 50_000_001), Some(ostra));
    assert_eq!(index_of(&again, "吉他"), jita);
    assert_eq!(index_of(&again, "ЖИТА"), jita);
    assert_eq!(again.parts(), map.parts());
}

proptest! {
    #[test]
    fn every_number_comes_back_bit_by_bit(
        security in -1.0..=1.0_f64,
        digits in -10_000..=10_000_i32,
        position in prop::array::uniform3(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO),
    ) {
        let mut parts: Parts = small_parts();
        parts.systems[0].security = security;
        parts.systems[0].position = Some(position);
        parts.systems[1].security = f64::from(digits) / 10_000.0;
        let (map, _) = Map::new(parts).unwrap();
        assert_same(&loaded("a", encode(&map)).unwrap().map, &map);
    }
}

#[test]
fn what_is_no_file_is_said() {
    assert_has(
        &refusal(Path::new("/nowhere/at/all")),
        &["there is no such file; build a map with `starmap-server build SOURCE`"],
    );
}
