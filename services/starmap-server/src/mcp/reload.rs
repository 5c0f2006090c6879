//! Loading the map and the overlay anew when their files change.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_proto::{Change, WeakServer};
use service_host::{Depth, Stamp, Watcher};

use super::address;
use super::server::{load_activity, load_map};
use super::universe::Universe;

/// The most files of a folder that are looked at for changes.
const MAX_FILES: usize = 1_000;

/// The files that are followed.
#[derive(Debug)]
pub(super) struct Sources {
    map: Source,
    activity: Option<Source>,
}

/// A file or a folder, and what it was like when it was last read.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    seen: Vec<(PathBuf, Stamp)>,
}

impl Sources {
    /// The files as they are now.
    pub(super) fn new(map: &Path, activity: Option<&Path>) -> Self {
        Self {
            map: Source::new(map),
            activity: activity.map(Source::new),
        }
    }
}

/// Follows the files until the server is gone. What is broken is told once and not taken.
pub(super) async fn follow(mut sources: Sources, universe: Universe, server: WeakServer) {
    let mut folders = vec![sources.map.folder()];
    folders.extend(sources.activity.as_ref().map(Source::folder));
    folders.dedup();
    let watched: Vec<(&Path, Depth)> = folders
        .iter()
        .map(|folder| (folder.as_path(), Depth::Entries))
        .collect();
    let mut watcher = match Watcher::new(&watched) {
        Ok(watcher) => watcher,
        Err(error) => {
            tracing::warn!("changes of the files will not be seen: {error}");
            return;
        }
    };
    // What was written between reading and watching is seen now.
    loop {
        let universe = universe.clone();
        let looked = tokio::task::spawn_blocking(move || {
            let changed = look(&mut sources, &universe);
            (sources, changed)
        });
        let changed;
        (sources, changed) = match looked.await {
            Ok(looked) => looked,
            Err(error) => {
                // A server that ends cancels it, which is nothing to tell.
                if error.is_panic() {
                    tracing::error!("changes of the files are no longer seen");
                }
                return;
            }
        };
        let Some(server) = server.upgrade() else {
            return;
        };
        if changed.map {
            server.notify(Change::ResourcesListChanged);
        }
        if changed.map || changed.activity {
            // Whoever follows any place or picture is told: the matcher takes this for all of them.
            server.notify(Change::resource_updated(address::SCHEME));
        }
        drop(server);
        watcher.changed().await;
    }
}

/// What was loaded anew.
#[derive(Debug, Default)]
struct Changed {
    map: bool,
    activity: bool,
}

fn look(sources: &mut Sources, universe: &Universe) -> Changed {
    let mut changed = Changed::default();
    if sources.map.is_new() {
        match load_map(universe, &sources.map.path) {
            Ok(()) => changed.map = true,
            Err(error) => tracing::warn!("the map is kept as it was: {error}"),
        }
    }
    if let Some(source) = &mut sources.activity
        && source.is_new()
    {
        match load_activity(universe, &source.path) {
            Ok(()) => changed.activity = true,
            // A dump that was taken away is not to be believed any longer.
            Err(error) if source.seen.is_empty() => {
                universe.replace_activity(None);
                tracing::warn!("the activity overlay is gone: {error}");
                changed.activity = true;
            }
            Err(error) => tracing::warn!("the activity overlay is kept as it was: {error}"),
        }
    }
    changed
}

impl Source {
    fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            seen: stamps(path),
        }
    }

    /// Whether it is no longer as it was; from now on it is as it is now.
    fn is_new(&mut self) -> bool {
        let now = stamps(&self.path);
        let new = now != self.seen;
        self.seen = now;
        new
    }

    /// The folder in which changes show: itself, or the one that it is in.
    fn folder(&self) -> PathBuf {
        match self.path.is_dir() {
            true => self.path.clone(),
            false => parent(&self.path),
        }
    }
}

/// What the files of a source are like, by path. A table has others beside it.
fn stamps(path: &Path) -> Vec<(PathBuf, Stamp)> {
    let name = path.to_string_lossy().to_lowercase();
    let name = name.trim_end_matches(".gz");
    let folder = match path.is_dir() {
        true => Some(path.to_owned()),
        false if name.ends_with(".csv") || name.ends_with(".jsonl") => Some(parent(path)),
        false => None,
    };
    let mut files = match folder {
        None => vec![path.to_owned()],
        Some(folder) => fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .take(MAX_FILES)
            .collect(),
    };
    files.sort_unstable();
    files
        .into_iter()
        .filter_map(|file| {
            let stamp = Stamp::of(&file).ok()??;
            Some((file, stamp))
        })
        .collect()
}

/// The folder of a file; of a bare name the one that one is in.
fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}
