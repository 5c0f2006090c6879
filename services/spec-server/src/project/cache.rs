//! What has been read, kept as long as the files are as they were.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use service_host::Stamp;

use super::error::ReadError;
use super::files::Age;

/// A file that had been written less long ago when it was read may be written again and look the same: clocks of file
/// systems tick slowly, the slowest in two seconds. It is read again.
const SETTLED: Duration = Duration::from_secs(2);

/// Values by path.
#[derive(Debug)]
pub(super) struct Cache<T> {
    most: usize,
    entries: Mutex<HashMap<PathBuf, Entry<T>>>,
}

#[derive(Debug)]
struct Entry<T> {
    /// `None` if a file must be read again whatever its stamp.
    stamps: Option<Stamps>,
    value: Arc<T>,
}

/// The files that a value was made from, as they were.
type Stamps = Vec<(PathBuf, Option<Stamp>)>;

impl<T: PartialEq> Cache<T> {
    /// A cache of at most so many values; more are read each time.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            entries: Mutex::default(),
        }
    }

    /// The value at `key`, which is made from `files`: as it is kept, or from `read` if one of them has changed. A value
    /// that comes out equal stays the same `Arc`. No lock is held while reading.
    pub(super) fn get(
        &self,
        key: &Path,
        files: &[PathBuf],
        read: impl FnOnce() -> Result<Option<(T, Age)>, ReadError>,
    ) -> Result<Option<Arc<T>>, ReadError> {
        let before = stamps(files);
        if let (Some(entry), Some(before)) = (self.lock().get(key), &before)
            && entry.stamps.as_ref() == Some(before)
        {
            return Ok(Some(Arc::clone(&entry.value)));
        }
        let Some((value, age)) = read()? else {
            self.lock().remove(key);
            return Ok(None);
        };
        let settled = age.is_some_and(|age| age >= SETTLED);
        let stamps = before.filter(|before| settled && stamps(files).as_ref() == Some(before));
        let mut entries = self.lock();
        let value = match entries.get(key) {
            Some(old) if *old.value == value => Arc::clone(&old.value),
            _ => Arc::new(value),
        };
        if entries.len() < self.most || entries.contains_key(key) {
            let kept = Arc::clone(&value);
            entries.insert(
                key.to_owned(),
                Entry {
                    stamps,
                    value: kept,
                },
            );
        }
        Ok(Some(value))
    }

    /// Forgets all but what is at `keys`.
    pub(super) fn keep<'k>(&self, keys: impl Iterator<Item = &'k PathBuf>) {
        let keys: HashSet<&PathBuf> = keys.collect();
        self.lock().retain(|key, _| keys.contains(key));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Entry<T>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How the files are now; `None` if the system does not say it of one.
fn stamps(files: &[PathBuf]) -> Option<Stamps> {
    let stamp = |path: &PathBuf| Some((path.clone(), Stamp::of(path).ok()?));
    files.iter().map(stamp).collect()
}
