//! Access to the files of an export, which are in a folder or in a zip.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use zip::ZipArchive;

use super::{ImportError, io_at};

/// How many entries of a folder or a zip are examined.
pub(super) const MAX_ENTRIES: usize = 100_000;

/// The file of Telegram Desktop.
pub(super) const TELEGRAM_FILE: &str = "result.json";

/// The bytes of a file of the export at `export`, by its path within it, which never leads out of it: at most `most`.
///
/// # Errors
/// [`ImportError`] for a path that is absolute, has `..` in it, leads out by a link, or is not there;
/// [`ImportError::TooLarge`].
pub fn attachment(export: &Path, relative: &str, most: u64) -> Result<Vec<u8>, ImportError> {
    let path = || PathBuf::from(relative);
    let refuse =
        |problem: &str| Err(ImportError::Unknown { path: path(), problem: problem.to_owned() });
    let plain = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
    if relative.is_empty() || relative.contains(['\\', '\0']) || !plain(Path::new(relative)) {
        return refuse("an attachment is named by a path within its export");
    }
    // What it has grown by since its size was taken, and what it unpacks to beyond its size, is left out.
    let read = |reader: &mut dyn Read, size: u64| {
        if size > most {
            return Err(ImportError::TooLarge { path: path(), size, most });
        }
        let mut bytes = Vec::new();
        reader.take(size).read_to_end(&mut bytes).map_err(io_at(export))?;
        Ok(bytes)
    };
    if let Some((zip, inner)) = zip_in(export, relative) {
        return attachment(&zip, inner, most);
    }
    if is_zip(export)? {
        let mut zip = open_zip(export)?;
        let inner = format!("/{relative}");
        let Some(name) = file_names(&zip).find(|name| name == relative || name.ends_with(&inner))
        else {
            return refuse("is not in the export");
        };
        let mut entry = zip.by_name(&name).map_err(|error| damaged_zip(export, &error))?;
        if !entry.is_file() || entry.is_symlink() {
            return refuse("is not a file");
        }
        let size = entry.size();
        return read(&mut entry, size);
    }
    let folder = folder_of(export);
    let root = folder.canonicalize().map_err(io_at(folder))?;
    let below = root.join(relative);
    let real = below.canonicalize().map_err(io_at(&below))?;
    if !real.starts_with(&root) {
        return refuse("leads out of the export");
    }
    // Checked before it is opened: opening a pipe would wait for a writer.
    let metadata = fs::metadata(&real).map_err(io_at(&real))?;
    if !metadata.is_file() {
        return refuse("is not a file");
    }
    read(&mut File::open(&real).map_err(io_at(&real))?, metadata.len())
}

/// A zip in a folder of exports, however deep, and the path in it: `WhatsApp Chat - Anna.zip/1.jpg`.
fn zip_in<'r>(export: &Path, relative: &'r str) -> Option<(PathBuf, &'r str)> {
    let root = export.canonicalize().ok().filter(|root| root.is_dir())?;
    relative.match_indices('/').find_map(|(at, _)| {
        let real = root.join(relative.get(..at)?).canonicalize().ok()?;
        let is_zip = real.starts_with(&root) && real.is_file() && is_zip(&real).ok()?;
        is_zip.then(|| (real, known_range::text(relative, at + 1..)))
    })
}

/// The folder of an export: itself, or the one its file is in.
pub(super) fn folder_of(export: &Path) -> &Path {
    if export.is_dir() {
        export
    } else {
        export.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }
}

/// The entries of a folder in the order of their names.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(io_at(folder))?.take(MAX_ENTRIES) {
        entries.push(entry.map_err(io_at(folder))?.path());
    }
    entries.sort();
    Ok(entries)
}

pub(super) fn is_zip(path: &Path) -> Result<bool, ImportError> {
    if path.is_dir() {
        return Ok(false);
    }
    let mut magic = Vec::new();
    let file = File::open(path).map_err(io_at(path))?;
    file.take(4).read_to_end(&mut magic).map_err(io_at(path))?;
    Ok(magic == b"PK\x03\x04" || magic == b"PK\x05\x06")
}

pub(super) fn open_zip(path: &Path) -> Result<ZipArchive<BufReader<File>>, ImportError> {
    let file = File::open(path).map_err(io_at(path))?;
    let zip = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged_zip(path, &error))?;
    if zip.len() > MAX_ENTRIES {
        return Err(ImportError::Unknown {
            path: path.to_owned(),
            problem: format!("a zip of more than {MAX_ENTRIES} entries is not an export"),
        });
    }
    Ok(zip)
}

pub(super) fn damaged_zip(path: &Path, error: &zip::result::ZipError) -> ImportError {
    ImportError::Damaged {
        path: path.to_owned(),
        place: "zip".to_owned(),
        problem: error.to_string(),
    }
}

/// Names that are not text do not belong to an export.
pub(super) fn file_names<R: Read + io::Seek>(zip: &ZipArchive<R>) -> impl Iterator<Item = String> {
    zip.file_names().filter_map(|name| Some(name.ok()?.into_owned()))
}
