//! Export and import, with and without a server.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{at, some, sound};
use crate::harness::Server;
use crate::harness::process::{done, verb};

#[tokio::test]
async fn a_universe_goes_from_one_directory_to_another() {
    let (dir, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut server = Server::on(dir.path()).await;
    let id = some(server.client, "u", 500).await;
    let whole = server.client.universe(&id).await;
    let earlier = at(server.client, &id, 7).await;
    for running in [true, false] {
        if !running {
            server.stop().await;
        }
        let told = done(dir.path(), &["export", &id]).await;
        assert_eq!(serde_json::from_str::<Value>(&told).unwrap(), whole);
        let told = done(dir.path(), &["export", &id, "--revision", "7"]).await;
        assert_eq!(serde_json::from_str::<Value>(&told).unwrap(), earlier);
    }
    let file = elsewhere.path().join("u.json");
    let name = file.to_str().unwrap();
    let told = done(dir.path(), &["export", &id, name]).await;
    assert!(told.contains("at revision 501"), "{told}");
    for (arguments, why) in [
        (vec!["export", &id, name], "exists already"),
        (vec!["export", "none"], "universe not found: none"),
        (vec!["export", &id, "--revision", "502"], "is at revision 501"),
    ] {
        let ended = verb(dir.path(), &arguments).await;
        assert_eq!(ended.status.code(), Some(1));
        assert!(ended.stderr.contains(why), "{}", ended.stderr);
    }

    // Without a server, then with one.
    let data = elsewhere.path().join("data");
    let first = done(&data, &["import", name, "--id", "mine"]).await;
    assert_eq!(first, "mine\n");
    let server = Server::on(&data).await;
    let second = done(&data, &["import", name]).await;
    for id in ["mine", second.trim()] {
        let imported = server.client.universe(id).await;
        assert_eq!(imported["state"], whole["state"]);
        assert_eq!((&imported["name"], &imported["revision"]), (&whole["name"], &json!(0)));
    }
    let taken = verb(&data, &["import", name, "--id", "mine"]).await;
    assert_eq!(taken.status.code(), Some(1));
    assert!(
        taken.stderr.contains("a universe with the id mine exists already"),
        "{}",
        taken.stderr
    );
    sound(&data).await;
}

#[tokio::test]
async fn what_is_not_there_is_named_once_and_with_the_nearest() {
    let dir = TempDir::new().unwrap();
    let data = dir.path().join("data");
    let server = Server::with(&data, &["--demo"]).await;
    let ended = verb(&data, &["export", "slo"]).await;
    let told = "universe-server: universe not found: slo; did you mean sol?\n";
    assert_eq!((ended.status.code(), &*ended.stderr), (Some(1), told));
    drop(server);
    let nowhere = dir.path().join("nowhere");
    let ended = verb(&nowhere, &["restore", nowhere.to_str().unwrap()]).await;
    let named = ended.stderr.matches("nowhere").count();
    assert_eq!((ended.status.code(), named), (Some(1), 1), "{ended:?}");
}

#[tokio::test]
async fn a_file_that_cannot_be_imported_is_refused_with_what_is_wrong() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file.json");
    for (content, why) in [
        ("", "a JSON object with name and state was expected"),
        (r#"{"state": {}}"#, "there is no name"),
        (r#"{"name": "u"}"#, "there is no state"),
        (r#"{"name": " ", "state": {}}"#, "name must be a string that is not blank"),
        (r#"{"name": "u", "state": {"time": "now"}}"#, "/time"),
    ] {
        std::fs::write(&file, content).unwrap();
        let data = dir.path().join("data");
        let ended = verb(&data, &["import", file.to_str().unwrap()]).await;
        assert_eq!(ended.status.code(), Some(1), "{content}");
        assert!(ended.stderr.contains(why), "{content}: {}", ended.stderr);
        assert!(!data.exists(), "nothing was made");
    }
}
