//! Which specs and changes there are.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::{Kind, ReadError};
use super::files::{Reader, is_missing};
use super::layout::{Dialect, Layout};
use super::{Unreadable, id};

/// The most entries of folders that are looked at in one call, whatever they are.
const MAX_ENTRIES: usize = 1_000_000;

/// What was found below a folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Ids and absolute paths, in the order of the ids: of code points.
    pub(super) items: Vec<(String, PathBuf)>,
    /// What is there and does not count, and should perhaps.
    pub(super) unreadable: Vec<Unreadable>,
}

/// The `spec.md` files below `base`: at any depth for OpenSpec, in its folders alone for Spec Oxide; none if it is
/// missing. One in `base` itself does not count; links to folders are not followed.
pub(super) fn specs(reader: &Reader, base: &Path, dialect: Dialect) -> Result<Found, ReadError> {
    let mut found = Found::default();
    if !reader.is_base(base)? {
        return Ok(found);
    }
    let limits = reader.limits();
    let mut looked_at = 0;
    let mut pending = vec![(base.to_owned(), String::new(), 0)];
    while let Some((folder, id, depth)) = pending.pop() {
        for entry in entries(reader, &folder)? {
            looked_at += 1;
            if found.items.len() >= limits.specs || looked_at > MAX_ENTRIES {
                let most = limits.specs;
                found.tell(
                    reader,
                    base,
                    &format!(
                        "has more than {most} specs or {MAX_ENTRIES} entries; the rest is not read"
                    ),
                );
                return Ok(found.sorted());
            }
            let path = entry.path();
            let Some(name) = name(&entry) else {
                found.tell(reader, &path, "has a name that is not UTF-8; rename it");
                continue;
            };
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) => return Err(reader.io(&path, error)),
            };
            if name == "spec.md" && depth > 0 && !kind.is_dir() {
                // A link that leads nowhere is nothing.
                if !kind.is_symlink() || path.exists() {
                    found.items.push((id.clone(), path));
                }
            } else if !id::counts(Kind::Spec, &name, dialect) {
                continue;
            } else if kind.is_symlink() {
                if path.join("spec.md").is_file() {
                    let problem = reader.linked_folder(&path).to_string();
                    found.unreadable.push(Unreadable {
                        path: reader.relative(&path),
                        problem,
                    });
                }
            } else if kind.is_dir() {
                let below = if id.is_empty() {
                    name
                } else {
                    format!("{id}/{name}")
                };
                if depth < limits.depth && (depth == 0 || dialect == Dialect::OpenSpec) {
                    pending.push((path, below, depth + 1));
                } else if dialect == Dialect::OpenSpec {
                    let problem =
                        format!("lies deeper than {} folders; it is not read", limits.depth);
                    found.tell(reader, &path, &problem);
                }
            }
        }
    }
    Ok(found.sorted())
}

/// The folders of changes in `base`; none if it is missing.
pub(super) fn changes(
    reader: &Reader,
    layout: &Layout,
    kind: Kind,
    base: &Path,
) -> Result<Found, ReadError> {
    let mut found = Found::default();
    if !reader.is_base(base)? {
        return Ok(found);
    }
    for (looked_at, entry) in entries(reader, base)?.into_iter().enumerate() {
        let most = reader.limits().changes;
        if found.items.len() >= most || looked_at > MAX_ENTRIES {
            found.tell(
                reader,
                base,
                &format!(
                    "has more than {most} changes or {MAX_ENTRIES} entries; the rest is not read"
                ),
            );
            break;
        }
        let path = entry.path();
        let Some(name) = name(&entry) else {
            found.tell(reader, &path, "has a name that is not UTF-8; rename it");
            continue;
        };
        if !id::counts(kind, &name, layout.kind) || (kind == Kind::Change && path == layout.archive)
        {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.items.push((name, path)),
            Ok(kind) if kind.is_symlink() && path.is_dir() => {
                let problem = reader.linked_folder(&path).to_string();
                found.unreadable.push(Unreadable {
                    path: reader.relative(&path),
                    problem,
                });
            }
            Ok(_) => {}
            Err(error) => return Err(reader.io(&path, error)),
        }
    }
    Ok(found.sorted())
}

/// What is in a folder; nothing if it has been removed meanwhile.
fn entries(reader: &Reader, folder: &Path) -> Result<Vec<fs::DirEntry>, ReadError> {
    match fs::read_dir(folder) {
        Ok(entries) => entries
            .take(MAX_ENTRIES)
            .collect::<Result<_, _>>()
            .map_err(|error| reader.io(folder, error)),
        Err(error) if is_missing(&error) => Ok(Vec::new()),
        Err(error) => Err(reader.io(folder, error)),
    }
}

fn name(entry: &fs::DirEntry) -> Option<String> {
    entry.file_name().into_string().ok()
}

impl Found {
    fn tell(&mut self, reader: &Reader, path: &Path, problem: &str) {
        let path = reader.relative(path);
        let problem = format!("{} {problem}", path.display());
        self.unreadable.push(Unreadable { path, problem });
    }

    fn sorted(mut self) -> Self {
        self.items.sort();
        self.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
        self
    }
}
