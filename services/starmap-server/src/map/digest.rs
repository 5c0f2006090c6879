//! A version for data without one.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::Map;

/// The first twelve hexadecimal digits of SHA-256 over the whole map. They are the same for the same map from any file,
/// and differ for other maps.
pub(super) fn digest(map: &Map) -> String {
    let mut sha = Sha256::new();
    let mut line = String::new();
    let mut add = |text: std::fmt::Arguments<'_>| {
        line.clear();
        // Writing to a string cannot fail.
        let _ = line.write_fmt(text);
        sha.update(&line);
    };
    for it in map.regions() {
        add(format_args!("r{} {}\n", it.id, it.name));
    }
    for it in map.constellations() {
        let region = map.region(it.region).id;
        add(format_args!("c{} {} {region}\n", it.id, it.name));
    }
    for (index, it) in map.indices().zip(map.systems()) {
        let constellation = map.constellation(it.constellation).id;
        let (id, security) = (it.id, it.security);
        add(format_args!("s{id} {} {security} {constellation}\n", it.name));
        if let Some([x, y, z]) = it.position {
            add(format_args!("p{x:e} {y:e} {z:e}\n"));
        }
        for to in map.neighbours(index).iter().filter(|to| **to > index) {
            add(format_args!("g{}\n", map.system(*to).id));
        }
    }
    let first =
        sha.finalize().iter().take(6).fold(0, |number, byte| number << 8 | u64::from(*byte));
    format!("{first:012x}")
}
