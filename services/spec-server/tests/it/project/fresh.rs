//! An answer has what is there now, and what has not changed is not read again.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use spec_server::project::Limits;

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
fn a_file_that_takes_over_the_time_of_the_old_one_is_read() {
    let (root, project) = openspec(&[("specs/a/spec.md", SPEC)]);
    let path = root.path().join("openspec/specs/a/spec.md");
    age(&path);
    // Until it is old enough to be believed.
    std::thread::sleep(Duration::from_millis(2_100));
    assert_eq!(project.spec("a").expect("a spec").title, "A");
    fs::write(&path, SPEC.replace("# A", "# Z")).expect("written");
    age(&path);
    assert_eq!(project.spec("a").expect("a spec").title, "Z");
}

#[test]
fn what_comes_and_goes_below_folders_that_are_known_is_seen_at_once() {
    let (root, project) = openspec(&[("specs/a/spec.md", SPEC), ("specs/b/c/spec.md", SPEC)]);
    std::thread::sleep(Duration::from_millis(2_100));
    let specs = root.path().join("openspec/specs");
    let ids = |expected: &[&str]| {
        assert_eq!(project.spec_ids().expect("ids"), expected);
        let listed = project.specs().expect("specs").items;
        let listed: Vec<_> = listed.iter().map(|spec| spec.id.as_str()).collect();
        assert_eq!(listed, expected);
    };
    for _ in 0..20 {
        ids(&["a", "b/c"]);
        write(&specs, &[("b/c/d/spec.md", SPEC)]);
        ids(&["a", "b/c", "b/c/d"]);
        fs::rename(specs.join("b/c/d"), specs.join("b/e")).expect("renamed");
        ids(&["a", "b/c", "b/e"]);
        fs::remove_dir_all(specs.join("b/e")).expect("removed");
        ids(&["a", "b/c"]);
        fs::rename(specs.join("b"), specs.join("f")).expect("renamed");
        ids(&["a", "f/c"]);
        fs::rename(specs.join("f"), specs.join("b")).expect("renamed");
        fs::remove_file(specs.join("a/spec.md")).expect("removed");
        ids(&["b/c"]);
        write(&specs, &[("a/spec.md", SPEC)]);
    }
}

#[test]
fn many_specs_are_listed_by_several_threads_in_their_order() {
    let (root, project) = openspec(&[]);
    let path = |number: usize| format!("openspec/specs/{}/{number:04}/spec.md", number % 3);
    for number in 0..1_500 {
        write(root.path(), &[(&path(number), &SPEC.replace("# A", &format!("# {number}")))]);
    }
    let mut expected: Vec<String> = (0..1_500).map(|n| format!("{}/{n:04}", n % 3)).collect();
    expected.sort();
    for _ in 0..2 {
        let specs = project.specs().expect("specs").items;
        let ids: Vec<&str> = specs.iter().map(|spec| spec.id.as_str()).collect();
        assert_eq!(ids, expected);
        assert!(specs.iter().all(|spec| {
            let number: usize = spec.title.parse().expect("a number");
            spec.id.ends_with(&format!("/{number:04}"))
        }));
    }
    // A bound that is reached by one thread cuts the list at the same place as ever.
    let bytes = |spec: &Arc<spec_server::model::Spec>| spec.source.text.len();
    let specs = project.specs().expect("specs").items;
    let most: usize = specs.iter().take(900).map(bytes).sum();
    let project = project.with_limits(Limits {
        total_bytes: u64::try_from(most).expect("a size"),
        ..Limits::default()
    });
    let listed = project.specs().expect("specs");
    assert_eq!(listed.items.len(), 900);
    assert_eq!(listed.unreadable.len(), 1, "{:?}", listed.unreadable);
}

#[test]
fn a_file_written_twice_in_one_tick_of_the_clock_is_read_twice() {
    let (root, project) = openspec(&[("specs/a/spec.md", SPEC)]);
    let path = root.path().join("openspec/specs/a/spec.md");
    let now = SystemTime::now();
    for title in ["# B", "# C", "# D"] {
        // In place, of one length and one time: only the bytes differ.
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
