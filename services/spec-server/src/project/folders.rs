//! The entries of a project's folders: listed once, and again when a folder has changed.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use service_host::Stamp;

use super::cache::SETTLED;
use super::error::is_missing;

/// The most entries of one folder that are read.
pub(super) const MAX_ENTRIES: usize = 1_000_000;

/// The most files of one folder that are kept, apart from specs.
const MAX_FILES: usize = 10_000;

/// How many folders are cached. Beyond this number, the folders are listed again each time.
const MAX_FOLDERS: usize = 50_000;

/// How long a cached list is trusted. A folder's stamp changes whenever an entry is added, removed or renamed (POSIX
/// requires this for each such call), but some user-space file systems do not comply.
const BELIEVED: Duration = Duration::from_secs(60);

/// The folders that were listed, by path.
#[derive(Debug, Default)]
pub(super) struct Folders(RwLock<HashMap<PathBuf, KnownFolder>>);

#[derive(Debug)]
struct KnownFolder {
    stamp: Stamp,
    at: Instant,
    list: Arc<List>,
}

/// The entries of a folder.
#[derive(Debug, Default)]
pub(super) struct List {
    /// The entries by name. Of files that are not called `spec.md`, only the first [`MAX_FILES`] are included.
    pub(super) entries: Vec<FolderEntry>,
    /// The number of entries of any kind.
    pub(super) count: usize,
    /// Whether some files are left out.
    pub(super) is_cut: bool,
}

/// One entry of a folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FolderEntry {
    /// Its name, with replacement characters for bytes that are not UTF-8.
    pub(super) name: String,
    /// Whether the name has such replacement characters.
    pub(super) is_odd: bool,
    pub(super) what: What,
}

impl FolderEntry {
    /// Whether it is a file that is not hidden.
    pub(super) fn is_file(&self) -> bool {
        self.what == What::File && !self.is_odd && !self.name.starts_with('.')
    }
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    Folder,
    Link,
    File,
}

impl Folders {
    /// The current entries of `folder`; empty if it does not exist.
    ///
    /// # Errors
    /// The I/O error.
    pub(super) fn list(&self, folder: &Path) -> io::Result<Arc<List>> {
        let stamp = match Stamp::of(folder) {
            Ok(Some(stamp)) => stamp,
            Ok(None) => return Ok(Arc::default()),
            Err(error) if is_missing(&error) => return Ok(Arc::default()),
            Err(error) => return Err(error),
        };
        if let Some(list) = self.known(folder, &stamp) {
            return Ok(list);
        }
        let now = SystemTime::now();
        let list = match List::read(folder) {
            Ok(list) => Arc::new(list),
            Err(error) if is_missing(&error) => return Ok(Arc::default()),
            Err(error) => return Err(error),
        };
        // It was changed while it was listed, or so recently that the next change may not alter its stamp. It is listed
        // again.
        let is_settled = stamp.age(now).is_some_and(|age| age >= SETTLED);
        if is_settled && Stamp::of(folder).is_ok_and(|now| now.as_ref() == Some(&stamp)) {
            let known = KnownFolder { stamp, at: Instant::now(), list: Arc::clone(&list) };
            let mut folders = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if folders.len() >= MAX_FOLDERS && !folders.contains_key(folder) {
                folders.clear();
            }
            folders.insert(folder.to_owned(), known);
        }
        Ok(list)
    }

    fn known(&self, folder: &Path, stamp: &Stamp) -> Option<Arc<List>> {
        let folders = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let known = folders.get(folder)?;
        (known.stamp == *stamp && known.at.elapsed() < BELIEVED).then(|| Arc::clone(&known.list))
    }
}

impl List {
    fn read(folder: &Path) -> io::Result<Self> {
        let mut list = Self::default();
        let mut files = 0;
        for entry in fs::read_dir(folder)?.take(MAX_ENTRIES) {
            let entry = entry?;
            list.count += 1;
            let (name, is_odd) = match entry.file_name().into_string() {
                Ok(name) => (name, false),
                Err(name) => (name.to_string_lossy().into_owned(), true),
            };
            let kind = entry.file_type()?;
            let what = if kind.is_dir() {
                What::Folder
            } else if kind.is_symlink() {
                What::Link
            } else {
                What::File
            };
            files += usize::from(what == What::File);
            if what == What::File && files > MAX_FILES && name != "spec.md" && !is_odd {
                list.is_cut = true;
            } else {
                list.entries.push(FolderEntry { name, is_odd, what });
            }
        }
        list.entries.sort_unstable();
        Ok(list)
    }
}
