//! A success that had no effect says so, and names what to set: over REST, over MCP on every way, on the command line.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::done;
use crate::harness::{Local, Ways, add_star, tick};

const SEND: &str = "send_universe_command";

fn update(id: &str, payload: Value) -> Value {
    let mut command = json!({ "type": "updateStar", "id": id });
    command["payload"] = payload;
    command
}

fn nebula(kind: &str) -> Value {
    json!({ "type": kind, "id": "crab" })
}

/// The warnings of an answer as lines.
fn warned(answer: &Value) -> Vec<String> {
    let text = |warning: &Value, name: &str| warning[name].as_str().unwrap().to_owned();
    let warnings = answer["warnings"].as_array().into_iter().flatten();
    warnings.map(|it| format!("{}: {}", text(it, "path"), text(it, "message"))).collect()
}

/// Commands about a universe with a `sun` and a `mars` round it, with what each is told.
fn cases() -> Vec<(Value, &'static [&'static str])> {
    vec![
        (
            update("mars", json!({ "orbitalDistance": 3 })),
            &["/payload/orbitalDistance: has no effect beside semiMajorAxis, 1.5"],
        ),
        (update("mars", json!({})), &["/payload: is empty: nothing was changed"]),
        (update("mars", json!({ "mass": 1 })), &["/payload: is so already"]),
        (
            update("mars", json!({ "eccentricity": 0.5 })),
            &["/payload/eccentricity", "set orbitOffsetX -0.75, orbitOffsetY 0, orbitOffsetZ 0"],
        ),
        (
            update("mars", json!({ "mass": 2 })),
            &["/payload/mass: is set, and massKg still has the old value"],
        ),
        (json!({ "type": "tick", "dt": 0 }), &["/dt: is 0"]),
        (json!({ "type": "detachStar", "childId": "mars" }), &["set semiMajorAxis to null"]),
        (nebula("removeNebula"), &["/id: is not in \"nebulae\": nothing was removed"]),
        (
            json!({ "type": "attachStar", "childId": "mars", "parentId": "sun" }),
            &["nothing was changed"],
        ),
    ]
}

fn universe() -> Value {
    let body = |id: &str, parent: Value, more: Value| {
        let mut star = add_star(id)["payload"].clone();
        star["id"] = json!(id);
        star["children"] = if id == "sun" { json!(["mars"]) } else { json!([]) };
        star["orbitalPhase"] = json!(0);
        star["parentId"] = parent;
        let more = more.as_object().unwrap().clone();
        star.as_object_mut().unwrap().extend(more);
        star
    };
    let mars = json!({ "orbitalDistance": 1.5, "semiMajorAxis": 1.5, "massKg": "6.4e23" });
    json!({
        "stars": { "sun": body("sun", Value::Null, json!({})), "mars": body("mars", json!("sun"), mars) },
        "rootIds": ["sun"],
    })
}

fn assert_told(command: &Value, answer: &Value, told: &[&str]) {
    let warned = warned(answer).join("; ");
    for told in told {
        assert!(warned.contains(told), "{command}: {told:?} in {warned:?}");
    }
}

/// modelcontextprotocol/servers#4740: a removal of what was not there was a success. HHS/OPRE-OPS#2840,
/// kavo-labs/kavo#288: an empty update was a silent success.
#[tokio::test]
async fn every_command_without_an_effect_names_what_to_set() {
    let mut ways = Ways::start(&[]).await;
    let client = ways.client;
    let state = universe();
    for (command, told) in cases() {
        let id = client.create("u", state.clone()).await;
        for form in ["state", "events", "changes"] {
            let id = client.create("u", state.clone()).await;
            let path = format!("/universes/{id}/commands?result={form}");
            let reply = client.post(&path, &command).await;
            assert_eq!(reply.status, 200, "{reply:?}");
            assert_told(&command, &reply.json(), told);
        }
        for (_, caller) in ways.each() {
            let id = client.create("u", state.clone()).await;
            let answer = caller.send(&id, command.clone()).await;
            assert_told(&command, &answer, told);
            // In a list the warning says of which.
            let id = client.create("u", state.clone()).await;
            let list = json!([tick(), command]);
            let reply = client.post(&format!("/universes/{id}/commands"), &list).await;
            assert!(warned(&reply.json()).iter().all(|it| it.starts_with("/1")), "{reply:?}");
        }
        // A retry is told the same.
        let path = format!("/universes/{id}/commands");
        let key = [("idempotency-key", "k")];
        let first = client.call("POST", &path, &key, &command).await.json();
        let again = client.call("POST", &path, &key, &command).await.json();
        assert_eq!(first, again);
    }
}

/// Nothing is said of what has an effect, and a body that is sent as it was read is not judged again.
#[tokio::test]
async fn what_has_an_effect_is_not_warned_of() {
    let server = Local::start().await;
    let client = server.client;
    let state = universe();
    let id = client.create("u", state.clone()).await;
    let mut plain = state.clone();
    plain["stars"]["mars"].as_object_mut().unwrap().remove("massKg");
    let mut in_units = plain.clone();
    in_units["units"] = json!({ "length": "au" });
    for command in [
        tick(),
        json!({ "type": "tick", "until": 86_400 }),
        json!({ "type": "replaceSnapshot", "snapshot": plain }),
        json!({ "type": "replaceSnapshot", "snapshot": in_units }),
        update("mars", json!({ "semiMajorAxis": 3 })),
        update("mars", json!({ "semiMajorAxis": 2, "eccentricity": 0.5, "orbitOffsetX": -1 })),
        update("mars", json!({ "semiMajorAxis": null, "eccentricity": 0, "orbitOffsetX": 0 })),
        update("mars", json!({ "orbitalDistance": 4 })),
        add_star("venus"),
        json!({ "type": "detachStar", "childId": "mars" }),
    ] {
        let answer = client.command(&id, &command).await;
        assert_eq!(answer["warnings"], Value::Null, "{command}: {answer}");
    }
    let mars = client.universe(&id).await["state"]["stars"]["mars"].clone();
    let mut renamed = mars;
    renamed["name"] = json!("Mars");
    let answer = client.command(&id, &update("mars", renamed)).await;
    assert!(warned(&answer).iter().all(|it| it.contains("massKg")), "{answer}");
}

/// A time can be too large to hold a step.
#[tokio::test]
async fn a_tick_that_the_time_cannot_hold_is_told() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({ "time": 1e17 })).await;
    let answer = client.command(&id, &tick()).await;
    assert!(warned(&answer)[0].contains("did not move"), "{answer}");
    assert!(warned(&answer)[0].contains("16 s or more"), "{answer}");
    let answer = client.command(&id, &json!({ "type": "tick", "dt": 10 })).await;
    assert!(warned(&answer)[0].contains("it moved by 16 s"), "{answer}");
    let answer = client.command(&id, &json!({ "type": "tick", "dt": 1600 })).await;
    assert_eq!(answer["warnings"], Value::Null);
}

/// zotero/dataserver#81: an update that changes nothing gave a version that the next request was refused with.
#[tokio::test]
async fn the_revision_of_an_update_without_effect_is_good_for_the_next_request() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    client.command(&id, &add_star("a")).await;
    let path = format!("/universes/{id}/commands");
    let reply = client.post(&path, &update("a", json!({}))).await;
    let tag = reply.header("etag").to_owned();
    assert_eq!(tag, client.get(&format!("/universes/{id}")).await.header("etag"));
    let reply = client.call("POST", &path, &[("if-match", &tag)], &tick()).await;
    assert_eq!(reply.status, 200, "{reply:?}");
}

/// dlr-eoc/prosEO#99: a command line without effect said nothing.
#[tokio::test]
async fn the_command_line_prints_what_had_no_effect() {
    let dir = TempDir::new().unwrap();
    let made = done(
        dir.path(),
        &["generate", "--seed", "x", "--systems", "1", "--name", "U", "--id", "u"],
    );
    assert_eq!(made.await, "u\n");
    let nothing = update("s1", json!({})).to_string();
    let told = done(dir.path(), &["send", "u", &nothing]).await;
    assert!(told.contains("warning: /payload: is empty: nothing was changed"), "{told}");
    let gone = nebula("removeNebula").to_string();
    let told = done(dir.path(), &["send", "u", &gone, "--json"]).await;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["warnings"][0]["path"], "/id", "{told}");
}

/// Advance-Technologies-Foundation/clio#1354: arguments that were dropped were reported as a success.
#[tokio::test]
async fn an_argument_that_is_not_known_changes_nothing() {
    let mut ways = Ways::start(&[]).await;
    let client = ways.client;
    let id = client.create("u", json!({})).await;
    for (_, caller) in ways.each() {
        let arguments = json!({ "universeId": id, "command": tick(), "dryRun": true });
        let error = caller.error(SEND, arguments).await;
        assert!(error["message"].as_str().unwrap().contains("dryRun"), "{error}");
    }
    assert_eq!(client.universe(&id).await["revision"], 0);
}

/// What follows from a member and its unit is computed for each answer, and is never from before a change.
#[tokio::test]
async fn facts_follow_from_members_where_units_are_set() {
    let mut ways = Ways::start(&[]).await;
    let client = ways.client;
    let mut state = universe();
    state["units"] = json!({ "length": "au", "mass": "earthMass", "radius": "earthRadius" });
    let elsewhere = TempDir::new().unwrap();
    state["stars"]["mars"]["orbitalSpeed"] = json!(360.0 / 86_400.0 / 687.0);
    for (n, caller) in ways.each() {
        let id = client.create("u", state.clone()).await;
        client.command(&id, &update("mars", json!({ "mass": n + 2 }))).await;
        let kilograms = format!("{:.5e}", 5.9722e24 * (n as f64 + 2.0)).parse::<f64>().unwrap();
        let get = |select: Value| json!({ "universeId": id, "select": select });
        let whole = caller.content("get_universe_state", get(json!({ "ids": ["mars"] }))).await;
        let mars = &whole["stars"]["mars"];
        assert_eq!(mars["massKg"], kilograms);
        assert_eq!(mars["radiusKm"], 6371.0);
        assert_eq!(mars["semiMajorAxisKm"], 224_397_000.0);
        assert_eq!(mars["periodDays"], 687.0);
        let select = json!({ "ids": ["mars"], "members": ["massKg"] });
        let some = caller.content("get_universe_state", get(select)).await;
        assert_eq!(some["stars"]["mars"], json!({ "id": "mars", "massKg": kilograms }));
        assert!(some.get("warnings").is_none(), "{some}");
        // What users stored is theirs.
        assert_eq!(client.universe(&id).await["state"]["stars"]["mars"]["massKg"], "6.4e23");
        let url = format!("http://{}", client.0);
        let arguments = ["get", &id, "--entity", "mars", "--json", "--url", &url];
        let printed = done(elsewhere.path(), &arguments).await;
        let printed: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(printed["found"]["stars"]["mars"]["massKg"], kilograms);
    }
}
