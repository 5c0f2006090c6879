//! Watching folders and files: changes are reported some milliseconds later.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::{Config, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// How long no change must come before changes are reported: an editor writes one file in several steps.
const QUIET: Duration = Duration::from_millis(20);

/// How long changes are held back while more arrive.
const PATIENCE: Duration = Duration::from_millis(100);

/// How many changed paths are listed; more are reported as too many to list.
const MAX_PATHS: usize = 4_096;

/// How often a file system without change notifications is polled.
const POLL: Duration = Duration::from_secs(1);

/// How far below a path to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The path and, of a folder, its entries.
    Entries,
    /// Everything below. Symbolic links to folders are not followed.
    Tree,
}

/// The changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// Files and folders that were made, written, renamed or removed.
    Paths(BTreeSet<PathBuf>),
    /// Too many to list, or the system lost events: look at everything again.
    Many,
}

/// A path cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch {}: {error}", path.display())]
pub struct WatchError {
    path: PathBuf,
    error: notify::Error,
}

/// Watches until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    pending: Arc<Pending>,
    /// Ends the watching when dropped.
    _source: Box<dyn fmt::Debug + Send + Sync>,
}

#[derive(Debug, Default)]
struct Pending {
    changes: Mutex<Option<Changes>>,
    something: Notify,
}

impl Watcher {
    /// Watches these paths, each of which must exist. If the system has no more watches, they are polled every second
    /// instead.
    ///
    /// # Errors
    /// [`WatchError`] for a path that does not exist or may not be read.
    pub fn new(paths: &[(&Path, Depth)]) -> Result<Self, WatchError> {
        let pending = Arc::new(Pending::default());
        // A link to a folder may lead anywhere, to the root of the file system too.
        let config = Config::default().with_follow_symlinks(false);
        let source = watching::<RecommendedWatcher>(paths, &pending, config).or_else(|error| {
            tracing::info!(%error, "looking for changes every second instead");
            watching::<PollWatcher>(paths, &pending, config.with_poll_interval(POLL))
        })?;
        Ok(Self { pending, _source: source })
    }

    /// Waits for changes since the last call, then until none has come for 20 ms, at most 100 ms. Dropping
    /// the future loses nothing.
    pub async fn changed(&mut self) -> Changes {
        loop {
            if !self.pending.any() {
                self.pending.something.notified().await;
                continue;
            }
            let patience = Instant::now() + PATIENCE;
            loop {
                let quiet = Instant::now() + QUIET;
                tokio::select! {
                    () = sleep_until(quiet.min(patience)) => break,
                    () = self.pending.something.notified() => {}
                }
            }
            if let Some(changes) = self.pending.take() {
                return changes;
            }
        }
    }
}

fn watching<W: notify::Watcher + fmt::Debug + Send + Sync + 'static>(
    paths: &[(&Path, Depth)],
    pending: &Arc<Pending>,
    config: Config,
) -> Result<Box<dyn fmt::Debug + Send + Sync>, WatchError> {
    let first = paths.first().map_or(Path::new("."), |(path, _)| path);
    let mut watcher = W::new(handler(pending), config).map_err(|error| refused(first, error))?;
    for (path, depth) in paths {
        // A polling watcher would accept a path that does not exist.
        path.metadata().map_err(|error| refused(path, notify::Error::io(error)))?;
        let mode = match depth {
            Depth::Entries => RecursiveMode::NonRecursive,
            Depth::Tree => RecursiveMode::Recursive,
        };
        watcher.watch(path, mode).map_err(|error| refused(path, error))?;
    }
    Ok(Box::new(watcher))
}

fn refused(path: &Path, error: notify::Error) -> WatchError {
    WatchError { path: path.to_owned(), error }
}

fn handler(pending: &Arc<Pending>) -> impl FnMut(notify::Result<notify::Event>) + Send + use<> {
    let pending = Arc::clone(pending);
    move |event| match event {
        // Reading is not a change.
        Ok(event) if matches!(event.kind, EventKind::Access(_)) && !event.need_rescan() => {}
        Ok(event) => pending.add((!event.need_rescan()).then_some(event.paths)),
        Err(_) => pending.add(None),
    }
}

impl Pending {
    /// `None`: anything may have changed.
    fn add(&self, paths: Option<Vec<PathBuf>>) {
        {
            let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
            let known = changes.take().unwrap_or(Changes::Paths(BTreeSet::new()));
            *changes = Some(match (known, paths) {
                (Changes::Paths(mut known), Some(paths)) => {
                    known.extend(paths);
                    if known.len() > MAX_PATHS { Changes::Many } else { Changes::Paths(known) }
                }
                _ => Changes::Many,
            });
        }
        self.something.notify_one();
    }

    fn any(&self) -> bool {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn take(&self) -> Option<Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
