//! Entity tags: reading what changed only, changing what was read only.

use serde_json::{Value, json};

use crate::harness::{Local, add_star, tick};

#[tokio::test]
async fn if_none_match_spares_what_is_known() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    client.command(&id, &tick()).await;
    let path = format!("/universes/{id}");
    for known in ["\"1\"", "W/\"1\"", "*", "\"7\", \"1\"", "\"7\",W/\"1\""] {
        for method in ["GET", "HEAD"] {
            let reply = client.call(method, &path, &[("if-none-match", known)], &Value::Null).await;
            assert_eq!((reply.status, reply.header("etag")), (304, "\"1\""), "{known}");
            assert_eq!(reply.body.len(), 0);
        }
    }
    for other in ["\"0\"", "1", "\"11\"", "\"01\"", "\"x\"", ""] {
        let reply = client.call("GET", &path, &[("if-none-match", other)], &Value::Null).await;
        assert_eq!((reply.status, reply.json()["revision"].clone()), (200, json!(1)), "{other}");
    }
}

#[tokio::test]
async fn if_match_guards_every_change() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    client.command(&id, &tick()).await;
    let path = format!("/universes/{id}");
    let commands = format!("{path}/commands");
    let changes = [
        ("POST", &commands, tick()),
        ("PUT", &path, json!({"name": "v"})),
        ("DELETE", &path, Value::Null),
    ];
    for (method, path, body) in &changes {
        for stale in ["\"0\"", "\"2\""] {
            let reply = client.call(method, path, &[("if-match", stale)], body).await;
            assert_eq!((reply.status, reply.header("etag")), (412, "\"1\""), "{method}");
            assert_eq!(reply.json()["revision"], 1);
            assert!(reply.error().contains(&id), "{reply:?}");
        }
        // HarperFast/harper#1435: a condition that is not looked at must not be taken for met.
        for tag in ["*", "\"1\""] {
            let reply = client.call(method, path, &[("if-none-match", tag)], body).await;
            assert_eq!(reply.status, 400, "{method} {tag}");
            assert!(reply.error().contains("If-Match"), "{reply:?}");
        }
        for wrong in ["1", "\"one\"", "\"+1\"", "\"01\"", "W/\"1\"", "\"1\", \"2\"", ""] {
            let reply = client.call(method, path, &[("if-match", wrong)], body).await;
            assert_eq!(reply.status, 400, "{method} {wrong}");
            assert!(reply.error().contains("If-Match"), "{reply:?}");
        }
    }
    let twice = [("if-match", "\"1\""), ("if-match", "\"1\"")];
    assert_eq!(client.call("POST", &commands, &twice, &tick()).await.status, 400);
    assert_eq!(client.universe(&id).await["revision"], 1);
    for (revision, (method, path, body)) in (1..).zip(&changes) {
        let present = format!("\"{revision}\"");
        let reply = client.call(method, path, &[("if-match", &present)], body).await;
        assert!(reply.status < 300, "{method}: {reply:?}");
    }
    assert_eq!(client.get(&path).await.status, 404);
}

#[tokio::test]
async fn any_revision_will_do_for_a_star() {
    let server = Local::start().await;
    let id = server.client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands");
    let reply = server.client.call("POST", &path, &[("if-match", "*")], &tick()).await;
    assert_eq!(reply.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_read_the_same_exactly_one_may_change_it() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    for round in 0..5 {
        let revision = format!("\"{round}\"");
        let path = format!("/universes/{id}/commands");
        let tries = (0..20).map(|n| {
            let (path, revision) = (path.clone(), revision.clone());
            async move {
                let star = add_star(&format!("star-{round}-{n}"));
                client.call("POST", &path, &[("if-match", &revision)], &star).await
            }
        });
        let replies = futures_util::future::join_all(tries).await;
        let won = replies.iter().filter(|reply| reply.status == 200).count();
        let lost = replies.iter().filter(|reply| reply.status == 412).count();
        assert_eq!((won, lost), (1, 19));
    }
    let universe = client.universe(&id).await;
    assert_eq!(universe["revision"], 5);
    assert_eq!(universe["state"]["stars"].as_object().unwrap().len(), 5);
}

#[tokio::test]
async fn a_key_that_is_not_text_is_refused_as_that() {
    let server = Local::start().await;
    let id = server.client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands");
    for (key, said) in [("schlüssel", "visible ASCII"), ("", "Idempotency-Key")] {
        let reply = server.client.call("POST", &path, &[("idempotency-key", key)], &tick()).await;
        assert!(reply.status == 400 && reply.error().contains(said), "{key}: {reply:?}");
    }
    assert_eq!(server.client.universe(&id).await["revision"], 0);
}
