//! Each endpoint: what it answers, and how it refuses.

use serde_json::{Value, json};

use crate::harness::{Local, add_star, remove_star, tick};

#[tokio::test]
async fn health_has_the_uptime() {
    let server = Local::start().await;
    let reply = server.client.get("/health").await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), "application/json");
    assert_eq!(reply.json()["ok"], true);
    assert!(reply.json()["uptime"].is_u64());
}

#[tokio::test]
async fn a_universe_is_created_read_changed_and_deleted() {
    let server = Local::start().await;
    let client = server.client;
    let body = json!({"name": "  Milky Way ", "state": {"time": 5}, "extra": true});
    let created = client.post("/universes", &body).await;
    assert_eq!(created.status, 201);
    assert_eq!(created.header("etag"), "\"0\"");
    let mut record = created.json();
    let warnings = record.as_object_mut().unwrap().remove("warnings");
    assert_eq!(warnings.unwrap()[0]["path"], "/extra");
    let id = record["id"].as_str().unwrap();
    let path = format!("/universes/{id}");
    assert_eq!(created.header("location"), path);
    assert_eq!(record["name"], "Milky Way");
    assert_eq!(record["revision"], 0);
    assert_eq!(record["state"]["time"], 5.0);
    assert_eq!(record["state"]["stars"], json!({}));
    assert_eq!(record["state"].as_object().unwrap().len(), 9);
    assert_eq!(record["createdAt"], record["updatedAt"]);
    assert!(record["createdAt"].as_str().unwrap().ends_with('Z'));

    let read = client.get(&path).await;
    assert_eq!((read.status, read.header("etag"), read.json()), (200, "\"0\"", record.clone()));

    let put = client.put(&path, &json!({"name": " M31\t"})).await;
    assert_eq!((put.status, put.header("etag")), (200, "\"1\""));
    assert_eq!(put.json()["name"], "M31");
    assert_eq!(put.json()["state"], record["state"]);
    let put = client.put(&path, &json!({"state": {"time": 9}})).await;
    assert_eq!(put.json()["name"], "M31");
    assert_eq!(put.json()["state"]["time"], 9.0);
    let put = client.put(&path, &json!({})).await;
    assert_eq!((put.status, put.json()["revision"].clone()), (200, json!(3)));

    let deleted = client.delete(&path).await;
    assert_eq!((deleted.status, deleted.body.len()), (204, 0));
    for gone in [client.get(&path).await, client.delete(&path).await] {
        assert_eq!(gone.status, 404);
        assert_eq!(gone.error(), format!("universe not found: {id}"));
    }
}

#[tokio::test]
async fn a_command_answers_with_the_state_or_the_events() {
    let server = Local::start().await;
    let client = server.client;
    let path = format!("/universes/{}/commands", client.create("u", json!({})).await);

    let reply = client.post(&path, &add_star("sun")).await;
    assert_eq!((reply.status, reply.header("etag")), (200, "\"1\""));
    let answer = reply.json();
    assert_eq!(answer["nextState"]["stars"]["sun"]["name"], "sun");
    assert_eq!(answer["events"], json!([{"type": "starAdded", "id": "sun"}]));
    assert_eq!(answer.as_object().unwrap().len(), 2);

    let brief = client.post(&format!("{path}?result=events"), &tick()).await;
    assert_eq!((brief.status, brief.header("etag")), (200, "\"2\""));
    assert_eq!(brief.json(), json!({"events": []}));
    let wrong = client.post(&format!("{path}?result=all"), &tick()).await;
    assert_eq!(wrong.status, 400);
    assert_eq!(wrong.error(), "result must be changes, events, state");
}

#[tokio::test]
async fn a_refusal_is_422_with_its_event() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let command = remove_star("nowhere");
    let reply = client.post(&format!("/universes/{id}/commands"), &command).await;
    assert_eq!(reply.status, 422);
    assert!(reply.error().contains(&id) && reply.error().contains("nowhere"), "{reply:?}");
    assert_eq!(reply.json()["code"], "STAR_NOT_FOUND");
    assert_eq!(reply.json()["events"], json!([{"type": "starNotFound", "id": "nowhere"}]));
    assert_eq!(client.universe(&id).await["revision"], 0);
}

#[tokio::test]
async fn a_malformed_command_is_400_with_every_finding() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let mut command = add_star("sun");
    command["payload"]["mass"] = json!("heavy");
    command["payload"]["color"] = json!(7);
    let cases = [
        (command, vec!["/payload/mass", "/payload/color"]),
        (json!({"type": "tick", "dt": "5"}), vec!["/dt"]),
        (json!({"type": "explode"}), vec!["/type"]),
        (json!({"type": " "}), vec!["/type"]),
        (json!({}), vec!["/type"]),
        (json!([]), vec![""]),
        (json!("tick"), vec![""]),
        (json!({"type": "setNebulae"}), vec!["/nebulae"]),
    ];
    for (command, paths) in cases {
        // A command is judged before its universe is looked for.
        for universe in [id.as_str(), "nowhere"] {
            let path = format!("/universes/{universe}/commands");
            let reply = client.post(&path, &command).await;
            assert_eq!(reply.status, 400, "{command}");
            let findings = reply.json()["findings"].take();
            let mut found: Vec<_> = findings
                .as_array()
                .unwrap()
                .iter()
                .map(|finding| finding["path"].as_str().unwrap())
                .collect();
            for path in &paths {
                let at = found.iter().position(|found| found == path);
                found.remove(at.unwrap_or_else(|| panic!("{path} of {command}: {reply:?}")));
                assert!(reply.error().contains(path), "{reply:?}");
            }
            assert_eq!(found, Vec::<&str>::new(), "{command}");
        }
    }
    assert_eq!(client.universe(&id).await["revision"], 0);
}

#[tokio::test]
async fn creating_and_putting_judge_name_and_state() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let names = [json!(""), json!(" \t"), json!(7), Value::Null, json!(["u"])];
    let states = [Value::Null, json!([]), json!("{}"), json!(1)];
    let bad_names = names.map(|name| (json!({"name": name, "state": {}}), "name must be"));
    let bad_states = states.map(|state| (json!({"name": "u", "state": state}), "state must be"));
    for (body, told) in bad_names.into_iter().chain(bad_states) {
        let path = format!("/universes/{id}");
        let answers = [
            client.post("/universes", &body).await,
            client.put(&path, &body).await,
            client.put("/universes/nowhere", &body).await,
        ];
        for reply in answers {
            assert_eq!(reply.status, 400, "{body}");
            assert!(reply.error().starts_with(told), "{body}: {reply:?}");
        }
    }
    for body in [json!({"state": {}}), json!({"name": "u"}), json!([])] {
        assert_eq!(client.post("/universes", &body).await.status, 400, "{body}");
    }
    let long = json!({"name": "é".repeat(201), "state": {}});
    let reply = client.post("/universes", &long).await;
    assert_eq!(
        (reply.status, reply.error()),
        (400, "name must have at most 200 characters".to_owned())
    );
    let broken = json!({"name": "u", "state": {"time": "late", "rootIds": 5}});
    let reply = client.post("/universes", &broken).await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["findings"].as_array().unwrap().len(), 2, "{reply:?}");
    assert_eq!(client.universe(&id).await["revision"], 0);
    assert_eq!(client.count().await, 1);
}

#[tokio::test]
async fn an_unknown_universe_is_answered_with_the_nearest_by_id_or_name() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("My Home", json!({})).await;
    let (head, end) = id.split_at(id.len() - 1);
    let near = format!("{head}{}", if end == "x" { "y" } else { "x" });
    let by_id = format!("universe not found: {near}; did you mean {id}?");
    let by_name = format!("universe not found: my-hom; did you mean {id} (My Home)?");
    for (asked, told) in [(&*near, by_id), ("my-hom", by_name)] {
        let path = format!("/universes/{asked}");
        let fork = json!({"name": "f", "fork": {"id": asked}});
        for reply in [
            client.get(&path).await,
            client.put(&path, &json!({})).await,
            client.delete(&path).await,
            client.post(&format!("{path}/commands"), &tick()).await,
            client.get(&format!("{path}/events")).await,
            client.get(&format!("{path}/history")).await,
            client.get(&format!("{path}/tree")).await,
            client.post("/universes", &fork).await,
        ] {
            assert_eq!((reply.status, reply.error()), (404, told.clone()));
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_404_and_named() {
    let server = Local::start().await;
    let client = server.client;
    let replies = [
        client.get("/universes/u-9").await,
        client.put("/universes/u-9", &json!({})).await,
        client.delete("/universes/u-9").await,
        client.post("/universes/u-9/commands", &tick()).await,
        client.get("/universes/u-9/events").await,
    ];
    for reply in replies {
        assert_eq!(reply.status, 404);
        assert_eq!(reply.json(), json!({"error": "universe not found: u-9"}));
    }
    for path in ["/page", "/universe", "/universes/u-9/stars", "/universes/u-9/events/1", "/Health"]
    {
        let reply = client.get(path).await;
        assert_eq!(reply.status, 404);
        assert!(reply.error().starts_with(&format!("nothing is at {path};")), "{reply:?}");
    }
}

#[tokio::test]
async fn wrong_methods_are_405_and_name_the_right_ones() {
    let server = Local::start().await;
    let rows = [
        ("POST", "/health", "GET, HEAD, OPTIONS"),
        ("DELETE", "/universes", "GET, HEAD, POST, OPTIONS"),
        ("PATCH", "/universes/u", "GET, HEAD, PUT, DELETE, OPTIONS"),
        ("POST", "/universes/u", "GET, HEAD, PUT, DELETE, OPTIONS"),
        ("GET", "/universes/u/commands", "POST, OPTIONS"),
        ("POST", "/universes/u/events", "GET, HEAD, OPTIONS"),
        ("BREW", "/health", "GET, HEAD, OPTIONS"),
    ];
    for (method, path, allow) in rows {
        let reply = server.client.call(method, path, &[], &Value::Null).await;
        assert_eq!((reply.status, reply.header("allow")), (405, allow), "{method} {path}");
        assert!(reply.error().contains(allow), "{reply:?}");
    }
}

#[tokio::test]
async fn head_is_get_without_its_body() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    for path in ["/health".to_owned(), "/universes".to_owned(), format!("/universes/{id}")] {
        let (get, head) =
            (client.get(&path).await, client.call("HEAD", &path, &[], &Value::Null).await);
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_eq!(head.header("content-length"), get.body.len().to_string());
        assert_eq!(head.header("etag"), get.header("etag"));
    }
    let head = client.call("HEAD", "/universes/nowhere", &[], &Value::Null).await;
    assert_eq!((head.status, head.body.len()), (404, 0));
    let head = client.call("HEAD", &format!("/universes/{id}/events"), &[], &Value::Null).await;
    assert_eq!((head.status, head.header("content-type")), (200, "text/event-stream"));
}

#[tokio::test]
async fn a_trailing_slash_makes_no_difference() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    assert_eq!(client.get("/health/").await.status, 200);
    assert_eq!(client.get("/universes/").await.status, 200);
    assert_eq!(client.get(&format!("/universes/{id}/")).await.status, 200);
    let reply = client.post(&format!("/universes/{id}/commands/"), &tick()).await;
    assert_eq!(reply.status, 200);
}
