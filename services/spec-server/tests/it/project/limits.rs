//! Bounds: each holds, is reported when it is reached, and can be set.

use spec_server::project::{Limits, ReadError};

use super::{SPEC, openspec};
use crate::assert_has;

#[test]
fn the_bounds_are_what_is_documented() {
    let limits = Limits::default();
    assert_eq!(
        (limits.file_bytes, limits.specs, limits.changes, limits.depth),
        (4 * 1024 * 1024, 20_000, 5_000, 16)
    );
}

#[test]
fn a_file_of_just_the_bound_is_read_and_one_byte_more_is_not() {
    let (_root, project) =
        openspec(&[("specs/a/spec.md", "# 345678\n"), ("specs/b/spec.md", "# 345678\n\n")]);
    let project = project.with_limits(Limits { file_bytes: 9, ..Limits::default() });
    assert_eq!(project.spec("a").expect("a spec").title, "345678");
    match project.spec("b") {
        Err(error @ ReadError::TooLarge { limit: 9, .. }) => {
            assert_has(&error.to_string(), &["openspec/specs/b/spec.md"]);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(project.specs().expect("specs").unreadable.len(), 1);
}

#[test]
fn more_specs_or_changes_than_the_bound_are_told() {
    let (_root, project) = openspec(&[
        ("specs/a/spec.md", SPEC),
        ("specs/b/spec.md", SPEC),
        ("specs/c/spec.md", SPEC),
        ("changes/a/tasks.md", ""),
        ("changes/b/tasks.md", ""),
        ("changes/c/tasks.md", ""),
    ]);
    let three = project.clone().with_limits(Limits { specs: 3, changes: 3, ..Limits::default() });
    assert!(three.specs().expect("specs").unreadable.is_empty());
    assert!(three.changes().expect("changes").unreadable.is_empty());
    let two = project.with_limits(Limits { specs: 2, changes: 2, ..Limits::default() });
    let specs = two.specs().expect("specs");
    assert_eq!(specs.items.len(), 2);
    assert!(specs.unreadable.iter().any(|u| u.problem.contains("more than 2 specs")), "{specs:?}");
    let changes = two.changes().expect("changes");
    assert_eq!(changes.items.len(), 2);
    assert!(
        changes.unreadable.iter().any(|u| u.problem.contains("more than 2 changes")),
        "{changes:?}"
    );
}

#[test]
fn what_lies_too_deep_is_told() {
    let (_root, project) = openspec(&[("specs/a/b/spec.md", SPEC), ("specs/a/b/c/spec.md", SPEC)]);
    let project = project.with_limits(Limits { depth: 2, ..Limits::default() });
    let specs = project.specs().expect("specs");
    assert_eq!(specs.items.len(), 1);
    let told = specs.unreadable.first().expect("told");
    assert_eq!(told.path.to_str(), Some("openspec/specs/a/b/c"));
    assert!(told.problem.contains("deeper than 2"), "{told:?}");
}

#[test]
fn a_chain_of_folders_without_end_is_walked_within_bounds() {
    let deep = format!("specs/{}spec.md", "d/".repeat(400));
    let (_root, project) = openspec(&[("specs/a/spec.md", SPEC), (deep.as_str(), SPEC)]);
    assert_eq!(project.spec_ids().expect("ids"), ["a"]);
    assert_eq!(project.specs().expect("specs").unreadable.len(), 1);
}

#[test]
fn all_texts_together_have_a_bound() {
    let (_root, project) = openspec(&[("specs/a/spec.md", SPEC), ("specs/b/spec.md", SPEC)]);
    let most = u64::try_from(SPEC.len()).expect("a length") * 2;
    let whole = project.clone().with_limits(Limits { total_bytes: most, ..Limits::default() });
    assert_eq!(whole.specs().expect("specs").items.len(), 2);
    let project = project.with_limits(Limits { total_bytes: most - 1, ..Limits::default() });
    let specs = project.specs().expect("specs");
    assert_eq!(specs.items.len(), 1);
    let told = specs.unreadable.first().expect("told");
    assert_has(&told.problem, &["openspec/specs/b/spec.md"]);
}
