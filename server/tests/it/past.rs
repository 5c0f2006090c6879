//! What was: pages of the history, the state at a revision, undoing, forking, and a snapshot that is damaged.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::signal;
use crate::harness::{Client, Server, Ways, add_star, tick};

/// A universe with five revisions: a, tick, b, tick, a without its name.
async fn with_history(client: Client) -> String {
    let id = client.create("u", json!({})).await;
    let update = json!({"type": "updateStar", "id": "a", "payload": {"name": "renamed"}});
    for command in [add_star("a"), tick(), add_star("b"), tick(), update] {
        client.command(&id, &command).await;
    }
    id
}

#[tokio::test]
async fn the_history_is_read_in_pages_over_rest() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    let client = server.client;
    let id = with_history(client).await;
    let mut path = format!("/universes/{id}/history?after=0&limit=2");
    let mut types = Vec::new();
    loop {
        let reply = client.get(&path).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let page = reply.json();
        assert_eq!(page["revision"], 5);
        for entry in page["entries"].as_array().unwrap() {
            types.push(entry["command"]["type"].as_str().unwrap().to_owned());
        }
        let link = reply.header("link").to_owned();
        let next = link.strip_prefix('<').and_then(|link| link.split_once('>'));
        assert_eq!(next.is_some(), page["next"].is_u64());
        let Some((next, _)) = next else { break };
        path = next.to_owned();
    }
    assert_eq!(types, ["addStar", "tick", "addStar", "tick", "updateStar"]);
    let latest = client.get(&format!("/universes/{id}/history")).await.json();
    assert_eq!(latest["entries"].as_array().unwrap().len(), 5);
    for (query, status) in [("after=6", 400), ("limit=0", 400), ("after=x", 400)] {
        let path = format!("/universes/{id}/history?{query}");
        assert_eq!(client.get(&path).await.status, status, "{query}");
    }
    assert_eq!(client.get("/universes/none/history").await.status, 404);
}

#[tokio::test]
async fn a_universe_is_read_as_it_was_at_each_revision() {
    let mut ways = Ways::start(&[]).await;
    let client = ways.client;
    let id = with_history(client).await;
    let mut states = Vec::new();
    for revision in 0..=5 {
        let reply = client.get(&format!("/universes/{id}?revision={revision}")).await;
        assert_eq!((reply.status, reply.header("etag")), (200, &*format!("\"{revision}\"")));
        states.push(reply.json()["state"].take());
    }
    assert_eq!(states[0]["stars"], json!({}));
    assert_eq!(states[4]["stars"]["a"]["name"], "a");
    assert_eq!(states[5], client.universe(&id).await["state"]);
    for (_, caller) in ways.each() {
        for (revision, state) in states.iter().enumerate() {
            let arguments = json!({"universeId": id, "revision": revision});
            assert_eq!(&caller.content("get_universe_state", arguments).await, state);
        }
        let error =
            caller.error("get_universe_state", json!({"universeId": id, "revision": 6})).await;
        assert_eq!(error["code"], "REVISION_NOT_FOUND");
    }
    assert_eq!(client.get(&format!("/universes/{id}?revision=6")).await.status, 404);
    assert_eq!(client.get(&format!("/universes/{id}?revision=x")).await.status, 400);
}

#[tokio::test]
async fn what_was_done_is_undone_by_a_change_and_forked_into_another_universe() {
    let mut ways = Ways::start(&["--extra-tools"]).await;
    let client = ways.client;
    for (_, caller) in ways.each() {
        let id = with_history(client).await;
        let at = async |revision: u64| {
            let path = format!("/universes/{id}?revision={revision}");
            client.get(&path).await.json()["state"].take()
        };
        let undone = client.post(&format!("/universes/{id}/undo"), &json!({"revision": 2})).await;
        assert_eq!((undone.status, undone.header("etag")), (200, "\"6\""));
        assert_eq!(undone.json()["state"], at(2).await);
        let undone =
            caller.content("undo_universe", json!({"universeId": id, "revision": 5})).await;
        assert_eq!(undone["revision"], 7);
        assert_eq!(at(7).await, at(5).await);
        let error = caller.error("undo_universe", json!({"universeId": id, "revision": 99})).await;
        assert_eq!(error["code"], "REVISION_NOT_FOUND");

        for (fork, revision) in [(json!({"id": id, "revision": 1}), 1), (json!({"id": id}), 7)] {
            let body = json!({"name": "fork", "fork": fork});
            let forked = client.post("/universes", &body).await;
            assert_eq!(forked.status, 201, "{forked:?}");
            assert_eq!(forked.json()["state"], at(revision).await);
            let mut fork = fork;
            let source = fork["id"].take();
            fork.as_object_mut().unwrap().remove("id");
            fork["universeId"] = source;
            let made =
                caller.content("create_universe", json!({"name": "fork", "fork": fork})).await;
            let made = client.universe(made["universeId"].as_str().unwrap()).await;
            assert_eq!(made["state"], at(revision).await);
        }
    }
    let id = with_history(client).await;
    for (fork, status) in [(json!({"id": id}), 400), (json!({"id": id, "revision": 3}), 201)] {
        let body = json!({"name": "f", "fork": fork});
        let headers = [("idempotency-key", "fork")];
        let reply = client.call("POST", "/universes", &headers, &body).await;
        assert_eq!(reply.status, status, "{reply:?}");
    }
    for (_, caller) in ways.each() {
        let fork = json!({"name": "f", "fork": {"universeId": id}, "idempotencyKey": "k"});
        let error = caller.error("create_universe", fork).await;
        assert!(error["message"].as_str().unwrap().contains("revision"), "{error}");
    }
    for (wrong, status) in [
        (json!({"name": "f", "fork": {"id": "none"}}), 404),
        (json!({"name": "f", "fork": {}}), 400),
        (json!({"name": "f", "fork": {"id": "none"}, "state": {}}), 400),
    ] {
        assert_eq!(client.post("/universes", &wrong).await.status, status);
    }
}

/// A revision that is not read would be that of today.
#[tokio::test]
async fn a_revision_that_is_misspelt_is_refused() {
    let mut ways = Ways::start(&["--extra-tools"]).await;
    let client = ways.client;
    let id = with_history(client).await;
    let undo = format!("/universes/{id}/undo");
    for (path, body, told) in [
        (
            "/universes",
            json!({"name": "f", "fork": {"id": id, "revison": 2}}),
            "\"revison\" is not a member of fork; did you mean revision?",
        ),
        (
            undo.as_str(),
            json!({"revison": 2}),
            "\"revison\" is not a member of the body, which must be {\"revision\": N}; did you mean revision?",
        ),
        (
            undo.as_str(),
            json!({"revision": 2, "dry": true}),
            "\"dry\" is not a member of the body, which must be {\"revision\": N}",
        ),
    ] {
        let refused = client.post(path, &body).await;
        assert_eq!((refused.status, refused.error().as_str()), (400, told));
    }
    for (_, caller) in ways.each() {
        let fork = json!({"name": "f", "fork": {"universeId": id, "revison": 2}});
        let error = caller.error("create_universe", fork).await;
        let told = "/fork/revison: is not known; did you mean revision?";
        assert_eq!(error["message"], told);
    }
    assert_eq!(client.universe(&id).await["revision"], 5);
}

#[tokio::test]
async fn a_damaged_snapshot_is_passed_over_for_the_log() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    let id = server.client.create("u", json!({})).await;
    let ticks: Vec<Value> = (0..200).map(|_| tick()).collect();
    for _ in 0..2 {
        let path = format!("/universes/{id}/commands?result=events");
        assert_eq!(server.client.post(&path, &json!(ticks)).await.status, 200);
    }
    signal(server.pid(), "TERM");
    assert!(server.wait().await.success());
    let database = rusqlite::Connection::open(dir.path().join("universes.db")).unwrap();
    let damaged = database.execute("UPDATE snap SET body = x'7b22'", []).unwrap();
    assert_eq!(damaged, 1, "there is a snapshot");
    drop(database);

    let server = Server::on(dir.path()).await;
    let universe = server.client.universe(&id).await;
    assert_eq!((&universe["revision"], &universe["state"]["time"]), (&json!(400), &json!(400.0)));
    server.client.command(&id, &tick()).await;
}
