//! The index that is built explicitly, and its file.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use spec_server::model::Spec;
use spec_server::search::{
    FileError, Freshness, Index, Outdated, SearchError, Searcher, Settings, Weights, build, decode,
    encode,
};

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
    let refused = build(root.path(), &[]).expect_err("a link");
    assert!(refused.to_string().contains("a link"), "{refused}");
    fs::remove_file(&folder).expect("removed");

    fs::create_dir(&folder).expect("a folder");
    symlink(outside.path().join("made"), folder.join(".gitignore")).expect("a link");
    build(root.path(), &[]).expect("an index");
    let made = fs::read_dir(outside.path()).expect("a folder").count();
    assert_eq!(made, 0, "something was made outside");
}

#[test]
fn what_was_built_is_searched_as_it_is_and_its_age_is_told() {
    let root = tempfile::tempdir().expect("folder");
    let searcher = open(root.path());
    let found = |query: &str| searcher.search(query, 10).expect("an answer");
    let old = [billing("A clerk SHALL refund."), spec("gone", &[])];
    let path = build(root.path(), &old).expect("an index");
    assert_eq!(
        fs::read_to_string(path.with_file_name(".gitignore")).expect("an ignore file"),
        "*\n"
    );
    searcher.update(&old).expect("the same specs");
    assert_eq!((found("refund").hits.len(), found("refund").outdated), (1, Outdated::default()));

    let new = [billing("A clerk SHALL send a voucher."), spec("more", &[]), spec("most", &[])];
    searcher.update(&new).expect("other specs");
    assert_eq!((found("refund").hits.len(), found("voucher").hits.len()), (1, 0));
    let outdated = found("refund").outdated;
    assert_eq!((outdated.added, outdated.changed, outdated.removed), (2, 1, 1));
    assert!(outdated.is_outdated());

    // Another process builds it again; this one takes notice by itself.
    build(root.path(), &new).expect("an index");
    assert_eq!((found("refund").hits.len(), found("voucher").hits.len()), (0, 1));
    searcher.update(&new).expect("the same specs");
    assert!(!found("voucher").outdated.is_outdated());
}

#[test]
fn a_file_that_is_none_is_told_and_stays() {
    let root = tempfile::tempdir().expect("folder");
    let path = build(root.path(), &[billing("A clerk SHALL refund.")]).expect("an index");
    let good = fs::read(&path).expect("a file");
    let mut newer = good.clone();
    newer[8] = 3;
    for (bytes, expected) in [
        (
            b"#!/bin/sh\n".to_vec(),
            "is not a file of this program: build it again with `spec-server index`",
        ),
        (
            newer,
            "was written by another version of this program (format 3, wanted 2): build it again",
        ),
        (good[..good.len() - 1].to_vec(), "is damaged: build it again"),
    ] {
        fs::write(&path, &bytes).expect("a file");
        let refused = open(root.path()).search("refund", 10).expect_err("no index").to_string();
        assert!(refused.contains(expected), "{refused}");
        assert_eq!(fs::read(&path).expect("a file"), bytes);
    }
}

#[test]
fn a_failing_build_leaves_the_index_as_it_was() {
    let root = tempfile::tempdir().expect("folder");
    fs::write(root.path().join(".spec-server"), "in the way").expect("a file");
    let refused = build(root.path(), &[]).expect_err("no folder");
    assert!(matches!(refused, SearchError::Write { .. }), "{refused}");
    assert_eq!(fs::read_to_string(root.path().join(".spec-server")).expect("a file"), "in the way");
}

fn file() -> Vec<u8> {
    let mut index = Index::default();
    index.update(&[
        billing("A clerk SHALL refund é."),
        spec("other", &[requirement("漢字", "", &[])]),
    ]);
    encode(&index)
}

/// What a reader sees of an index.
fn contents(index: &Index) -> Vec<String> {
    index.specs().iter().map(|spec| format!("{spec:?}")).collect()
}

#[test]
fn what_is_written_is_read() {
    let mut index = Index::default();
    index.update(&[billing("A clerk SHALL refund é.")]);
    let read = decode(&encode(&index), Weights::default()).expect("an index");
    assert_eq!(contents(&read), contents(&index));
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(matches!(decode(&bytes, Weights::default()), Err(FileError::Foreign)));
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused(length in 0..10_000_usize) {
        let file = file();
        let length = length % file.len();
        prop_assert!(decode(&file[..length], Weights::default()).is_err());
    }

    #[test]
    fn a_flipped_bit_is_noticed(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let mut file = file();
        let at = at.index(file.len());
        file[at] ^= 1 << bit;
        prop_assert!(decode(&file, Weights::default()).is_err());
    }

    /// Bodies under a right checksum, as an attacker could make them: never a panic, never a large reservation.
    #[test]
    fn a_body_that_makes_no_sense_is_refused(at in any::<prop::sample::Index>(), bytes in prop::collection::vec(any::<u8>(), 0..9)) {
        use sha2::{Digest as _, Sha256};
        let mut file = file();
        let body = file.split_off(52);
        let at = at.index(body.len());
        let end = body.len().min(at + bytes.len());
        let changed = [&body[..at], &bytes, &body[end..]].concat();
        file[12..20].copy_from_slice(&(changed.len() as u64).to_le_bytes());
        file[20..52].copy_from_slice(&Sha256::digest(&changed));
        match decode(&file, Weights::default()) {
            Ok(index) => prop_assert_eq!(encode(&index).len(), file.len() + changed.len()),
            Err(error) => prop_assert!(matches!(error, FileError::Damaged)),
        }
    }
}
