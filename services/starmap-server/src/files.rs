//! Small files that a user keeps in addition to the map. They are read whole, up to a size limit, and only if they are
//! regular files.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::load::without_mark;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// An I/O error.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
    /// The file has the wrong content.
    #[error("{}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what would be valid.
        problem: String,
    },
}

/// The contents of a file, without a byte order mark, and the time it was written.
pub(crate) struct Contents {
    pub(crate) bytes: Vec<u8>,
    pub(crate) written: Option<SystemTime>,
}

impl FileError {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        Self::Io { path, error }
    }

    pub(crate) fn content(path: &Path, problem: impl Into<String>) -> Self {
        let (path, problem) = (path.to_owned(), problem.into());
        Self::Content { path, problem }
    }
}

/// Reads a file of at most `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> Result<Contents, FileError> {
    let io = |error| FileError::io(path, error);
    // Reading a pipe would wait for its writer.
    if !fs::metadata(path).map_err(io)?.is_file() {
        return Err(FileError::content(path, "this is not a file"));
    }
    let file = File::open(path).map_err(io)?;
    let written = file.metadata().map_err(io)?.modified().ok();
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > most {
        let problem = format!("it is larger than the {most} bytes that such a file may have");
        return Err(FileError::content(path, problem));
    }
    let mark = bytes.len() - without_mark(&bytes).len();
    bytes.drain(..mark);
    Ok(Contents { bytes, written })
}
