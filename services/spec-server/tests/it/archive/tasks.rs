//! Ticking one task, and nothing else.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spec_server::archive::{ArchiveError, Ticked, complete_task};
use spec_server::parse::is_task;
use spec_server::project::Project;
use tempfile::TempDir;

use crate::project::openspec;

fn change(tasks: &str) -> (TempDir, Project) {
    openspec(&[("changes/c/tasks.md", tasks)])
}

/// What ticking makes of the file.
fn tick(tasks: &str, at: &str, done: bool) -> Result<(String, Ticked), ArchiveError> {
    let (root, project) = change(tasks);
    let ticked = complete_task(&project, "c", at, done)?;
    let text = fs::read(root.path().join("openspec/changes/c/tasks.md")).expect("a file");
    Ok((String::from_utf8(text).expect("UTF-8"), ticked))
}

#[test]
fn one_box_is_ticked_by_number_or_line() {
    let tasks = "## 1. A\n- [ ] 1.1 a\n- [ ] 1.2 b\n  - [x] 1.2.1 c\n";
    let (text, ticked) = tick(tasks, "1.2", true).expect("ticked");
    assert_eq!(text, tasks.replace("[ ] 1.2 b", "[x] 1.2 b"));
    assert!(ticked.changed && ticked.task.done);
    assert_eq!((ticked.task.line, ticked.completed, ticked.total), (3, 2, 3));
    let by_line = tick(tasks, "line 2", true).expect("ticked").0;
    assert_eq!(by_line, tasks.replace("[ ] 1.1", "[x] 1.1"));
    assert_eq!(tick(tasks, "1.2.1", false).expect("unticked").0, tasks.replace("[x]", "[ ]"));
}

#[test]
fn what_is_so_already_is_not_written() {
    let tasks = "- [X] 1.1 a\n";
    let (text, ticked) = tick(tasks, "1.1", true).expect("ticked");
    assert_eq!(text, tasks);
    assert!(!ticked.changed);
}

#[test]
fn every_other_byte_stays() {
    for (tasks, line, after) in [
        ("\u{feff}- [ ] a\r\n\r\n* [] b\r\n", "1", "\u{feff}- [x] a\r\n\r\n* [] b\r\n"),
        ("\u{feff}- [ ] a\r\n\r\n* [] b\r\n", "3", "\u{feff}- [ ] a\r\n\r\n* [x] b\r\n"),
        ("- [ ] a\r- [ ] b\n- [ ] c", "2", "- [ ] a\r- [x] b\n- [ ] c"),
        ("- [ ] a\n- [ ] c", "2", "- [ ] a\n- [x] c"),
        ("  1)\t[ ~ ]  [x] [ ] b  \n\n\n", "1", "  1)\t[x]  [x] [ ] b  \n\n\n"),
        ("- [\u{a0}] é [ ]\n", "1", "- [x] é [ ]\n"),
    ] {
        let line = format!("line {line}");
        assert_eq!(tick(tasks, &line, true).expect("ticked").0, after, "{tasks:?}");
    }
}

#[test]
fn what_is_not_there_or_not_clear_is_refused() {
    let tasks = "- [ ] 1.1 a\n- [ ] 1.1 b\ntext\n";
    for (at, words) in [
        ("1.1", vec!["2 tasks are called", "1.1 a\" (line 1 of tasks.md)", "(line 2 of"]),
        ("1.3", vec!["no task is called \"1.3\"", "1.1 a\" (line 1"]),
        ("1", vec!["no task is called", "if the line is meant, write \"line 1\""]),
        ("3", vec!["no task is called"]),
        ("line 3", vec!["no task is called \"line 3\""]),
        ("line 99", vec!["no task"]),
        ("first", vec!["no task is called"]),
        ("-1", vec!["no task is called"]),
        ("", vec!["no task is called"]),
    ] {
        let error = tick(tasks, at, true).expect_err("refused");
        assert!(matches!(error, ArchiveError::Task(_)), "{at}");
        for word in words {
            assert!(error.to_string().contains(word), "{at}: {error}");
        }
    }
    let (_root, project) = openspec(&[
        ("changes/c/proposal.md", ""),
        ("changes/archive/2025-01-01-d/tasks.md", "- [ ] 1.1 a\n"),
    ]);
    let error = complete_task(&project, "c", "line 1", true).expect_err("refused");
    assert!(error.to_string().contains("has no tasks"), "{error}");
    for id in ["d", "archive", "../c", "2025-01-01-d"] {
        let error = complete_task(&project, id, "line 1", true).expect_err("refused");
        assert!(matches!(error, ArchiveError::Read(_)), "{id}: {error}");
    }
}

/// A number is never taken for a line, and a task goes by whatever name it has.
#[test]
fn a_task_goes_by_what_it_is_called() {
    let tasks = "- [ ] 1 Make the backup\n- [ ] 3 Drop the old table\n- [ ] 2 Check the backup\n";
    let (text, ticked) = tick(tasks, "2", true).expect("ticked");
    assert_eq!(text, tasks.replace("[ ] 2", "[x] 2"));
    assert_eq!(ticked.task.text, "Check the backup");
    let tasks =
        "- [ ] T001 [P] do it\n- [ ] **1.1** Bold\n- [ ] Write `docs`\n- [ ] Write docs again\n";
    for (called, ticks) in [
        ("T001", "T001"),
        ("t001", "T001"),
        ("1.1", "**1.1**"),
        ("bold", "**1.1**"),
        ("write docs", "Write `docs`"),
        ("docs again", "Write docs again"),
        ("line 1", "T001"),
    ] {
        let after = tasks.replace(&format!("[ ] {ticks}"), &format!("[x] {ticks}"));
        assert_eq!(tick(tasks, called, true).expect(called).0, after, "{called}");
    }
    let error = tick(tasks, "docs", true).expect_err("two have it").to_string();
    assert!(error.contains("2 tasks are called \"docs\""), "{error}");
}

#[test]
fn each_of_many_at_once_is_ticked() {
    let (root, project) = change(&"- [ ] a\n".repeat(16));
    std::thread::scope(|scope| {
        for line in 1..=16 {
            let project = project.clone();
            scope.spawn(move || {
                complete_task(&project, "c", &format!("line {line}"), true).expect("ticked")
            });
        }
    });
    let text = fs::read_to_string(root.path().join("openspec/changes/c/tasks.md")).expect("a file");
    assert_eq!(text, "- [x] a\n".repeat(16));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Of whatever file: one line differs, in what is between its first brackets.
    #[test]
    fn one_box_differs(lines in vec(select(vec!["- [ ] a", "* [x] b", "text", "```", "1. [~] c [ ]", "\t+ [] é", "- [a](b)", ""]), 1..12), end in select(vec!["\n", "\r\n", "\r"]), which in 0_usize..12, done: bool) {
        let tasks = lines.join(end);
        let (root, project) = change(&tasks);
        let line = which % lines.len();
        let result = complete_task(&project, "c", &format!("line {}", line + 1), done);
        let text = fs::read_to_string(root.path().join("openspec/changes/c/tasks.md")).unwrap();
        prop_assert_eq!(result.is_ok(), is_task(lines[line]).is_some());
        let after: Vec<_> = text.split(end).collect();
        prop_assert_eq!(after.len(), lines.len());
        for (index, (old, new)) in lines.iter().zip(after).enumerate() {
            if index == line && result.is_ok() {
                prop_assert_eq!(is_task(new), Some(done));
                let outside = |text: &str| text.split_once('[').map(|(a, b)| (a.to_owned(), b.split_once(']').unwrap().1.to_owned()));
                prop_assert_eq!(outside(old), outside(new));
            } else {
                prop_assert_eq!(*old, new);
            }
        }
    }
}
