//! Search by sense: the model against vectors that its publishers' own library made.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use spec_server::search::{Model, PIECES, Ranker, Searcher, Settings};

use super::search_questions::{report, specs};

/// The folder of all-MiniLM-L6-v2. Without it a test is skipped and says so; in CI it fails.
pub(crate) fn model_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("SPEC_SERVER_MODEL").map(PathBuf::from);
    if folder.is_none() {
        let in_ci = std::env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1");
        assert!(
            !in_ci,
            "SPEC_SERVER_MODEL names no folder: run `cargo xtask test`"
        );
        eprintln!(
            "skipped: SPEC_SERVER_MODEL names no folder with all-MiniLM-L6-v2; `cargo xtask test` installs one"
        );
    }
    folder
}

/// What sentence-transformers 6.2.0 (torch 2.15.0, one text at a time) made of a text.
#[derive(Debug, Deserialize)]
struct Golden {
    text: String,
    pieces: Vec<u32>,
    norm: f32,
    first: Vec<f32>,
    cosines: Vec<f32>,
}

fn golden() -> Vec<Golden> {
    include_str!("search/golden.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("golden"))
        .collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn pieces_and_vectors_are_those_of_the_reference() {
    let Some(folder) = model_folder() else { return };
    let begun = std::time::Instant::now();
    let model = Model::open(&folder).expect("model");
    eprintln!("open {:?}", begun.elapsed());
    let golden = golden();
    let mut vectors = Vec::new();
    for golden in &golden {
        assert_eq!(
            model.tokenizer().encode(&golden.text, PIECES),
            golden.pieces,
            "{}",
            golden.text
        );
        let begun = std::time::Instant::now();
        let vector = model.embed(&[&golden.text]).remove(0);
        eprintln!("{} {:?}", golden.pieces.len(), begun.elapsed());
        for (ours, theirs) in vector.iter().zip(&golden.first) {
            assert!(
                (ours - theirs).abs() < 1e-4,
                "{}: {ours} {theirs}",
                golden.text
            );
        }
        assert!((dot(&vector, &vector).sqrt() - golden.norm).abs() < 1e-4);
        vectors.push(vector);
    }
    for (golden, ours) in golden.iter().zip(&vectors) {
        for (cosine, other) in golden.cosines.iter().zip(&vectors) {
            assert!((dot(ours, other) - cosine).abs() < 1e-4, "{}", golden.text);
        }
    }
}

#[test]
fn sense_finds_the_right_answers_and_fusion_finds_more() {
    let Some(folder) = model_folder() else { return };
    // Vectors are kept from run to run: only passages that changed are embedded.
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spec-search-questions");
    for (ranker, floors) in [
        (Ranker::Semantic, (0.0, 0.0, 0.0)),
        (Ranker::Hybrid, (0.0, 0.0, 0.0)),
    ] {
        let settings = Settings {
            model: Some(folder.clone()),
            ranker: Some(ranker),
            ..Settings::default()
        };
        let searcher = Searcher::open(&root, settings).expect("a searcher");
        let begun = std::time::Instant::now();
        searcher.update(&specs()).expect("an index");
        searcher.finish();
        eprintln!("{:?}", begun.elapsed());
        report(&searcher, ranker).at_least(floors.0, floors.1, floors.2);
    }
}
