//! Every scenario of the contract, replayed in both eras: over HTTP and on pipes.

use std::collections::BTreeSet;
use std::path::Path;

use mcp_conformance::{Era, Replay, Target, Transcript};

use super::harness::TestSetup;

/// The configurations that transcripts need: the name of the fixture, and its file.
const CONFIGS: [(Option<&str>, &str); 2] =
    [(None, "chats.toml"), (Some("telegram-only"), "telegram-only.toml")];

/// The scenarios of the contract that a transcript can show, by requirement. Lifecycle, authentication and what arrives
/// are shown by the tests beside this one.
const CONTRACT: [(&str, &[&str]); 8] = [
    ("Tool - list_sources", &["Call list_sources tool", "Include connection status"]),
    (
        "Tool - list_chats",
        &["List all chats from source", "Filter chats by type", "Filter chats by name pattern"],
    ),
    (
        "Tool - get_messages",
        &[
            "Get messages from specific chat",
            "Filter messages by time range",
            "Filter messages by sender",
            "Search messages by text",
            "Limit number of results",
            "Query all chats in source",
        ],
    ),
    (
        "Resource - messages://",
        &["Read messages resource", "Resource with query parameters", "Resource pagination"],
    ),
    ("Prompt - analyze_conversation", &["Get analysis prompt", "Prompt includes context"]),
    (
        "Error Handling",
        &["Invalid source", "Chat not found", "Source not connected", "Invalid filter parameters"],
    ),
    ("Server Discovery", &["List capabilities", "List tools", "List resources"]),
    (
        "Streaming Updates",
        &[
            "Subscribe to message stream",
            "Filter streaming messages",
            "Source doesn't support streaming",
        ],
    ),
];

fn transcripts() -> Vec<Transcript> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = workspace.join("conformance/transcripts/chat");
    Transcript::read_all([folder]).unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn all_transcripts_hold_over_http() {
    for (fixture, config) in CONFIGS {
        let setup = imported(config).await;
        let (_server, url) = setup.listening(&[]).await;
        let base = url.strip_suffix("/mcp").unwrap();
        hold(Replay::new(Target::url(base).unwrap()), fixture).await;
    }
}

#[tokio::test]
async fn all_transcripts_hold_on_pipes() {
    for (fixture, config) in CONFIGS {
        for era in Era::ALL {
            let setup = imported(config).await;
            let command = setup.command("mcp");
            let command = command.as_std();
            let target = Target::command(command.get_program(), command.get_args());
            hold(Replay::new(target).eras([era]), fixture).await;
        }
    }
}

#[test]
fn every_scenario_of_the_contract_is_in_a_transcript_of_its_requirement() {
    let transcripts = transcripts();
    for (requirement, scenarios) in CONTRACT {
        let covering: Vec<String> = transcripts
            .iter()
            .filter(|transcript| transcript.requirements().iter().any(|one| one == requirement))
            .map(|transcript| std::fs::read_to_string(transcript.source_name()).unwrap())
            .collect();
        for scenario in scenarios {
            let shown = covering
                .iter()
                .flat_map(|source| source.lines())
                .any(|line| line.contains(&format!("\"note\":\"{scenario}")));
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

/// A setup whose exports are in the index: on a busy machine a first answer says what is still being read.
async fn imported(config: &str) -> TestSetup {
    let setup = TestSetup::of(config);
    setup.run("import", &[]).await;
    setup
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
