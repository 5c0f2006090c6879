//! Every requirement of the universe's MCP server, replayed against it in both eras; and against servers broken in one
//! way each, to show that no transcript passes whatever the server does.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use mcp_conformance::{Era, Failure, Replay, Target, Transcript};
use serde_json::json;

use crate::mutation::{self, Answer, broken, instead};
use crate::serve::serve;
use crate::server::{binary, target};

/// The kinds of servers that the transcripts need.
const FIXTURES: [Option<&str>; 3] = [None, Some("failing-store"), Some("failing-reducer")];

/// How long a broken server is waited for: it fails by what it says, or by saying nothing for so long.
const PATIENCE: Duration = Duration::from_secs(3);
/// How many broken servers are judged at the same time.
const AT_ONCE: usize = 32;

fn transcripts() -> Vec<Transcript> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts/universe");
    Transcript::read_all([directory]).unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn all_requirements_hold_in_process() {
    all_requirements_hold(|target| target).await;
}

#[tokio::test]
async fn all_requirements_hold_over_http() {
    all_requirements_hold(|target| Target::url(&serve(target)).unwrap()).await;
}

#[tokio::test]
async fn all_requirements_hold_for_the_binary() {
    let (_server, url) = binary().await;
    hold(&Replay::new(Target::url(&url).unwrap())).await;
}

async fn all_requirements_hold(reach: fn(Target) -> Target) {
    for fixture in FIXTURES {
        let mut replay = Replay::new(reach(target(fixture)));
        if let Some(fixture) = fixture {
            replay = replay.fixture(fixture);
        }
        hold(&replay).await;
    }
}

async fn hold(replay: &Replay) {
    let (summary, report) = replay.report(&transcripts()).await;
    assert!(summary.is_success(), "{report}");
}

#[test]
fn every_requirement_has_a_transcript_named_after_it() {
    let transcripts = transcripts();
    for number in 1..=25 {
        let (name, requirement) = (format!("REQ-MCP-{number:02}"), format!("REQ-MCP-{number}"));
        let transcript = transcripts.iter().find(|transcript| transcript.name() == name);
        let transcript = transcript.unwrap_or_else(|| panic!("there is no transcript {name}"));
        assert_eq!(transcript.requirements(), [requirement]);
        // Requirements 19 to 23 speak of sessions, which the modern era does not have.
        let eras: &[Era] = if (19..=23).contains(&number) { &[Era::Legacy] } else { &Era::ALL };
        assert_eq!(transcript.eras(), eras, "{name}");
    }
}

#[tokio::test]
async fn no_transcript_passes_on_a_broken_server() {
    let (transcripts, mutations) = (transcripts(), mutation::table());
    let servers = &Servers::start();
    let runs =
        mutations.iter().flat_map(|mutation| mutation.eras.iter().map(move |&era| (mutation, era)));
    let verdicts: Vec<Option<String>> = stream::iter(runs)
        .map(|(mutation, era)| {
            let transcript = transcripts
                .iter()
                .find(|transcript| transcript.name() == mutation.transcript)
                .unwrap();
            async move {
                let outcome = servers.replay_broken(transcript, era, (mutation.fault)()).await;
                let label = format!("{} {era}, {}", mutation.transcript, mutation.broken);
                match outcome {
                    Ok(()) => Some(format!("{label}: passed")),
                    Err(failure)
                        if failure
                            .note
                            .as_deref()
                            .unwrap_or_default()
                            .contains(mutation.found_at) =>
                    {
                        None
                    }
                    Err(failure) => Some(format!(
                        "{label}: not found at {:?}, but {failure:?}",
                        mutation.found_at
                    )),
                }
            }
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let wrong: Vec<String> = verdicts.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} of the mutations:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_clause_of_every_transcript_is_found_out() {
    let mutations = mutation::table();
    let mut missing = BTreeSet::new();
    for transcript in transcripts() {
        let source = std::fs::read_to_string(transcript.source_name()).unwrap();
        for &era in transcript.eras() {
            for note in notes(&source, era) {
                let found = mutations.iter().any(|mutation| {
                    mutation.transcript == transcript.name()
                        && mutation.eras.contains(&era)
                        && note.contains(mutation.found_at)
                });
                if !found {
                    missing.insert(format!("{} {era}: {note}", transcript.name()));
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "no mutation is found by these clauses:\n{}",
        missing.into_iter().collect::<Vec<_>>().join("\n")
    );
}

/// The notes of the steps for an era, nested ones included.
fn notes(source: &str, era: Era) -> Vec<String> {
    fn collect(value: &serde_json::Value, era: Era, notes: &mut Vec<String>) {
        let nested = [&value["while"], &value["parallel"]];
        if value.get("era").is_none_or(|only| only == era.name()) {
            notes.extend(value["note"].as_str().map(str::to_owned));
            for step in value
                .as_array()
                .into_iter()
                .chain(nested.into_iter().filter_map(|list| list.as_array()))
                .flatten()
            {
                collect(step, era, notes);
            }
        }
    }
    let mut notes = Vec::new();
    for line in source.lines() {
        collect(&serde_json::from_str(line).unwrap(), era, &mut notes);
    }
    notes
}

#[tokio::test]
async fn no_single_answer_of_any_transcript_may_fail() {
    let transcripts = transcripts();
    let servers = &Servers::start();
    let mut runs = Vec::new();
    for (transcript, era) in transcripts
        .iter()
        .flat_map(|transcript| transcript.eras().iter().map(move |&era| (transcript, era)))
    {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        let counting = instead(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            None
        });
        servers.replay_broken(transcript, era, counting).await.unwrap();
        runs.extend((0..asked.load(Ordering::Relaxed)).map(|nth| (transcript, era, nth)));
    }
    let unnoticed: Vec<String> = stream::iter(runs)
        .map(|(transcript, era, nth)| async move {
            let count = AtomicUsize::new(0);
            let fails = instead(move |_| {
                let failed = count.fetch_add(1, Ordering::Relaxed) == nth;
                failed.then(|| Answer::new(500, json!({"error": "failed"})))
            });
            let passed = servers.replay_broken(transcript, era, fails).await.is_ok();
            passed.then(|| format!("request {nth} of {} {era}", transcript.name()))
        })
        .buffer_unordered(AT_ONCE)
        .filter_map(|unnoticed| async move { unnoticed })
        .collect()
        .await;
    assert!(unnoticed.is_empty(), "these may fail unnoticed: {unnoticed:?}");
}

/// One sound server of each kind. Replays do not disturb each other on it: each makes its own universes.
struct Servers(Vec<(Option<&'static str>, Target)>);

impl Servers {
    fn start() -> Self {
        Self(FIXTURES.map(|fixture| (fixture, target(fixture))).into())
    }

    async fn replay_broken(
        &self,
        transcript: &Transcript,
        era: Era,
        fault: mutation::Fault,
    ) -> Result<(), Failure> {
        let (_, sound) =
            self.0.iter().find(|(fixture, _)| *fixture == transcript.fixture()).unwrap();
        let replay = Replay::new(broken(sound.clone(), fault)).step_timeout(PATIENCE);
        replay.run_one(transcript, era).await
    }
}
