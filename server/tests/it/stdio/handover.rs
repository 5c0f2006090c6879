//! A server that listens gets the directory from a process that serves one client, which goes on as a relay.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{directory, retry};
use crate::harness::process::signal;
use crate::harness::{Era, Server, Stdio, tick};

#[tokio::test]
async fn a_listening_server_gets_the_directory_from_a_client_s_process() {
    let dir = directory().await;
    for era in Era::BOTH {
        let mut holder = Stdio::on(dir.path(), era).await;
        let before = holder.command("sol", &tick()).await;
        let mut joined = Stdio::on(dir.path(), era).await;
        assert_eq!(joined.state("sol").await, before);

        let mut server = Server::on(dir.path()).await;
        assert_eq!(server.client.universe("sol").await["state"], before);
        for client in [&mut holder, &mut joined] {
            assert_eq!(retry(client).await, before);
        }
        let after = joined.command("sol", &tick()).await;
        assert_eq!(holder.state("sol").await, after);
        assert_eq!(server.client.universe("sol").await["state"], after);

        // And back, when it goes.
        signal(server.pid(), "TERM");
        assert!(server.wait().await.success());
        for client in [&mut holder, &mut joined] {
            assert_eq!(retry(client).await, after);
            client.close();
            assert!(client.wait().await.success());
        }
    }
}

#[tokio::test]
async fn a_client_whose_new_holder_dies_at_once_does_not_wait_for_it() {
    let dir = directory().await;
    let mut holder = Stdio::on(dir.path(), Era::Modern).await;
    holder.state("sol").await;
    let mut server = Server::on(dir.path()).await;
    retry(&mut holder).await;
    let start = Instant::now();
    server.kill().await;
    retry(&mut holder).await;
    // A directory that is given away is left alone for three seconds, but not once its new holder was there.
    let waited = start.elapsed();
    assert!(waited < Duration::from_millis(1_500), "{waited:?}");
}

/// As when a supervisor starts it again: the relays may have been quicker.
#[tokio::test]
async fn a_server_that_was_killed_and_started_again_gets_its_directory_back() {
    let dir = directory().await;
    let mut server = Server::on(dir.path()).await;
    let mut clients =
        [Stdio::on(dir.path(), Era::Modern).await, Stdio::on(dir.path(), Era::Legacy).await];
    for n in 1..=3 {
        for client in &mut clients {
            retry(client).await;
        }
        server.kill().await;
        // The one that answers now is one of them.
        for client in &mut clients {
            retry(client).await;
        }
        server = Server::on(dir.path()).await;
        server.client.command("sol", &tick()).await;
        for client in &mut clients {
            assert_eq!(retry(client).await["time"], f64::from(n));
        }
    }
}

#[tokio::test]
async fn what_was_running_is_reported_when_the_directory_is_given_away() {
    let dir = directory().await;
    let mut holder = Stdio::on(dir.path(), Era::Modern).await;
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let request = Era::Modern.request(&json!("running"), "subscriptions/listen", listen);
    holder.write(&request).await;
    let acknowledged = holder.read().await;
    assert!(acknowledged["method"].is_string(), "{acknowledged}");
    let server = Server::on(dir.path()).await;
    // It ends as the revision wants it: the client may listen again.
    let cancelled = holder.read().await;
    assert_eq!(cancelled["params"]["requestId"], "running", "{cancelled}");
    let told = holder.read().await;
    assert_eq!(told["id"], "running");
    assert_eq!(told["result"]["resultType"], "complete", "{told}");
    let time = server.client.universe("sol").await["state"]["time"].clone();
    assert_eq!(holder.state("sol").await["time"], time);
}
