//! The file that `build` writes: the parts of a map as JSON, packed with gzip, whose checksum covers all of it.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::Read;
use super::error::Problem;
use crate::map::{Map, Parts};

/// How the file begins, unpacked. The number is its version.
pub(super) const BEGIN: &str = "{\"starmap\":";

const VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Built {
    starmap: u32,
    map: Parts,
}

/// Writes a map.
pub(super) fn write(map: &Map) -> Vec<u8> {
    let mut file = GzEncoder::new(Vec::new(), Compression::default());
    let text = serde_json::to_vec(&Built { starmap: VERSION, map: map.parts() });
    // A map has no maps with keys that are not text, and writing to memory does not fail.
    let _ = file.write_all(&text.unwrap_or_default());
    file.finish().unwrap_or_default()
}

/// Reads a map.
pub(super) fn read(text: &[u8]) -> Result<Read, Problem> {
    let version = text.get(BEGIN.len()..).unwrap_or_default();
    let version: String = version
        .iter()
        .take(9)
        .take_while(|it| it.is_ascii_digit())
        .map(|it| char::from(*it))
        .collect();
    match version.parse() {
        Ok(VERSION) => {}
        Ok(newer) if newer > VERSION => return Err(Problem::Newer(newer)),
        _ => return Err(Problem::damaged("it has no version")),
    }
    let Built { map: parts, .. } = serde_json::from_slice(text).map_err(Problem::damaged)?;
    Ok(Read { parts, ..Read::default() })
}
