//! Tables in CSV.

use std::fs;

use starmap_server::load::{Format, load};
use starmap_server::map::{Kind, Map, Parts, Warning};
use tempfile::TempDir;

use super::refusal;
use crate::assert_has;
use crate::common::{
    assert_same, fuzzwork, generated, gzip, id_of, put, real, real_folder, small, small_parts,
};

/// A folder with the tables of a map.
fn folder(parts: &Parts) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &fuzzwork(parts));
    folder
}

/// [`folder`] of the small map, with one of its files changed.
fn changed(name: &str, change: impl Fn(String) -> String) -> TempDir {
    let folder = folder(&small_parts());
    let path = folder.path().join(name);
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
    folder
}

#[test]
fn a_folder_of_tables_or_any_of_them_is_a_map() {
    let folder = folder(&small_parts());
    put(folder.path(), &[("readme.txt", "hello".to_owned()), ("a.bin", "\0".to_owned())]);
    fs::create_dir(folder.path().join("old")).unwrap();
    for name in ["", "mapSolarSystems.csv", "mapRegions.csv", "mapSolarSystemJumps.csv"] {
        let loaded = load(&folder.path().join(name)).unwrap();
        assert_same(&loaded.map, &small());
        assert_eq!(loaded.format, Format::Csv);
        assert_eq!(loaded.warnings, []);
    }
}

#[test]
fn names_of_files_order_of_columns_quotes_and_line_ends_do_not_matter() {
    let systems = |text: String| {
        let mut lines = text.lines().map(|line| {
            let mut fields: Vec<&str> = line.split(',').collect();
            fields.reverse();
            let fields: Vec<String> = fields.iter().map(|it| format!("\"{it}\"")).collect();
            fields.join(";")
        });
        let head = lines.next().unwrap().to_uppercase();
        let lines: String = lines.map(|line| format!("{line}\r\n")).collect();
        format!("\u{feff}{head}\r\n{lines}")
    };
    let folder = changed("mapSolarSystems.csv", systems);
    let from = |name: &str| folder.path().join(name);
    fs::rename(from("mapSolarSystems.csv"), from("a.txt")).unwrap();
    let jumps = fs::read(from("mapSolarSystemJumps.csv")).unwrap();
    fs::remove_file(from("mapSolarSystemJumps.csv")).unwrap();
    fs::write(from("b.csv.gz"), gzip(&jumps)).unwrap();
    assert_same(&load(folder.path()).unwrap().map, &small());
    assert_same(&load(&from("b.csv.gz")).unwrap().map, &small());
}

#[test]
fn quoted_names_may_have_commas_in_them() {
    let quote = |text: String| text.replace("Ostra", "\"Ostra, \"\"the\"\" old\"");
    let folder = changed("mapSolarSystems.csv", quote);
    let map = load(folder.path()).unwrap().map;
    assert!(map.system_by_name("ostra, \"the\" old").is_some());
}

#[test]
fn positions_may_have_a_table_of_their_own() {
    let mut parts = small_parts();
    let mut positions = "system_id,x_m,y_m,z_m\n".to_owned();
    for system in &mut parts.systems {
        if let Some([x, y, z]) = system.position.take() {
            positions += &format!("{},{x:e},{y:e},{z:e}\n", system.id);
        }
    }
    let folder = folder(&parts);
    let path = folder.path().join("positions.csv.gz");
    fs::write(path, gzip(positions.as_bytes())).unwrap();
    // The planets of a system are not where the system is.
    let planets = ("planets.csv", "itemID,solarSystemID,x,y,z\n1,30000001,5,5,5\n".to_owned());
    put(folder.path(), &[planets]);
    assert_same(&load(folder.path()).unwrap().map, &small());
}

#[test]
fn the_same_map_has_the_same_version_in_any_order_and_another_one_another() {
    let version = |parts: &Parts| load(folder(parts).path()).unwrap().map.version().to_owned();
    let mut parts = small_parts();
    let first = version(&parts);
    assert_eq!(first.len(), 12);
    parts.systems.reverse();
    parts.gates.reverse();
    assert_eq!(version(&parts), first);
    for change in [
        |parts: &mut Parts| parts.systems[3].security = 0.4503,
        |parts: &mut Parts| parts.systems[3].position = None,
        |parts: &mut Parts| parts.systems[3].name = "Kestral".to_owned(),
        |parts: &mut Parts| _ = parts.gates.drain(..2),
    ] {
        let mut parts = small_parts();
        change(&mut parts);
        assert_ne!(version(&parts), first);
    }
}

#[test]
fn a_system_without_security_is_left_out_and_told() {
    let folder = changed("mapSolarSystems.csv", |text| text.replace(",0.9459,", ",None,"));
    let loaded = load(folder.path()).unwrap();
    assert!(loaded.warnings.contains(&Warning::Incomplete {
        kind: Kind::System,
        id: id_of("Jita"),
        lacks: "security status",
    }));
    assert_eq!(loaded.map.systems().len(), 19);
}

#[test]
fn what_is_wrong_with_a_row_is_said_with_its_line() {
    let (systems, regions) = ("mapSolarSystems.csv", "mapRegions.csv");
    let jumps = "mapSolarSystemJumps.csv";
    let not_an_id = "line 3: solarSystemID is \"abc\", not an id";
    let not_a_number = |text: &str| format!("line 2: security is \"{text}\", not a number");
    let too_high = "the security status 1.9459 of system 30000001";
    let too_few = "line 2: 5 fields, but the first line names 6 columns";
    let open_quote = "a quoted field continues in the next line";
    let twice = "two regions have the id 10000001";
    let empty = "fromSolarSystemID is \"\", not an id";
    for (name, from, to, what) in [
        (systems, "30000002", "abc", not_an_id),
        (systems, "0.9459", "high", &not_a_number("high")),
        (systems, "0.9459", "NaN", &not_a_number("NaN")),
        (systems, "0.9459", "1.9459", too_high),
        (regions, ",Northmark", "", too_few),
        (regions, "1.0", "\"1.0", open_quote),
        (regions, "10000002", "10000001", twice),
        (jumps, "2,30000002,", "2,,", empty),
    ] {
        let folder = changed(name, |text| text.replace(from, to));
        let said = refusal(folder.path());
        assert!(said.contains(what), "{what}: {said}");
    }
    let folder = folder(&small_parts());
    fs::write(folder.path().join("mapRegions.csv"), b"regionID,regionName\n1,M\xfcnchen\n")
        .unwrap();
    let said = refusal(folder.path());
    assert_has(&said, &["mapRegions.csv: line 2: regionName is not UTF-8"]);
}

#[test]
fn a_table_that_lacks_and_one_too_many_are_named() {
    for (name, what) in [
        (
            "mapSolarSystemJumps.csv",
            "no table of stargates beside the others: mapSolarSystemJumps.csv",
        ),
        ("mapConstellations.csv", "no table of constellations"),
        ("mapRegions.csv", "no table of regions"),
    ] {
        let folder = folder(&small_parts());
        fs::remove_file(folder.path().join(name)).unwrap();
        let said = refusal(folder.path());
        assert!(said.contains(what), "{said}");
    }
    let folder = folder(&small_parts());
    let own = folder.path().join("mapRegions.csv");
    fs::copy(&own, folder.path().join("copy.csv")).unwrap();
    let said = refusal(folder.path());
    assert_has(&said, &["copy.csv and mapRegions.csv both hold regions"]);
    // One of the two is named.
    assert_same(&load(&own).unwrap().map, &small());
}

#[test]
fn a_large_map_comes_back() {
    let parts = generated(6, 3_000);
    let loaded = load(folder(&parts).path()).unwrap();
    assert_same(&loaded.map, &Map::new(parts).unwrap().0);
}

#[test]
fn the_folder_of_the_real_map_is_the_real_map_with_positions() {
    let (Some(folder), Some(real)) = (real_folder(), real()) else {
        return;
    };
    let loaded = load(&folder).unwrap();
    assert_same(&loaded.map, &real);
    assert_eq!(loaded.warnings, []);
    let known = |it: &&starmap_server::map::System| it.position.is_some();
    assert_eq!(loaded.map.systems().iter().filter(known).count(), 8_436);
}
