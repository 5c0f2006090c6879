//! What somebody else does meanwhile, and what fails half-way: nothing is lost and nothing is half done.

use std::fs;

use spec_server::archive::{ArchiveError, How, Plan, preview};
use spec_server::project::Project;
use tempfile::TempDir;

use super::{DAY, adds, archive, requirement, spec, tree};
use crate::project::{openspec, write};

/// Two specs and a change of both.
fn two() -> (TempDir, Project) {
    let delta = format!(
        "## ADDED Requirements\n{}\n## RENAMED Requirements\n- FROM: `### Requirement: A`\n- TO: `### Requirement: Z`\n",
        requirement("New")
    );
    openspec(&[
        ("specs/a/spec.md", spec(&["A"]).as_str()),
        ("specs/b/spec.md", spec(&["A"]).as_str()),
        ("changes/c/specs/a/spec.md", delta.as_str()),
        ("changes/c/specs/b/spec.md", delta.as_str()),
        ("changes/c/tasks.md", "- [x] 1.1 a\n"),
    ])
}

#[test]
fn what_has_changed_since_the_plan_is_not_overwritten() {
    let delta = adds("Other");
    let changes: [(&str, String); 6] = [
        ("specs/a/spec.md", spec(&["A", "B"])),
        ("specs/b/spec.md", spec(&["A"]).replace("Serves", "SERVES")),
        ("changes/c/specs/a/spec.md", delta.clone()),
        ("changes/c/specs/new/spec.md", delta),
        ("changes/c/tasks.md", "- [ ] 1.1 a\n".to_owned()),
        ("changes/c/design.md", String::new()),
    ];
    for (path, text) in changes {
        let (root, project) = two();
        let plan = Plan::of(&project, "c").expect("a plan");
        write(&root.path().join("openspec"), &[(path, text.as_str())]);
        let before = tree(root.path());
        match plan.apply(DAY, How::default()) {
            Err(error @ ArchiveError::Changed(_)) => {
                assert!(error.to_string().contains("nothing was written"), "{error}")
            }
            other => panic!("{path}: {other:?}"),
        }
        assert_eq!(tree(root.path()), before, "{path}");
    }
}

/// Of one length and one time, in place: only the bytes differ.
#[test]
fn a_file_that_only_its_bytes_tell_apart_is_not_overwritten() {
    let (root, project) = two();
    let path = root.path().join("openspec/specs/b/spec.md");
    let plan = Plan::of(&project, "c").expect("a plan");
    let written = fs::metadata(&path).and_then(|metadata| metadata.modified());
    fs::write(&path, spec(&["A"]).replace("Serves", "SERVES")).expect("written");
    let file = fs::File::options().write(true).open(&path).expect("a file");
    file.set_modified(written.expect("a time")).expect("a time is set");
    let before = tree(root.path());
    assert!(matches!(plan.apply(DAY, How::default()), Err(ArchiveError::Changed(_))));
    assert_eq!(tree(root.path()), before);
}

#[test]
fn a_spec_that_appears_or_goes_since_the_plan_is_seen() {
    let delta = adds("New");
    let (root, project) = openspec(&[("changes/c/specs/new/spec.md", delta.as_str())]);
    let plan = Plan::of(&project, "c").expect("a plan");
    write(&root.path().join("openspec"), &[("specs/new/spec.md", "mine\n")]);
    assert!(matches!(plan.apply(DAY, How::default()), Err(ArchiveError::Changed(_))));
    assert_eq!(
        fs::read_to_string(root.path().join("openspec/specs/new/spec.md")).expect("a file"),
        "mine\n"
    );

    let (root, project) = two();
    let plan = Plan::of(&project, "c").expect("a plan");
    fs::remove_file(root.path().join("openspec/specs/b/spec.md")).expect("removed");
    let before = tree(root.path());
    assert!(matches!(plan.apply(DAY, How::default()), Err(ArchiveError::Changed(_))));
    assert_eq!(tree(root.path()), before);
}

/// Two capabilities that are one file: the second write finds it changed, and the first is put back.
#[cfg(unix)]
#[test]
fn a_write_that_fails_undoes_those_before_it() {
    let (root, project) = two();
    let delta = adds("New");
    write(
        &root.path().join("openspec"),
        &[("changes/c/specs/aa-new/deep/spec.md", delta.as_str())],
    );
    let b = root.path().join("openspec/specs/b/spec.md");
    fs::remove_file(&b).expect("removed");
    std::os::unix::fs::symlink("../a/spec.md", &b).expect("a link");
    let before = tree(root.path());
    let error = archive(&project).expect_err("the second write fails");
    assert!(matches!(error, ArchiveError::Changed(_)), "{error}");
    let after: Vec<_> = tree(root.path())
        .into_iter()
        .filter(|(path, _)| path != "openspec/changes/archive")
        .collect();
    assert_eq!(after, before);
    assert!(b.is_symlink());
    // It was made before the writes, is empty, and has gone as well.
    assert!(!root.path().join("openspec/changes/archive").exists());
}

/// As a crash leaves it that came between two writes.
#[test]
fn a_change_that_was_half_applied_is_finished_by_another_time() {
    let (whole, project) = two();
    archive(&project).expect("archived");
    let (half, project) = two();
    let shown = preview(&project, "c").expect("a preview");
    fs::write(half.path().join("openspec/specs/a/spec.md"), &shown.specs[0].after)
        .expect("written");
    let again = archive(&project).expect("archived");
    assert_eq!(again.specs.len(), 1);
    assert_eq!(tree(half.path()), tree(whole.path()));
}

#[test]
fn one_that_cannot_be_changed_keeps_all_others_as_they_are() {
    let (root, project) = two();
    write(
        &root.path().join("openspec"),
        &[(
            "changes/c/specs/z/spec.md",
            "## MODIFIED Requirements\n### Requirement: No\nIt SHALL.\n",
        )],
    );
    let before = tree(root.path());
    assert!(matches!(archive(&project), Err(ArchiveError::Refused(_))));
    assert_eq!(tree(root.path()), before);
}

#[test]
fn a_spec_that_is_no_text_is_named() {
    let (root, project) = two();
    fs::write(root.path().join("openspec/specs/b/spec.md"), b"# B\n\xff\n").expect("written");
    let error = archive(&project).expect_err("no text").to_string();
    assert_eq!(error, "openspec/specs/b/spec.md: line 2 is not UTF-8; save the file in UTF-8");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_outside_of_the_project() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().expect("a folder");
    let delta = adds("New");
    let (there, nowhere) = (outside.path().to_owned(), outside.path().join("nowhere"));
    for (link, capability, to) in [
        ("specs/new", "new", &there),
        ("specs/deep", "deep/new", &there),
        ("changes/archive", "new", &there),
        ("changes/archive", "new", &nowhere),
        ("specs", "new", &there),
        ("specs", "new", &nowhere),
    ] {
        let path = format!("changes/c/specs/{capability}/spec.md");
        let (root, project) =
            openspec(&[(path.as_str(), delta.as_str()), ("specs-are-here/x", "")]);
        let link = root.path().join("openspec").join(link);
        fs::create_dir_all(link.parent().expect("a folder")).expect("made");
        symlink(to, &link).expect("a link");
        let before = tree(root.path());
        let error = archive(&project).expect_err("refused").to_string();
        assert!(error.contains("out of the project"), "{}: {error}", link.display());
        assert_eq!(tree(root.path()), before);
        assert_eq!(fs::read_dir(outside.path()).expect("a folder").count(), 0);
    }
}
