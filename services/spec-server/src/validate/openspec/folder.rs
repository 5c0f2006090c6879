//! The files in the folder of a change.

use std::fs;
use std::io;
use std::path::Path;

/// The deepest folder that is searched, counted from the change's own folder.
const MAX_DEPTH: usize = 16;

/// The most files and folders of one change that are read.
const MAX_ENTRIES: usize = 10_000;

/// The files of a change, except those in folders whose name begins with a dot.
#[derive(Debug, Default)]
pub(super) struct Folder {
    files: Vec<File>,
    /// Whether there are more entries than the limit, or some of them cannot be read.
    pub(super) is_partial: bool,
}

/// A file of a change. Links to folders are included, but not followed.
#[derive(Debug)]
pub(super) struct File {
    /// The path relative to the change's folder, with `/` between its parts.
    pub(super) path: String,
}

impl Folder {
    /// Lists everything below `root`. A missing folder is empty.
    pub(super) fn at(root: &Path) -> Self {
        let mut folder = Self::default();
        let mut looked_at = 0;
        let mut waiting = vec![(root.to_owned(), String::new(), 0)];
        while let Some((path, prefix, depth)) = waiting.pop() {
            let entries = match fs::read_dir(&path) {
                Ok(entries) => entries,
                Err(error) => {
                    folder.is_partial |= error.kind() != io::ErrorKind::NotFound;
                    continue;
                }
            };
            for entry in entries {
                looked_at += 1;
                if looked_at > MAX_ENTRIES {
                    folder.is_partial = true;
                    break;
                }
                let Some((name, kind)) = entry.ok().and_then(|entry| {
                    Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?))
                }) else {
                    folder.is_partial = true;
                    continue;
                };
                let below = format!("{prefix}{name}");
                if kind.is_dir() {
                    if name.starts_with('.') {
                        continue;
                    }
                    if depth < MAX_DEPTH {
                        waiting.push((path.join(name), format!("{below}/"), depth + 1))
                    } else {
                        folder.is_partial = true
                    }
                } else {
                    folder.files.push(File { path: below });
                }
            }
        }
        folder.files.sort_by(|a, b| a.path.cmp(&b.path));
        folder
    }

    /// The files below a folder such as `specs/` whose name does not begin with a dot.
    pub(super) fn below(&self, folder: &str) -> impl Iterator<Item = &File> {
        let first = self.files.partition_point(|file| *file.path < *folder);
        let files = self.files.iter().skip(first);
        files
            .take_while(move |file| file.path.starts_with(folder))
            .filter(|file| !file.name().starts_with('.'))
    }

    /// Whether there is a file with this path.
    pub(super) fn has(&self, path: &str) -> bool {
        let found = self.files.binary_search_by(|file| (*file.path).cmp(path));
        found.is_ok()
    }

    /// The changes inside this folder if it only groups changes and is not one itself: folders one to three levels down
    /// that look like a change.
    pub(super) fn nested(&self) -> Vec<String> {
        let own = self.below("").any(|file| !file.path.contains('/'));
        if own || self.is_change("") {
            return Vec::new();
        }
        let mut folders: Vec<&str> = Vec::new();
        for file in &self.files {
            let ends = file.path.match_indices('/').map(|(at, _)| at).take(MAX_NESTING);
            let mut above = ends.filter_map(|at| file.path.get(..at));
            if let Some(change) = above.find(|folder| self.is_change(&format!("{folder}/"))) {
                folders.push(change);
            }
        }
        folders.sort_unstable();
        folders.dedup();
        folders.into_iter().map(str::to_owned).collect()
    }

    /// Whether a folder, given with a trailing `/`, has the files of a change.
    fn is_change(&self, folder: &str) -> bool {
        let marks = [".openspec.yaml", "proposal.md", "tasks.md", "design.md"];
        marks.iter().any(|mark| self.has(&format!("{folder}{mark}")))
            || self.below(&format!("{folder}specs/")).next().is_some()
    }
}

/// How many levels down a change is still found.
const MAX_NESTING: usize = 3;

impl File {
    /// The last part of its path.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The path without its name, and without a trailing `/`.
    pub(super) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}
