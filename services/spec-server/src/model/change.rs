//! A change: its folder, read by its workflow.

use std::sync::Arc;

use super::schema::matching;
use super::{Artifact, CapabilityDelta, Metadata, Schema, Source, Task, Tasks};

/// A proposal to change specs: a folder with its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The name of its folder.
    pub id: String,
    /// The date in the folder name of an archived change, `YYYY-MM-DD`.
    pub archived_on: Option<String>,
    /// What it is called, in a few words.
    pub title: String,
    /// Its workflow.
    pub schema: Arc<Schema>,
    /// Its files by path, except those in folders whose name begins with a dot.
    pub files: Vec<ChangeFile>,
    /// Whether there are more files than the limit, or some cannot be listed.
    pub is_partial: bool,
    /// The files with its tasks, as its workflow names them.
    pub tasks: Vec<Tasks>,
    /// `.openspec.yaml`, if it exists.
    pub metadata: Option<Metadata>,
    /// The changes to specs, by capability, in the order of the capabilities.
    pub deltas: Vec<CapabilityDelta>,
}

/// A file of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeFile {
    /// The path below the folder of the change, with `/` between its parts.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its text, if it is Markdown or an artifact and can be read.
    pub text: Option<Source>,
}

/// How far an artifact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It has a file.
    Done,
    /// It can be written next.
    Ready,
    /// Artifacts that it requires are missing.
    Blocked,
    /// The change declares that it has no deltas.
    Skipped,
}

/// An artifact of one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactState<'c> {
    /// The artifact.
    pub artifact: &'c Artifact,
    /// Its existing files.
    pub files: Vec<&'c str>,
    /// How far it is.
    pub state: State,
    /// The ids of the missing artifacts that block it.
    pub missing: Vec<&'c str>,
}

/// How many levels down a change is still found in a folder that only groups changes.
const MAX_NESTING: usize = 3;

impl Change {
    /// The texts of its files: the proposal, the tasks, its other artifacts and Markdown, then the deltas.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        let is_delta =
            |source: &&Source| self.deltas.iter().any(|delta| delta.source.path == source.path);
        let rank = |file: &ChangeFile| match &*file.path {
            "proposal.md" => 0,
            _ if self.tasks.iter().any(|tasks| Some(&tasks.source) == file.text.as_ref()) => 1,
            _ => 2,
        };
        let mut files: Vec<&ChangeFile> =
            self.files.iter().filter(|file| file.path != ".openspec.yaml").collect();
        files.sort_by_key(|file| rank(file));
        let texts = files.into_iter().filter_map(|file| file.text.as_ref());
        texts
            .filter(move |text| !is_delta(text))
            .chain(self.deltas.iter().map(|delta| &delta.source))
    }

    /// The day on which it was begun, as its metadata have it.
    pub fn begun(&self) -> Option<&str> {
        self.metadata.as_ref()?.created.as_deref()
    }

    /// The text of the file `path`, if it was read.
    pub fn text(&self, path: &str) -> Option<&Source> {
        self.file(path)?.text.as_ref()
    }

    /// The file `path`.
    pub fn file(&self, path: &str) -> Option<&ChangeFile> {
        let found = self.files.binary_search_by(|file| (*file.path).cmp(path)).ok()?;
        self.files.get(found)
    }

    /// The files below a folder such as `specs/`, whose name does not begin with a dot.
    pub fn below(&self, folder: &str) -> impl Iterator<Item = &ChangeFile> {
        let first = self.files.partition_point(|file| *file.path < *folder);
        let files = self.files.iter().skip(first);
        files
            .take_while(move |file| file.path.starts_with(folder))
            .filter(|file| !file.name().starts_with('.'))
    }

    /// Every task, in the order of the files.
    pub fn all_tasks(&self) -> impl Iterator<Item = (&Tasks, &Task)> {
        self.tasks.iter().flat_map(|file| file.items.iter().map(move |task| (file, task)))
    }

    /// How many tasks are ticked, and how many there are.
    pub fn progress(&self) -> (usize, usize) {
        (self.all_tasks().filter(|(_, task)| task.done).count(), self.all_tasks().count())
    }

    /// The files of an artifact.
    pub fn files_of(&self, artifact: &Artifact) -> Vec<&str> {
        self.matching(&artifact.files)
    }

    /// The files that match a pattern of a workflow.
    pub fn matching(&self, pattern: &str) -> Vec<&str> {
        matching(self.files.iter().map(|file| &*file.path), pattern)
    }

    /// Its artifacts, in the order in which they are written.
    pub fn artifacts(&self) -> Vec<ArtifactState<'_>> {
        let metadata = self.metadata.as_ref().filter(|metadata| metadata.problems.is_empty());
        let skips = metadata.is_some_and(|metadata| metadata.skip_specs);
        let mut made: Vec<&str> = Vec::new();
        let mut states: Vec<ArtifactState<'_>> = Vec::new();
        for artifact in &self.schema.artifacts {
            let files = self.files_of(artifact);
            let state = if !files.is_empty() {
                State::Done
            } else if skips && artifact.files.starts_with("specs/") {
                State::Skipped
            } else {
                State::Blocked
            };
            if state != State::Blocked {
                made.push(&artifact.id);
            }
            states.push(ArtifactState { artifact, files, state, missing: Vec::new() });
        }
        for one in states.iter_mut().filter(|one| one.state == State::Blocked) {
            let requires = one.artifact.requires.iter().map(String::as_str);
            one.missing = requires.filter(|id| !made.contains(id)).collect();
            if one.missing.is_empty() {
                one.state = State::Ready;
            }
        }
        states
    }

    /// The changes inside this folder if it only groups changes and is not one itself.
    pub fn nested(&self) -> Vec<&str> {
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
        folders
    }

    /// Whether a folder, given with a trailing `/`, has the files of a change.
    fn is_change(&self, folder: &str) -> bool {
        let marks = [".openspec.yaml", "proposal.md", "tasks.md", "design.md"];
        marks.iter().any(|mark| self.file(&format!("{folder}{mark}")).is_some())
            || self.below(&format!("{folder}specs/")).next().is_some()
    }
}

impl ChangeFile {
    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The path without its name, and without a trailing `/`.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

impl State {
    /// The name for clients.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Ready => "ready",
            Self::Blocked => "blocked",
            Self::Skipped => "skipped",
        }
    }
}
