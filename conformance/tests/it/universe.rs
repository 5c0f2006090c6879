//! Every requirement of the universe's MCP server, replayed against it in both eras.

use std::path::Path;

use mcp_conformance::{Replay, Target, TextReporter, Transcript};

use crate::fake;

/// The server under test, as the special one called `fixture` if a name is given.
fn target(fixture: Option<&str>) -> Target {
    fake::target(fixture)
}

fn transcripts() -> Vec<Transcript> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts/universe");
    Transcript::read_all([directory]).unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn all_requirements_hold() {
    for fixture in [None, Some("failing-store"), Some("failing-reducer")] {
        let mut replay = Replay::new(target(fixture));
        if let Some(fixture) = fixture {
            replay = replay.fixture(fixture);
        }
        let mut report = Vec::new();
        let mut reporter = TextReporter::new(&mut report, false);
        let summary = replay.run(&transcripts(), |event| reporter.report(event).unwrap()).await;
        assert!(summary.is_success(), "{}", String::from_utf8_lossy(&report));
    }
}
