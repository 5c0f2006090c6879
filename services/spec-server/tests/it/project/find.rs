//! Where the project is, and what is in it.

use std::fs;

use spec_server::project::{Dialect, Project, ProjectError};

use super::{CONFIG, SPEC, archived, folder, openspec, spox};
use crate::assert_has;

#[test]
fn an_openspec_project_is_found_from_below() {
    let root = folder(&[("openspec/specs/a/spec.md", SPEC), ("src/deep/x.rs", "")]);
    let project = Project::find(&root.path().join("src/deep")).expect("a project");
    assert_eq!(project.layout().kind, Dialect::OpenSpec);
    assert_eq!(project.root(), root.path().canonicalize().expect("a path"));
    assert_eq!(project.layout().archive, project.root().join("openspec/changes/archive"));
    // From inside the folder of specs, too.
    let inside = Project::find(&root.path().join("openspec/specs/a")).expect("a project");
    assert_eq!(inside.root(), project.root());
}

#[test]
fn the_nearest_project_is_taken_and_a_config_before_a_folder() {
    let root = folder(&[
        ("openspec/specs/outer/spec.md", SPEC),
        ("inner/.spox/config.toml", CONFIG),
        ("inner/specs/inner/spec.md", SPEC),
        ("inner/openspec/specs/old/spec.md", SPEC),
        ("inner/src/x.rs", ""),
    ]);
    let project = Project::find(&root.path().join("inner/src")).expect("a project");
    assert_eq!(project.layout().kind, Dialect::SpecOxide);
    assert_eq!(project.spec_ids().expect("ids"), ["inner"]);
}

#[test]
fn a_folder_of_that_name_with_nothing_of_a_project_is_passed_over() {
    let root = folder(&[
        ("openspec/specs/outer/spec.md", SPEC),
        ("src/openspec/package.json", "{}"),
        ("src/begun/openspec/config.yaml", "schema: spec-driven\n"),
        ("src/begun/x.rs", ""),
    ]);
    let outer = Project::find(&root.path().join("src")).expect("a project");
    assert_eq!(outer.spec_ids().expect("ids"), ["outer"]);
    let begun = Project::find(&root.path().join("src/begun")).expect("a project");
    assert_eq!(begun.spec_ids().expect("ids"), [""; 0]);
    // Named, it is taken at its word.
    Project::open(&root.path().join("src")).expect("a project");
}

#[test]
fn the_two_kinds_count_what_their_tools_count() {
    let (_root, project) = openspec(&[
        ("specs/spec.md", SPEC),
        ("specs/b/spec.md", SPEC),
        ("specs/b/a/spec.md", SPEC),
        ("specs/B/spec.md", SPEC),
        ("specs/.hidden/spec.md", SPEC),
        ("specs/_under/spec.md", SPEC),
        ("specs/notes/readme.md", ""),
        ("changes/one/proposal.md", ""),
        ("changes/bare/notes.txt", ""),
        ("changes/.x/proposal.md", ""),
        ("changes/file.md", ""),
        ("changes/archive/2025-01-02-did/tasks.md", ""),
        ("changes/archive/.x/tasks.md", ""),
    ]);
    assert_eq!(project.spec_ids().expect("ids"), ["B", "_under", "b", "b/a"]);
    assert_eq!(project.change_ids().expect("ids"), ["bare", "one"]);
    assert_eq!(archived(&project), ["2025-01-02-did"]);

    let (_root, project) = spox(&[
        ("specs/mission.md", "# Mission\n"),
        ("specs/b/spec.md", SPEC),
        ("specs/b/a/spec.md", SPEC),
        ("specs/_changes/one/proposal.md", ""),
        ("specs/_changes/.x/proposal.md", ""),
        ("specs/_changes/_archive/x/proposal.md", ""),
        ("specs/_archive/2025-01-02-did/tasks.md", ""),
    ]);
    assert_eq!(project.spec_ids().expect("ids"), ["b"]);
    assert_eq!(project.change_ids().expect("ids"), ["one"]);
    assert_eq!(archived(&project), ["2025-01-02-did"]);
}

#[test]
fn an_empty_project_has_nothing_and_that_is_no_error() {
    for (_root, project) in [openspec(&[]), spox(&[])] {
        assert_eq!(project.spec_ids().expect("ids"), [""; 0]);
        assert_eq!(project.change_ids().expect("ids"), [""; 0]);
        assert_eq!(archived(&project), [""; 0]);
        let specs = project.specs().expect("specs");
        assert!(specs.items.is_empty() && specs.unreadable.is_empty());
    }
}

#[test]
fn a_change_has_its_parts_and_is_whole_without_some() {
    let (_root, project) = openspec(&[
        ("changes/all/proposal.md", "# Change: All of it\n## Why\nw\n"),
        ("changes/all/tasks.md", "- [x] 1.1 a\n"),
        ("changes/all/design.md", "# D\n"),
        ("changes/all/.openspec.yaml", "schema: spec-driven\n"),
        ("changes/all/specs/b/c/spec.md", "## ADDED Requirements\n### Requirement: R\nIt SHALL.\n"),
        ("changes/all/specs/a/spec.md", "## REMOVED Requirements\n### Requirement: R\n"),
        ("changes/all/specs/spec.md", "## REMOVED Requirements\n"),
        ("changes/none/x.txt", ""),
        ("changes/archive/2025-01-02-add-it/tasks.md", "- [x] 1.1 a\n"),
        ("changes/archive/undated/tasks.md", ""),
    ]);
    let all = project.change("all").expect("a change");
    assert_eq!(all.title, "All of it");
    assert_eq!(all.archived_on, None);
    let capabilities: Vec<_> = all.deltas.iter().map(|d| d.capability.as_str()).collect();
    assert_eq!(capabilities, ["a", "b/c"]);
    let delta = all.deltas.last().expect("a delta");
    assert_eq!(delta.source.path.to_str(), Some("openspec/changes/all/specs/b/c/spec.md"));
    assert_eq!(all.progress().0, 1);
    assert!(all.text("design.md").is_some() && all.metadata.is_some());
    let none = project.change("none").expect("a change");
    assert!(none.text("proposal.md").is_none() && none.tasks.is_empty() && none.deltas.is_empty());
    let did = project.archived("2025-01-02-add-it").expect("a change");
    assert_eq!((did.archived_on.as_deref(), did.title.as_str()), (Some("2025-01-02"), "add it"));
    assert_eq!(project.archived("undated").expect("a change").archived_on, None);
    assert_eq!(project.archive().expect("changes").items.len(), 2);
}

#[test]
fn the_configuration_of_openspec_may_say_anything() {
    for config in ["schema: spec-driven\n", "schema: [\n", "\u{0}", "store: elsewhere\n"] {
        let (_root, project) = openspec(&[("config.yaml", config), ("specs/a/spec.md", SPEC)]);
        assert_eq!(project.spec_ids().expect("ids"), ["a"], "{config:?}");
    }
}

#[test]
fn where_nothing_is_the_error_helps() {
    let root = folder(&[("specs/a/spec.md", SPEC), ("p/openspec/specs/a/spec.md", SPEC)]);
    let told = |path: &str| match Project::open(&root.path().join(path)) {
        Err(error @ ProjectError::NotAProject { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(told("").contains(".spox/config.toml"), "{}", told(""));
    let inside = told("p/openspec");
    assert!(inside.contains("it lies in one; name") && inside.ends_with("/p"), "{inside}");
    assert!(told("specs").contains("neither"), "{}", told("specs"));
    let missing = Project::open(&root.path().join("nowhere")).expect_err("no folder");
    assert!(missing.to_string().contains("nowhere"), "{missing}");
    fs::write(root.path().join("file"), "").expect("a file is written");
    let file = Project::find(&root.path().join("file")).expect_err("no folder");
    assert!(file.to_string().contains("file"), "{file}");
}

#[test]
fn outside_of_every_project_the_error_says_what_was_looked_for() {
    let root = folder(&[]);
    match Project::find(root.path()) {
        Err(error @ ProjectError::NotFound(_)) => {
            let error = error.to_string();
            assert_has(&error, &["openspec/", "--root"]);
        }
        other => panic!("{other:?}"),
    }
}
