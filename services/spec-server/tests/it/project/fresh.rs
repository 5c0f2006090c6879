//! What is told is what is there now, and what has not changed is not read again.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::{SPEC, openspec, write};

/// Makes a file look as if it had not been written for an hour.
fn age(path: &Path) {
    let file = File::options().write(true).open(path).expect("a file");
    let hour = SystemTime::now() - Duration::from_secs(3600);
    file.set_modified(hour).expect("a time is set");
}

#[test]
fn a_file_is_read_again_when_it_has_changed() {
    let (root, project) = openspec(&[("specs/a/spec.md", SPEC)]);
    let path = root.path().join("openspec/specs/a/spec.md");
    age(&path);
    let first = project.spec("a").expect("a spec");
    let again = project.spec("a").expect("a spec");
    assert!(Arc::ptr_eq(&first, &again));
    fs::write(&path, SPEC.replace("# A", "# Z")).expect("written");
    assert_eq!(project.spec("a").expect("a spec").title, "Z");
    fs::remove_file(&path).expect("removed");
    project.spec("a").expect_err("gone");
    assert!(project.specs().expect("specs").items.is_empty());
}

#[test]
fn a_file_written_twice_in_one_tick_of_the_clock_is_read_twice() {
    let (root, project) = openspec(&[("specs/a/spec.md", SPEC)]);
    let path = root.path().join("openspec/specs/a/spec.md");
    let now = SystemTime::now();
    for title in ["# B", "# C", "# D"] {
        // In place, of one length and one time: nothing but the bytes tells.
        fs::write(&path, SPEC.replace("# A", title)).expect("written");
        let file = File::options().write(true).open(&path).expect("a file");
        file.set_modified(now).expect("a time is set");
        assert_eq!(project.spec("a").expect("a spec").title, title[2..]);
    }
}

#[test]
fn a_clone_knows_what_has_been_read_and_a_touch_changes_nothing() {
    let (root, project) = openspec(&[("specs/a/spec.md", SPEC)]);
    let first = project.spec("a").expect("a spec");
    age(&root.path().join("openspec/specs/a/spec.md"));
    let specs = project.clone().specs().expect("specs");
    assert!(Arc::ptr_eq(&first, specs.items.first().expect("a spec")));
}

#[test]
fn each_file_of_a_change_makes_it_new() {
    let (root, project) = openspec(&[("changes/c/proposal.md", "# One\n")]);
    let folder = root.path().join("openspec/changes/c");
    age(&folder.join("proposal.md"));
    let first = project.change("c").expect("a change");
    assert!(Arc::ptr_eq(&first, &project.change("c").expect("a change")));
    for file in ["tasks.md", "design.md", ".openspec.yaml", "specs/x/spec.md"] {
        let before = project.change("c").expect("a change");
        write(&folder, &[(file, "new\n")]);
        age(&folder.join(file));
        let after = project.change("c").expect("a change");
        assert_ne!(before, after, "{file}");
        assert!(Arc::ptr_eq(&after, &project.change("c").expect("a change")));
    }
    fs::remove_file(folder.join("specs/x/spec.md")).expect("removed");
    assert!(project.change("c").expect("a change").deltas.is_empty());
}
