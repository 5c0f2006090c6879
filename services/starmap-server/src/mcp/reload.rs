//! Loading the map, the overlay and the connections again when their files change.

use std::fmt::Display;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use mcp_proto::{Change, WeakServer};
use service_host::{Depth, Stamp, Watcher};

use crate::load::Losses;
use crate::{activity, connections, load};

use super::address;
use super::loaded::{take_activity, take_connections, take_map};
use super::universe::{Source as Problem, Universe};

/// The most files of a folder that are checked for changes.
const MAX_FILES: usize = 1_000;

/// How often the set of watched folders may change before the watcher stops adjusting it.
const MAX_TURNS: usize = 10;

/// The files that are followed.
#[derive(Debug)]
pub(super) struct Sources {
    map: Source,
    activity: Option<Source>,
    connections: Option<Source>,
    losses: Losses,
}

/// A file or a folder, and its state when it was last read.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    seen: Vec<(PathBuf, Stamp)>,
}

impl Sources {
    /// The files in their current state.
    pub(super) fn new(
        map: &Path,
        activity: Option<&Path>,
        connections: Option<&Path>,
        losses: Losses,
    ) -> Self {
        Self {
            map: Source::new(map),
            activity: activity.map(Source::new),
            connections: connections.map(Source::new),
            losses,
        }
    }

    /// The folders where changes become visible, each once.
    fn folders(&self) -> Vec<Folder> {
        let more = [&self.activity, &self.connections].map(Option::as_ref);
        let sources = [Some(&self.map)].into_iter().chain(more);
        let paths = sources.flatten().flat_map(Source::folders);
        let folders = paths.filter_map(|path| {
            let metadata = fs::metadata(&path).ok()?;
            let identity = (metadata.dev(), metadata.ino());
            Some(Folder { path, identity })
        });
        let mut folders: Vec<Folder> = folders.collect();
        folders.sort_unstable();
        folders.dedup();
        folders
    }
}

/// Follows the files until the server has ended. A broken file is reported once and not loaded.
pub(super) async fn follow(sources: Sources, universe: Universe, server: WeakServer) {
    let mut following = Following { sources, universe, server, watched: Vec::new(), watcher: None };
    loop {
        let looked = tokio::task::spawn_blocking(move || following.look().then_some(following));
        following = match looked.await {
            Ok(Some(following)) => following,
            Ok(None) => return,
            Err(error) => {
                // The server cancels this task when it ends, which needs no report.
                if error.is_panic() {
                    tracing::error!("changes of the files are no longer seen");
                }
                return;
            }
        };
        let Some(watcher) = &mut following.watcher else {
            return;
        };
        watcher.changed().await;
    }
}

/// The files and their watcher.
struct Following {
    sources: Sources,
    universe: Universe,
    server: WeakServer,
    watched: Vec<Folder>,
    watcher: Option<Watcher>,
}

/// A folder by its path and its identity: another folder may be put in its place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Folder {
    path: PathBuf,
    identity: (u64, u64),
}

impl Following {
    /// Watches the existing folders, then checks the files. Earlier writes are seen now, and later writes are noticed
    /// by the watcher. Returns false when the server has ended.
    fn look(&mut self) -> bool {
        for _ in 0..MAX_TURNS {
            let folders = self.sources.folders();
            // Once the watched folders stay the same, no file can appear or disappear unnoticed.
            if folders == self.watched {
                break;
            }
            let paths = folders.iter();
            let paths: Vec<(&Path, Depth)> =
                paths.map(|folder| (folder.path.as_path(), Depth::Entries)).collect();
            self.watcher = Watcher::new(&paths)
                .inspect_err(|error| {
                    tracing::warn!("changes of the files will not be seen: {error}");
                })
                .ok();
            self.watched = folders;
        }
        let Some(server) = self.server.upgrade() else {
            return false;
        };
        let (sources, universe) = (&mut self.sources, &self.universe);
        let mut changed = false;
        let losses = sources.losses;
        let load = |path: &Path| load::load_with(path, losses);
        changed |= sources.map.follow((universe, Problem::Map), load, |loaded| {
            if let Some(loaded) = loaded {
                take_map(universe, loaded);
                server.notify(Change::ResourcesListChanged);
            }
        });
        if let Some(source) = &mut sources.activity {
            changed |= source.follow((universe, Problem::Activity), activity::load, |loaded| {
                take_activity(universe, &server, loaded);
            });
        }
        if let Some(source) = &mut sources.connections {
            changed |=
                source.follow((universe, Problem::Connections), connections::load, |loaded| {
                    take_connections(universe, loaded.unwrap_or_default());
                });
        }
        if changed {
            // All subscribers to systems, areas and pictures are notified: the matcher applies this change to all of
            // them.
            server.notify(Change::resource_updated(address::SCHEME));
        }
        true
    }
}

impl Source {
    fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), seen: stamps(path) }
    }

    /// Whether it has changed since the last call.
    fn is_new(&mut self) -> bool {
        let now = stamps(&self.path);
        let new = now != self.seen;
        self.seen = now;
        new
    }

    /// The new contents, if the file has changed. If the file is written during the read, the contents may be half old
    /// and half new, so they are not used. The watcher notices the write, and the file is read again.
    fn reread<T, E>(&mut self, read: impl FnOnce(&Path) -> Result<T, E>) -> Option<Result<T, E>> {
        if !self.is_new() {
            return None;
        }
        let read = read(&self.path);
        (stamps(&self.path) == self.seen).then_some(read)
    }

    /// Takes the current contents. If the file was removed, its old contents are dropped too, except for the map.
    /// Returns whether anything changed.
    fn follow<T, E: Display>(
        &mut self,
        (universe, problem): (&Universe, Problem),
        read: impl FnOnce(&Path) -> Result<T, E>,
        take: impl FnOnce(Option<T>),
    ) -> bool {
        let (told, changed) = match self.reread(read) {
            None => return false,
            Some(Ok(loaded)) => {
                take(Some(loaded));
                universe.report(problem, None);
                return true;
            }
            Some(Err(error)) if self.seen.is_empty() && problem != Problem::Map => {
                take(None);
                (format!("{problem} is gone: {error}"), true)
            }
            Some(Err(error)) => (format!("{problem} is kept as it was: {error}"), false),
        };
        tracing::warn!("{told}");
        universe.report(problem, Some(told));
        changed
    }

    /// The folders where changes become visible: the parent folder of the path, the parent folder of the target if it
    /// is a link, and the path itself if it is a folder. A missing folder is replaced by its nearest existing ancestor.
    fn folders(&self) -> Vec<PathBuf> {
        let target = fs::canonicalize(&self.path).ok();
        let paths = [Some(&self.path), target.as_ref()];
        let paths = paths.into_iter().flatten();
        let mut folders: Vec<PathBuf> = paths.map(|path| nearest(&parent(path))).collect();
        if self.path.is_dir() {
            folders.push(self.path.clone());
        }
        folders
    }
}

/// The folder, or its nearest existing ancestor.
fn nearest(folder: &Path) -> PathBuf {
    let there = folder.ancestors().find(|folder| folder.is_dir());
    there.map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// The stamps of the files of a source, by path. The other tables next to a table belong to the same source.
fn stamps(path: &Path) -> Vec<(PathBuf, Stamp)> {
    let name = path.to_string_lossy().to_lowercase();
    let name = name.trim_end_matches(".gz");
    let folder = if path.is_dir() {
        Some(path.to_owned())
    } else if name.ends_with(".csv") || name.ends_with(".jsonl") {
        Some(parent(path))
    } else {
        None
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

/// The folder of a file. For a bare name it is the working directory.
fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests;
