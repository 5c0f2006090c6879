//! Keys that servers share: what one has sealed the others open, and who has other keys does not.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use data_encoding::{BASE64, HEXLOWER};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{node_with, until};
use crate::engines::urls;
use crate::harness::process::{binary, run};
use crate::harness::wire::MODERN;
use crate::harness::{Client, Era, Wire};

/// More than a page of resources has.
const UNIVERSES: usize = 510;

fn write(file: &Path, keys: &[String], mode: u32) {
    std::fs::write(file, keys.join("\n")).unwrap();
    std::fs::set_permissions(file, Permissions::from_mode(mode)).unwrap();
}

/// Asks to delete a universe, or answers that question with yes.
async fn delete(client: Client, id: &str, state: Option<&Value>) -> Value {
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "delete_universe"),
    ];
    let params = json!({"name": "delete_universe", "arguments": {"universeId": id}});
    let mut request = Era::Modern.request(&json!(1), "tools/call", params);
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"elicitation": {"form": {}}});
    if let Some(state) = state {
        request["params"]["requestState"] = state.clone();
        request["params"]["inputResponses"] =
            json!({"delete": {"action": "accept", "content": {"delete": true}}});
    }
    client.call("POST", "/mcp", &headers, &request).await.json()
}

/// The cursor of the first page of resources, or what a page after one is answered with.
async fn page(client: Client, cursor: Option<&Value>) -> Value {
    let wire = Wire::new(client, Era::Modern).await;
    let mut params = json!({});
    if let Some(cursor) = cursor {
        params["cursor"] = cursor.clone();
    }
    wire.send(&json!(1), "resources/list", params).await.json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_seals_the_other_opens_until_the_key_is_gone() {
    for url in urls() {
        let (url, dir) = (url, TempDir::new().unwrap());
        let keys = [HEXLOWER.encode(&[1; 32]), BASE64.encode(&[2; 32]), BASE64.encode(&[3; 32])];
        let file = |name: &str| dir.path().join(name);
        write(&file("a"), &["# the newest first".to_owned(), keys[0].clone()], 0o600);
        write(&file("b"), &keys[..1], 0o640);
        write(&file("c"), &keys[1..2], 0o600);
        let start = async |name: &str| {
            let file = file(name);
            node_with(&url, &["--drain-wait", "0", "--keys-file", file.to_str().unwrap()]).await
        };
        let (a, b, c) = (start("a").await, start("b").await, start("c").await);
        let universes = join_all((0..UNIVERSES).map(|n| {
            let client = a.client;
            async move { client.create(&format!("u-{n}"), json!({})).await }
        }));
        let universes = universes.await;
        let question =
            async |client, id| delete(client, id, None).await["result"]["requestState"].clone();
        let gone = async |client, id, state: &Value| {
            delete(client, id, Some(state)).await["result"]["structuredContent"]["deleted"] == *id
        };

        let state = question(a.client, &universes[0]).await;
        let cursor = page(a.client, None).await["result"]["nextCursor"].clone();
        assert!(state.is_string() && cursor.is_string());
        // Another key opens neither.
        assert!(delete(c.client, &universes[0], Some(&state)).await["error"].is_object());
        assert!(page(c.client, Some(&cursor)).await["error"].is_object());
        let rest = page(b.client, Some(&cursor)).await;
        assert!(!rest["result"]["resources"].as_array().unwrap().is_empty(), "{rest}");
        assert!(gone(b.client, &universes[0], &state).await);

        // The second key comes, at first only to open, then to seal; what the first has sealed is taken as long as it
        // is there.
        let old =
            [question(a.client, &universes[1]).await, question(a.client, &universes[2]).await];
        write(&file("b"), &[keys[0].clone(), keys[1].clone()], 0o600);
        let new = question(c.client, &universes[3]).await;
        until(async || gone(b.client, &universes[3], &new).await).await;
        write(&file("a"), &[keys[1].clone(), keys[0].clone()], 0o600);
        until(async || {
            let state = question(a.client, &universes[4]).await;
            gone(c.client, &universes[4], &state).await
        })
        .await;
        assert!(gone(a.client, &universes[1], &old[0]).await);
        // A file that cannot be used changes nothing; one without the first key refuses what that has sealed.
        write(&file("a"), &["nonsense".to_owned()], 0o600);
        write(&file("b"), &[keys[2].clone(), keys[1].clone()], 0o600);
        let mut others = universes.iter().skip(5);
        until(async || {
            let other = others.next().unwrap();
            let state = question(b.client, other).await;
            delete(a.client, other, Some(&state)).await["error"].is_object()
        })
        .await;
        assert!(delete(b.client, &universes[2], Some(&old[1])).await["error"].is_object());
        assert!(gone(a.client, &universes[2], &old[1]).await);
    }
}

#[tokio::test]
async fn a_file_of_keys_that_cannot_be_used_is_refused_with_the_reason() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("keys");
    let key = BASE64.encode(&[7; 32]);
    let five: Vec<_> = (0..5).map(|n| BASE64.encode(&[n; 32])).collect();
    for (lines, mode, problem) in [
        (vec![key.clone()], 0o644, "its mode is 644, so that others may read"),
        (vec![key.clone()], 0o620, "its mode is 620"),
        (vec![], 0o600, "there is no key in it; make a key with `openssl rand -base64 32`"),
        (vec![BASE64.encode(&[7; 31])], 0o600, "line 1 has 31 bytes, and a key has 32"),
        (
            vec!["#".to_owned(), "secret!".to_owned()],
            0o600,
            "line 2 is neither base64 nor 64 digits of hex",
        ),
        (vec![key.clone(), HEXLOWER.encode(&[7; 32])], 0o600, "line 2 repeats a key"),
        (five, 0o600, "it has 5 keys, and at most 4 are used"),
    ] {
        write(&file, &lines, mode);
        for verb in [&["check-config"][..], &["--store", "memory", "--listen", "127.0.0.1:0"]] {
            let ended = run(binary().arg("--keys-file").arg(&file).args(verb)).await;
            assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
            let told = format!("--keys-file {}: {problem}", file.display());
            assert!(ended.stderr.contains(&told), "{}", ended.stderr);
            assert!(!ended.stderr.contains("secret!") && !ended.stderr.contains(&key));
        }
    }
    let ended = run(binary().args(["--keys-file", "/nowhere", "check-config"])).await;
    assert!(ended.stderr.contains("--keys-file /nowhere: "), "{}", ended.stderr);
}
