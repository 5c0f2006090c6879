//! Resources and subscriptions on pipes: by the process that holds the directory, by one that joined, and from one
//! server to the next.

use serde_json::{Value, json};

use super::{directory, retry};
use crate::harness::process::signal;
use crate::harness::{Era, Server, Stdio, add_star, set_mass, tick};

const EARTH: &str = "universe://sol/stars/earth";

/// Subscribes to the body `earth`.
async fn subscribe(stdio: &mut Stdio, era: Era) {
    if era == Era::Legacy {
        let done = stdio.ask(&json!("s"), "resources/subscribe", json!({ "uri": EARTH })).await;
        assert_eq!(done["result"], json!({}), "{done}");
        return;
    }
    let wanted = json!({"notifications": {"resourceSubscriptions": [EARTH]}});
    let listen = era.request(&json!("listen"), "subscriptions/listen", wanted);
    stdio.write(&listen).await;
    let told = stdio.notification().await;
    let agreed = &told["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(agreed, &json!([EARTH]), "{told}");
}

async fn hears_of_earth(stdio: &mut Stdio) {
    let told = stdio.notification().await;
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"]["uri"], EARTH);
}

#[tokio::test]
async fn changes_are_reported_on_pipes_by_whatever_way_they_are_made() {
    let dir = directory().await;
    for (n, era) in (2..).zip(Era::BOTH) {
        // Alone: it holds the directory.
        let mut stdio = Stdio::on(dir.path(), era).await;
        if n == 2 {
            stdio.command("sol", &add_star("earth")).await;
            stdio.command("sol", &add_star("mars")).await;
        }
        subscribe(&mut stdio, era).await;
        stdio.command("sol", &set_mass("mars", n)).await;
        stdio.command("sol", &set_mass("earth", n)).await;
        hears_of_earth(&mut stdio).await;
        let read = stdio.ask(&json!("r"), "resources/read", json!({ "uri": EARTH })).await;
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        let earth: Value = serde_json::from_str(text).unwrap();
        assert_eq!(earth["mass"], n);
        // One that joined makes a change, and is notified of one.
        let mut joined = Stdio::on(dir.path(), era).await;
        subscribe(&mut joined, era).await;
        joined.command("sol", &set_mass("earth", 10 * n)).await;
        hears_of_earth(&mut stdio).await;
        hears_of_earth(&mut joined).await;
        stdio.command("sol", &tick()).await;
        stdio.command("sol", &set_mass("earth", 20 * n)).await;
        hears_of_earth(&mut stdio).await;
        hears_of_earth(&mut joined).await;
        for client in [&mut joined, &mut stdio] {
            client.close();
            assert!(client.wait().await.success());
        }
    }
}

#[tokio::test]
async fn a_joined_client_is_notified_of_what_is_done_over_http() {
    let dir = directory().await;
    let server = Server::on(dir.path()).await;
    server.client.command("sol", &add_star("earth")).await;
    for (n, era) in (2..).zip(Era::BOTH) {
        let mut stdio = Stdio::on(dir.path(), era).await;
        subscribe(&mut stdio, era).await;
        server.client.command("sol", &tick()).await;
        server.client.command("sol", &set_mass("earth", n)).await;
        hears_of_earth(&mut stdio).await;
    }
}

/// A legacy client's subscriptions are its session's, and outlive the server.
#[tokio::test]
async fn subscriptions_go_on_with_the_next_server() {
    let dir = directory().await;
    let mut server = Server::on(dir.path()).await;
    server.client.command("sol", &add_star("earth")).await;
    let mut stdio = Stdio::on(dir.path(), Era::Legacy).await;
    subscribe(&mut stdio, Era::Legacy).await;
    let gone = json!({"uri": "universe://sol/tree"});
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let done = stdio.ask(&json!(method), method, gone.clone()).await;
        assert_eq!(done["result"], json!({}), "{done}");
    }
    for n in 2..4 {
        signal(server.pid(), "TERM");
        assert!(server.wait().await.success());
        // It holds the directory now, and what it may have missed is reported.
        retry(&mut stdio).await;
        let told = stdio.notification().await;
        assert_eq!(told["method"], "notifications/resources/list_changed", "{told}");
        hears_of_earth(&mut stdio).await;
        stdio.command("sol", &tick()).await;
        stdio.command("sol", &set_mass("earth", n)).await;
        hears_of_earth(&mut stdio).await;
        // And gives it back.
        server = Server::on(dir.path()).await;
        retry(&mut stdio).await;
        let told = stdio.notification().await;
        assert_eq!(told["method"], "notifications/resources/list_changed", "{told}");
        hears_of_earth(&mut stdio).await;
        server.client.command("sol", &set_mass("earth", 10 * n)).await;
        hears_of_earth(&mut stdio).await;
    }
}
