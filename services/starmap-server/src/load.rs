//! Reading a map from any known file, and writing it as one file.
//!
//! The format of a file is recognized by its content, never by its name alone:
//!
//! - the cache of ARIA, `universe_cache.json`, also packed with gzip;
//! - tables in CSV, as Fuzzwork exports them (`mapSolarSystems.csv`, `mapSolarSystemJumps.csv`,
//!   `mapConstellations.csv`, `mapRegions.csv`) or in a plainer form (`systems.csv`, `stargates.csv`,
//!   `constellations.csv`, `regions.csv`, `positions.csv`), each also packed with gzip: their folder, or one of them
//!   with the others beside it;
//! - the official Static Data Export in JSON Lines: the zip as it is downloaded, or its folder, unpacked;
//! - what [`write()`] makes.
//!
//! A file that cannot be read completely is refused, and so is one whose parts do not agree ([`Losses`]). Single
//! entries that name missing ones are left out and reported as [`Warning`]s.

mod archive;
mod aria;
mod built;
mod content;
mod environment;
mod error;
mod folder;
mod header;
mod json;
mod losses;
mod sde;
mod source;
mod tables;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use service_host::ReplaceError;

use crate::map::{Map, Parts, Warning};
use content::Content;
pub use environment::{GraphEnvironment, graph_path};
pub use error::{Foreign, LoadError, Problem, Table};
pub(crate) use json::without_mark;
pub use losses::Losses;
use losses::Totals;
pub use source::{MAX_ARCHIVE_BYTES, MAX_ENTRY_BYTES, MAX_LINE_BYTES, MAX_TEXT_BYTES};

/// A map that was read.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The map.
    pub map: Map,
    /// Which entries of the file were left out or changed.
    pub warnings: Vec<Warning>,
    /// The format of the file.
    pub format: Format,
}

/// What a map was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// What [`write()`] makes.
    Own,
    /// The cache of ARIA.
    Json,
    /// Tables in CSV.
    Csv,
    /// The official Static Data Export in JSON Lines.
    Sde,
}

/// The result of a format's reader: the parts of a map and the entries that were left out.
#[derive(Debug, Default)]
struct Read {
    parts: Parts,
    warnings: Vec<Warning>,
    /// The members of the first entry that lacks something, by what it lacks.
    members: BTreeMap<&'static str, String>,
    /// The ids of stargates that systems list and that have not been read yet, with the system.
    listed: BTreeMap<u32, u32>,
}

/// Reads the map at `path`, a file or a folder.
///
/// # Errors
/// [`LoadError`], which names the file, what is wrong with it and what would be valid.
pub fn load(path: &Path) -> Result<Loaded, LoadError> {
    load_with(path, Losses::Refused)
}

/// The same, and a map that has lost much of itself may be accepted.
///
/// # Errors
/// [`LoadError`]
pub fn load_with(path: &Path, losses: Losses) -> Result<Loaded, LoadError> {
    let metadata = fs::metadata(path).map_err(|error| Problem::from(error).at(path))?;
    if metadata.is_dir() {
        let (read, format) = folder::read(path)?;
        return finish(read, format, losses).map_err(|problem| problem.at(path));
    }
    if !metadata.is_file() {
        return Err(Problem::NotAFile.at(path));
    }
    let at = |problem: Problem| problem.at(path);
    let head = source::head(path).map_err(at)?;
    let (read, format) = match content::of(&head) {
        Content::Zip => (archive::read(path).map_err(at)?, Format::Sde),
        Content::Foreign(foreign) => return Err(at(Problem::Foreign(foreign))),
        Content::Own => {
            let bytes = source::whole(path).map_err(at)?;
            (built::read(json::without_mark(&bytes)).map_err(at)?, Format::Own)
        }
        Content::Json => {
            let bytes = source::whole(path).map_err(at)?;
            if sde::is_lines(&bytes) {
                folder::beside_lines(path)?
            } else {
                (aria::read(&bytes).map_err(at)?, Format::Json)
            }
        }
        Content::Table(_) => folder::beside_csv(path)?,
    };
    finish(read, format, losses).map_err(at)
}

/// Writes the map at `path`, either completely or not at all. Missing parent folders are created.
///
/// # Errors
/// [`ReplaceError`] with the I/O error. A file that existed before is then unchanged.
pub fn write(map: &Map, path: &Path) -> Result<(), ReplaceError> {
    let parent = source::parent(path);
    fs::create_dir_all(&parent).map_err(|error| ReplaceError::Io { path: parent, error })?;
    service_host::replace(path, &encode(map))
}

/// A map as [`write()`] writes it. The same map always gives the same bytes.
pub fn encode(map: &Map) -> Vec<u8> {
    built::write(map)
}

fn finish(read: Read, format: Format, losses: Losses) -> Result<Loaded, Problem> {
    let totals = Totals::of(&read);
    let Read { parts, mut warnings, members, .. } = read;
    let judge = |warnings: &[Warning]| match (losses, totals.lost(warnings, &members, format)) {
        (Losses::Refused, Some(lost)) => Err(Problem::Losses(lost)),
        _ => Ok(()),
    };
    judge(&warnings)?;
    let (map, more) = Map::new(parts)?;
    warnings.extend(more);
    judge(&warnings)?;
    Ok(Loaded { map, warnings, format })
}

impl Loaded {
    /// The first `few` warnings, one per line, and a line that counts the rest.
    pub fn warnings_in_brief(&self, few: usize) -> Vec<String> {
        let mut lines: Vec<String> =
            self.warnings.iter().take(few).map(Warning::to_string).collect();
        match self.warnings.len().saturating_sub(few) {
            0 => {}
            1 => lines.push("one more entry is left out or changed".to_owned()),
            more => lines.push(format!("{more} more entries are left out or changed")),
        }
        lines
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Own => "a map built by starmap-server",
            Self::Json => "an ARIA universe cache (JSON)",
            Self::Csv => "tables (CSV)",
            Self::Sde => "the Static Data Export (JSON Lines)",
        })
    }
}
