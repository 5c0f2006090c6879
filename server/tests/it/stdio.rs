//! `--stdio`: alone, beside a server that holds the data directory, and in its place when it ends.

mod handover;
mod limits;
mod subscriptions;

use std::collections::HashSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use crate::harness::process::{signal, stop};
use crate::harness::{Era, Server, Stdio, add_star, tick};

/// A directory with the universe `sol`, empty enough to be written in a line.
async fn directory() -> TempDir {
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    server.client.put("/universes/sol", &json!({"state": {}})).await;
    signal(server.pid(), "TERM");
    assert!(server.wait().await.success());
    dir
}

#[tokio::test]
async fn both_eras_are_served_on_pipes() {
    let dir = directory().await;
    for (era, time) in Era::BOTH.into_iter().zip([1.0, 2.0]) {
        let mut stdio = Stdio::on(dir.path(), era).await;
        let tools = stdio.ask(&json!("t"), "tools/list", json!({})).await;
        assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 3);
        let state = stdio.command("sol", &json!({"type": "tick"})).await;
        assert_eq!(state["time"], time);
        assert_eq!(stdio.state("sol").await, state);
        stdio.close();
        assert_eq!(stdio.wait().await.code(), Some(0));
    }
}

#[tokio::test]
async fn it_says_where_universes_come_from() {
    let dir = directory().await;
    for joined in [false, true] {
        let server = if joined { Some(Server::on(dir.path()).await) } else { None };
        let mut stdio = Stdio::on(dir.path(), Era::Modern).await;
        let told = stdio.ask(&json!(1), "server/discover", json!({})).await;
        let told = told["result"]["instructions"].as_str().unwrap();
        match &server {
            Some(server) => {
                let url = format!("POST http://{}/universes", server.client.0);
                assert!(told.contains(&url), "{told}");
            }
            None => {
                assert!(told.contains("no REST API beside") && told.contains("--demo"), "{told}")
            }
        }
        stdio.close();
        assert!(stdio.wait().await.success());
    }
}

#[tokio::test]
async fn the_end_of_input_and_sigterm_end_it_well() {
    let dir = directory().await;
    for era in Era::BOTH {
        let mut stdio = Stdio::on(dir.path(), era).await;
        stdio.state("sol").await;
        let start = Instant::now();
        stdio.close();
        assert_eq!(stdio.wait().await.code(), Some(0));
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());

        let mut stdio = Stdio::on(dir.path(), era).await;
        stdio.state("sol").await;
        signal(stdio.pid(), "TERM");
        assert_eq!(stdio.wait().await.code(), Some(0));
        assert!(!dir.path().join("universe.sock").exists());
    }
}

#[tokio::test]
async fn it_joins_the_server_that_holds_the_directory() {
    let dir = directory().await;
    let mut server = Server::on(dir.path()).await;
    let mode = std::fs::metadata(dir.path().join("universe.sock")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!dir.path().join("universe.new").exists());
    let mut feed = server.client.feed("sol", None).await;
    let mut revision = server.client.universe("sol").await["revision"].as_u64().unwrap();
    for era in Era::BOTH {
        let mut stdio = Stdio::on(dir.path(), era).await;
        let state = stdio.command("sol", &tick()).await;
        revision += 1;
        assert_eq!(feed.event().await.unwrap().id, Some(revision));
        assert_eq!(server.client.universe("sol").await["state"], state);
        let answer = server.client.command("sol", &tick()).await;
        revision += 1;
        assert_eq!(feed.event().await.unwrap().id, Some(revision));
        assert_eq!(stdio.state("sol").await, answer["nextState"]);
        // The end of either kind is the joined process's own affair.
        if era == Era::Legacy {
            stdio.close();
        } else {
            signal(stdio.pid(), "TERM");
        }
        assert_eq!(stdio.wait().await.code(), Some(0));
    }
    server.client.command("sol", &tick()).await;
    signal(server.pid(), "TERM");
    assert!(server.wait().await.success());
}

#[tokio::test]
async fn a_line_that_is_too_long_does_not_end_a_joined_client() {
    let dir = directory().await;
    let _server = Server::on(dir.path()).await;
    let mut stdio = Stdio::on(dir.path(), Era::Modern).await;
    let mut long = Era::Modern.request(&json!(1), "tools/list", json!({}));
    long["params"]["filler"] = json!("x".repeat(11 * 1024 * 1024));
    stdio.write(&long).await;
    stdio.write_line(b"no JSON").await;
    stdio.write_line(b"").await;
    let told = stdio.read().await;
    assert!(told["error"]["message"].as_str().unwrap().contains("10485760 bytes"), "{told}");
    let tools = stdio.ask(&json!(2), "tools/list", json!({})).await;
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_joined_client_goes_on_when_the_holder_is_killed() {
    let dir = directory().await;
    for era in Era::BOTH {
        let mut server = Server::on(dir.path()).await;
        let mut stdio = Stdio::on(dir.path(), era).await;
        let before = stdio.command("sol", &add_star(&format!("{era:?}"))).await;
        server.kill().await;
        // The next request may meet the moment between the two: then that is reported, and it is asked again.
        let after = retry(&mut stdio).await;
        assert_eq!(after, before);
        let now = stdio.command("sol", &tick()).await;
        assert_eq!(now["time"].as_f64(), before["time"].as_f64().map(|time| time + 1.0));
        // It holds the directory now: the next one joins it.
        let mut next = Stdio::on(dir.path(), era).await;
        assert_eq!(next.state("sol").await, now);
        next.close();
        assert!(next.wait().await.success());
        stdio.close();
        assert!(stdio.wait().await.success());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_share_a_directory_lose_nothing_of_each_other() {
    const EACH: usize = 60;
    let dir = directory().await;
    let server = Server::on(dir.path()).await;
    let client = server.client;
    let mut writers = Vec::new();
    for era in [Era::Legacy, Era::Modern] {
        let mut stdio = Stdio::on(dir.path(), era).await;
        writers.push(tokio::spawn(async move {
            // All at once, and the answers in whatever order they come.
            let arguments = json!({"universeId": "sol", "command": tick()});
            let params = json!({"name": "send_universe_command", "arguments": arguments});
            for n in 0..EACH {
                stdio.write(&era.request(&json!(n), "tools/call", params.clone())).await;
            }
            let mut answered = HashSet::new();
            for _ in 0..EACH {
                let answer = stdio.read().await;
                assert!(answer["result"]["structuredContent"].is_object(), "{answer}");
                assert!(answered.insert(answer["id"].as_u64().unwrap()));
            }
        }));
    }
    writers.push(tokio::spawn(async move {
        for _ in 0..EACH {
            client.command("sol", &tick()).await;
        }
    }));
    for writer in writers {
        writer.await.unwrap();
    }
    let universe = client.universe("sol").await;
    assert_eq!(universe["state"]["time"].as_f64(), Some((3 * EACH) as f64));
}

/// The state of `sol`, asked for until it is answered; every request gets exactly one answer meanwhile.
async fn retry(stdio: &mut Stdio) -> serde_json::Value {
    for n in 0..50 {
        let params = json!({"name": "get_universe_state", "arguments": {"universeId": "sol"}});
        let mut answer = stdio.ask(&json!(n), "tools/call", params).await;
        if answer["error"].is_null() {
            assert_ne!(answer["result"]["isError"], true, "{answer}");
            return answer["result"]["structuredContent"].take();
        }
        let told = answer["error"]["message"].as_str().unwrap();
        assert!(told.contains("ended before it answered"), "{answer}");
    }
    panic!("no process takes over");
}

#[tokio::test]
async fn a_request_that_was_running_when_the_holder_died_is_answered() {
    let dir = directory().await;
    let mut server = Server::on(dir.path()).await;
    let mut stdio = Stdio::on(dir.path(), Era::Modern).await;
    stdio.state("sol").await;
    // A listener runs for as long as the holder does.
    let listen = json!({"notifications": {"resourcesListChanged": true}});
    for id in ["cancelled", "running"] {
        let request = Era::Modern.request(&json!(id), "subscriptions/listen", listen.clone());
        stdio.write(&request).await;
        let acknowledged = stdio.read().await;
        assert!(acknowledged["method"].is_string(), "{acknowledged}");
    }
    // What was cancelled is not waited for any more.
    let params = json!({"requestId": "cancelled"});
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    stdio.write(&cancelled).await;
    stdio.state("sol").await;
    server.kill().await;
    let told = stdio.read().await;
    assert_eq!(told["id"], "running");
    assert_eq!(told["error"]["code"], -32603);
    assert!(
        told["error"]["message"].as_str().unwrap().contains("ended before it answered"),
        "{told}"
    );
    let state = retry(&mut stdio).await;
    assert_eq!(state["time"], 0.0);
}

#[tokio::test]
async fn a_call_that_the_holder_never_answered_is_answered_once() {
    let dir = directory().await;
    for era in Era::BOTH {
        let mut server = Server::on(dir.path()).await;
        let mut stdio = Stdio::on(dir.path(), era).await;
        let before = stdio.state("sol").await;
        // A holder that stands still takes the line and does nothing with it.
        stop(server.pid()).await;
        let arguments = json!({"universeId": "sol", "command": tick()});
        let params = json!({"name": "send_universe_command", "arguments": arguments});
        stdio.write(&era.request(&json!("call"), "tools/call", params)).await;
        // Lines go through in order, and this one is answered by the relay: the call has gone through.
        stdio.write_line(&[b'x'; 11 * 1024 * 1024]).await;
        assert!(stdio.read().await["id"].is_null());
        server.kill().await;
        let told = stdio.read().await;
        assert_eq!(
            (&told["id"], &told["error"]["code"]),
            (&json!("call"), &json!(-32603)),
            "{told}"
        );
        assert_eq!(retry(&mut stdio).await, before, "it was not done, and not sent again");
        stdio.close();
        assert!(stdio.wait().await.success());
    }
}

#[tokio::test]
async fn a_joined_client_goes_on_when_the_holder_is_closed() {
    let dir = directory().await;
    let mut holder = Stdio::on(dir.path(), Era::Legacy).await;
    let mut joined = Stdio::on(dir.path(), Era::Legacy).await;
    let before = joined.command("sol", &tick()).await;
    assert_eq!(holder.state("sol").await, before);
    holder.close();
    assert!(holder.wait().await.success());
    assert_eq!(retry(&mut joined).await, before);
    joined.close();
    assert!(joined.wait().await.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_three_one_holds_until_the_last() {
    let dir = directory().await;
    let mut processes = Vec::new();
    for era in [Era::Legacy, Era::Modern, Era::Legacy] {
        processes.push(start(dir.path(), era).await);
    }
    let mut time = 0.0;
    while !processes.is_empty() {
        for process in &mut processes {
            retry(process).await;
            time += 1.0;
            assert_eq!(process.command("sol", &tick()).await["time"], time);
        }
        // The holder is the one that was there first; the others elect among themselves.
        let mut gone = processes.remove(0);
        gone.kill().await;
    }
    let server = Server::on(dir.path()).await;
    assert_eq!(server.client.universe("sol").await["state"]["time"], time);
}

async fn start(dir: &Path, era: Era) -> Stdio {
    let mut stdio = Stdio::on(dir, era).await;
    stdio.state("sol").await;
    stdio
}
