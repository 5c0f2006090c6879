//! The client and a peer that does not read for a while.

use std::collections::BTreeSet;
use std::path::Path;

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::common::PATIENCE;

/// The ids of the requests that the peer got, and of those that it was told to cancel.
fn got(path: &Path) -> (BTreeSet<i64>, BTreeSet<i64>) {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let (mut requests, mut cancelled) = (BTreeSet::new(), BTreeSet::new());
    for line in whole.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        match message["params"]["requestId"].as_i64() {
            Some(id) => cancelled.insert(id),
            None => requests.insert(message["id"].as_i64().unwrap()),
        };
    }
    (requests, cancelled)
}

#[tokio::test]
async fn whatever_was_sent_and_given_up_is_cancelled_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (go, sent) = (folder.path().join("go"), folder.path().join("sent"));
    // Reads nothing before it is let, and writes down what it reads then.
    let mut peer = Command::new("sh");
    peer.args(["-c", r#"until [ -e "$0" ]; do sleep 0.05; done; exec cat > "$1""#]);
    peer.args([&go, &sent]);
    let client = Client::stdio(peer, ClientConfig::new(Era::Modern));
    let client = client.await.unwrap();
    // More than the pipe and the queue before it take.
    let calls = (0..300).map(|_| {
        let client = client.clone();
        let params = json!({ "pad": "x".repeat(8_192) });
        tokio::spawn(async move { client.request("tools/list", params).await })
    });
    let calls: Vec<_> = calls.collect();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    for call in &calls {
        call.abort();
    }
    for call in calls {
        assert!(call.await.unwrap_err().is_cancelled());
    }
    std::fs::write(&go, "").unwrap();
    let all = async {
        loop {
            let (requests, cancelled) = got(&sent);
            if !requests.is_empty() && requests == cancelled {
                break requests;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let requests = tokio::time::timeout(PATIENCE, all).await;
    let requests = requests.unwrap_or_else(|_| panic!("{:?}", got(&sent)));
    assert!((64..300).contains(&requests.len()), "{}", requests.len());
    client.close().await.unwrap();
    assert_eq!(got(&sent), (requests.clone(), requests));
}
