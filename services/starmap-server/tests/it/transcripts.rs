//! The transcripts of the server, replayed over HTTP against the binary on their map; and against one with another map,
//! to show that they can fail.

use std::path::{Path, PathBuf};

use mcp_conformance::{Replay, Summary, Target, Transcript};
use starmap_server::load;
use starmap_server::map::Map;

use crate::common::{aria, assert_same, small, small_parts};
use crate::harness::Listening;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/transcripts/starmap")
}

async fn replay(graph: &Path) -> (Summary, String) {
    let server = Listening::new(graph, &[]).await;
    let transcripts = Transcript::read_all([folder()]).unwrap();
    assert_eq!(transcripts.len(), 5);
    let replay = Replay::new(Target::url(server.url.trim_end_matches("/mcp")).unwrap());
    replay.report(&transcripts).await
}

/// `STARMAP_WRITE_MAP=1 cargo test -p starmap-server the_map_of_the_transcripts` writes it again.
#[test]
fn the_map_of_the_transcripts_is_the_small_one() {
    let path = folder().join("map.json");
    if std::env::var_os("STARMAP_WRITE_MAP").is_some() {
        std::fs::write(&path, format!("{}\n", aria(&small_parts()))).unwrap();
    }
    let loaded = load::load(&path).unwrap();
    assert_same(&loaded.map, &small());
    assert_eq!(loaded.map.version(), small().version());
}

#[tokio::test]
async fn the_transcripts_hold_in_both_eras() {
    let (summary, report) = replay(&folder().join("map.json")).await;
    assert!(summary.is_success(), "{report}");
}

#[tokio::test]
async fn they_do_not_hold_for_another_map() {
    let mut parts = small_parts();
    parts.systems[0].name = "Jitta".to_owned();
    let folder = tempfile::TempDir::new().unwrap();
    let graph = folder.path().join("other.graph");
    load::write(&Map::new(parts).unwrap().0, &graph).unwrap();
    let (summary, report) = replay(&graph).await;
    assert!(!summary.is_success(), "{report}");
}
