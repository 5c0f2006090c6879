//! The transcripts that any server should pass: servers that keep the rules do, and each has a broken one that does
//! not.

use std::path::{Path, PathBuf};

use mcp_conformance::{Replay, Target, Transcript};
use serde_json::json;

use crate::check::correct::{correct, everything};
use crate::mutation::{Fault, answer, answer_to, broken, result};

fn folders() -> [PathBuf; 2] {
    ["any", "with-tools"]
        .map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts").join(name))
}

#[tokio::test]
async fn servers_that_keep_the_rules_pass() {
    Replay::new(correct()).hold(folders()).await;
    let program = everything().await;
    let target = Target::command(program, ["--stdio"]);
    Replay::new(target).hold(folders()).await;
}

/// A server that breaks each of them.
fn table() -> Vec<(&'static str, Fault)> {
    let recoded = |from: i64| {
        answer(move |_, answer| {
            if answer.body["error"]["code"] == from {
                answer.body["error"]["code"] = (-32000).into();
            }
        })
    };
    vec![
        ("any-handshake", result("initialize", |it| it["protocolVersion"] = "latest".into())),
        ("any-discovery", recoded(-32022)),
        (
            "any-discovery",
            result("server/discover", |it| {
                it["supportedVersions"] = json!(["2025-11-25"]);
            }),
        ),
        ("any-unknown-method", recoded(-32601)),
        (
            "any-notification",
            answer_to(
                |asked| asked.is_rpc("notifications/cancelled"),
                |answer| answer.status = 200,
            ),
        ),
        (
            "with-tools",
            result("tools/list", |it| {
                it["tools"][0]["inputSchema"] = json!({"type": "string"});
            }),
        ),
    ]
}

#[tokio::test]
async fn each_has_a_broken_server_that_fails_it() {
    let transcripts = Transcript::read_all(folders()).unwrap();
    for (name, fault) in table() {
        let replay = Replay::new(broken(correct(), fault));
        let named = transcripts.iter().filter(|it| it.name() == name);
        let (summary, report) = replay.report(named).await;
        assert!(summary.failed > 0, "{name}: {report}");
    }
    let broken: Vec<_> = table().iter().map(|(name, _)| *name).collect();
    for transcript in &transcripts {
        assert!(broken.contains(&transcript.name()), "{}", transcript.name());
    }
}
