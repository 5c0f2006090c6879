//! This program's own format: small, read in one go, and refused if a single bit of it was changed.
//!
//! ```text
//! magic      8 bytes   0x93 "STARMAP"
//! version    2 bytes   1, little-endian
//! checksum  32 bytes   SHA-256 of the body
//! body:
//!   version of the data                  text
//!   regions                              count, then for each: id, name
//!   constellations                       count, then for each: id, name, place of its region
//!   systems                              count, then for each: id, name, place of its constellation, security,
//!                                        1 and x, y, z if its position is known, else 0
//!   gates                                for each system: count, then the place of each neighbour that comes after it
//! ```
//!
//! All lists are sorted by id. A place is the number of entries before. Counts and places are *whole numbers* in LEB128
//! (7 bits per byte, the lowest first, the highest bit set in all bytes but the last). An id is stored as the
//! difference to the id of the entry before, the place of a neighbour as the difference to the neighbour before (for
//! the first one, to the system itself). A text is its length in bytes, then UTF-8. [`number`] describes how other
//! numbers are written. All values are restored exactly.

mod number;
mod reader;

use sha2::{Digest as _, Sha256};

use super::Read;
use super::error::Problem;
use crate::map::{
    MAX_CONSTELLATIONS, MAX_GATES, MAX_REGIONS, MAX_SYSTEMS, Map, Parts, PartsConstellation,
    PartsRegion, PartsSystem,
};
use reader::{Reader, whole};

/// How a file of this format begins. The first byte cannot begin a text in UTF-8.
pub(super) const MAGIC: [u8; 8] = *b"\x93STARMAP";

const VERSION: u16 = 1;

/// The length of the checksum.
const CHECKSUM: usize = 32;

/// Writes a map.
pub(super) fn write(map: &Map) -> Vec<u8> {
    let mut body = Vec::new();
    text(&mut body, map.version());
    count(&mut body, map.regions().len());
    let mut before = 0;
    for it in map.regions() {
        id(&mut body, &mut before, it.id);
        text(&mut body, &it.name);
    }
    count(&mut body, map.constellations().len());
    before = 0;
    for it in map.constellations() {
        id(&mut body, &mut before, it.id);
        text(&mut body, &it.name);
        count(&mut body, it.region.index());
    }
    count(&mut body, map.systems().len());
    before = 0;
    for it in map.systems() {
        id(&mut body, &mut before, it.id);
        text(&mut body, &it.name);
        count(&mut body, it.constellation.index());
        number::write(&mut body, it.security);
        body.push(u8::from(it.position.is_some()));
        for metres in it.position.iter().flatten() {
            number::write(&mut body, *metres);
        }
    }
    for index in map.indices() {
        let later = map.neighbours(index).iter().filter(|to| **to > index);
        count(&mut body, later.clone().count());
        let mut before = index.index();
        for to in later {
            count(&mut body, to.index() - before);
            before = to.index();
        }
    }
    let mut file = MAGIC.to_vec();
    file.extend(VERSION.to_le_bytes());
    file.extend(Sha256::digest(&body));
    file.extend(body);
    file
}

/// Reads a map.
pub(super) fn read(file: &[u8]) -> Result<Read, Problem> {
    let mut reader = Reader::new(file);
    if reader.array() != Some(MAGIC) {
        return Err(Problem::damaged("it does not begin as a map does"));
    }
    match reader.array().map(u16::from_le_bytes) {
        Some(VERSION) => {}
        Some(version) if version > VERSION => return Err(Problem::Newer(version)),
        _ => return Err(Problem::damaged("it has no version")),
    }
    let checksum: Option<[u8; CHECKSUM]> = reader.array();
    if checksum != Some(Sha256::digest(reader.rest()).into()) {
        return Err(Problem::damaged("its checksum does not match its content; build it again"));
    }
    // After a correct checksum, only a deliberately crafted file can be wrong from here on.
    let parts = body(&mut reader);
    let parts = parts.filter(|_| reader.rest().is_empty());
    let parts = parts.ok_or_else(|| Problem::damaged("its body does not follow the format"))?;
    Ok(Read { parts, warnings: Vec::new() })
}

fn body(reader: &mut Reader<'_>) -> Option<Parts> {
    let mut parts = Parts { version: reader.text()?, ..Parts::default() };
    let mut before = 0;
    for _ in 0..reader.count(MAX_REGIONS)? {
        parts.regions.push(PartsRegion { id: reader.id(&mut before)?, name: reader.text()? });
    }
    before = 0;
    for _ in 0..reader.count(MAX_CONSTELLATIONS)? {
        parts.constellations.push(PartsConstellation {
            id: reader.id(&mut before)?,
            name: reader.text()?,
            region: parts.regions.get(reader.index()?)?.id,
        });
    }
    before = 0;
    for _ in 0..reader.count(MAX_SYSTEMS)? {
        parts.systems.push(PartsSystem {
            id: reader.id(&mut before)?,
            name: reader.text()?,
            constellation: parts.constellations.get(reader.index()?)?.id,
            security: number::read(reader)?,
            position: position(reader)?,
        });
    }
    for (place, system) in parts.systems.iter().enumerate() {
        let mut to = place;
        for _ in 0..reader.count(MAX_GATES - parts.gates.len())? {
            to = to.checked_add(reader.index()?)?;
            parts.gates.push((system.id, parts.systems.get(to)?.id));
        }
    }
    Some(parts)
}

/// `None` if the bytes are neither a position nor the mark for a missing one.
fn position(reader: &mut Reader<'_>) -> Option<Option<[f64; 3]>> {
    match reader.array()? {
        [0] => Some(None),
        [1] => Some(Some([number::read(reader)?, number::read(reader)?, number::read(reader)?])),
        _ => None,
    }
}

fn count(body: &mut Vec<u8>, count: usize) {
    // A count on any machine fits into 64 bits.
    whole(body, u64::try_from(count).unwrap_or(u64::MAX));
}

fn id(body: &mut Vec<u8>, before: &mut u32, id: u32) {
    whole(body, u64::from(id.saturating_sub(*before)));
    *before = id;
}

fn text(body: &mut Vec<u8>, text: &str) {
    count(body, text.len());
    body.extend(text.as_bytes());
}
