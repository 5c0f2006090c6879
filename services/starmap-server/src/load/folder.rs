//! Finding the tables of one map: all tables in a folder, or those next to a given file.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::content::{self, Content};
use super::error::{Foreign, LoadError, Problem, Table};
use super::sde::{self, Document};
use super::{Format, Read, source, tables};

/// The most files of a folder that are looked at.
const MAX_FILES: usize = 1_000;

/// Reads the map in a folder: its tables in CSV, else in JSON Lines.
pub(super) fn read(folder: &Path) -> Result<(Read, Format), LoadError> {
    let at = |problem: Problem| problem.at(folder);
    let found = look(folder).map_err(at)?;
    if found.tables.iter().any(|(table, _)| *table == Table::Systems) {
        return in_csv(&found, folder, None);
    }
    if found.documents.contains_key(&Document::Systems) {
        return in_lines(&found, folder);
    }
    if let Some(packed) = found.packed {
        return Err(at(Problem::PackedTables(packed)));
    }
    let yaml = ["mapSolarSystems.yaml", "solarsystem.yaml", "fsd", "sde"];
    if found.whole.is_none() && yaml.iter().any(|name| folder.join(name).exists()) {
        return Err(at(Problem::Foreign(Foreign::YAML_ARCHIVE)));
    }
    Err(at(Problem::NoMap(found.whole)))
}

/// Reads a CSV table and the tables next to it. If another file contains the same table, the given one is used.
pub(super) fn beside_csv(path: &Path) -> Result<(Read, Format), LoadError> {
    let folder = source::parent(path);
    let found = look(&folder).map_err(|problem| problem.at(&folder))?;
    in_csv(&found, &folder, path.file_name().map(Path::new))
}

/// Reads a JSON Lines table and the tables next to it.
pub(super) fn beside_lines(path: &Path) -> Result<(Read, Format), LoadError> {
    if document_of(path).is_none() {
        return Err(Problem::Foreign(Foreign::JSON).at(path));
    }
    let folder = source::parent(path);
    let found = look(&folder).map_err(|problem| problem.at(&folder))?;
    in_lines(&found, &folder)
}

/// The contents of a folder.
#[derive(Debug, Default)]
struct FolderContents {
    /// In the order of their paths.
    tables: Vec<(Table, PathBuf)>,
    documents: BTreeMap<Document, PathBuf>,
    /// The name of a file that looks like a whole map.
    whole: Option<String>,
    /// The name of a table that is packed in a way that is not read.
    packed: Option<String>,
}

fn look(folder: &Path) -> Result<FolderContents, Problem> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        if paths.len() == MAX_FILES {
            return Err(Problem::TooManyFiles(MAX_FILES));
        }
        paths.push(entry?.path());
    }
    paths.sort();
    let mut found = FolderContents::default();
    for path in paths.into_iter().filter(|path| path.is_file()) {
        if let Some(document) = document_of(&path) {
            found.documents.insert(document, path);
            continue;
        }
        // A file that cannot be read is assumed not to be part of this map. If it is, a table is missing and the map is
        // refused.
        let Ok(head) = source::head(&path) else {
            continue;
        };
        match content::of(&head) {
            Content::Table(table) => found.tables.push((table, path)),
            Content::Own | Content::Zip | Content::Json => {
                found.whole = found.whole.or_else(|| Some(name_of(&path)));
            }
            Content::Foreign(Foreign::PACKED) if name_of(&path).contains("olarSystem") => {
                found.packed = found.packed.or_else(|| Some(name_of(&path)));
            }
            Content::Foreign(_) => {}
        }
    }
    Ok(found)
}

fn document_of(path: &Path) -> Option<Document> {
    Document::of_name(path.file_name()?.to_str()?)
}

fn in_csv(
    found: &FolderContents,
    folder: &Path,
    named: Option<&Path>,
) -> Result<(Read, Format), LoadError> {
    let is_named = |path: &Path| named.is_some() && path.file_name().map(Path::new) == named;
    let (first, others): (Vec<_>, Vec<_>) =
        found.tables.iter().partition(|(_, path)| is_named(path));
    let mut files: BTreeMap<Table, &Path> = BTreeMap::new();
    for (table, path) in first.into_iter().chain(others) {
        match files.entry(*table) {
            Entry::Vacant(free) => _ = free.insert(path),
            Entry::Occupied(taken) if is_named(taken.get()) => {}
            Entry::Occupied(taken) => {
                let problem = Problem::TwoTables {
                    table: *table,
                    first: name_of(taken.get()),
                    second: name_of(path),
                };
                return Err(problem.at(folder));
            }
        }
    }
    tables::complete(&files).map_err(|problem| problem.at(folder))?;
    Ok((tables::read(&files)?, Format::Csv))
}

fn in_lines(found: &FolderContents, folder: &Path) -> Result<(Read, Format), LoadError> {
    sde::complete(&found.documents).map_err(|problem| problem.at(folder))?;
    let mut read = Read::default();
    for (document, path) in &found.documents {
        File::open(path)
            .map_err(Problem::from)
            .and_then(|file| sde::read(*document, file, &mut read))
            .map_err(|problem| problem.at(path))?;
    }
    Ok((read, Format::Sde))
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
