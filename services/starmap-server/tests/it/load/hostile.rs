//! Bytes of any kind: a map or a refusal, never a crash, never a map that does not hang together.

use proptest::prelude::*;
use starmap_server::load::{encode, load};
use starmap_server::verify::{passed, verify};
use tempfile::TempDir;

use super::loaded;
use crate::common::{aria, export, fuzzwork, gzip, put, small, small_parts, zip};

/// Changes of a good file: bytes replaced, put in, cut out, and the end cut off.
#[derive(Debug, Clone)]
enum Change {
    Replace(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Truncate(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let place = any::<prop::sample::Index>;
    prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, byte)| Change::Replace(at, byte)),
        (place(), "[\\[\\]{}\",:0-9e\\-\n; ]{1,6}")
            .prop_map(|(at, it)| Change::Insert(at, it.into_bytes())),
        (place(), 1..40_usize).prop_map(|(at, count)| Change::Remove(at, count)),
        place().prop_map(Change::Truncate),
    ]
}

fn changed(good: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for change in changes {
        if bytes.is_empty() {
            break;
        }
        match change {
            Change::Replace(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Change::Insert(at, more) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
            Change::Remove(at, count) => {
                let at = at.index(bytes.len());
                bytes.drain(at..(at + count).min(bytes.len()));
            }
            Change::Truncate(at) => bytes.truncate(at.index(bytes.len())),
        }
    }
    bytes
}

/// Whatever was loaded hangs together, but for what only the file can know.
fn sound(bytes: &[u8]) {
    if let Ok(loaded) = loaded("a", bytes) {
        let checks = verify(&loaded.map);
        let known = ["hubs", "position"];
        let own = checks.into_iter().filter(|it| !known.iter().any(|word| it.name.contains(word)));
        let own: Vec<_> = own.collect();
        assert!(passed(&own), "{own:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), magic in 0..6_usize) {
        let magic: &[u8] = [b"".as_slice(), b"{", b"PK\x03\x04", b"\x1f\x8b", b"\x93STARMAP\x01\0", b"solarSystemID,name,security,constellationID\n"][magic];
        sound(&[magic, &bytes].concat());
    }

    #[test]
    fn a_cache_that_was_changed(changes in prop::collection::vec(change(), 1..4)) {
        sound(&changed(aria(&small_parts()).to_string().as_bytes(), &changes));
    }

    #[test]
    fn a_packed_cache_that_was_changed(changes in prop::collection::vec(change(), 1..4)) {
        let bad = changed(&gzip(aria(&small_parts()).to_string().as_bytes()), &changes);
        sound(&bad);
    }

    #[test]
    fn an_archive_that_was_changed(changes in prop::collection::vec(change(), 1..4)) {
        sound(&changed(&zip(&export(&small_parts())), &changes));
    }

    #[test]
    fn tables_that_were_changed(which in 0..4_usize, changes in prop::collection::vec(change(), 1..4)) {
        let folder = TempDir::new().unwrap();
        let files = fuzzwork(&small_parts());
        put(folder.path(), &files);
        let (name, text) = &files[which];
        std::fs::write(folder.path().join(name), changed(text.as_bytes(), &changes)).unwrap();
        if let Ok(loaded) = load(folder.path()) {
            let again = self::loaded("own", encode(&loaded.map)).unwrap().map;
            crate::common::assert_same(&again, &loaded.map);
        }
    }

    #[test]
    fn an_own_file_that_was_changed(changes in prop::collection::vec(change(), 1..4)) {
        let good = encode(&small());
        let bad = changed(&good, &changes);
        // Only what means nothing may change, such as the time in the header of gzip.
        if let Ok(loaded) = loaded("a", &bad) {
            crate::common::assert_same(&loaded.map, &small());
        }
    }
}
