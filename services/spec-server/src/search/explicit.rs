//! The index that is built on command. Searches use it unchanged.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use service_host::{ReplaceError, Stamp, replace};

use super::file::{FileError, INDEX_BYTES, decode, encode};
use super::index::{Index, Weights};
use super::{SearchError, folder};
use crate::model::Spec;

/// Builds the explicit index of the project at `root`, completely or not at all, and returns its path. It does not
/// contain vectors: a searcher with a model makes the missing ones.
///
/// # Errors
/// [`SearchError::Write`]. The index is then unchanged.
pub fn build(root: &Path, specs: &[Arc<Spec>]) -> Result<PathBuf, SearchError> {
    let folder = folder::path(root);
    let path = index_file(&folder);
    let mut index = Index::default();
    index.update(specs);
    let bytes = encode(&index);
    if bytes.len() as u64 > INDEX_BYTES {
        let problem = FileError::Large { bytes: bytes.len() as u64, most: INDEX_BYTES };
        return Err(SearchError::Index { path, problem });
    }
    folder::prepare(&folder).map_err(|error| SearchError::Write { path: folder.clone(), error })?;
    replace(&path, &bytes).map_err(|error| SearchError::Write {
        path: path.clone(),
        error: match error {
            ReplaceError::Io { error, .. } => error,
            other => std::io::Error::other(other),
        },
    })?;
    Ok(path)
}

/// Reads the index in `folder` if its stamp differs from `known`, the one at the last read.
pub(super) fn read_if_changed(
    folder: &Path,
    known: Option<&Stamp>,
    weights: Weights,
) -> Result<Option<(Stamp, Index)>, SearchError> {
    let path = index_file(folder);
    let failed = |problem: FileError| SearchError::Index { path: path.clone(), problem };
    let stamp = Stamp::of(&path).map_err(|error| failed(error.into()))?;
    let Some(stamp) = stamp else {
        return Err(SearchError::NoIndex(path));
    };
    if known == Some(&stamp) {
        return Ok(None);
    }
    let bytes = folder::read(&path, INDEX_BYTES).map_err(failed)?;
    let index = decode(&bytes, weights).map_err(failed)?;
    Ok(Some((stamp, index)))
}

fn index_file(folder: &Path) -> PathBuf {
    folder.join("index")
}
