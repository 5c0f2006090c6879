//! What is no map, and what is said about it.

use std::fs;

use starmap_server::load::write;
use tempfile::TempDir;

use super::{file, refusal};
use crate::assert_has;
use crate::common::{export, gzip, put, small, small_parts, zip};

#[test]
fn every_other_file_is_refused_with_what_it_is_and_what_to_do() {
    let build = "build a map with `starmap-server build SOURCE`, where SOURCE is ARIA's";
    let tar = [[b'x'; 257].as_slice(), b"ustar\0", &[0; 200]].concat();
    let yaml_export = zip(&[("mapSolarSystems.yaml", "30000001:\n  name: x\n".to_owned())]);
    let (packed, unpack) = ("packed in a way that is not read", "unpack it");
    let (pickle, unknown) = ("a Python pickle", "nothing known begins like this file");
    let no_systems = "it has no mapSolarSystems.jsonl";
    let cases: [(&[u8], &str, &str); 26] = [
        (b"", "the file is empty", build),
        (b" \r\n\n", "the file is empty", build),
        (b"\x80\x02}q\x00.", "a Python pickle; reading one runs whatever code is in it", build),
        (b"\x80\x04\x95\x10\0\0\0", pickle, build),
        (b"\x80\x05\x95\x10\0\0\0\0\0\0\0\x8c\x06igraph", pickle, build),
        (&gzip(b"\x80\x04\x95\x10\0\0\0"), pickle, build),
        (b"ARIA\0\x01\0\0\0\x10", "ARIA's .universe file, which has a Python pickle in it", build),
        (b"SQLite format 3\0\x10", "an SQLite database", build),
        (b"BZh91AY&SY", packed, unpack),
        (b"\xfd7zXZ\0\0", packed, unpack),
        (b"\x28\xb5\x2f\xfd\0", packed, unpack),
        (b"7z\xbc\xaf\x27\x1c", packed, unpack),
        (b"Rar!\x1a\x07\x01", packed, unpack),
        (&gzip(&gzip(b"{}")), packed, unpack),
        (&tar, "a tar archive", unpack),
        (b"<!DOCTYPE html>\n<p>404", "a page of the web, perhaps the error page", build),
        (b"\xef\xbb\xbf\n <HTML>", "a page of the web", build),
        (b"<?xml version=\"1.0\"?>", "XML", build),
        (b"30000001:\n  name: x\n", "YAML, which is not read; the same data", build),
        (b"---\nborder: true\n", "YAML", build),
        (&yaml_export, "the Static Data Export as YAML", "-jsonl.zip"),
        (&zip(&[("a.txt", "x".to_owned())]), no_systems, build),
        (&zip(&[]), no_systems, build),
        (b"\xff\xfe{\0}\0", "text in UTF-16", "save it as UTF-8"),
        (b"typeID,typeName\n18,Plagioclase\n", "does not name the columns of a map", build),
        (b"\x7fELF\x02\x01\x01\0", unknown, build),
    ];
    for (bytes, what, advice) in cases {
        let (_folder, path) = file("universe.graph", bytes);
        let said = refusal(&path);
        let fits = said.contains(what) && said.contains(advice);
        assert!(fits && said.contains("universe.graph: "), "{what}: {said}");
    }
}

/// The whole sentence for each published form of the map's data that is not read.
#[test]
fn forms_of_the_data_that_are_not_read_are_refused_in_these_words() {
    let unpacked = TempDir::new().unwrap();
    fs::write(unpacked.path().join("mapSolarSystems.yaml"), "30000001:\n").unwrap();
    let older = TempDir::new().unwrap();
    fs::create_dir(older.path().join("fsd")).unwrap();
    let tables = ["mapSolarSystems.csv", "mapSolarSystemJumps.csv"];
    let fuzzwork = zip(&tables.map(|name| (name, "a,b\n".to_owned())));
    let yaml = zip(&[("mapSolarSystems.yaml", "30000001:\n".to_owned())]);
    let esi = "[30000001, 30000002]";
    let [fuzzwork, yaml, esi] =
        [fuzzwork.as_slice(), &yaml, esi.as_bytes()].map(|it| file("map", it));
    let no_yaml = "this is the Static Data Export as YAML, which is not read; download the one whose name ends in -jsonl.zip";
    for (path, sentence) in [
        (
            fuzzwork.1.as_path(),
            "this zip has CSV tables in it; of zips only the Static Data Export is read; unpack it and give the path of \
             what is in it, a file or a folder",
        ),
        (
            &esi.1,
            "this is a list in JSON, such as the public API answers; it has no names, gates and security together; build \
             a map with `starmap-server build SOURCE`, where SOURCE is ARIA's universe_cache.json, a folder of \
             Fuzzwork's CSV files (mapSolarSystems, mapSolarSystemJumps, mapConstellations, mapRegions), or the official \
             eve-online-static-data-…-jsonl.zip",
        ),
        (&yaml.1, no_yaml),
        (unpacked.path(), no_yaml),
        (older.path(), no_yaml),
    ] {
        assert_eq!(refusal(path), format!("{}: {sentence}", path.display()));
    }
}

#[test]
fn a_word_is_no_map() {
    let (_folder, path) = file("a", "hello\n");
    assert!(refusal(&path).contains("nothing known begins like this file"));
}

#[test]
fn a_folder_without_a_map_says_what_would_be_one() {
    let folder = TempDir::new().unwrap();
    let said = refusal(folder.path());
    assert_has(&said, &["no file in this folder is a table of solar systems; a map is ARIA's"]);
    write(&small(), &folder.path().join("universe.graph")).unwrap();
    let said = refusal(folder.path());
    assert_has(&said, &["universe.graph looks like a map by itself: give its path instead"]);
}

#[test]
fn a_line_of_another_document_is_no_map() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &export(&small_parts()));
    put(folder.path(), &[("types.jsonl", "{\"_key\":18}\n{\"_key\":19}\n".to_owned())]);
    let said = refusal(&folder.path().join("types.jsonl"));
    assert_has(&said, &["types.jsonl: this is JSON, but not"]);
}

#[test]
fn a_folder_of_very_many_files_is_not_searched() {
    let folder = TempDir::new().unwrap();
    for number in 0..=1_000 {
        fs::write(folder.path().join(number.to_string()), "").unwrap();
    }
    assert!(refusal(folder.path()).contains("more than 1000 files in this folder"));
}

#[test]
fn gzip_that_unpacks_to_very_much_is_refused() {
    let bomb = gzip(&[b"{\"systems\":".as_slice(), &vec![b' '; 64 << 20]].concat());
    assert!(bomb.len() < 1 << 20, "{}", bomb.len());
    let (_folder, path) = file("a.json.gz", bomb);
    let said = refusal(&path);
    assert_has(&said, &["what is packed in the file is larger than the 67108864 bytes"]);
}

#[cfg(unix)]
#[test]
fn a_socket_is_neither_file_nor_folder() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    assert!(refusal(&path).contains("neither a file nor a folder"));
}
