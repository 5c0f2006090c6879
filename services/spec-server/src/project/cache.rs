//! A cache of parsed files. Its values are kept as long as the files are unchanged.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use service_host::Stamp;

use super::error::ReadError;

/// A file that was changed more recently than this before it was read is read again. It could change once more without
/// a new time stamp: the clocks of file systems are coarse, the slowest ticks every two seconds.
const SETTLED: Duration = Duration::from_secs(2);

/// Values by path.
#[derive(Debug)]
pub(super) struct Cache<T> {
    most: usize,
    entries: Mutex<HashMap<PathBuf, CachedFiles<T>>>,
}

#[derive(Debug)]
struct CachedFiles<T> {
    /// The files that the value was made from.
    files: Vec<PathBuf>,
    /// Their stamps when read; `None` if they must be read again in any case.
    stamps: Option<Stamps>,
    value: Arc<T>,
}

/// The stamps of some files; `None` for a missing file.
type Stamps = Vec<Option<Stamp>>;

impl<T: PartialEq> Cache<T> {
    /// A cache of at most `most` values. Further values are read each time.
    pub(super) fn new(most: usize) -> Self {
        Self { most, entries: Mutex::default() }
    }

    /// The value at `key`, which is made from `files`: the cached one, or the result of `read` if one of them has
    /// changed. If the new value is equal, the same `Arc` is kept. No lock is held while reading.
    pub(super) fn get(
        &self,
        key: &Path,
        files: &[PathBuf],
        read: impl FnOnce() -> Result<Option<T>, ReadError>,
    ) -> Result<Option<Arc<T>>, ReadError> {
        let before = stamps(files);
        if let (Some(entry), Some(before)) = (self.lock().get(key), &before)
            && entry.stamps.as_ref() == Some(before)
            && entry.files == files
        {
            return Ok(Some(Arc::clone(&entry.value)));
        }
        let now = SystemTime::now();
        let Some(value) = read()? else {
            self.lock().remove(key);
            return Ok(None);
        };
        let is_settled = |stamp: &Stamp| stamp.age(now).is_some_and(|age| age >= SETTLED);
        let stamps = before.filter(|before| {
            before.iter().flatten().all(is_settled) && stamps(files).as_ref() == Some(before)
        });
        let mut entries = self.lock();
        let value = match entries.get(key) {
            Some(old) if *old.value == value => Arc::clone(&old.value),
            _ => Arc::new(value),
        };
        if entries.len() < self.most || entries.contains_key(key) {
            let entry = CachedFiles { files: files.to_owned(), stamps, value: Arc::clone(&value) };
            entries.insert(key.to_owned(), entry);
        }
        Ok(Some(value))
    }

    /// Drops the entries that are not in `keys`, if there are more entries than keys.
    pub(super) fn keep<'k>(&self, keys: impl ExactSizeIterator<Item = &'k PathBuf>) {
        let mut entries = self.lock();
        // Usually there is nothing to drop.
        if entries.len() > keys.len() {
            let keys: HashSet<&PathBuf> = keys.collect();
            entries.retain(|key, _| keys.contains(key));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, CachedFiles<T>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The current stamps of the files; `None` if the system has none for one of them.
fn stamps(files: &[PathBuf]) -> Option<Stamps> {
    let stamp = |path: &PathBuf| Stamp::of(path).ok();
    files.iter().map(stamp).collect()
}
