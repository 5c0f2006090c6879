//! The Static Data Export as it is downloaded: a zip with a document for each table.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use flate2::bufread::DeflateDecoder;
use rawzip::{
    CompressionMethod, FileReader, RECOMMENDED_BUFFER_SIZE, ZipArchive, ZipArchiveEntryWayfinder,
};

use super::Read;
use super::error::{Foreign, Problem};
use super::sde::{self, Document};
use super::source::MAX_ARCHIVE_BYTES;

/// The most entries of an archive. The export has about 60.
const MAX_ENTRIES: usize = 10_000;

/// Where a document is in an archive, and how it is packed.
struct EntryLocation {
    at: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
}

/// Reads the documents of the map, unpacking them one after the other in pieces. All other entries are skipped.
pub(super) fn read(path: &Path) -> Result<Read, Problem> {
    let file = File::open(path)?;
    if file.metadata()?.len() > MAX_ARCHIVE_BYTES {
        return Err(Problem::TooLarge { what: "the file".to_owned(), most: MAX_ARCHIVE_BYTES });
    }
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let archive = ZipArchive::from_file(file, &mut buffer).map_err(Problem::damaged)?;
    let locations = find(&archive, &mut buffer)?;
    sde::complete(&locations)?;
    let mut read = Read::default();
    for (document, location) in locations {
        let entry = archive.get_entry(location.at).map_err(Problem::damaged)?;
        let packed = BufReader::new(entry.reader());
        // Size and checksum are checked at the end, so every document is read to its end.
        let unpacked: Box<dyn std::io::Read> = match location.method {
            CompressionMethod::STORE => Box::new(packed),
            _ => Box::new(DeflateDecoder::new(packed)),
        };
        let result = sde::read(document, entry.verifying_reader(unpacked), &mut read);
        result.map_err(|problem| match problem {
            Problem::Io(_) | Problem::Line { .. } => {
                Problem::damaged(format_args!("{}: {problem}", document.name()))
            }
            other => other,
        })?;
    }
    Ok(read)
}

fn find(
    archive: &ZipArchive<FileReader>,
    buffer: &mut [u8],
) -> Result<BTreeMap<Document, EntryLocation>, Problem> {
    let mut locations = BTreeMap::new();
    let (mut yaml, mut tables) = (false, false);
    let mut entries = archive.entries(buffer);
    for count in 0.. {
        let Some(entry) = entries.next_entry().map_err(Problem::damaged)? else {
            break;
        };
        if count == MAX_ENTRIES {
            return Err(Problem::damaged(format_args!("it lists more than {MAX_ENTRIES} entries")));
        }
        let path = entry.file_path();
        let name = path.as_ref().rsplit(|byte| *byte == b'/').next();
        let name = str::from_utf8(name.unwrap_or_default()).unwrap_or_default();
        yaml |= name == "mapSolarSystems.yaml" || name == "solarsystem.yaml";
        tables |= name.starts_with("mapSolarSystems.csv") || name == "systems.csv";
        let Some(document) = Document::of_name(name) else {
            continue;
        };
        let method = entry.compression_method();
        let known = [CompressionMethod::STORE, CompressionMethod::DEFLATE].contains(&method);
        if !known || entry.flags().is_encrypted() {
            return Err(Problem::damaged(format_args!(
                "{name} is encrypted or packed in another way than the Static Data Export is"
            )));
        }
        let at = entry.wayfinder();
        if locations.insert(document, EntryLocation { at, method }).is_some() {
            return Err(Problem::damaged(format_args!("{name} is in it twice")));
        }
    }
    match (locations.contains_key(&Document::Systems), yaml) {
        (true, _) => Ok(locations),
        (false, true) => Err(Problem::Foreign(Foreign::YAML_ARCHIVE)),
        (false, false) if tables => Err(Problem::Foreign(Foreign::TABLE_ARCHIVE)),
        (false, false) => Err(Problem::Foreign(Foreign::ARCHIVE)),
    }
}
