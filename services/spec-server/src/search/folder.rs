//! The folder `.spec-server` below the root of a project. This program can create all its files again, and a file in it
//! excludes it from version control.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::bytes::FileError;

/// The folder of a project.
pub(super) fn path(root: &Path) -> PathBuf {
    root.join(".spec-server")
}

/// Creates the folder if it does not exist.
pub(super) fn prepare(folder: &Path) -> io::Result<()> {
    make(folder)?;
    let ignore = folder.join(".gitignore");
    match fs::symlink_metadata(&ignore) {
        Ok(_) => Ok(()),
        Err(_) => fs::write(ignore, "*\n"),
    }
}

/// Creates a folder if it does not exist. A link is refused: it may lead out of the project, and files would be written
/// there.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::symlink_metadata(folder)?.is_dir() {
                Ok(())
            } else {
                Err(io::Error::other(
                    "is not a folder, or a link to one; remove it, then it is made again",
                ))
            }
        }
        made => made,
    }
}

/// The contents of a file, up to a size limit. No more bytes are read even if the file grows in the meantime.
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let mut file = fs::File::open(path)?;
    let bytes = file.metadata()?.len();
    let mut content = Vec::new();
    if bytes <= most {
        io::Read::by_ref(&mut file).take(most + 1).read_to_end(&mut content)?;
    }
    let bytes = bytes.max(content.len() as u64);
    if bytes <= most { Ok(content) } else { Err(FileError::Large { bytes, most }) }
}
