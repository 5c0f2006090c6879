//! Finding and reading projects.

mod config;
mod find;
mod fresh;
mod ids;
mod limits;
mod links;
mod stores;
mod unreadable;

use std::fs;
use std::path::Path;

use spec_server::project::Project;
use tempfile::TempDir;

pub(crate) const SPEC: &str = "# A\n\n## Purpose\nServes.\n\n## Requirements\n\n### Requirement: One\nIt SHALL.\n\n\
                               #### Scenario: S\n- **WHEN** a\n- **THEN** b\n";

pub(crate) const CONFIG: &str = "[paths]\nspec_folder = \"specs/\"\nchanges_folder = \"specs/_changes\"\n\
                                 archive_folder = \"specs/_archive\"\n[rules]\nsystem = [\"mcp\"]\n";

/// Writes files below a root, with their folders.
pub(crate) fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
        fs::write(path, text).expect("a file is written");
    }
}

/// A folder with these files in it.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), files);
    folder
}

/// A project with these files in it, below `openspec/`.
pub(crate) fn openspec(files: &[(&str, &str)]) -> (TempDir, Project) {
    let root = folder(&[]);
    fs::create_dir(root.path().join("openspec")).expect("a folder is made");
    write(&root.path().join("openspec"), files);
    let project = Project::open(root.path()).expect("a project");
    (root, project)
}

/// A Spec Oxide project with these files in it.
pub(crate) fn spox(files: &[(&str, &str)]) -> (TempDir, Project) {
    let root = folder(&[(".spox/config.toml", CONFIG)]);
    write(root.path(), files);
    let project = Project::open(root.path()).expect("a project");
    (root, project)
}

/// The ids of the archived changes.
fn archived(project: &Project) -> Vec<String> {
    let archived = project.archive().expect("changes").items;
    archived.iter().map(|change| change.id.clone()).collect()
}
