//! The fuzz targets on stable: each runs over its whole corpus and over a fixed number of mutations of it.
//!
//! A failure tells the input and the seed. `MCP_FUZZ_ITERATIONS` sets how many mutations each target gets,
//! `MCP_FUZZ_SEED` which ones.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "what fails here fails a test"
)]

#[path = "fuzz/mutate.rs"]
mod mutate;

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::str::FromStr;

use mcp_proto_fuzz::TARGETS;
use mutate::{Mutator, dictionary};

/// The longest input that a mutation makes.
const MAX_BYTES: usize = 4096;

#[test]
fn cursor() {
    check("cursor", 3_000);
}

#[test]
fn headers() {
    check("headers", 2_000);
}

#[test]
fn jsonrpc() {
    check("jsonrpc", 10_000);
}

#[test]
fn request_state() {
    check("request_state", 2_000);
}

#[test]
fn schema() {
    check("schema", 2_000);
}

#[test]
fn skill() {
    check("skill", 3_000);
}

#[test]
fn sse() {
    check("sse", 10_000);
}

#[test]
fn stdio() {
    check("stdio", 2_000);
}

#[test]
fn uri_template() {
    check("uri_template", 5_000);
}

/// No target is forgotten here, in the manifest, or among the corpora.
#[test]
fn every_target_has_its_binary_and_its_corpus() {
    let names: BTreeSet<String> = TARGETS.map(|(name, _)| name.to_owned()).into();
    assert_eq!(names.len(), TARGETS.len());
    assert_eq!(entries(&fuzz().join("corpus")), names);
    let files = names.iter().map(|name| format!("{name}.rs")).collect();
    assert_eq!(entries(&fuzz().join("fuzz_targets")), files);
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let this = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz.rs"));
    let this = this.unwrap();
    for name in &names {
        assert!(manifest.contains(&format!("\nname = \"{name}\"\n")));
        assert!(this.contains(&format!("    check(\"{name}\", ")), "{name}");
        assert!(corpus(name).len() >= 5, "{name}");
    }
}

/// A rule that is broken is told with its input.
#[test]
fn a_failure_tells_its_input() {
    let told = catch_unwind(|| attempt(|_| panic!("broken"), b"a\xff\n", "here"));
    let told = told.expect_err("it fails");
    let told = told.downcast_ref::<String>().expect("a text");
    assert_eq!(told, "here fails, broken, for the input\n    b\"a\\xff\\n\"");
}

fn check(name: &str, iterations: u64) {
    let (_, run) = TARGETS.into_iter().find(|(known, _)| *known == name).expect("a target");
    let corpus = corpus(name);
    for (file, input) in &corpus {
        attempt(run, input, &format!("{name}: the corpus entry {file}"));
    }
    let inputs: Vec<&[u8]> = corpus.iter().map(|(_, input)| input.as_slice()).collect();
    let tokens = dictionary(&fs::read_to_string(fuzz().join("tokens.dict")).unwrap());
    let first: u64 = setting("MCP_FUZZ_SEED").unwrap_or(0);
    let count = setting("MCP_FUZZ_ITERATIONS").unwrap_or(iterations);
    for seed in (first..).take(usize::try_from(count).unwrap()) {
        let input = Mutator::new(seed, &inputs, &tokens, MAX_BYTES).input();
        attempt(run, &input, &format!("{name}: MCP_FUZZ_SEED={seed} MCP_FUZZ_ITERATIONS=1"));
    }
}

/// Runs a target; a failure is told with the input.
fn attempt(run: impl Fn(&[u8]), input: &[u8], what: &str) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(input))) else {
        return;
    };
    let why = match panic.downcast_ref::<String>() {
        Some(text) => text.as_str(),
        None => panic.downcast_ref::<&str>().unwrap_or(&"without a text"),
    };
    let shown = input.escape_ascii();
    panic!("{what} fails, {why}, for the input\n    b\"{shown}\"");
}

fn setting<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    let read = text.parse();
    Some(read.unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
}

fn fuzz() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The inputs of a target by their names, without those that libFuzzer found on this machine.
fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = fuzz().join("corpus").join(name);
    let is_hash =
        |name: &str| name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    entries(&folder)
        .into_iter()
        .filter(|name| !is_hash(name))
        .map(|name| (name.clone(), fs::read(folder.join(name)).unwrap()))
        .collect()
}

fn entries(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
