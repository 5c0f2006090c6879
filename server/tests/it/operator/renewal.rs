//! A demo universe of another version is left as it is, and the log says how to renew it.

use serde_json::json;
use tempfile::TempDir;

use crate::harness::{Server, tick};

#[tokio::test]
async fn a_demo_that_is_there_is_left_as_it_is() {
    const TOLD: &str = "delete it (DELETE /universes/sol) and start again with --demo";
    let dir = TempDir::new().unwrap();
    let start = || Server::with(dir.path(), &["--demo"]);
    let is_told = |server: &Server| server.greeting.iter().any(|line| line.contains(TOLD));
    let mut server = start().await;
    assert!(!is_told(&server), "it is new");
    // It begins today.
    let now = server.client.get("/universes/sol/places?at=now&bodies=earth").await.json();
    let own = server.client.get("/universes/sol/places?bodies=earth").await.json();
    let [now, own] = [now, own].map(|it| it["time"].as_f64().unwrap());
    assert!((0.0..60.0).contains(&(now - own)), "{own}, and it is {now}");
    server.client.command("sol", &tick()).await;
    server.stop().await;
    // What was done to it since makes no other version of it.
    let mut server = start().await;
    assert!(!is_told(&server), "{:#?}", server.greeting);
    assert_eq!(server.client.delete("/universes/sol").await.status, 204);
    server.stop().await;
    // As an older version made it.
    let older = json!({"name": "Sol", "state": {"time": 5}}).to_string();
    let file = dir.path().join("older.json");
    std::fs::write(&file, older).unwrap();
    crate::harness::process::done(dir.path(), &["import", file.to_str().unwrap(), "--id", "sol"])
        .await;
    let mut server = start().await;
    assert!(is_told(&server), "{:#?}", server.greeting);
    assert_eq!(server.client.universe("sol").await["state"]["time"], 5.0);
    assert_eq!(server.client.delete("/universes/sol").await.status, 204);
    server.stop().await;
    let server = start().await;
    assert!(!is_told(&server));
    assert!(server.client.universe("sol").await["state"]["stars"]["mars"].is_object());
}
