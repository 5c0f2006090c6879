//! Projects whose specs are in another checkout.

use std::process::{Command, Output};

use super::{SPEC, folder, write};
use crate::assert_has;

/// Runs the binary with a registry of stores.
fn run(
    data: &std::path::Path,
    root: &std::path::Path,
    arguments: &[&str],
) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spec-server"));
    command.env_remove("SPEC_SERVER_ROOT").env("XDG_DATA_HOME", data).arg("--root").arg(root);
    let Output { status, stdout, stderr } = command.args(arguments).output().expect("it runs");
    let text = [stdout, stderr].concat();
    (status.code(), String::from_utf8(text).expect("UTF-8"))
}

#[test]
fn a_store_is_followed_or_refused_and_never_taken_for_empty() {
    let plans = folder(&[("openspec/specs/a/spec.md", SPEC)]);
    let code = folder(&[("openspec/config.yaml", "store: team-plans\n")]);
    let data = folder(&[]);
    for command in [["list"], ["validate"]] {
        let (status, text) = run(data.path(), code.path(), &command);
        assert_eq!(status, Some(1), "{text}");
        assert_has(&text, &["the store \"team-plans\"", "openspec store register", "--root"]);
    }
    let registry = |path: &str| {
        let text = format!(
            "version: 1\nstores:\n  team-plans:\n    backend:\n      type: git\n      local_path: {path}\n"
        );
        write(data.path(), &[("openspec/stores/registry.yaml", &text)]);
    };
    registry(&plans.path().display().to_string());
    let (status, text) = run(data.path(), code.path(), &["list"]);
    assert_eq!(status, Some(0), "{text}");
    assert_has(&text, &["- a  1 requirement"]);

    registry("/nonexistent/plans");
    let (status, text) = run(data.path(), code.path(), &["list"]);
    assert_eq!(status, Some(1), "{text}");
    assert_has(&text, &["\"team-plans\" cannot be used"]);

    // With specs of its own, the project is itself.
    write(code.path(), &[("openspec/specs/own/spec.md", SPEC)]);
    assert_has(&run(data.path(), code.path(), &["list"]).1, &["- own"]);
}

#[test]
fn a_project_without_specs_and_changes_is_not_valid() {
    let root = folder(&[("openspec/project.md", "# P\n")]);
    let (status, text) = run(root.path(), root.path(), &["validate"]);
    assert_eq!(status, Some(1), "{text}");
    assert_has(&text, &["neither specs/ nor changes/"]);
}

#[test]
fn the_hidden_one_of_two_projects_is_reported() {
    let root = folder(&[
        (".spox/config.toml", super::CONFIG),
        ("specs/a/spec.md", SPEC),
        ("openspec/specs/b/spec.md", SPEC),
    ]);
    let (status, text) = run(root.path(), root.path(), &["list"]);
    assert_eq!(status, Some(0), "{text}");
    assert_has(&text, &["`openspec/` is here too and is not read", "- a"]);
}

#[test]
fn archived_changes_must_be_finished_and_no_more() {
    let root = folder(&[
        ("openspec/specs/a/spec.md", SPEC),
        // Its delta no longer fits the spec, and that is history.
        ("openspec/changes/archive/2026-01-01-x/specs/a/spec.md", "## ADDED Requirements\n"),
        ("openspec/changes/archive/2026-01-01-x/tasks.md", "- [x] 1.1 one\n"),
    ]);
    let check = || run(root.path(), root.path(), &["validate", "--archived"]);
    let (status, text) = check();
    assert_eq!(status, Some(0), "{text}");
    let tasks = root.path().join("openspec/changes/archive/2026-01-02-y/tasks.md");
    std::fs::create_dir_all(tasks.parent().unwrap()).unwrap();
    std::fs::write(tasks, "- [x] 1.1 one\n- [ ] 1.2 two\n").unwrap();
    let (status, text) = check();
    assert_eq!(status, Some(1), "{text}");
    assert_has(
        &text,
        &["archive/2026-01-02-y/tasks.md:2: error: 1 of 2 tasks is open", "1 of 2 changes"],
    );
    assert_eq!(run(root.path(), root.path(), &["validate"]).0, Some(0));
}
