//! Searching only after an index was asked for.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use spec_server::model::Spec;
use spec_server::search::{Freshness, SearchError, Searcher, Settings, build};

use super::search::{requirement, spec};
use crate::assert_has;

fn open(root: &Path) -> Searcher {
    let settings = Settings { freshness: Freshness::Explicit, ..Settings::default() };
    Searcher::open(root, settings).expect("a searcher")
}

fn billing(description: &str) -> Arc<Spec> {
    spec("billing", &[requirement("Counter", description, &[("Lost slip", "the slip is gone")])])
}

#[test]
fn without_an_index_the_answer_says_how_to_build_it() {
    let root = tempfile::tempdir().expect("folder");
    let searcher = open(root.path());
    for refused in [
        searcher.search("refund", 10).expect_err("no index"),
        searcher.update(&[]).expect_err("no index"),
    ] {
        assert!(matches!(refused, SearchError::NoIndex(_)));
        assert_has(&refused.to_string(), &["build it with `spec-server index`"]);
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    let (root, outside) =
        (tempfile::tempdir().expect("folder"), tempfile::tempdir().expect("folder"));
    let folder = root.path().join(".spec-server");
    symlink(outside.path(), &folder).expect("a link");
    let refused = build(root.path()).expect_err("a link");
    assert!(refused.to_string().contains("a link"), "{refused}");
    fs::remove_file(&folder).expect("removed");

    fs::create_dir(&folder).expect("a folder");
    symlink(outside.path().join("made"), folder.join(".gitignore")).expect("a link");
    build(root.path()).expect("an index");
    let made = fs::read_dir(outside.path()).expect("a folder").count();
    assert_eq!(made, 0, "something was made outside");
}

#[test]
fn once_it_was_asked_for_the_current_specs_are_searched() {
    let root = tempfile::tempdir().expect("folder");
    let searcher = open(root.path());
    let found = |query: &str| searcher.search(query, 10).expect("an answer").hits.len();
    let path = build(root.path()).expect("an index");
    let ignored = fs::read_to_string(path.with_file_name(".gitignore")).expect("an ignore file");
    assert_eq!(ignored, "*\n");
    searcher.update(&[billing("A clerk SHALL refund.")]).expect("specs");
    assert_eq!((found("refund"), found("voucher")), (1, 0));
    searcher.update(&[billing("A clerk SHALL send a voucher.")]).expect("specs");
    assert_eq!((found("refund"), found("voucher")), (0, 1));
}

#[test]
fn a_failing_build_says_where() {
    let root = tempfile::tempdir().expect("folder");
    fs::write(root.path().join(".spec-server"), "in the way").expect("a file");
    let refused = build(root.path()).expect_err("no folder");
    assert!(matches!(refused, SearchError::Write { .. }), "{refused}");
    assert_eq!(fs::read_to_string(root.path().join(".spec-server")).expect("a file"), "in the way");
}
