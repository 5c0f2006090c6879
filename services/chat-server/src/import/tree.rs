//! The files of an export, in a folder or in a zip.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

use jiff::Timestamp;

use super::{ImportError, MAX_TEXT_BYTES, MAX_UNPACKED_BYTES, archive, io_at};

/// How much of a file is examined to detect its kind, in bytes.
pub(super) const GLANCE: u64 = 64 * 1024;

/// Where files are.
#[derive(Debug, Clone)]
pub(super) enum Tree {
    /// Below this folder.
    Folder(PathBuf),
    /// In this zip, from which `left` more bytes may be unpacked.
    Zip { path: PathBuf, left: Arc<AtomicU64> },
}

impl Tree {
    /// A zip of WhatsApp chats, or of larger exports. Its contents are read up to three times.
    pub(super) fn zip(path: &Path, is_whatsapp: bool) -> Self {
        let most = if is_whatsapp { MAX_UNPACKED_BYTES } else { MAX_TEXT_BYTES };
        Self::Zip { path: path.to_owned(), left: Arc::new(AtomicU64::new(3 * most)) }
    }

    /// Opens a file for `use_it`, which also receives its size.
    pub(super) fn read<T>(
        &self,
        name: &str,
        use_it: impl FnOnce(&mut dyn Read, u64) -> Result<T, ImportError>,
    ) -> Result<T, ImportError> {
        match self {
            Self::Folder(root) => {
                let path = root.join(name);
                let mut file = File::open(&path).map_err(io_at(&path))?;
                let size = file.metadata().map_err(io_at(&path))?.len();
                use_it(&mut file, size)
            }
            Self::Zip { path, left } => {
                let mut zip = archive::open_zip(path)?;
                let entry =
                    zip.by_name(name).map_err(|error| archive::damaged_zip(path, &error))?;
                let size = entry.size();
                use_it(&mut Unpacked { entry, left }, size)
            }
        }
    }

    /// The size of a file, if it is known.
    pub(super) fn size(&self, name: &str) -> u64 {
        match self {
            Self::Folder(root) => fs::metadata(root.join(name)).map_or(0, |it| it.len()),
            Self::Zip { .. } => self.read(name, |_, size| Ok(size)).unwrap_or(0),
        }
    }

    /// When the file, or the zip that contains it, was last written.
    pub(super) fn modified(&self, name: &str) -> Option<Timestamp> {
        let path = match self {
            Self::Folder(root) => root.join(name),
            Self::Zip { path, .. } => path.clone(),
        };
        let since = fs::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Timestamp::from_second(i64::try_from(since.as_secs()).ok()?).ok()
    }

    /// The folder or the zip.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Folder(path) | Self::Zip { path, .. } => path,
        }
    }

    /// The names of the files in one folder of it, which ends in a slash or is empty.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        match self {
            Self::Folder(root) => {
                let entries = archive::entries(&root.join(folder)).unwrap_or_default();
                let names = entries.iter().filter_map(|entry| entry.file_name());
                names.map(|name| format!("{folder}{}", name.to_string_lossy())).collect()
            }
            Self::Zip { path, .. } => archive::open_zip(path).map_or_else(
                |_| Vec::new(),
                |zip| {
                    let inside = |name: &String| {
                        name.strip_prefix(folder).is_some_and(|rest| !rest.contains('/'))
                    };
                    archive::file_names(&zip).filter(inside).collect()
                },
            ),
        }
    }
}

/// Reads from a zip, up to the bound for the whole zip.
struct Unpacked<'l, R> {
    entry: R,
    left: &'l AtomicU64,
}

impl<R: Read> Read for Unpacked<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.entry.read(buffer)?;
        let spent = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(count as u64)
        });
        spent.map_err(|_| {
            let problem = format!("texts of more than {MAX_UNPACKED_BYTES} bytes in one zip");
            io::Error::new(io::ErrorKind::InvalidData, problem)
        })?;
        Ok(count)
    }
}
