//! A repository on the disk: its location and its contents. It always reads current files, within limits, and never
//! outside its root.
//!
//! All functions here access the disk and therefore block.

mod cache;
mod change;
mod config;
mod error;
mod files;
mod folders;
mod id;
mod layout;
mod listing;
mod store;
mod walk;
mod workflow;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use cache::Cache;
use change::Folder;
use files::Reader;

use crate::model::{Change, Schema, Source, Spec};
use crate::{parallel, parse};

pub(crate) use error::nearest_in_words;
pub(crate) use files::RawFile;
pub(crate) use workflow::schema_name;

pub use error::{Kind, ProjectError, ReadError};
pub use id::nearest;
pub use layout::{Dialect, Layout};
pub use listing::{Limits, Listing, Unreadable};

/// A project: a root folder, and the specs and changes below it.
///
/// Clones share their cache. Each call checks the disk, so that it returns the current contents. Only files that have
/// changed are read again.
#[derive(Debug, Clone)]
pub struct Project {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    layout: Layout,
    reader: Reader,
    limits: Limits,
    specs: Cache<Spec>,
    changes: Cache<Change>,
    archived: Cache<Change>,
    schemas: Cache<Schema>,
    writing: Mutex<()>,
}

/// The most workflows that are cached.
const MAX_SCHEMAS: usize = 100;

impl Project {
    /// The project nearest to the folder `start`: in this folder or above it.
    ///
    /// # Errors
    /// [`ProjectError`].
    pub fn find(start: &Path) -> Result<Self, ProjectError> {
        let (root, layout) = layout::find(start)?;
        let (root, layout) = store::follow(root, layout)?;
        Ok(Self::new(root, layout, Limits::default()))
    }

    /// The project at exactly the folder `root`.
    ///
    /// # Errors
    /// [`ProjectError`]. Its message helps users who named `openspec/` itself, or a folder that only has `specs/`.
    pub fn open(root: &Path) -> Result<Self, ProjectError> {
        let (root, layout) = layout::at(root)?;
        let (root, layout) = store::follow(root, layout)?;
        Ok(Self::new(root, layout, Limits::default()))
    }

    /// The same project with other limits. Its cache is empty.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        let root = self.root().to_owned();
        Self::new(root, self.inner.layout.clone(), limits)
    }

    fn new(root: PathBuf, layout: Layout, limits: Limits) -> Self {
        Self {
            inner: Arc::new(Inner {
                layout,
                reader: Reader::new(root, limits),
                limits,
                specs: Cache::new(limits.specs),
                changes: Cache::new(limits.changes),
                archived: Cache::new(limits.changes),
                schemas: Cache::new(MAX_SCHEMAS),
                writing: Mutex::default(),
            }),
        }
    }

    /// The root, absolute and without symbolic links.
    pub fn root(&self) -> &Path {
        self.inner.reader.root()
    }

    /// The folders of the project.
    pub fn layout(&self) -> &Layout {
        &self.inner.layout
    }

    /// What else is here that is not read; `None` if there is nothing.
    pub fn hidden(&self) -> Option<String> {
        layout::hides_another(self.root(), self.layout()).then(|| {
            "`openspec/` is here too and is not read, because `.spox/config.toml` goes first; remove the one that is not \
             used"
                .to_owned()
        })
    }

    /// The files beside the `spec.md` of the spec `id`, by name, with their sizes.
    ///
    /// # Errors
    /// [`ReadError`] if its folder cannot be listed.
    pub fn beside(&self, id: &str) -> Result<Vec<(String, u64)>, ReadError> {
        let folder = self.spec_path(id)?;
        let folder = folder.parent().unwrap_or(&folder);
        let list = self.inner.reader.list(folder)?;
        let files = list.entries.iter().filter(|entry| entry.is_file() && entry.name != "spec.md");
        let size =
            |name: &str| std::fs::metadata(folder.join(name)).map_or(0, |metadata| metadata.len());
        Ok(files.map(|entry| (entry.name.clone(), size(&entry.name))).collect())
    }

    /// The text of a file beside the `spec.md` of the spec `id`, ignoring case; `None` if it does not exist.
    ///
    /// # Errors
    /// [`ReadError`] if it is not a text or too large.
    pub fn text_beside(&self, id: &str, name: &str) -> Result<Option<Source>, ReadError> {
        let files = self.beside(id)?;
        let found = files.iter().find(|(known, _)| parse::fold(known) == parse::fold(name));
        match found {
            Some((name, _)) => self.within(&self.spec_path(id)?.with_file_name(name)),
            None => Ok(None),
        }
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.inner.limits
    }

    /// The ids of the specs, sorted. Empty if the folder is missing.
    ///
    /// # Errors
    /// [`ReadError`] if the folder of specs or a folder in it cannot be listed.
    pub fn spec_ids(&self) -> Result<Vec<String>, ReadError> {
        let found = walk::specs(&self.inner.reader, &self.layout().specs, self.layout().kind)?;
        Ok(found.items.into_iter().map(|(id, _)| id).collect())
    }

    /// The spec `id`, ignoring case.
    ///
    /// # Errors
    /// [`ReadError`]; [`ReadError::NotFound`] has the nearest ids.
    pub fn spec(&self, id: &str) -> Result<Arc<Spec>, ReadError> {
        if let Some(spec) = self.existing_spec(id)? {
            return Ok(spec);
        }
        let ids = self.spec_ids()?;
        let same = id::same_but_for_case(id, &ids);
        let found = same.map_or(Ok(None), |same| self.existing_spec(same))?;
        found.ok_or_else(|| not_found(Kind::Spec, id, ids))
    }

    /// The spec `id`, or `None` if it does not exist yet.
    ///
    /// # Errors
    /// [`ReadError`], but never [`ReadError::NotFound`].
    pub fn existing_spec(&self, id: &str) -> Result<Option<Arc<Spec>>, ReadError> {
        let path = self.spec_path(id)?;
        let parts = id::parts(Kind::Spec, id, self.layout().kind)?;
        let counts = parts.iter().all(|part| id::counts(Kind::Spec, part, self.layout().kind));
        let folder = &self.layout().specs;
        if !counts || !self.inner.reader.is_folder_below(folder, &parts)? {
            return Ok(None);
        }
        self.read_spec(id, &path)
    }

    /// The absolute path of the file of the spec `id`, whether it exists or not.
    ///
    /// # Errors
    /// [`ReadError::BadId`].
    pub fn spec_path(&self, id: &str) -> Result<PathBuf, ReadError> {
        let parts = id::parts(Kind::Spec, id, self.layout().kind)?;
        let mut path = self.layout().specs.clone();
        path.extend(parts);
        Ok(path.join("spec.md"))
    }

    /// All specs.
    ///
    /// # Errors
    /// [`ReadError`] if the folder of specs or a folder in it cannot be listed.
    pub fn specs(&self) -> Result<Listing<Spec>, ReadError> {
        let found = walk::specs(&self.inner.reader, &self.layout().specs, self.layout().kind)?;
        self.inner.specs.keep(found.items.iter().map(|(_, path)| path));
        let bytes = |spec: &Spec| spec.source.text.len();
        Ok(self.list(found, bytes, |id, path| self.read_spec(id, path)))
    }

    /// The ids of the active changes, sorted. Empty if the folder is missing.
    ///
    /// # Errors
    /// [`ReadError`] if the folder cannot be listed.
    pub fn change_ids(&self) -> Result<Vec<String>, ReadError> {
        self.folder_ids(Kind::Change)
    }

    /// The active change `id`, ignoring case.
    ///
    /// # Errors
    /// [`ReadError`]; [`ReadError::NotFound`] has the nearest ids.
    pub fn change(&self, id: &str) -> Result<Arc<Change>, ReadError> {
        self.folder(Kind::Change, id)
    }

    /// All active changes.
    ///
    /// # Errors
    /// [`ReadError`] if the folder cannot be listed.
    pub fn changes(&self) -> Result<Listing<Change>, ReadError> {
        self.folders(Kind::Change)
    }

    /// The archived change `id`, ignoring case: the name of its folder, or the part of it after the date. If several
    /// have the same name without the date, it is the last one.
    ///
    /// # Errors
    /// [`ReadError`]; [`ReadError::NotFound`] has the nearest ids.
    pub fn archived(&self, id: &str) -> Result<Arc<Change>, ReadError> {
        self.folder(Kind::Archived, id)
    }

    /// All archived changes.
    ///
    /// # Errors
    /// [`ReadError`] if the folder cannot be listed.
    pub fn archive(&self) -> Result<Listing<Change>, ReadError> {
        self.folders(Kind::Archived)
    }

    /// The archived changes whose folder has this day, `YYYY-MM-DD`, or a later one.
    ///
    /// # Errors
    /// [`ReadError`] if the folder cannot be listed.
    pub(crate) fn archived_since(&self, day: &str) -> Result<Listing<Change>, ReadError> {
        let mut found = self.find_folders(Kind::Archived)?;
        found.items.retain(|(id, _)| change::dated(id).is_some_and(|(on, _)| on >= day));
        Ok(self.list(found, change::bytes, |id, path| self.read_folder(Kind::Archived, id, path)))
    }

    /// All archived changes, or all active ones.
    ///
    /// # Errors
    /// [`ReadError`] if the folder cannot be listed.
    pub fn changes_in(&self, archive: bool) -> Result<Listing<Change>, ReadError> {
        if archive { self.archive() } else { self.changes() }
    }

    /// The active change `id`, or else the archived one.
    ///
    /// # Errors
    /// Those of [`Project::change`] if neither exists.
    pub fn any_change(&self, id: &str) -> Result<Arc<Change>, ReadError> {
        let not_active = match self.change(id) {
            Err(error) if error.is_absent() => error,
            read => return read,
        };
        match self.archived(id) {
            Err(error) if error.is_absent() => Err(not_active),
            read => read,
        }
    }

    /// The absolute path of the folder of the active change `id`.
    ///
    /// # Errors
    /// As [`Project::change`].
    pub fn change_folder(&self, id: &str) -> Result<PathBuf, ReadError> {
        Ok(self.named_folder(Kind::Change, id)?.1)
    }

    /// The absolute path of the folder of a change that was read.
    pub(crate) fn folder_of(&self, change: &Change) -> PathBuf {
        let kind = if change.archived_on.is_some() { Kind::Archived } else { Kind::Change };
        self.base(kind).join(&change.id)
    }

    /// Whether the nested folders `parts` exist below `base`. None of them may be a link.
    pub(crate) fn is_below(&self, base: &Path, parts: &[&str]) -> Result<bool, ReadError> {
        self.inner.reader.is_folder_below(base, parts)
    }

    /// The file at `path`, whose folder is known to be in the project; `None` if it does not exist.
    pub(crate) fn source(&self, path: &Path) -> Result<Option<Source>, ReadError> {
        self.inner.reader.source(path)
    }

    /// A path for answers: relative to the root, with `/` between its parts.
    pub(crate) fn display_path(&self, path: &Path) -> String {
        let path = self.inner.reader.relative(path);
        let parts = path.components().map(|part| part.as_os_str().to_string_lossy());
        parts.collect::<Vec<_>>().join("/")
    }

    /// The raw file of the spec `id`, for a change to it; `None` if it does not exist.
    pub(crate) fn raw_spec(&self, id: &str) -> Result<Option<RawFile>, ReadError> {
        let path = self.spec_path(id)?;
        let parts = id::parts(Kind::Spec, id, self.layout().kind)?;
        self.inner.reader.is_folder_below(&self.layout().specs, &parts)?;
        self.raw_file(&path)
    }

    /// The raw file at `path` in a folder of this project, for a change to it; `None` if it does not exist.
    pub(crate) fn raw_file(&self, path: &Path) -> Result<Option<RawFile>, ReadError> {
        self.inner.reader.raw(path)
    }

    /// Checks that a file created at `path` will be in the project, also through links.
    pub(crate) fn holds(&self, path: &Path) -> Result<(), ReadError> {
        self.inner.reader.holds(path)
    }

    /// `path` for answers: relative to the root.
    pub(crate) fn relative(&self, path: &Path) -> PathBuf {
        self.inner.reader.relative(path)
    }

    fn read_spec(&self, id: &str, path: &Path) -> Result<Option<Arc<Spec>>, ReadError> {
        let reader = &self.inner.reader;
        let files = [path.to_owned()];
        self.inner.specs.get(path, &files, || {
            let source = reader.source(path)?;
            Ok(source.map(|source| parse::spec(id, source)))
        })
    }

    fn base(&self, kind: Kind) -> &Path {
        match kind {
            Kind::Spec => &self.layout().specs,
            Kind::Change => &self.layout().changes,
            Kind::Archived => &self.layout().archive,
        }
    }

    fn folder_ids(&self, kind: Kind) -> Result<Vec<String>, ReadError> {
        let found = self.find_folders(kind)?;
        Ok(found.items.into_iter().map(|(id, _)| id).collect())
    }

    fn find_folders(&self, kind: Kind) -> Result<walk::FoundFiles, ReadError> {
        walk::changes(&self.inner.reader, self.layout(), kind, self.base(kind))
    }

    /// The exact id and the folder for `id`.
    fn named_folder(&self, kind: Kind, id: &str) -> Result<(String, PathBuf), ReadError> {
        let parts = id::parts(kind, id, self.layout().kind)?;
        let path = self.base(kind).join(id);
        let counts = id::counts(kind, id, self.layout().kind) && path != self.layout().archive;
        if counts && self.inner.reader.is_folder_below(self.base(kind), &parts)? {
            return Ok((id.to_owned(), path));
        }
        let ids = self.folder_ids(kind)?;
        let same = id::same_but_for_case(id, &ids).or_else(|| {
            let bare = |known: &&String| {
                let bare = change::undated(known).filter(|_| kind == Kind::Archived);
                bare.is_some_and(|bare| parse::fold(bare) == parse::fold(id))
            };
            ids.iter().rfind(bare).map(String::as_str)
        });
        match same {
            Some(same) => Ok((same.to_owned(), self.base(kind).join(same))),
            None => Err(not_found(kind, id, ids)),
        }
    }

    fn folder(&self, kind: Kind, id: &str) -> Result<Arc<Change>, ReadError> {
        let (id, path) = self.named_folder(kind, id)?;
        match self.read_folder(kind, &id, &path)? {
            Some(change) => Ok(change),
            None => Err(not_found(kind, &id, self.folder_ids(kind)?)),
        }
    }

    fn folders(&self, kind: Kind) -> Result<Listing<Change>, ReadError> {
        let found = self.find_folders(kind)?;
        self.inner.folders(kind).keep(found.items.iter().map(|(_, path)| path));
        Ok(self.list(found, change::bytes, |id, path| self.read_folder(kind, id, path)))
    }

    fn read_folder(
        &self,
        kind: Kind,
        id: &str,
        path: &Path,
    ) -> Result<Option<Arc<Change>>, ReadError> {
        let folder = Folder::look(self, path)?;
        let read = || folder.read(self, kind, id).map(Some);
        self.inner.folders(kind).get(path, &folder.files(), read)
    }

    /// Reads the found items, up to the limit for their total size.
    fn list<T: Send + Sync>(
        &self,
        found: walk::FoundFiles,
        bytes: impl Fn(&T) -> usize + Sync,
        read: impl Fn(&str, &Path) -> Result<Option<Arc<T>>, ReadError> + Sync,
    ) -> Listing<T> {
        let size = |item: &T| u64::try_from(bytes(item)).unwrap_or(u64::MAX);
        let most = self.inner.limits.total_bytes;
        // Once the threads together have read this much, the rest is read below, if it is still needed.
        let read_ahead = AtomicU64::new(0);
        let ahead = parallel::map(&found.items, |(id, path)| {
            if read_ahead.load(Ordering::Relaxed) > most {
                return None;
            }
            let item = read(id, path);
            if let Ok(Some(item)) = &item {
                read_ahead.fetch_add(size(item), Ordering::Relaxed);
            }
            Some(item)
        });
        let mut unreadable = found.unreadable;
        let mut items = Vec::with_capacity(found.items.len());
        let mut left = most;
        for ((id, path), item) in found.items.iter().zip(ahead) {
            let relative = || self.inner.reader.relative(path);
            match item.unwrap_or_else(|| read(id, path)) {
                // It was removed after it was found.
                Ok(None) => {}
                Ok(Some(item)) => {
                    let Some(rest) = left.checked_sub(size(&item)) else {
                        let path = relative();
                        let problem = format!(
                            "{} and what follows is not listed: together the texts have more than {most} bytes",
                            path.display(),
                        );
                        unreadable.push(Unreadable { path, problem });
                        break;
                    };
                    left = rest;
                    items.push(item);
                }
                Err(error) => {
                    unreadable.push(Unreadable { path: relative(), problem: error.to_string() })
                }
            }
        }
        Listing { items, unreadable }
    }
}

impl Inner {
    /// The cache of active or of archived changes.
    fn folders(&self, kind: Kind) -> &Cache<Change> {
        match kind {
            Kind::Archived => &self.archived,
            Kind::Spec | Kind::Change => &self.changes,
        }
    }
}

fn not_found(kind: Kind, id: &str, names: Vec<String>) -> ReadError {
    ReadError::NotFound { kind, id: id.to_owned(), nearest: nearest(id, names) }
}
