//! Finding and reading projects.

use std::fs;
use std::path::Path;

use spec_server::project::{Dialect, Project, ProjectError, ReadError};
use tempfile::TempDir;

pub(crate) const SPEC: &str = "# A\n\n## Purpose\nServes.\n\n## Requirements\n\n### Requirement: One\nIt SHALL.\n\n\
                               #### Scenario: S\n- **WHEN** a\n- **THEN** b\n";

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

#[test]
fn an_openspec_project_is_found_from_below() {
    let root = folder(&[
        ("openspec/specs/a/spec.md", SPEC),
        ("openspec/specs/deep/b/spec.md", SPEC),
        ("openspec/changes/do-it/proposal.md", "## Why\nw\n"),
        (
            "openspec/changes/archive/2025-01-02-did/tasks.md",
            "- [x] 1.1 a\n",
        ),
        ("src/deep/x.rs", ""),
    ]);
    let project = Project::find(&root.path().join("src/deep")).expect("a project");
    assert_eq!(project.layout().kind, Dialect::OpenSpec);
    assert_eq!(project.spec_ids().expect("ids"), ["a", "deep/b"]);
    assert_eq!(project.spec("deep/b").expect("a spec").id, "deep/b");
    assert_eq!(project.change_ids().expect("ids"), ["do-it"]);
    let did = project.archived("2025-01-02-did").expect("a change");
    assert_eq!(did.archived_on.as_deref(), Some("2025-01-02"));
    assert_eq!(did.title, "did");
    match project.spec("deep/c") {
        Err(ReadError::NotFound { nearest, .. }) => assert_eq!(nearest, ["deep/b"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn where_nothing_is_the_error_says_what_was_looked_for() {
    let root = folder(&[("specs/a/spec.md", SPEC)]);
    let error = Project::open(root.path()).expect_err("no project");
    assert!(matches!(error, ProjectError::NotAProject { .. }));
    assert!(error.to_string().contains(".spox/config.toml"), "{error}");
}
