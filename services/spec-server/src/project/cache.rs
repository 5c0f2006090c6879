//! What has been read, kept as long as the files are unchanged.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use service_host::Stamp;

use super::error::ReadError;

/// What had changed less long ago when it was read may change again and look the same: clocks of file systems tick
/// slowly, the slowest in two seconds. It is read again.
pub(super) const SETTLED: Duration = Duration::from_secs(2);

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

/// How each of some files is; `None` of one that is not there.
type Stamps = Vec<Option<Stamp>>;

impl<T: PartialEq> Cache<T> {
    /// A cache of at most `most` values; more are read each time.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            entries: Mutex::default(),
        }
    }

    /// The value at `key`, which is made from `files`: the cached one, or from `read` if one of them has changed. A
    /// value that comes out equal stays the same `Arc`. No lock is held while reading.
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
            let entry = CachedFiles {
                files: files.to_owned(),
                stamps,
                value: Arc::clone(&value),
            };
            entries.insert(key.to_owned(), entry);
        }
        Ok(Some(value))
    }

    /// Forgets what is not at `keys`, once more is kept than they are.
    pub(super) fn keep<'k>(&self, keys: impl ExactSizeIterator<Item = &'k PathBuf>) {
        let mut entries = self.lock();
        // Mostly there is nothing to forget.
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
