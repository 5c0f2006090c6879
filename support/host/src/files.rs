//! Files that are written whole or not at all, and never over changes that another program made meanwhile.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The identity of a file or folder when it was read, to detect changes. For a folder it shows whether entries were
/// added, removed or renamed.
///
/// It includes the time of the last change (`ctime`), which no program can set. So a file that is replaced by one of
/// the same length and modification time counts as changed, too. Two changes within one tick of the file system's clock
/// cannot be distinguished: see [`Stamp::age`]. On systems other than Unix the stamp is only the length and the
/// modification time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Why a file was not replaced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceError {
    /// Another program has written it since it was read.
    #[error("{} was changed by another program since it was read: nothing was written; read it again", .0.display())]
    Changed(PathBuf),
    /// An I/O error.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl Stamp {
    /// The current stamp of the file or folder at `path`; `None` if it does not exist. Links are followed.
    ///
    /// # Errors
    /// The error of the system.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(Self::from(&metadata)))
    }

    /// How long before `now` the file was last changed; `None` if that is later than `now`. A file whose age exceeds a
    /// tick of the file system's clock (two seconds, for the slowest) has another stamp after the next change.
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        let (seconds, nanoseconds) = self.changed;
        let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
        now.duration_since(SystemTime::UNIX_EPOCH.checked_add(since)?).ok()
    }
}

#[cfg(unix)]
impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;

        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

#[cfg(not(unix))]
impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok();
        let since = modified.and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok());
        let modified = since.map_or((0, 0), |since| {
            let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
            (seconds, i64::from(since.subsec_nanos()))
        });
        Self { device: 0, inode: 0, length: metadata.len(), modified, changed: modified }
    }
}

/// Puts `contents` at `path`: written beside it, made durable, then renamed over it, so that a crash leaves the old
/// file or the new one. The permissions of the old file are kept; a new one has the default ones.
///
/// # Errors
/// [`ReplaceError::Io`]; the old file is then as it was.
pub fn replace(path: &Path, contents: &[u8]) -> Result<(), ReplaceError> {
    write(path, contents, |_| Ok(()))
}

/// [`replace`], unless the file has changed since `stamp` (`None`: it did not exist). Checked just before the rename,
/// so that earlier changes are never lost; two writers at the same instant are not detected.
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
        if now.as_ref() == stamp { Ok(()) } else { Err(ReplaceError::Changed(path.to_owned())) }
    })
}

/// What is in a file of at most so many bytes, or what is wrong with it.
pub(crate) fn bytes(path: &Path, max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(max + 1).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > max { Err(format!("it is longer than {max} bytes")) } else { Ok(bytes) }
}

fn write(
    path: &Path,
    contents: &[u8],
    check: impl FnOnce(&dyn Fn(io::Error) -> ReplaceError) -> Result<(), ReplaceError>,
) -> Result<(), ReplaceError> {
    let io = |error| ReplaceError::Io { path: path.to_owned(), error };
    // A bare name has the empty path as its parent.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    // A temporary file is private to its owner by default; the system applies the `umask` to this mode.
    #[cfg(unix)]
    let beside = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
        .tempfile_in(parent);
    #[cfg(not(unix))]
    let beside = tempfile::NamedTempFile::new_in(parent);
    let mut beside = beside.map_err(io)?;
    beside.write_all(contents).map_err(io)?;
    beside.as_file().sync_all().map_err(io)?;
    if let Ok(old) = fs::metadata(path) {
        beside.as_file().set_permissions(old.permissions()).map_err(io)?;
    }
    check(&io)?;
    beside.persist(path).map_err(|error| io(error.error))?;
    // The rename is durable once its directory is synced. Not every file system supports syncing a directory. The file
    // is written in any case, and an error would say otherwise.
    let _ = File::open(parent).and_then(|parent| parent.sync_all());
    Ok(())
}
