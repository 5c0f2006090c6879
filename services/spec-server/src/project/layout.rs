//! The folders of a project, and how a project is found.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::config;
use super::error::ProjectError;

/// The two kinds of repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `.spox/config.toml` sets the folders. A spec is a folder directly below the folder of specs.
    SpecOxide,
    /// `openspec/`. A spec is a folder at any depth.
    OpenSpec,
}

/// The folders of a project, as absolute paths. They need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The kind of repository.
    pub kind: Dialect,
    /// The specs.
    pub specs: PathBuf,
    /// The active changes.
    pub changes: PathBuf,
    /// The archived changes.
    pub archive: PathBuf,
}

/// The root and the layout of the project nearest to `start`: in `start` itself or a folder above it. If a folder has
/// both kinds, `.spox/config.toml` is used, since it states where the specs are. A folder `openspec/` without any part
/// of a project is skipped, as in OpenSpec's own tool, because it may be a clone of that tool.
pub(super) fn find(start: &Path) -> Result<(PathBuf, Layout), ProjectError> {
    let start = canonical(start)?;
    for folder in start.ancestors() {
        match layout_at(folder)? {
            Some(layout) if layout.kind == Dialect::SpecOxide || is_begun(folder) => {
                return Ok((folder.to_owned(), layout));
            }
            _ => {}
        }
    }
    Err(ProjectError::NotFound(start))
}

/// Whether the folder `openspec/` in `folder` has any part of a project.
fn is_begun(folder: &Path) -> bool {
    let openspec = folder.join("openspec");
    let has = |name: &str, is: fn(&Path) -> bool| is(&openspec.join(name));
    ["specs", "changes"].iter().any(|name| has(name, Path::is_dir))
        || ["config.yaml", "config.yml", "project.md"].iter().any(|name| has(name, Path::is_file))
}

/// The layout of the project at exactly `root`.
pub(super) fn at(root: &Path) -> Result<(PathBuf, Layout), ProjectError> {
    let root = canonical(root)?;
    match layout_at(&root)? {
        Some(layout) => Ok((root, layout)),
        None => {
            let hint = hint(&root);
            Err(ProjectError::NotAProject { path: root, hint })
        }
    }
}

/// Whether `root` has a project of OpenSpec beside the one of Spec Oxide that hides it.
pub(super) fn hides_another(root: &Path, layout: &Layout) -> bool {
    layout.kind == Dialect::SpecOxide && is_begun(root)
}

fn layout_at(folder: &Path) -> Result<Option<Layout>, ProjectError> {
    let file = folder.join(config::PATH);
    if file.is_file() {
        let [specs, changes, archive] = config::folders(folder, &file)?;
        return Ok(Some(Layout { kind: Dialect::SpecOxide, specs, changes, archive }));
    }
    let openspec = folder.join("openspec");
    Ok(openspec.is_dir().then(|| {
        let changes = openspec.join("changes");
        Layout {
            kind: Dialect::OpenSpec,
            specs: openspec.join("specs"),
            archive: changes.join("archive"),
            changes,
        }
    }))
}

/// A hint for a folder that is not a project.
fn hint(root: &Path) -> String {
    let above = root.parent().filter(|above| matches!(layout_at(above), Ok(Some(_))));
    if let Some(above) = above {
        return format!("it lies in one; name {}", above.display());
    }
    if root.join("specs").is_dir() {
        return "it has a folder `specs/` but nothing that says so; name the folder that holds `openspec/`, or write \
                `.spox/config.toml` with [paths] spec_folder = \"specs/\""
            .to_owned();
    }
    "neither `openspec/` nor `.spox/config.toml` is there".to_owned()
}

fn canonical(path: &Path) -> Result<PathBuf, ProjectError> {
    let io = |error| ProjectError::Io { path: path.to_owned(), error };
    let found = fs::canonicalize(path).map_err(io)?;
    if found.is_dir() { Ok(found) } else { Err(io(io::Error::from(io::ErrorKind::NotADirectory))) }
}
