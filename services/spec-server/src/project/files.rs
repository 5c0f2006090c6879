//! Reading single files of a project, within its limits.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use service_host::Stamp;
use sha2::{Digest as _, Sha256};

use super::Limits;
use super::error::{ReadError, is_missing};
use super::folders::List;
use crate::model::Source;
use crate::parse::normalise;

/// Reads the files of one project.
#[derive(Debug)]
pub(super) struct Reader {
    /// The root, without symbolic links.
    root: PathBuf,
    limits: Limits,
}

/// A raw file that is to be changed.
#[derive(Debug, Clone)]
pub(crate) struct RawFile {
    /// Its path: the target, if it is a link.
    pub(crate) path: PathBuf,
    /// Its contents.
    pub(crate) bytes: Vec<u8>,
    /// Its stamp before it was read.
    pub(crate) stamp: Option<Stamp>,
}

impl Reader {
    pub(super) fn new(root: PathBuf, limits: Limits) -> Self {
        Self { root, limits }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// A path for answers: relative to the root.
    pub(super) fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_owned()
    }

    pub(super) fn io(&self, path: &Path, error: io::Error) -> ReadError {
        ReadError::Io { path: self.relative(path), error }
    }

    /// The current entries of `folder`; empty if it does not exist.
    pub(super) fn list(&self, folder: &Path) -> Result<List, ReadError> {
        List::of(folder).map_err(|error| self.io(folder, error))
    }

    /// Whether the folder `base` exists. Links in it are checked.
    pub(super) fn is_base(&self, base: &Path) -> Result<bool, ReadError> {
        let found = match fs::canonicalize(base) {
            Ok(found) => found,
            Err(error) if is_missing(&error) => return Ok(false),
            Err(error) => return Err(self.io(base, error)),
        };
        if !found.starts_with(&self.root) {
            return Err(ReadError::OutOfRoot(self.relative(base)));
        }
        if found.is_dir() {
            Ok(true)
        } else {
            Err(ReadError::NotA { wanted: "folder", path: self.relative(base) })
        }
    }

    /// Whether the nested folders `parts` exist below `base`, none of them a link.
    pub(super) fn is_folder_below(&self, base: &Path, parts: &[&str]) -> Result<bool, ReadError> {
        if !self.is_base(base)? {
            return Ok(false);
        }
        let mut path = base.to_owned();
        for part in parts {
            path.push(part);
            let metadata = match fs::symlink_metadata(&path) {
                Ok(metadata) => metadata,
                Err(error) if is_missing(&error) => return Ok(false),
                Err(error) => return Err(self.io(&path, error)),
            };
            if metadata.is_symlink() {
                return Err(self.linked_folder(&path));
            }
            if !metadata.is_dir() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn linked_folder(&self, path: &Path) -> ReadError {
        match fs::canonicalize(path) {
            Ok(found) if found.starts_with(&self.root) => ReadError::Refused {
                path: self.relative(path),
                problem: "is a symbolic link to a folder, and those are not followed; \
                          use the folder itself"
                    .to_owned(),
            },
            _ => ReadError::OutOfRoot(self.relative(path)),
        }
    }

    /// The file at `path`, whose folder is known to be in the project; `None` if it does not exist. A link to a file in
    /// the project is followed. A broken link counts as missing.
    pub(super) fn source(&self, path: &Path) -> Result<Option<Source>, ReadError> {
        let Some(found) = self.resolve(path)? else {
            return Ok(None);
        };
        let bytes = self.bytes(path, &found)?;
        let text = normalise(&bytes)
            .map_err(|problem| ReadError::NotUtf8 { path: self.relative(path), problem })?;
        Ok(Some(Source {
            path: self.relative(path),
            text: text.into(),
            hash: Sha256::digest(&bytes).into(),
        }))
    }

    /// The file at `path`, with its stamp before it was read.
    pub(super) fn raw(&self, path: &Path) -> Result<Option<RawFile>, ReadError> {
        let Some(found) = self.resolve(path)? else {
            return Ok(None);
        };
        let stamp = Stamp::of(&found).map_err(|error| self.io(path, error))?;
        let bytes = self.bytes(path, &found)?;
        Ok(Some(RawFile { path: found, bytes, stamp }))
    }

    /// Checks that the nearest existing folder above `path` is in the project.
    pub(super) fn holds(&self, path: &Path) -> Result<(), ReadError> {
        for folder in path.ancestors().skip(1) {
            match fs::canonicalize(folder) {
                Ok(found) if found.starts_with(&self.root) => return Ok(()),
                Err(error) if is_missing(&error) && fs::symlink_metadata(folder).is_err() => {}
                Err(error) if !is_missing(&error) => return Err(self.io(folder, error)),
                _ => return Err(ReadError::OutOfRoot(self.relative(folder))),
            }
        }
        Err(ReadError::OutOfRoot(path.to_owned()))
    }

    /// The path of the file at `path`, or its target if it is a link; `None` if it does not exist.
    fn resolve(&self, path: &Path) -> Result<Option<PathBuf>, ReadError> {
        let io = |error| self.io(path, error);
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        if !metadata.is_symlink() {
            return Ok(Some(path.to_owned()));
        }
        match fs::canonicalize(path) {
            Ok(found) if found.starts_with(&self.root) => Ok(Some(found)),
            Ok(_) => Err(ReadError::OutOfRoot(self.relative(path))),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(io(error)),
        }
    }

    /// The contents of the file `found`. Answers call it `path`.
    fn bytes(&self, path: &Path, found: &Path) -> Result<Vec<u8>, ReadError> {
        let io = |error| self.io(path, error);
        // This is checked before it is opened: opening a named pipe would wait for a writer.
        if !fs::metadata(found).map_err(io)?.is_file() {
            return Err(ReadError::NotA { wanted: "file", path: self.relative(path) });
        }
        let file = File::open(found).map_err(io)?;
        let mut bytes = Vec::new();
        let limit = self.limits.file_bytes;
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length <= limit) {
            Ok(bytes)
        } else {
            Err(ReadError::TooLarge { path: self.relative(path), limit })
        }
    }
}
