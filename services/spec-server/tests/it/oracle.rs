//! Verdicts beside those of OpenSpec's own tool, on a corpus of mutations and on a project that the tool has made.
//!
//! The tests that need the tool are ignored unless `cargo xtask oracle` runs them, which installs it.

mod archives;
mod compare;
mod corpus;
mod excused;
mod made;
mod tool;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use compare::{Comparison, compare, ours, verdicts};
use excused::{ARCHIVES_EXCUSED, EXCUSED};
use tool::Tool;

/// The rules of an OpenSpec project.
const RULES: [&str; 38] = [
    "change-conflict",
    "change-nested",
    "delta-at-root",
    "delta-heading-in-spec",
    "delta-sections-empty",
    "delta-sections-missing",
    "delta-unread",
    "deltas-missing",
    "folder-partial",
    "heading-ignored",
    "heading-malformed",
    "link-not-followed",
    "metadata-invalid",
    "normative-word-missing",
    "operations-clash",
    "purpose-missing",
    "purpose-placeholder",
    "purpose-short",
    "rename-clash",
    "rename-duplicate",
    "rename-half",
    "requirement-duplicate",
    "requirement-ignored",
    "requirement-long",
    "requirement-outside",
    "requirement-text-missing",
    "requirements-empty",
    "requirements-missing",
    "scenario-missing",
    "scenarios-dropped",
    "skip-specs",
    "skip-specs-clash",
    "spec-unreadable",
    "task-boxes-missing",
    "task-duplicate",
    "task-group",
    "unreadable",
    "workflow",
];

/// Writes a file with its folders; a path with `/` at its end is a folder.
fn write(root: &Path, path: &str, text: &[u8]) {
    let file = root.join(path);
    if path.ends_with('/') {
        fs::create_dir_all(file).expect("a folder is made");
        return;
    }
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder is made");
    fs::write(file, text).expect("a file is written");
}

#[test]
fn the_corpus_is_large_and_breaks_every_rule() {
    let root = tempfile::tempdir().expect("a temporary folder");
    corpus::write_to(root.path());
    let items = ours(root.path());
    assert!(items.len() >= 1000, "{} items", items.len());
    let broken: BTreeSet<&str> =
        items.iter().flat_map(|item| &item.findings).map(|finding| finding.rule).collect();
    let named: BTreeSet<&str> = RULES.into_iter().collect();
    assert_eq!(broken.difference(&named).collect::<Vec<_>>(), Vec::<&&str>::new());
    // What a file system must do for these is not everywhere to be had; `validate` has a test for each.
    let elsewhere = ["unreadable", "link-not-followed"];
    let never: Vec<_> =
        named.difference(&broken).filter(|name| !elsewhere.contains(name)).collect();
    assert_eq!(never, Vec::<&&str>::new());
    for strict in [false, true] {
        let valid = items.iter().filter(|item| item.is_valid(strict)).count();
        assert!((200..items.len() - 200).contains(&valid), "{valid} of {}", items.len());
    }
}

#[test]
fn the_corpus_is_the_same_each_time() {
    assert_eq!(corpus::files(), corpus::files());
}

#[test]
#[ignore = "needs OpenSpec's own tool: cargo xtask oracle"]
fn verdicts_on_the_corpus_are_those_of_the_tool() {
    let root = tempfile::tempdir().expect("a temporary folder");
    corpus::write_to(root.path());
    let comparison = judged(root.path());
    print("the corpus", &comparison);
    let mut problems: Vec<String> = Vec::new();
    for (item, told) in &comparison.different {
        if !EXCUSED.iter().any(|(excused, _)| excused == item) {
            problems.push(format!("{item} differs:\n{told}"));
        }
    }
    for (excused, _) in EXCUSED {
        if !comparison.different.iter().any(|(item, _)| item == excused) {
            problems.push(format!("{excused} is excused and does not differ"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
#[ignore = "needs OpenSpec's own tool: cargo xtask oracle"]
fn verdicts_on_the_project_that_the_tool_makes_are_its_own() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let tool = Tool::from_environment();
    let root = root.path();
    made::begin(&tool, root);
    for (what, step) in made::STEPS {
        step(&tool, root);
        let comparison = compare(&verdicts(&ours(root)), &tool.verdicts(root));
        print(what, &comparison);
        assert!(comparison.items > 0, "{what}");
        assert_eq!(comparison.different, [], "{what}");
        assert_eq!(comparison.other_counts, [], "{what}");
    }
}

#[test]
#[ignore = "needs OpenSpec's own tool: cargo xtask oracle"]
fn archives_of_the_corpus_are_those_of_the_tool() {
    let all = archives::archive_each(&Tool::from_environment(), &corpus::files());
    let (mut equal, mut refused) = (0, 0);
    let mut problems: Vec<String> = Vec::new();
    let mut excused: BTreeSet<&str> = BTreeSet::new();
    for archived in &all {
        let id = &archived.id;
        match (&archived.ours, &archived.theirs) {
            (Ok(ours), Ok(theirs)) if ours == theirs => equal += 1,
            (Err(_), Err(_)) => refused += 1,
            (ours, theirs) => {
                let mut reasons = ARCHIVES_EXCUSED.iter().map(|(said, _)| *said);
                let said = ours.as_ref().err().map_or("", String::as_str);
                if let Some(reason) = reasons.find(|reason| said.contains(reason)) {
                    excused.insert(reason);
                } else {
                    problems.push(format!("{id}:\nours {ours:#?}\ntheirs {theirs:#?}"));
                }
            }
        }
        if !archived.left_invalid.is_empty() {
            problems.push(format!("{id} left invalid: {:#?}", archived.left_invalid));
        }
    }
    for (reason, _) in ARCHIVES_EXCUSED {
        if !excused.contains(reason) {
            problems.push(format!("{reason} is excused and refuses nothing"));
        }
    }
    let total = all.len();
    println!("{total} changes archived by both: {equal} equal, {refused} refused by both");
    details(&problems);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
#[ignore = "needs repositories named in ORACLE_REPOSITORIES: cargo xtask oracle --repository"]
fn verdicts_on_repositories_are_those_of_the_tool() {
    let named = std::env::var_os("ORACLE_REPOSITORIES").unwrap_or_default();
    let mut differ = Vec::new();
    for root in std::env::split_paths(&named) {
        let comparison = judged(&root);
        print(&root.display().to_string(), &comparison);
        differ.extend(
            comparison
                .different
                .into_iter()
                .map(|(item, told)| format!("{}: {item}\n{told}", root.display())),
        );
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

fn judged(root: &Path) -> Comparison {
    let theirs = Tool::from_environment().verdicts(root);
    compare(&verdicts(&ours(root)), &theirs)
}

/// One line for people, and, if a folder for it is named, all that differs in a file.
fn print(what: &str, comparison: &Comparison) {
    println!(
        "{what}: {} items, {} with other verdicts, {} with other counts, {} the same in all",
        comparison.items,
        comparison.different.len(),
        comparison.other_counts.len(),
        comparison.same_counts
    );
    let all = comparison.different.iter().chain(&comparison.other_counts);
    let all: Vec<String> = all.map(|(item, told)| format!("{item}\n{told}")).collect();
    details(&all);
}

/// Everything that differs, in the file named for it.
fn details(told: &[String]) {
    if let Some(file) = std::env::var_os("ORACLE_DETAILS") {
        fs::write(PathBuf::from(file), told.join("\n\n")).expect("a file is written");
    }
}
