//! The folder `.spec-server` below the root of a project. This program can create all its files again, and a file in it
//! excludes it from version control.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

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

/// The contents of a file of at most `most` bytes. No more are read even if it grows in the meantime.
pub(super) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    let bytes = file.metadata()?.len();
    if bytes > most {
        return Err(io::Error::other(format!("it has {bytes} bytes, more than {most}")));
    }
    let mut content = Vec::new();
    file.take(most).read_to_end(&mut content)?;
    Ok(content)
}
