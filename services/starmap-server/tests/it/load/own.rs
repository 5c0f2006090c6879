//! The own format.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use sha2::{Digest as _, Sha256};
use starmap_server::load::{Format, encode, load, write};
use starmap_server::map::{Map, Parts};
use tempfile::TempDir;

use super::{file, loaded, refusal};
use crate::assert_has;
use crate::common::{assert_same, generated, gzip, real, small, small_parts};

#[test]
fn a_map_comes_back_as_it_was_encode() {
    for map in [small(), Map::new(generated(8, 2_000)).unwrap().0] {
        let loaded = loaded("universe.graph", encode(&map)).unwrap();
        assert_same(&loaded.map, &map);
        assert_eq!(loaded.map.version(), map.version());
        assert_eq!(loaded.warnings, []);
        assert_eq!(loaded.format, Format::Own);
        // The same map is the same bytes, and gzip around them does no harm.
        assert_eq!(encode(&loaded.map), encode(&map));
        assert_same(&super::loaded("a", gzip(&encode(&map))).unwrap().map, &map);
    }
}

#[test]
fn the_real_map_comes_back_and_is_small() {
    let Some(map) = real() else { return };
    let file = encode(&map);
    assert!(file.len() < 300_000, "{}", file.len());
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
fn every_flipped_bit_and_every_length_is_refused() {
    let good = encode(&small());
    let (_folder, path) = file("map", &good);
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        load(&path).is_err()
    };
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(refused(&bad), "bit {bit}");
    }
    for length in 0..good.len() {
        assert!(refused(&good[..length]), "{length} bytes");
    }
    assert!(refused(&[good.as_slice(), b"\0"].concat()));
    assert!(!refused(&good));
}

#[test]
fn damage_and_a_newer_version_are_told_apart() {
    let mut file = encode(&small());
    *file.last_mut().unwrap() ^= 1;
    assert_has(&said(&file), &["the file is damaged: its checksum"]);
    file[8] = 2;
    assert_has(&said(&file), &["version 2 of the map format, which is newer"]);
    assert_has(&said(&file[..9]), &["it has no version"]);
}

fn said(bytes: &[u8]) -> String {
    let (_folder, path) = file("map", bytes);
    refusal(&path)
}

/// A file with the right checksum around this body.
fn sealed(body: &[u8]) -> Vec<u8> {
    [b"\x93STARMAP".as_slice(), &1_u16.to_le_bytes(), &Sha256::digest(body), body].concat()
}

#[test]
fn the_layout_is_as_it_is_documented() {
    let many_digits: f64 = 0.1 + 0.2;
    let body = [
        b"\x01v".as_slice(),
        b"\x01\x07\x01R",
        b"\x01\x08\x01C\x00",
        // Id 9, security 0.5 as 5 × 10⁻¹, a position of 3 × 10², −0.0, and a number of too many digits.
        b"\x02\x09\x01A\x00\x15\x0a\x01\x18\x06\x16\x01\xff",
        &many_digits.to_le_bytes(),
        // Id 9 + 200, security −1, no position.
        b"\xc8\x01\x01B\x00\x16\x03\x00",
        b"\x01\x01\x00",
    ]
    .concat();
    let map = loaded("a", sealed(&body)).unwrap().map;
    let [a, b] = map.systems() else { panic!("{map:?}") };
    assert_eq!((a.id, &*a.name, a.security), (9, "A", 0.5));
    let bits = |position: Option<[f64; 3]>| position.unwrap().map(f64::to_bits);
    assert_eq!(bits(a.position), bits(Some([300.0, -0.0, many_digits])));
    assert_eq!((b.id, &*b.name, b.security, b.position), (209, "B", -1.0, None));
    assert_eq!((map.version(), map.connections()), ("v", 1));
    assert_eq!(encode(&map), sealed(&body));
}

#[test]
fn a_body_made_to_deceive_is_refused_without_believing_its_lengths() {
    let endless = [0xff; 9];
    for body in [
        b"".as_slice(),
        b"\x05v",
        // A text, a count of regions, and one of systems, of 2⁶³ and more.
        &[endless.as_slice(), b"\x01"].concat(),
        &[b"\x00".as_slice(), &endless, b"\x01"].concat(),
        &[b"\x00\x00\x00".as_slice(), &endless, b"\x01"].concat(),
        // A number of more than 64 bits, and one that does not end.
        &[b"\x00".as_slice(), &endless, b"\x7f"].concat(),
        &[b"\x00".as_slice(), &[0x80; 9], b"\x02\x00\x00"].concat(),
        &[0x80; 100],
        // A region that is not there, an id beyond the last, an exponent beyond all, a name that is no text.
        b"\x00\x00\x01\x07\x01C\x00",
        b"\x00\x02\xff\xff\xff\xff\x0f\x01R\x01\x01S\x00\x00",
        b"\x00\x01\x07\x01R\x01\x07\x01C\x00\x01\x07\x01S\x00\x2d\x00\x00\x00",
        b"\x00\x01\x07\x01\xff\x00\x00",
        // A neighbour that is not there.
        b"\x00\x01\x07\x01R\x01\x07\x01C\x00\x01\x07\x01S\x00\x15\x00\x00\x01\x05",
        // Something behind the end.
        b"\x00\x01\x07\x01R\x01\x07\x01C\x00\x01\x07\x01S\x00\x15\x00\x00\x00\x00",
    ] {
        let said = said(&sealed(body));
        assert!(said.contains("its body does not follow the format"), "{body:?}: {said}");
    }
    // The last but one without its neighbour, and the last without what is behind it, are maps.
    let fine = b"\x00\x01\x07\x01R\x01\x07\x01C\x00\x01\x07\x01S\x00\x15\x00\x00\x00";
    assert_eq!(loaded("a", sealed(fine)).unwrap().map.systems().len(), 1);
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

    #[test]
    fn any_body_under_the_right_checksum_is_a_map_or_refused(
        body in prop::collection::vec(any::<u8>(), 0..200),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let _ = loaded("a", sealed(&body));
        let mut good = encode(&small()).split_off(42);
        let place = place.index(good.len());
        good[place] = byte;
        if let Ok(loaded) = loaded("a", sealed(&good)) {
            prop_assert_eq!(loaded.map.systems().len(), 20);
        }
    }
}

#[test]
fn what_is_no_file_is_said() {
    assert_has(
        &refusal(Path::new("/nowhere/at/all")),
        &["there is no such file; build a map with `starmap-server build SOURCE`"],
    );
}
