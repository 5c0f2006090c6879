//! What the specification leaves free is not a finding, and what it does not is one.

use std::collections::BTreeSet;

use mcp_conformance::{Check, Judged, Revision, Verdict};
use serde_json::json;

use super::correct::correct;
use super::mutants::rounds::{BY_RESULT, asking};
use super::{found, of_two_callers, text};
use crate::mutation::{Answer, Fault, SentRequest, broken, instead, result};

fn refused(asked: &SentRequest, status: u16, code: i64) -> Answer {
    let error = json!({"code": code, "message": "no: this is of 2026-07-28"});
    Answer::new(status, json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error}))
}

/// Requests that do not name their version in a header are taken for ones of 2025-03-26, which need a session.
fn unversioned(asked: &SentRequest) -> Option<Answer> {
    let has = |name: &str| asked.headers.contains_key(name);
    let old = has("mcp-method") && !has("mcp-protocol-version");
    old.then(|| refused(asked, 400, -32600))
}

/// The same, and no handshake is made.
fn unversioned_and_modern_alone(asked: &SentRequest) -> Option<Answer> {
    let handshake = asked.is_rpc("initialize");
    let refusal = handshake.then(|| refused(asked, 400, -32601));
    refusal.or_else(|| unversioned(asked))
}

/// A batch is refused by an error without its status.
fn batches() -> Fault {
    instead(|asked| asked.body.is_array().then(|| refused(asked, 200, -32600)))
}

async fn rules_broken(fault: Fault) -> BTreeSet<&'static str> {
    let check = Check::url(broken(correct(), fault)).revisions(vec![Revision::V2026_07_28]);
    let report = check.run(|_| {}).await.unwrap();
    let found = found(&report);
    println!("{}", text(&report));
    found
}

#[tokio::test(start_paused = true)]
async fn a_server_of_older_clients_may_take_a_request_without_version_for_one_of_theirs() {
    assert_eq!(rules_broken(instead(unversioned)).await, BTreeSet::new());
    let listed = result("server/discover", |result| {
        result["supportedVersions"] = json!(["2026-07-28"]);
    });
    let alone = listed.and(instead(unversioned_and_modern_alone));
    let rule = BTreeSet::from(["modern.version-header"]);
    assert_eq!(rules_broken(alone).await, rule);
}

#[tokio::test(start_paused = true)]
async fn the_status_of_a_refused_batch_is_free() {
    assert_eq!(rules_broken(batches()).await, BTreeSet::new());
}

/// A state that was altered or is another's is refused in either way; what was not asked is passed over in both.
#[tokio::test(start_paused = true)]
async fn a_state_may_be_refused_by_a_result_that_is_an_error() {
    let check = of_two_callers(broken(correct(), asking(BY_RESULT)));
    let check = check.call(["write".to_owned()]);
    let rules = ["rounds.altered-state", "rounds.state-of-another"];
    let check = check.only(rules.map(str::to_owned));
    let report = check.run(|_| {}).await.unwrap();
    let held = |it: &Judged| matches!(it.verdict, Verdict::Holds);
    assert!(report.judged.iter().all(held), "{}", text(&report));
    assert_eq!(report.judged.len(), 3);
}
