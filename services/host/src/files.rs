//! Files that are written whole or not at all, and never over what somebody else has written meanwhile.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::NamedTempFile;

/// What a file was like when it was read: enough to see that it is another one now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode: u64,
}

/// Why a file was not replaced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceError {
    /// Somebody else has written it since it was read.
    #[error("{} was changed by somebody else since it was read: nothing was written; read it again", .0.display())]
    Changed(PathBuf),
    /// The disk's word.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
}

impl Stamp {
    /// The stamp of the file at `path` as it is; `None` if there is none.
    ///
    /// # Errors
    /// The system's word.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(&metadata),
        }))
    }
}

/// Puts `contents` at `path`: written beside it, made durable, then renamed over it, so that a crash leaves the old
/// file or the new one. The permissions of the old file are kept; a new one has those that any new file has.
///
/// # Errors
/// [`ReplaceError::Io`]; the old file is then as it was.
pub fn replace(path: &Path, contents: &[u8]) -> Result<(), ReplaceError> {
    write(path, contents, |_| Ok(()))
}

/// [`replace`], unless the file is no longer as it was at `stamp` (`None`: it did not exist). Looked at just before the
/// rename, so that what was written before is never lost; two writers in the same instant are not told apart.
///
/// # Errors
/// [`ReplaceError`]; the file is then as it was.
pub fn replace_unless_changed(
    path: &Path,
    stamp: Option<&Stamp>,
    contents: &[u8],
) -> Result<(), ReplaceError> {
    write(path, contents, |io| {
        let now = Stamp::of(path).map_err(io)?;
        match now.as_ref() == stamp {
            true => Ok(()),
            false => Err(ReplaceError::Changed(path.to_owned())),
        }
    })
}

fn write(
    path: &Path,
    contents: &[u8],
    check: impl FnOnce(&dyn Fn(io::Error) -> ReplaceError) -> Result<(), ReplaceError>,
) -> Result<(), ReplaceError> {
    let io = |error| ReplaceError::Io {
        path: path.to_owned(),
        error,
    };
    // A bare name has the empty path as its parent.
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let mut beside = beside(parent).map_err(io)?;
    beside.write_all(contents).map_err(io)?;
    beside.as_file().sync_all().map_err(io)?;
    if let Ok(old) = fs::metadata(path) {
        beside
            .as_file()
            .set_permissions(old.permissions())
            .map_err(io)?;
    }
    check(&io)?;
    beside.persist(path).map_err(|error| io(error.error))?;
    // The rename is durable with the directory that has it.
    File::open(parent)
        .and_then(|parent| parent.sync_all())
        .map_err(io)
}

/// A file without a name to keep, in this folder. Who may read it is the user's to say (by his umask), as of any file that
/// he makes; a temporary file would be his alone.
fn beside(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}
