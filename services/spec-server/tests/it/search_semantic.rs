//! Search by sense: the model against vectors that its publishers' own library made, the questions, and what happens
//! while vectors are missing or their files are damaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use spec_server::model::Spec;
use spec_server::search::{Model, PIECES, Ranker, SearchError, Searcher, Settings};

use super::search::{requirement, spec};
use super::search_questions::{openspec_specs, report, report_on, specs};

/// The folder of all-MiniLM-L6-v2. Without it a test is skipped and says so; in CI it fails.
fn model_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("SPEC_SERVER_MODEL").map(PathBuf::from);
    if folder.is_none() {
        let in_ci = std::env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1");
        assert!(!in_ci, "SPEC_SERVER_MODEL names no folder: run `cargo xtask ci`");
        println!(
            "skipped: SPEC_SERVER_MODEL names no folder with all-MiniLM-L6-v2; `cargo xtask ci` installs one"
        );
    }
    folder
}

fn searcher(root: &Path, model: &Path) -> Searcher {
    let settings = Settings { model: Some(model.to_owned()), ..Settings::default() };
    Searcher::open(root, settings).expect("a searcher")
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
    let lines = include_str!("search/golden.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).expect("golden")).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn pieces_and_vectors_are_those_of_the_reference() {
    let Some(folder) = model_folder() else { return };
    let model = Model::open(&folder).expect("a model");
    let golden = golden();
    let texts: Vec<&str> = golden.iter().map(|golden| golden.text.as_str()).collect();
    let together = model.embed(&texts);
    for (golden, vector) in golden.iter().zip(&together) {
        let text = &golden.text;
        assert_eq!(model.tokenizer().encode(text, PIECES), golden.pieces, "{text}");
        let alone = model.embed(&[text]).remove(0);
        assert_eq!((alone.len(), vector.len()), (384, 384));
        for (ours, theirs) in [(&alone, &golden.first), (vector, &golden.first), (vector, &alone)] {
            let off = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f32::max) < 1e-4, "{text}");
        }
        assert!((dot(vector, vector).sqrt() - golden.norm).abs() < 1e-4);
        for (cosine, other) in golden.cosines.iter().zip(&together) {
            assert!((dot(vector, other) - cosine).abs() < 1e-4, "{text}");
        }
    }
}

#[test]
fn sense_and_words_find_the_right_answers() {
    let Some(folder) = model_folder() else { return };
    // Vectors are kept from run to run: only passages that changed are embedded.
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spec-search-questions");
    let searcher = searcher(&root, &folder);
    searcher.update(&specs()).expect("an index");
    searcher.finish();
    report(&searcher, Ranker::Hybrid).assert_at_least([0.58, 0.78, 0.67]);
}

#[test]
fn sense_and_words_answer_conversations_about_openspec() {
    let (Some(folder), Some(specs)) = (model_folder(), openspec_specs()) else {
        return;
    };
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spec-search-openspec");
    let searcher = searcher(&root, &folder);
    searcher.update(&specs).expect("an index");
    searcher.finish();
    report_on("openspec-development.jsonl", &searcher, Ranker::Hybrid)
        .assert_at_least([0.4, 0.65, 0.5]);
    report_on("openspec-questions.jsonl", &searcher, Ranker::Hybrid)
        .assert_at_least([0.6, 0.9, 0.75]);
}

fn small() -> Vec<Arc<Spec>> {
    let long = format!(
        "{} It SHALL also feed the lighthouse keeper's parrot.",
        "The pier is painted every spring. ".repeat(60)
    );
    vec![
        spec(
            "auth",
            &[requirement(
                "Recovery",
                "The system SHALL let a person regain access after a forgotten password.",
                &[],
            )],
        ),
        spec(
            "billing",
            &[requirement(
                "Invoices",
                "The system SHALL send a bill to the customer each month.",
                &[],
            )],
        ),
        spec("piers", &[requirement("Upkeep", &long, &[])]),
    ]
}

#[test]
fn what_says_the_same_is_found_without_its_words_and_what_does_not_is_not() {
    let Some(folder) = model_folder() else { return };
    let root = tempfile::tempdir().expect("folder");
    let searcher = searcher(root.path(), &folder);
    searcher.update(&small()).expect("an index");
    searcher.finish();
    let found = searcher.search("cannot log in any more", 10).expect("an answer");
    let first = &found.hits[0];
    assert_eq!(
        (found.ranker, first.ranker, first.spec_id.as_str()),
        (Ranker::Hybrid, Ranker::Semantic, "auth")
    );
    assert_eq!(
        first.snippet,
        "The system SHALL let a person regain access after a forgotten password."
    );
    assert!(first.score > 0.0 && first.score <= 1.0);
    assert!(
        searcher
            .search("photosynthesis of algae in coral reefs", 10)
            .expect("an answer")
            .hits
            .is_empty()
    );
    assert!(searcher.search("  ", 10).expect("an answer").hits.is_empty());

    // The end of a text that is longer than the model reads is found by a passage of its own.
    let found = searcher
        .search("who gives the bird of the watchman something to eat", 1)
        .expect("an answer");
    assert_eq!(found.hits[0].spec_id, "piers");
    assert!(found.hits[0].snippet.starts_with('…'));
}

#[test]
fn while_vectors_are_missing_words_alone_count_and_the_answer_says_so() {
    let Some(folder) = model_folder() else { return };
    let root = tempfile::tempdir().expect("folder");
    let searcher = searcher(root.path(), &folder);
    searcher.update(&specs()).expect("an index");
    let found = searcher.search("hold_ttl", 1).expect("an answer");
    assert!(found.waiting > 0);
    assert_eq!(found.hits[0].requirement.as_deref(), Some("Hold while paying"));
    assert_eq!((found.ranker, found.hits[0].ranker), (Ranker::Bm25, Ranker::Bm25));
    // What is gone is not waited for, but for what is being embedded: a few at once.
    searcher.update(&small()).expect("an index");
    let waiting = searcher.search("hold_ttl", 1).expect("an answer").waiting;
    assert!(waiting < 50 && found.waiting > 500, "{waiting} of {}", found.waiting);
    searcher.finish();
    let found = searcher.search("hold_ttl", 1).expect("an answer");
    assert_eq!((found.waiting, found.ranker), (0, Ranker::Hybrid));
}

#[test]
fn vectors_are_kept_and_a_damaged_file_of_them_costs_time_only() {
    let Some(folder) = model_folder() else { return };
    let root = tempfile::tempdir().expect("folder");
    let ask = |wait: bool| {
        let searcher = searcher(root.path(), &folder);
        searcher.update(&small()).expect("an index");
        if wait {
            searcher.finish();
        }
        searcher.search("forgotten credentials", 10).expect("an answer")
    };
    let first = ask(true);
    let again = ask(false);
    assert_eq!((again.waiting, &again.hits), (0, &first.hits));

    let kept = root.path().join(".spec-server");
    assert_eq!(fs::read_to_string(kept.join(".gitignore")).expect("an ignore file"), "*\n");
    let files: Vec<PathBuf> = fs::read_dir(kept.join("vectors"))
        .expect("vectors")
        .map(|entry| entry.expect("entry").path())
        .collect();
    assert_eq!(files.len(), 1);
    let mut bytes = fs::read(&files[0]).expect("vectors");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&files[0], bytes).expect("damage");
    fs::write(kept.join("vectors/foreign"), "something else").expect("a foreign file");
    assert_eq!(ask(true).hits, first.hits);
}

#[test]
fn a_wrong_model_folder_is_explained() {
    let Some(folder) = model_folder() else { return };
    let wrong = tempfile::tempdir().expect("folder");
    let at = |name: &str| wrong.path().join(name);
    let told = || {
        let settings = Settings { model: Some(wrong.path().to_owned()), ..Settings::default() };
        match Searcher::open(wrong.path(), settings) {
            Err(error @ SearchError::Model(_)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert!(told().contains("has no config.json: name a folder with `model.safetensors`"));
    let config = fs::read_to_string(folder.join("config.json")).expect("config");
    fs::write(at("config.json"), config.replace("\"bert\"", "\"llama\"")).expect("config");
    assert!(told().ends_with("has the model_type \"llama\"; wanted is \"bert\""));
    fs::write(at("config.json"), config.replace("384", "0")).expect("config");
    assert!(told().contains("has a size of 0"));
    fs::write(at("config.json"), &config).expect("config");
    assert!(told().contains("has no tokenizer.json:"));
    fs::write(at("tokenizer.json"), "{}").expect("vocabulary");
    assert!(told().contains("has no WordPiece vocabulary"));
    let few = r#"{"model": {"vocab": {"[CLS]": 0, "[SEP]": 1}}}"#;
    fs::write(at("tokenizer.json"), few).expect("vocabulary");
    assert!(told().contains("is not the vocabulary of this model"));
    fs::copy(folder.join("tokenizer.json"), at("tokenizer.json")).expect("vocabulary");
    assert!(told().contains("has no model.safetensors"));
    fs::write(at("model.safetensors"), "nothing").expect("weights");
    assert!(told().contains("is not a file of tensors"));
    fs::copy(folder.join("model.safetensors"), at("model.safetensors")).expect("weights");
    fs::write(at("config.json"), config.replace("1536", "1537")).expect("config");
    assert!(told().contains("wanted is F32 [1537, 384]"));
}
