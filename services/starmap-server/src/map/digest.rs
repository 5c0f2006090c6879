//! A version for data without one.

use sha2::{Digest as _, Sha256};

use super::{Map, Parts};

/// The first twelve hexadecimal digits of SHA-256 over the map. They are the same for the same map from any file, and
/// differ for other maps. What some files lack has no part in it: ids of gates, names in other languages, classes.
pub(super) fn digest(map: &Map) -> String {
    let Parts { regions, constellations, systems, gates, .. } = map.parts();
    let all = serde_json::json!([regions, constellations, systems, gates]);
    let first = Sha256::digest(all.to_string()).iter().take(6).fold(0, |number, byte| {
        let number: u64 = number;
        number << 8 | u64::from(*byte)
    });
    format!("{first:012x}")
}
