//! `/openapi.json`: what it says is what the server does.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Local, Reply, add_star, tick};

/// The schema of a response in the document, with what it refers to.
fn judge(document: &Value, path: &str, method: &str, reply: &Reply) {
    let status = reply.status.to_string();
    let responses = &document["paths"][path][method]["responses"];
    let mut response = responses.get(&status).unwrap_or(&responses["default"]);
    while let Some(other) = response.get("$ref") {
        let pointer = other.as_str().unwrap().trim_start_matches('#');
        response = document.pointer(pointer).unwrap();
    }
    assert!(response["description"].is_string(), "{method} {path}");
    for (name, _) in response["headers"].as_object().into_iter().flatten() {
        let is_on_some_pages = name == "Link";
        assert!(is_on_some_pages || reply.headers.contains_key(name), "{method} {path}: {name}");
    }
    let Some(content) = response["content"].as_object() else {
        assert!(reply.body.is_empty(), "{method} {path} {status}");
        return;
    };
    let media = reply.header("content-type").split(';').next().unwrap();
    let mut schema = content[media]["schema"].clone();
    if media == "application/json" {
        schema["components"] = document["components"].clone();
        let body = reply.json();
        let found = jsonschema::validate(&schema, &body);
        assert!(found.is_ok(), "{method} {path} {status}: {found:?}");
    }
}

#[tokio::test]
async fn its_paths_and_methods_are_those_of_the_server() {
    let server = Local::start().await;
    let client = server.client;
    let reply = client.get("/openapi.json").await;
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"));
    let document = reply.json();
    assert_eq!(document["openapi"], "3.1.0");
    let refusal = client.get("/nothing").await;
    let listed = refusal.error();
    let paths = document["paths"].as_object().unwrap();
    for (path, operations) in paths {
        assert!(
            listed.contains(&format!("{path},")) || listed.contains(&format!("{path} ")),
            "{path}"
        );
        let place = path.replace("{id}", "u");
        let answer = client.call("OPTIONS", &place, &[], &Value::Null).await;
        let taken: BTreeSet<_> =
            answer.header("allow").split(", ").map(str::to_lowercase).collect();
        let mut described: BTreeSet<_> = operations.as_object().unwrap().keys().cloned().collect();
        described.remove("parameters");
        if described.contains("get") {
            described.insert("head".to_owned());
        }
        described.insert("options".to_owned());
        assert_eq!(taken, described, "{path}");
    }
    let of_paths = |text: &&str| text.starts_with('/') && !matches!(*text, "/" | "/mcp");
    let all = listed.split([' ', ',']).filter(of_paths).skip(1);
    assert_eq!(all.count(), paths.len(), "{listed}");
}

#[tokio::test]
async fn answers_and_refusals_are_as_it_says() {
    let server = Local::start().await;
    let client = server.client;
    let document = client.get("/openapi.json").await.json();
    let judge = |path: &str, method: &str, reply: &Reply| judge(&document, path, method, reply);
    for path in ["/health", "/livez", "/readyz", "/version", "/metrics", "/openapi.json"] {
        judge(path, "get", &client.get(path).await);
    }
    for body in [
        json!({"name": "a", "state": {"time": 5}, "odd": 1}),
        json!({"name": "b", "generate": {"seed": "tea"}}),
        json!({"name": "c"}),
        json!({"name": " ", "state": {}}),
        json!({"name": "d", "state": {"stars": 5}}),
        json!({"name": "e", "fork": {"id": "nothing"}}),
    ] {
        judge("/universes", "post", &client.post("/universes", &body).await);
    }
    for query in ["", "?view=summary", "?limit=1", "?limit=0", "?of=1"] {
        judge("/universes", "get", &client.get(&format!("/universes{query}")).await);
    }
    let id = client.create("u", json!({})).await;
    let of = |rest: &str| format!("/universes/{id}{rest}");
    let commands = "/universes/{id}/commands";
    for result in ["", "?result=events", "?result=changes", "?result=all"] {
        let path = of(&format!("/commands{result}"));
        judge(commands, "post", &client.post(&path, &tick()).await);
    }
    for body in [
        add_star("sun"),
        add_star("sun"),
        json!([tick(), tick()]),
        json!({"type": "tik"}),
        json!([]),
    ] {
        judge(commands, "post", &client.post(&of("/commands"), &body).await);
    }
    let stale = client.call("POST", &of("/commands"), &[("if-match", "\"99\"")], &tick()).await;
    assert_eq!(stale.status, 412);
    judge(commands, "post", &stale);
    for (path, asked) in [
        ("/universes/{id}", "".to_owned()),
        ("/universes/{id}", "?revision=1".to_owned()),
        ("/universes/{id}", "?revision=77".to_owned()),
        ("/universes/{id}/history", "/history?limit=2".to_owned()),
        ("/universes/{id}/history", "/history?limit=x".to_owned()),
        ("/universes/{id}/tree", "/tree".to_owned()),
        ("/universes/{id}.svg", ".svg?width=100".to_owned()),
        ("/universes/{id}.png", ".png?theme=blue".to_owned()),
    ] {
        judge(path, "get", &client.get(&of(&asked)).await);
    }
    let undo = client.post(&of("/undo"), &json!({"revision": 1})).await;
    assert_eq!(undo.status, 200);
    judge("/universes/{id}/undo", "post", &undo);
    judge("/universes/{id}/undo", "post", &client.post(&of("/undo"), &json!({})).await);
    judge("/universes/{id}", "put", &client.put(&of(""), &json!({"name": "v"})).await);
    judge("/universes/{id}", "put", &client.put(&of(""), &json!({"name": 1})).await);
    judge("/universes/{id}", "delete", &client.delete(&of("")).await);
    judge("/universes/{id}", "delete", &client.delete(&of("")).await);
}

#[tokio::test]
async fn each_query_parameter_that_it_names_is_taken_and_no_other() {
    let server = Local::start().await;
    let client = server.client;
    let document = client.get("/openapi.json").await.json();
    let id = client.create("u", json!({})).await;
    for (path, operations) in document["paths"].as_object().unwrap() {
        let Some(parameters) = operations["get"]["parameters"].as_array() else {
            continue;
        };
        let place = path.replace("{id}", &id);
        let named: BTreeSet<_> = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "query")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let refused = client.get(&format!("{place}?zzzzzz=1")).await;
        assert_eq!(refused.status, 400, "{path}");
        let known: BTreeSet<_> = match refused.error().split_once("; there are ") {
            Some((_, names)) if names != "none here" => {
                names.split(", ").map(str::to_owned).collect()
            }
            _ => BTreeSet::new(),
        };
        let named: BTreeSet<_> = named.into_iter().map(str::to_owned).collect();
        assert_eq!(named, known, "{path}");
    }
}
