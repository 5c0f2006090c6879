//! The entries of a project's folders.

use std::fs;
use std::io;
use std::path::Path;

use super::error::is_missing;

/// The most entries of one folder that are read.
pub(super) const MAX_ENTRIES: usize = 1_000_000;

/// The most files of one folder that are kept, apart from specs.
const MAX_FILES: usize = 10_000;

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

impl List {
    /// The current entries of `folder`; empty if it does not exist.
    ///
    /// # Errors
    /// The I/O error.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let mut list = Self::default();
        let mut files = 0;
        let entries = match fs::read_dir(folder) {
            Err(error) if is_missing(&error) => return Ok(list),
            entries => entries?,
        };
        for entry in entries.take(MAX_ENTRIES) {
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
