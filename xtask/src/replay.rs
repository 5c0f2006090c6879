//! Replays the transcripts of the servers against their judged programs, as an outside user would.

use std::process::Command;

use xtask::programs::{build_judged, judged};
use xtask::servers::{SERVERS, Shown};
use xtask::twins::Twins;
use xtask::{Result, is_ci, root, say};

/// The transcript that proves that a stream is open by the error for a second one. Only the server that holds the first
/// stream returns that error.
const ONE_SERVER: &str = "REQ-MCP-25";

/// Replays all. `true` when every server answered as its transcripts say.
pub(crate) fn run() -> Result<bool> {
    build_judged()?;
    for shown in SERVERS {
        let server = shown.start(&shown.binary())?;
        // The transcripts name the endpoint themselves: some use REST as well as MCP.
        let url = server.url().trim_end_matches("/mcp");
        if !replay_against(&shown, ["--url", url])? {
            return Ok(false);
        }
        if shown.on_pipes && !replay_against(&shown, ["--command", &shown.command()?])? {
            return Ok(false);
        }
    }
    replay_on_twins()
}

/// Replays the universe server's transcripts again, with requests that alternate between two servers on one database.
fn replay_on_twins() -> Result<bool> {
    let shown = Shown::first("universe-server")?;
    match Twins::start(&shown.binary()) {
        Ok(twins) => {
            let url = twins.url().trim_end_matches("/mcp");
            let mut replay = Command::new(judged("mcp-conformance"));
            replay.args(["replay", "--url", url, "--era", "both"]);
            for entry in std::fs::read_dir(root().join("conformance/transcripts/universe"))? {
                let path = entry?.path();
                if path.file_stem().is_none_or(|name| name != ONE_SERVER) {
                    replay.arg(path);
                }
            }
            Ok(replay.status()?.success() & twins.both_served()?)
        }
        Err(missing) => {
            say(&format!("skipped: two servers on one database: {missing}"))?;
            Ok(!is_ci())
        }
    }
}

/// Replays those of its transcripts that apply to the data it serves.
fn replay_against(shown: &Shown, server: [&str; 2]) -> Result<bool> {
    let mut replay = Command::new(judged("mcp-conformance"));
    replay.arg("replay").args(server).args(["--era", "both"]);
    if let Some(fixture) = shown.fixture {
        replay.args(["--fixture", fixture]);
    }
    replay.arg(root().join("conformance/transcripts").join(shown.transcripts));
    Ok(replay.status()?.success())
}
