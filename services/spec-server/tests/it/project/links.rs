//! Symbolic links: inside the project, out of it, in a circle, and to nowhere.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use spec_server::project::{Project, ReadError};

use super::{CONFIG, SPEC, folder, openspec, write};
use crate::assert_has;

#[test]
fn a_file_that_is_a_link_within_the_project_is_read() {
    let (root, project) = openspec(&[("shared/a.md", SPEC), ("specs/b/x", "")]);
    symlink("../../shared/a.md", root.path().join("openspec/specs/b/spec.md")).expect("a link");
    assert_eq!(project.spec_ids().expect("ids"), ["b"]);
    assert_eq!(project.spec("b").expect("a spec").title, "A");
    // What is behind it is looked at, not the link.
    let longer = SPEC.replace("# A", "# Another");
    write(&root.path().join("openspec"), &[("shared/a.md", longer.as_str())]);
    assert_eq!(project.spec("b").expect("a spec").title, "Another");
}

#[test]
fn a_link_out_of_the_project_is_refused_and_named() {
    let outside = folder(&[("secret.md", SPEC), ("dir/spec.md", SPEC), ("c/proposal.md", "")]);
    let (root, project) =
        openspec(&[("specs/a/x", ""), ("specs/fine/spec.md", SPEC), ("changes/c/tasks.md", "")]);
    let at = |path: &str| root.path().join("openspec").join(path);
    symlink(outside.path().join("secret.md"), at("specs/a/spec.md")).expect("a link");
    symlink(outside.path().join("dir"), at("specs/linked")).expect("a link");
    symlink(outside.path().join("secret.md"), at("changes/c/proposal.md")).expect("a link");
    symlink(outside.path().join("c"), at("changes/linked")).expect("a link");
    for (id, path) in [("a", "openspec/specs/a/spec.md"), ("linked", "openspec/specs/linked")] {
        match project.spec(id) {
            Err(error @ ReadError::OutOfRoot(_)) => {
                assert!(error.to_string().contains(path), "{error}")
            }
            other => panic!("{id}: {other:?}"),
        }
    }
    let specs = project.specs().expect("specs");
    assert_eq!(specs.items.len(), 1);
    let told: Vec<_> = specs.unreadable.iter().map(|u| u.path.to_str().expect("a path")).collect();
    assert_eq!(told, ["openspec/specs/linked", "openspec/specs/a/spec.md"]);
    assert!(specs.unreadable.iter().all(|u| u.problem.contains("out of the project")));
    for id in ["c", "linked"] {
        let error = project.change(id).expect_err("refused");
        assert!(matches!(error, ReadError::OutOfRoot(_)), "{id}: {error}");
    }
    assert_eq!(project.changes().expect("changes").unreadable.len(), 2);
}

#[test]
fn a_link_to_a_folder_of_the_project_is_refused_in_words() {
    let (root, project) = openspec(&[("specs/a/spec.md", SPEC)]);
    symlink("a", root.path().join("openspec/specs/b")).expect("a link");
    assert_eq!(project.spec_ids().expect("ids"), ["a"]);
    let error = project.spec("b").expect_err("refused").to_string();
    assert_has(&error, &["openspec/specs/b", "not followed"]);
    assert_eq!(project.specs().expect("specs").unreadable.len(), 1);
}

#[test]
fn circles_and_links_to_nowhere_end() {
    let (root, project) =
        openspec(&[("specs/a/spec.md", SPEC), ("specs/b/x", ""), ("specs/c/x", "")]);
    let at = |path: &str| root.path().join("openspec").join(path);
    symlink("..", at("specs/a/up")).expect("a link");
    symlink("loop", at("specs/loop")).expect("a link");
    symlink("spec.md", at("specs/b/spec.md")).expect("a link");
    symlink("nowhere.md", at("specs/c/spec.md")).expect("a link");
    assert_eq!(project.spec_ids().expect("ids"), ["a"]);
    let error = project.spec("b").expect_err("a circle").to_string();
    assert!(error.contains("openspec/specs/b/spec.md"), "{error}");
    assert!(matches!(project.spec("c"), Err(ReadError::NotFound { .. })));
    project.spec("loop").expect_err("a circle");
    project.spec("a/up/a").expect_err("a link on the way");
}

#[test]
fn folders_of_the_layout_do_not_lead_out_either() {
    let outside = folder(&[("a/spec.md", SPEC), ("c/proposal.md", "")]);
    let root = folder(&[(".spox/config.toml", CONFIG)]);
    symlink(outside.path(), root.path().join("specs")).expect("a link");
    let project = Project::open(root.path()).expect("a project");
    for error in [
        project.spec_ids().map(drop).expect_err("out"),
        project.specs().map(drop).expect_err("out"),
        project.spec("a").map(drop).expect_err("out"),
    ] {
        assert!(matches!(error, ReadError::OutOfRoot(_)), "{error}");
        assert!(error.to_string().contains("specs"), "{error}");
    }
}

#[test]
fn a_root_that_is_a_link_is_the_folder_behind_it() {
    let (root, project) = openspec(&[("specs/a/spec.md", SPEC)]);
    let elsewhere = folder(&[]);
    let link = elsewhere.path().join("link");
    symlink(root.path(), &link).expect("a link");
    let linked = Project::open(&link).expect("a project");
    assert_eq!(linked.root(), project.root());
    assert_eq!(linked.spec_ids().expect("ids"), ["a"]);
    fs::remove_file(link).expect("removed");
}
