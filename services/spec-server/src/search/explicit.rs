//! `--index explicit`: nothing is searched until `spec-server index` has run once. The index itself is made from the
//! current specs in any case, since that takes less time than reading it; only a marker is kept.

use std::fs;
use std::path::{Path, PathBuf};

use super::{SearchError, folder};

/// Marks the project at `root` as indexed, and returns the path of the marker.
///
/// # Errors
/// [`SearchError::Write`].
pub fn build(root: &Path) -> Result<PathBuf, SearchError> {
    let folder = folder::path(root);
    let path = marker(&folder);
    let failed = |path: &Path, error| SearchError::Write { path: path.to_owned(), error };
    folder::prepare(&folder).map_err(|error| failed(&folder, error))?;
    if !path.is_file() {
        fs::write(&path, "").map_err(|error| failed(&path, error))?;
    }
    Ok(path)
}

/// Checks for the marker in `folder`.
pub(super) fn check(folder: &Path) -> Result<(), SearchError> {
    let path = marker(folder);
    if path.is_file() { Ok(()) } else { Err(SearchError::NoIndex(path)) }
}

fn marker(folder: &Path) -> PathBuf {
    folder.join("index")
}
