//! Universes from a seed: over REST, over MCP on every way, and on the command line.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::{done, verb};
use crate::harness::{Local, Server, Ways, remove_star};

fn recipe() -> Value {
    json!({ "seed": "test", "preset": "moonRich", "style": "sparse", "scale": "realistic", "systems": 1 })
}

#[tokio::test]
async fn the_answer_says_from_what_it_can_be_made_again() {
    let server = Local::start().await;
    let client = server.client;
    let body = json!({ "name": "One", "generate": { "preset": "compact", "systems": 1 } });
    let first = client.post("/universes", &body).await;
    assert_eq!(first.status, 201, "{first:?}");
    let first = first.json();
    assert!(first["generate"]["seed"].is_string(), "{first}");
    assert_eq!(first["generate"]["style"], "solarLike");
    assert_eq!(first["warnings"], Value::Null);
    let again = json!({ "name": "Two", "generate": first["generate"] });
    let again = client.post("/universes", &again).await.json();
    assert_eq!(again["state"], first["state"]);
    assert_ne!(again["id"], first["id"]);
    let other = client.post("/universes", &body).await.json();
    assert_ne!(other["state"], first["state"], "another seed is drawn");
    // It is a universe as any other.
    let id = first["id"].as_str().unwrap();
    assert_eq!(client.universe(id).await["generate"], Value::Null);
    client.command(id, &remove_star("s1")).await;
}

#[tokio::test]
async fn all_that_is_wrong_is_reported_at_once() {
    let server = Local::start().await;
    let client = server.client;
    let refused = async |body: Value| {
        let reply = client.post("/universes", &body).await;
        assert_eq!(reply.status, 400, "{reply:?}");
        reply.json()
    };
    let given = json!({ "seed": 1, "presett": "x", "style": "crowdd", "systems": 0 });
    let told = refused(json!({ "name": "n", "generate": given })).await;
    assert_eq!(told["findings"].as_array().unwrap().len(), 3, "{told}");
    let error = told["error"].as_str().unwrap();
    for part in ["did you mean preset?", "did you mean crowded?", "from 1 to 50"] {
        assert!(error.contains(part), "{error}");
    }
    for (body, part) in [
        (json!({ "generate": {} }), "name"),
        (json!({ "name": "n", "generate": [] }), "expected an object"),
        (json!({ "name": "n", "generate": {}, "state": {} }), "one of state, fork and generate"),
    ] {
        let told = refused(body).await;
        assert!(told["error"].as_str().unwrap().contains(part), "{told}");
    }
    let odd = json!({ "name": "n", "state": {}, "genrate": {} });
    let told = client.post("/universes", &odd).await.json();
    assert!(told["warnings"].to_string().contains("did you mean generate?"), "{told}");
    let id = client.create("u", json!({})).await;
    let put = client.put(&format!("/universes/{id}"), &json!({ "generate": recipe() })).await;
    assert_eq!(put.status, 400);
    assert!(put.error().contains("POST it to /universes"), "{put:?}");
}

#[tokio::test]
async fn a_retry_is_answered_as_before() {
    let server = Local::start().await;
    let client = server.client;
    let post = async |recipe: Value| {
        let body = json!({ "name": "n", "generate": recipe });
        client.post_keyed("/universes", "k", &body).await
    };
    let drawn = post(json!({ "preset": "compact" })).await;
    assert_eq!(drawn.status, 400);
    assert!(drawn.error().contains("needs a seed under an Idempotency-Key"), "{drawn:?}");
    let first = post(recipe()).await;
    let again = post(recipe()).await;
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(first.json(), again.json());
    let mut other = recipe();
    other["seed"] = json!("other");
    assert_eq!(post(other).await.status, 422);
    assert_eq!(client.count().await, 1);
}

#[tokio::test]
async fn one_seed_is_one_universe_on_every_way() {
    let mut ways = Ways::start(&["--extra-tools"]).await;
    let client = ways.client;
    let body = json!({ "name": "rest", "generate": recipe() });
    let expected = client.post("/universes", &body).await.json()["state"].clone();
    for (n, caller) in ways.each() {
        let arguments =
            json!({ "name": "n", "generate": recipe(), "idempotencyKey": format!("{n}") });
        let made = caller.content("create_universe", arguments.clone()).await;
        assert_eq!(made["generate"], recipe());
        assert_eq!(caller.content("create_universe", arguments).await, made);
        let id = made["universeId"].as_str().unwrap();
        assert_eq!(client.universe(id).await["state"], expected);

        let wrong =
            json!({ "name": "n", "generate": { "seed": 1, "preset": "clasic", "sytle": "x" } });
        let error = caller.error("create_universe", wrong).await;
        let message = error["message"].as_str().unwrap();
        for part in ["did you mean classic?", "did you mean style?"] {
            assert!(message.contains(part), "{error}");
        }
        let both = json!({ "name": "n", "from": "sol", "generate": { "seed": 1 } });
        assert_eq!(caller.error("create_universe", both).await["code"], "INVALID_ARGUMENTS");
        let unseeded = json!({ "name": "n", "generate": {}, "idempotencyKey": "x" });
        let error = caller.error("create_universe", unseeded).await;
        assert!(error["message"].as_str().unwrap().contains("needs a seed"), "{error}");
        let drawn = caller.content("create_universe", json!({ "name": "n", "generate": {} })).await;
        assert!(drawn["generate"]["seed"].is_string());
    }

    // The command line, as a state and into the data directory, beside the server and without one.
    let options = [
        "generate",
        "--seed",
        "test",
        "--preset",
        "moonRich",
        "--style",
        "sparse",
        "--systems",
        "1",
    ];
    let told = done(ways.dir(), &options).await;
    assert_eq!(serde_json::from_str::<Value>(&told).unwrap(), expected);
    let mut named = options.to_vec();
    named.extend(["--name", "By hand", "--id", "hand"]);
    assert_eq!(done(ways.dir(), &named).await, "hand\n");
    let made = client.universe("hand").await;
    assert_eq!((&made["state"], &made["name"]), (&expected, &json!("By hand")));
    let dir = TempDir::new().unwrap();
    assert_eq!(done(dir.path(), &named).await, "hand\n");
    let server = Server::on(dir.path()).await;
    assert_eq!(server.client.universe("hand").await["state"], expected);
}

#[tokio::test]
async fn the_command_line_says_what_is_wrong_and_draws_a_seed() {
    let dir = TempDir::new().unwrap();
    let wrong = ["generate", "--seed", "1", "--preset", "moonrch", "--systems", "51"];
    let ended = verb(dir.path(), &wrong).await;
    assert_eq!(ended.status.code(), Some(1));
    for part in ["--preset", "did you mean moonRich?", "--systems must be"] {
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
    // A number is the same seed as in JSON, and a seed that was drawn is printed.
    let numbers = ["generate", "--seed", "42", "--systems", "1"].map(str::to_owned);
    let told = verb(dir.path(), &numbers.each_ref().map(String::as_str)).await;
    assert!(told.stderr.contains("\"seed\":42"), "{}", told.stderr);
    // What JSON does not write as this number is a text.
    for text in ["007", "+42", "4294967296"] {
        let told = verb(dir.path(), &["generate", "--seed", text, "--systems", "1"]).await;
        let expected = format!("\"seed\":\"{text}\"");
        assert!(told.stderr.contains(&expected), "{}", told.stderr);
    }
    let drawn = verb(dir.path(), &["generate", "--systems", "1"]).await;
    let (_, told) = drawn.stderr.split_once("generated from ").unwrap();
    let recipe: Value = serde_json::from_str(told.trim()).unwrap();
    let seed = recipe["seed"].as_str().unwrap();
    let again = done(dir.path(), &["generate", "--seed", seed, "--systems", "1"]).await;
    assert_eq!(again, drawn.stdout);
    let lonely = verb(dir.path(), &["generate", "--id", "x"]).await;
    assert_eq!(lonely.status.code(), Some(2), "an id needs a name");
}
