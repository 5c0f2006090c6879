//! Every scenario of the contract, replayed in both eras: in this process, over HTTP, and on pipes.

use std::collections::BTreeSet;
use std::path::Path;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use mcp_conformance::{BoxError, Era, Replay, Target, Transcript};
use mcp_proto::StreamableHttpService;
use spec_server::mcp::{self, Settings};
use spec_server::search::{self, Freshness};

use super::harness::{Copy, listening, settings};

/// The servers that transcripts need: the name of the fixture, its project, and what it is started with.
const SERVERS: [(Option<&str>, &str, &[&str]); 4] = [
    (None, "library", &[]),
    (Some("empty"), "empty", &[]),
    (Some("broken"), "broken", &[]),
    (Some("no-index"), "library", &["--index", "explicit"]),
];

/// The scenarios of the contract, by requirement.
const CONTRACT: [(&str, &[&str]); 11] = [
    ("MCP Interface Layer", &["MCP delegates to Core", "MCP handles errors from Core"]),
    ("MCP Server Protocol", &["Server responds to", "Server info"]),
    ("List Specs Tool", &["List all specs", "No specs found"]),
    ("Get Spec Requirements Tool", &["Get requirements for existing spec", "Spec not found"]),
    (
        "Get Scenario Tool",
        &["Get specific scenario", "Get first scenario by default", "Scenario not found"],
    ),
    (
        "Search Specs Tool",
        &["Search with query", "Search with no index", "Search with empty results"],
    ),
    ("List Changes Tool", &["List all active changes", "No active changes"]),
    ("Get Change Tool", &["Get full change", "Get change section", "Change not found"]),
    (
        "Validate Spec Tool",
        &[
            "Validate all specs",
            "Validate specific spec",
            "Spec not found",
            "Validation passes",
            "Validation fails",
        ],
    ),
    (
        "Validate Change Tool",
        &[
            "Validate all changes",
            "Validate specific change",
            "Change not found",
            "Validation passes",
            "Validation fails",
        ],
    ),
    ("Graceful Degradation", &["Server without index"]),
];

pub(super) fn transcripts() -> Vec<Transcript> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = workspace.join("conformance/transcripts/spec");
    Transcript::read_all([folder]).unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn all_transcripts_hold_in_process() {
    for (fixture, project, arguments) in SERVERS {
        let project = Copy::of(project);
        let settings = Settings {
            search: search::Settings {
                freshness: if arguments.is_empty() {
                    Freshness::Always
                } else {
                    Freshness::Explicit
                },
                ..search::Settings::default()
            },
            ..settings(project.root())
        };
        let service = StreamableHttpService::new(mcp::server(settings).unwrap());
        let target = Target::in_process(move |request: Request<Full<Bytes>>| {
            let service = service.clone();
            async move { Ok::<_, BoxError>(service.handle(request).await) }
        });
        hold(Replay::new(target), fixture).await;
    }
}

#[tokio::test]
async fn all_transcripts_hold_for_the_binary_over_http() {
    for (fixture, project, arguments) in SERVERS {
        let project = Copy::of(project);
        let (_server, url) = listening(project.root(), arguments).await;
        let base = url.strip_suffix("/mcp").unwrap();
        hold(Replay::new(Target::url(base).unwrap()), fixture).await;
    }
}

#[tokio::test]
async fn all_transcripts_hold_for_the_binary_on_pipes() {
    for (fixture, project, arguments) in SERVERS {
        let project = Copy::of(project);
        for era in Era::ALL {
            let mut words = vec!["mcp", "--root", project.root().to_str().unwrap()];
            words.extend(arguments);
            let target = Target::command(env!("CARGO_BIN_EXE_spec-server"), words);
            hold(Replay::new(target).eras([era]), fixture).await;
        }
    }
}

#[test]
fn every_scenario_of_the_contract_is_in_a_transcript_of_its_requirement() {
    let transcripts = transcripts();
    for (requirement, scenarios) in CONTRACT {
        let covering: Vec<_> = transcripts
            .iter()
            .filter(|transcript| transcript.requirements().iter().any(|one| one == requirement))
            .map(|transcript| std::fs::read_to_string(transcript.source_name()).unwrap())
            .collect();
        for scenario in scenarios {
            let shown = covering
                .iter()
                .flat_map(|source| source.lines())
                .any(|line| line.contains("\"note\":\"") && line.contains(scenario));
            assert!(shown, "no transcript shows {requirement}: {scenario}");
        }
    }
    let known: BTreeSet<_> = CONTRACT.map(|(requirement, _)| requirement).into();
    for transcript in &transcripts {
        for requirement in transcript.requirements() {
            assert!(known.contains(&**requirement), "{requirement:?} is none");
        }
        assert_eq!(transcript.eras(), Era::ALL, "{}", transcript.name());
    }
}

/// The transcripts for this fixture hold, and there are some.
async fn hold(replay: Replay, fixture: Option<&str>) {
    let replay = match fixture {
        Some(fixture) => replay.fixture(fixture),
        None => replay,
    };
    let (summary, report) = replay.report(&transcripts()).await;
    assert!(summary.is_success(), "{fixture:?}\n{report}");
    assert!(summary.passed > 0, "{fixture:?}\n{report}");
}
