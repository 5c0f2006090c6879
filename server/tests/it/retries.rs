//! Retries and conditions: the same key is the same answer, also after a restart; what is stale is refused.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Server, Ways, add_star, tick};

const SEND: &str = "send_universe_command";

#[tokio::test]
async fn a_retry_over_mcp_is_answered_as_before_and_does_nothing() {
    let mut ways = Ways::start(&[]).await;
    let client = ways.client;
    let id = client.create("u", json!({})).await;
    for (n, caller) in ways.each() {
        for (form, command) in
            [(Value::Null, tick()), (json!("state"), add_star(&format!("s-{n}")))]
        {
            let key = format!("{n}-{form}");
            let arguments = json!({"universeId": id, "command": command, "idempotencyKey": key, "result": form});
            let first = caller.content(SEND, arguments.clone()).await;
            // Another change in between, so that the answer is not that of the present state.
            client.command(&id, &tick()).await;
            let again = caller.content(SEND, arguments.clone()).await;
            assert_eq!(again, first);
            let revision = client.universe(&id).await["revision"].as_u64();
            assert_eq!(revision, first["revision"].as_u64().map(|revision| revision + 1));

            let mut other = arguments;
            other["command"] = json!({"type": "tick", "dt": 7});
            let error = caller.error(SEND, other).await;
            assert_eq!(error["code"], "IDEMPOTENCY_KEY_REUSED");
            assert!(error["message"].as_str().unwrap().contains(&id), "{error}");
        }
        let empty = json!({"universeId": id, "command": tick(), "idempotencyKey": ""});
        assert_eq!(caller.error(SEND, empty).await["code"], "INVALID_ARGUMENTS");
    }
}

#[tokio::test]
async fn what_expects_another_revision_is_refused() {
    let mut ways = Ways::start(&[]).await;
    let id = ways.client.create("u", json!({})).await;
    for (n, caller) in ways.each() {
        let send = |revision: usize| json!({"universeId": id, "command": tick(), "expectedRevision": revision});
        let answer = caller.content(SEND, send(n)).await;
        assert_eq!(answer["revision"], json!(n + 1));
        let error = caller.error(SEND, send(n)).await;
        assert_eq!(error["code"], "REVISION_CONFLICT");
        assert_eq!(error["data"]["revision"], json!(n + 1));
    }
}

#[tokio::test]
async fn a_retry_over_rest_is_answered_as_before_also_after_a_restart() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    let id = server.client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands");
    let first = server.client.post_keyed(&path, "\"a\"", &add_star("a")).await;
    assert_eq!(first.status, 200);
    let list = json!([tick(), add_star("b"), tick()]);
    let listed = server.client.post_keyed(&path, "list", &list).await;
    assert_eq!((listed.status, listed.header("etag")), (200, "\"4\""));
    for restart in [false, true] {
        if restart {
            server.kill().await;
            server = Server::on(dir.path()).await;
        }
        let again = server.client.post_keyed(&path, "a", &add_star("a")).await;
        assert_eq!((again.status, again.header("etag")), (200, "\"1\""));
        assert_eq!(again.body, first.body);
        let again = server.client.post_keyed(&path, "list", &list).await;
        assert_eq!(again.body, listed.body);
        for (key, other) in
            [("a", add_star("c")), ("list", json!([tick()])), ("a", json!([tick(), tick()]))]
        {
            let reply = server.client.post_keyed(&path, key, &other).await;
            assert_eq!(reply.status, 422, "{reply:?}");
            assert!(reply.error().contains("idempotency key"), "{reply:?}");
        }
        assert_eq!(server.client.universe(&id).await["revision"], 4);
    }
    let long = "k".repeat(256);
    assert_eq!(server.client.post_keyed(&path, &long, &tick()).await.status, 400);
}

#[tokio::test]
async fn a_universe_is_made_once_under_a_key() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    let body = json!({"name": "once", "state": {"time": 5}});
    let first = server.client.post_keyed("/universes", "k", &body).await;
    assert_eq!(first.status, 201);
    server.kill().await;
    let server = Server::on(dir.path()).await;
    let again = server.client.post_keyed("/universes", "k", &body).await;
    assert_eq!((again.status, again.json()), (201, first.json()));
    let other = json!({"name": "once", "state": {}});
    let reply = server.client.post_keyed("/universes", "k", &other).await;
    assert_eq!(reply.status, 422, "{reply:?}");
    assert_eq!(server.client.count().await, 1);
}

#[tokio::test]
async fn many_retries_at_once_are_done_once() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands");
    let command = tick();
    let retries = (0..20).map(|_| client.post_keyed(&path, "same", &command));
    for reply in futures_util::future::join_all(retries).await {
        assert_eq!((reply.status, reply.header("etag")), (200, "\"1\""));
    }
    assert_eq!(client.universe(&id).await["revision"], 1);
}

#[tokio::test]
async fn of_a_list_all_commands_are_done_or_none() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands");
    let list = json!([tick(), {"type": "removeStar", "id": "nowhere"}]);
    let reply = client.post(&path, &list).await;
    assert_eq!(reply.status, 422);
    assert!(reply.error().contains("/commands/1"), "{reply:?}");
    let reply = client.post(&path, &json!([tick(), {"type": "tik"}])).await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["findings"][0]["path"], "/1/type");
    assert_eq!(client.post(&path, &json!([])).await.status, 400);
    assert_eq!(client.universe(&id).await["revision"], 0);
    let list = json!([add_star("a"), tick()]);
    let reply = client.post(&format!("{path}?result=changes"), &list).await;
    let answer = reply.json();
    assert_eq!((&answer["revision"], &answer["time"]), (&json!(2), &json!(1.0)));
    assert_eq!(answer["events"], json!([{"type": "starAdded", "id": "a"}]));
}
