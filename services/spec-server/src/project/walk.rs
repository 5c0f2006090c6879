//! Finds the existing specs and changes.

use std::path::{Path, PathBuf};

use super::error::{Kind, ReadError};
use super::files::Reader;
use super::folders::{MAX_ENTRIES, What};
use super::layout::{Dialect, Layout};
use super::{Unreadable, id};
use crate::parallel;

/// How many folders are processed together.
const BATCH: usize = 4_096;

/// The files that were found below a folder.
#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    /// Ids and absolute paths, sorted by the code points of the ids.
    pub(super) items: Vec<(String, PathBuf)>,
    /// Items that exist and do not count, but perhaps should.
    pub(super) unreadable: Vec<Unreadable>,
}

/// A folder that is still to be searched.
struct Pending {
    path: PathBuf,
    /// The id of a spec in this folder.
    id: String,
    depth: usize,
}

/// The `spec.md` files below `base`, the folder of specs or that of the deltas of a change: at any depth for OpenSpec,
/// only in its direct subfolders for Spec Oxide. Empty if `base` is missing. A `spec.md` in `base` itself does not
/// count, and links to folders are not followed.
pub(super) fn specs(
    reader: &Reader,
    base: &Path,
    dialect: Dialect,
) -> Result<FoundFiles, ReadError> {
    let mut found = FoundFiles::default();
    if !reader.is_base(base)? {
        return Ok(found);
    }
    let most = reader.limits().specs;
    let mut looked_at = 0;
    let mut pending = vec![Pending { path: base.to_owned(), id: String::new(), depth: 0 }];
    while !pending.is_empty() {
        let batch = pending.split_off(pending.len().saturating_sub(BATCH));
        let lists = parallel::map(&batch, |folder| reader.list(&folder.path));
        for (folder, list) in batch.into_iter().zip(lists) {
            let list = list?;
            looked_at += list.count;
            for entry in &list.entries {
                if found.items.len() >= most || looked_at > MAX_ENTRIES {
                    let problem = format!(
                        "has more than {most} specs or {MAX_ENTRIES} entries; the rest is not read"
                    );
                    found.report(reader, base, &problem);
                    return Ok(found.sorted());
                }
                let path = folder.path.join(&entry.name);
                if entry.is_odd {
                    found.report(reader, &path, "has a name that is not UTF-8; rename it");
                    continue;
                }
                let is_spec =
                    entry.name == "spec.md" && folder.depth > 0 && entry.what != What::Folder;
                if is_spec {
                    // A broken link is ignored.
                    if entry.what == What::File || path.exists() {
                        found.items.push((folder.id.clone(), path));
                    }
                } else if !id::counts(Kind::Spec, &entry.name, dialect) {
                    continue;
                } else if entry.what == What::Link && path.join("spec.md").is_file() {
                    found.linked(reader, &path);
                } else if entry.what == What::Folder {
                    pending.extend(found.folder(reader, &folder, &entry.name, path, dialect));
                }
            }
        }
    }
    Ok(found.sorted())
}

/// The folders of changes in `base`; empty if it is missing.
pub(super) fn changes(
    reader: &Reader,
    layout: &Layout,
    kind: Kind,
    base: &Path,
) -> Result<FoundFiles, ReadError> {
    let mut found = FoundFiles::default();
    if !reader.is_base(base)? {
        return Ok(found);
    }
    let most = reader.limits().changes;
    let list = reader.list(base)?;
    for entry in &list.entries {
        if found.items.len() >= most || list.count >= MAX_ENTRIES {
            let problem = format!(
                "has more than {most} changes or {MAX_ENTRIES} entries; the rest is not read"
            );
            found.report(reader, base, &problem);
            break;
        }
        let path = base.join(&entry.name);
        if entry.is_odd {
            found.report(reader, &path, "has a name that is not UTF-8; rename it");
            continue;
        }
        let is_archive = kind == Kind::Change && path == layout.archive;
        if is_archive || !id::counts(kind, &entry.name, layout.kind) {
            continue;
        }
        match entry.what {
            What::Folder => found.items.push((entry.name.clone(), path)),
            What::Link if path.is_dir() => found.linked(reader, &path),
            What::Link | What::File => {}
        }
    }
    Ok(found.sorted())
}

impl FoundFiles {
    /// The folder `name` in `within`, to be searched as well, if it may contain specs.
    fn folder(
        &mut self,
        reader: &Reader,
        within: &Pending,
        name: &str,
        path: PathBuf,
        dialect: Dialect,
    ) -> Option<Pending> {
        let most = reader.limits().depth;
        let is_deep = dialect == Dialect::OpenSpec;
        if within.depth >= most {
            if is_deep {
                let problem = format!("lies deeper than {most} folders; it is not read");
                self.report(reader, &path, &problem);
            }
            return None;
        }
        let id = match within.id.as_str() {
            "" => name.to_owned(),
            above => format!("{above}/{name}"),
        };
        let depth = within.depth + 1;
        (depth == 1 || is_deep).then_some(Pending { path, id, depth })
    }

    fn linked(&mut self, reader: &Reader, path: &Path) {
        self.unreadable.push(Unreadable {
            path: reader.relative(path),
            problem: reader.linked_folder(path).to_string(),
        });
    }

    fn report(&mut self, reader: &Reader, path: &Path, problem: &str) {
        let path = reader.relative(path);
        let problem = format!("{} {problem}", path.display());
        self.unreadable.push(Unreadable { path, problem });
    }

    fn sorted(mut self) -> Self {
        self.items.sort_unstable();
        self.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
        self
    }
}
