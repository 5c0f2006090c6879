//! The folders that are watched.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use service_host::{Changes, Depth};

use crate::project::{Layout, Project};

/// The folders to watch, each with its identity: a new folder with the same name must be watched again.
///
/// The folders of specs and changes need not exist. The folders above them, up to the root, are watched so that their
/// creation is noticed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Folders(BTreeMap<PathBuf, (bool, u64)>);

impl Folders {
    /// The existing folders of a project. Blocks.
    pub(super) fn of(project: &Project) -> Self {
        let layout = project.layout();
        let mut folders = Self::default();
        for whole in [&layout.specs, &layout.changes] {
            let above = whole.ancestors().skip(1);
            for folder in above.take_while(|above| above.starts_with(project.root())) {
                folders.add(folder, false);
            }
            folders.add(whole, true);
        }
        folders
    }

    fn add(&mut self, folder: &Path, whole: bool) {
        // A folder below a recursively watched one is already watched.
        let covered =
            folder.ancestors().any(|above| self.0.get(above).is_some_and(|(whole, _)| *whole));
        if let Ok(metadata) = fs::metadata(folder)
            && metadata.is_dir()
            && !covered
        {
            self.0.insert(folder.to_owned(), (whole, identity(&metadata)));
        }
    }

    /// Whether one of them, or one above it, was moved, created or removed, or may have been. It may then no longer be
    /// watched, even if it has returned.
    pub(super) fn are_touched(&self, changes: &Changes) -> bool {
        match changes {
            Changes::Many => true,
            Changes::Paths(paths) => paths.iter().any(|path| self.0.contains_key(path)),
        }
    }

    /// The folders in the form that a watcher takes.
    pub(super) fn to_watch(&self) -> Vec<(&Path, Depth)> {
        let depth = |whole: bool| if whole { Depth::Tree } else { Depth::Entries };
        let folders = self.0.iter();
        folders.map(|(path, (whole, _))| (path.as_path(), depth(*whole))).collect()
    }
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    metadata.ino()
}

/// Without inode numbers, the creation time of the folder in milliseconds.
#[cfg(not(unix))]
fn identity(metadata: &fs::Metadata) -> u64 {
    let made = metadata.created().ok();
    let since = made.and_then(|made| made.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Whether changes are about specs and changes, and not only about other files next to their folders.
pub(super) fn concern(layout: &Layout, changes: &Changes) -> bool {
    let Changes::Paths(paths) = changes else {
        return true;
    };
    let folders = [&layout.specs, &layout.changes, &layout.archive];
    paths.iter().any(|path| {
        folders.iter().any(|folder| path.starts_with(folder) || folder.starts_with(path))
    })
}
