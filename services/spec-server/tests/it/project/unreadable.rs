//! Files that are there and cannot be read: each is named, and hides no other.

use std::fs;

use spec_server::project::ReadError;

use super::{SPEC, openspec};

#[test]
fn contents_that_are_no_text_are_refused_with_file_and_line() {
    let (root, project) = openspec(&[
        ("specs/a/spec.md", SPEC),
        ("specs/b/spec.md", ""),
        ("changes/c/proposal.md", ""),
    ]);
    let at = |path: &str| root.path().join("openspec").join(path);
    fs::write(at("specs/b/spec.md"), b"# B\r\n\xc3\x28\n").expect("written");
    fs::write(at("changes/c/tasks.md"), b"\xff\xfe").expect("written");
    let error = project.spec("b").expect_err("no text");
    assert!(matches!(error, ReadError::NotUtf8 { .. }));
    assert_eq!(
        error.to_string(),
        "openspec/specs/b/spec.md: line 2 is not UTF-8; save the file in UTF-8"
    );
    let specs = project.specs().expect("specs");
    assert_eq!(specs.items.len(), 1);
    let told: Vec<_> = specs.unreadable.iter().map(|u| u.problem.as_str()).collect();
    assert_eq!(told, [error.to_string()]);
    let changes = project.changes().expect("changes");
    assert!(changes.items.is_empty());
    assert!(changes.unreadable.iter().all(|u| u.problem.contains("openspec/changes/c/tasks.md")));
}

#[cfg(target_os = "linux")] // Other systems refuse to make such a name.
#[test]
fn a_name_that_is_no_text_is_told() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let (root, project) = openspec(&[("specs/a/spec.md", SPEC), ("changes/c/specs/a/spec.md", "")]);
    let name = OsStr::from_bytes(b"bad\xff");
    for parent in ["openspec/specs", "openspec/changes", "openspec/changes/c/specs"] {
        let folder = root.path().join(parent).join(name);
        fs::create_dir_all(&folder).expect("a folder is made");
        fs::write(folder.join("spec.md"), SPEC).expect("written");
    }
    assert_eq!(project.spec_ids().expect("ids"), ["a"]);
    let unreadable = project.specs().expect("specs").unreadable;
    assert!(
        unreadable.iter().any(|u| u.problem.contains("UTF-8") && u.problem.contains("bad")),
        "{unreadable:?}"
    );
    assert_eq!(project.changes().expect("changes").unreadable.len(), 2);
    // A delta that cannot be named must not be left out of its change.
    let error = project.change("c").expect_err("refused").to_string();
    assert!(error.contains("bad") && error.contains("UTF-8"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_file_and_nobody_waits_for_it() {
    let (root, project) = openspec(&[("specs/a/spec.md", SPEC), ("specs/p/x", "")]);
    let pipe = root.path().join("openspec/specs/p/spec.md");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo is there").success());
    let error = project.spec("p").expect_err("no file");
    assert_eq!(error.to_string(), "openspec/specs/p/spec.md is not a file");
    assert_eq!(project.specs().expect("specs").items.len(), 1);
}

#[test]
fn a_folder_where_a_file_belongs_is_a_folder_and_the_reverse_is_told() {
    let (_root, project) = openspec(&[("specs/a/spec.md/spec.md", SPEC), ("changes", "a file\n")]);
    assert_eq!(project.spec_ids().expect("ids"), ["a/spec.md"]);
    let error = project.change_ids().expect_err("no folder");
    assert_eq!(error.to_string(), "openspec/changes is not a folder");
}
