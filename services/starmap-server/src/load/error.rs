//! Why a file was not read, and what helps.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::map::MapError;

/// A map that was not read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct LoadError {
    /// The file or folder in which the problem is.
    pub path: PathBuf,
    /// The problem.
    pub problem: Problem,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// There is nothing at the path.
    #[error(
        "there is no such file; build a map with `starmap-server build SOURCE`, where SOURCE is {SOURCES}"
    )]
    NotThere,
    /// A pipe, a device or a socket.
    #[error("this is neither a file nor a folder")]
    NotAFile,
    /// An I/O error.
    #[error("{0}")]
    Io(io::Error),
    /// A file with other content.
    #[error("{0}")]
    Foreign(Foreign),
    /// Larger than the limit.
    #[error("{what} is larger than the {most} bytes that are read of it")]
    TooLarge {
        /// The file, a line of it, or an entry of an archive.
        what: String,
        /// The limit in bytes.
        most: u64,
    },
    /// The file was changed after it was written, or does not follow its format.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    /// Written by a newer version of this program.
    #[error(
        "the file has version {0} of the map format, which is newer than this program; build it again from its source"
    )]
    Newer(u32),
    /// A line that cannot be parsed.
    #[error("line {line}: {reason}")]
    Line {
        /// The number of the line, counted from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The folder contains only a part of a map: a table is missing.
    #[error("there is no table of {0} beside the others: {hint}", hint = .0.hint())]
    NoTable(Table),
    /// Two files that could both be the table.
    #[error(
        "{first} and {second} both hold {table}; keep the files of one map in a folder of their own"
    )]
    TwoTables {
        /// What both hold.
        table: Table,
        /// The name of one.
        first: String,
        /// The name of the other.
        second: String,
    },
    /// A folder of tables that are packed in a way that is not read.
    #[error("{0} is packed in a way that is not read (gzip is); unpack the files of the folder")]
    PackedTables(String),
    /// A folder without a map. It may hold a file that looks like one.
    #[error("no file in this folder is a table of solar systems{}", match .0 {
        Some(name) => format!("; {name} looks like a map by itself: give its path instead"),
        None => format!("; a map is {SOURCES}"),
    })]
    NoMap(Option<String>),
    /// A folder of very many files.
    #[error(
        "there are more than {0} files in this folder; keep the files of a map in one of their own"
    )]
    TooManyFiles(usize),
    /// Much of the map is missing, or its parts contradict each other.
    #[error("the parts of the map do not agree: {0}. --accept-losses takes it all the same")]
    Losses(String),
    /// The entries do not make a valid map.
    #[error("this makes no map: {0}")]
    Map(MapError),
}

/// A kind of file that is not a map: what it is, and what helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foreign(&'static str, Advice);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Advice {
    Build,
    Unpack,
    None,
}

impl Foreign {
    /// An empty file.
    pub(super) const EMPTY: Self = Self("the file is empty", Advice::Build);
    /// What an earlier version of this program built.
    pub(super) const OLDER: Self =
        Self("an earlier version of this program built this file", Advice::Build);
    /// A Python pickle, such as igraph writes.
    pub(super) const PICKLE: Self = Self(
        "this is a Python pickle; reading one runs whatever code is in it, so this program never does",
        Advice::Build,
    );
    /// The `.universe` file of ARIA, which contains a pickle.
    pub(super) const ARIA_GRAPH: Self = Self(
        "this is ARIA's .universe file, which has a Python pickle in it; reading one runs whatever code is in \
                 it, so this program never does",
        Advice::Build,
    );
    /// A database.
    pub(super) const SQLITE: Self =
        Self("this is an SQLite database, which is not read", Advice::Build);
    /// bzip2, xz, zstd, 7z, RAR.
    pub(super) const PACKED: Self =
        Self("this file is packed in a way that is not read (gzip and zip are)", Advice::Unpack);
    /// A tar archive.
    pub(super) const TAR: Self = Self("this is a tar archive, which is not read", Advice::Unpack);
    /// A page of the web, or other XML.
    pub(super) const HTML: Self = Self(
        "this is a page of the web, perhaps the error page of a download that failed, or other XML",
        Advice::Build,
    );
    /// YAML, such as the older Static Data Export.
    pub(super) const YAML: Self = Self(
        "this is YAML, which is not read; the same data is published as JSON Lines",
        Advice::Build,
    );
    /// JSON with other content.
    pub(super) const JSON: Self = Self(
        "this is JSON, but not ARIA's universe cache: it has no member \"systems\"",
        Advice::Build,
    );
    /// A list in JSON.
    pub(super) const JSON_LIST: Self = Self(
        "this is a list in JSON, such as the public API answers; it has no names, gates and security together",
        Advice::Build,
    );
    /// A zip with CSV tables in it.
    pub(super) const TABLE_ARCHIVE: Self = Self(
        "this zip has CSV tables in it; of zips only the Static Data Export is read",
        Advice::Unpack,
    );
    /// The Static Data Export as YAML, in a zip or unpacked.
    pub(super) const YAML_ARCHIVE: Self = Self(
        "this is the Static Data Export as YAML, which is not read; download the one whose name ends in \
                 -jsonl.zip",
        Advice::None,
    );
    /// A zip with other content.
    pub(super) const ARCHIVE: Self = Self(
        "this zip is not the Static Data Export: it has no mapSolarSystems.jsonl",
        Advice::Build,
    );
    /// Text in UTF-16.
    pub(super) const UTF_16: Self = Self("this is text in UTF-16; save it as UTF-8", Advice::None);
    /// A table with other columns.
    pub(super) const TABLE: Self = Self(
        "this is a table, but its first line does not name the columns of a map",
        Advice::Build,
    );
    /// Anything else.
    pub(super) const UNKNOWN: Self = Self("nothing known begins like this file", Advice::Build);
}

/// A table of a map that is made of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// The solar systems.
    Systems,
    /// The gates.
    Gates,
    /// The constellations.
    Constellations,
    /// The regions.
    Regions,
    /// The positions of the systems, if their own table lacks them.
    Positions,
}

/// The formats that can be read.
pub(super) const SOURCES: &str = "ARIA's universe_cache.json, a folder of Fuzzwork's CSV files \
     (mapSolarSystems, mapSolarSystemJumps, mapConstellations, mapRegions), \
     or the official eve-online-static-data-…-jsonl.zip";

impl Problem {
    pub(super) fn at(self, path: &Path) -> LoadError {
        LoadError { path: path.to_owned(), problem: self }
    }

    pub(super) fn damaged(reason: impl fmt::Display) -> Self {
        Self::Damaged(reason.to_string())
    }

    pub(super) fn line(line: u64, reason: impl fmt::Display) -> Self {
        let reason = reason.to_string();
        Self::Line { line, reason }
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotThere,
            _ => Self::Io(error),
        }
    }
}

impl From<MapError> for Problem {
    fn from(error: MapError) -> Self {
        Self::Map(error)
    }
}

impl Table {
    fn hint(self) -> &'static str {
        match self {
            Self::Systems => {
                "mapSolarSystems.csv or systems.csv, with columns for the id, the name, the security and the \
                 constellation, or mapSolarSystems.jsonl"
            }
            Self::Gates => {
                "mapSolarSystemJumps.csv with columns fromSolarSystemID and toSolarSystemID, stargates.csv with columns \
                 system_id and destination_system_id, or mapStargates.jsonl"
            }
            Self::Constellations => {
                "mapConstellations.csv or constellations.csv, with columns for the id, the name and the region, or \
                 mapConstellations.jsonl"
            }
            Self::Regions => {
                "mapRegions.csv or regions.csv, with columns for the id and the name, or mapRegions.jsonl"
            }
            Self::Positions => "positions.csv, with columns system_id, x, y and z",
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Systems => "solar systems",
            Self::Gates => "stargates",
            Self::Constellations => "constellations",
            Self::Regions => "regions",
            Self::Positions => "positions",
        })
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)?;
        match self.1 {
            Advice::Build => write!(
                f,
                "; build a map with `starmap-server build SOURCE`, where SOURCE is {SOURCES}"
            ),
            Advice::Unpack => {
                f.write_str("; unpack it and give the path of what is in it, a file or a folder")
            }
            Advice::None => Ok(()),
        }
    }
}
