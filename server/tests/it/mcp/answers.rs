//! Answers that fit: the forms of a command's result, and parts of a state.

use serde_json::{Value, json};

use crate::harness::{Ways, add_star, tick};

const GET: &str = "get_universe_state";
const SEND: &str = "send_universe_command";

/// A body around `parent`.
fn planet(id: &str, parent: &str) -> Value {
    let mut command = add_star(id);
    command["payload"]["parentId"] = json!(parent);
    command
}

#[tokio::test]
async fn a_small_universe_is_answered_whole_and_a_large_one_by_its_changes() {
    let mut ways = Ways::start(&["--demo"]).await;
    let client = ways.client;
    let id = client.create("small", json!({})).await;
    for (n, caller) in ways.each() {
        let name = format!("body-{n}");
        let answer = caller.send(&id, add_star(&name)).await;
        let universe = client.universe(&id).await;
        assert_eq!(answer["nextState"], universe["state"]);
        assert_eq!(answer["revision"], universe["revision"]);
        let stars = answer["changes"]["stars"].as_object().unwrap();
        assert_eq!(stars.keys().collect::<Vec<_>>(), [&name]);
        // What was sent is not sent back.
        assert_eq!(stars[&name], json!({ "orbitalPhase": 0 }));

        let before = client.universe("sol").await;
        let answer = caller.send("sol", tick()).await;
        assert!(answer.to_string().len() < 200, "{answer}");
        assert_eq!(answer["changes"], json!({}));
        assert_eq!(answer["events"], json!([]));
        assert!(answer.get("nextState").is_none(), "{answer}");
        let time = before["state"]["time"].as_f64().unwrap();
        assert_eq!(answer["time"], json!(time + 1.0));
        let revision = before["revision"].as_u64().unwrap();
        assert_eq!(answer["revision"], json!(revision + 1));

        // The parent has changed too, since it lists its children.
        let answer = caller.send("sol", planet(&name, "earth")).await;
        let stars = answer["changes"]["stars"].as_object().unwrap();
        assert_eq!(stars.keys().collect::<Vec<_>>(), [&name, "earth"]);
        let remove = json!({"type": "removeStar", "id": name});
        let answer = caller.send("sol", remove).await;
        assert_eq!(answer["changes"]["removed"], json!({"stars": [name]}));
        // Of the planet, only the ring; and nothing when it is already so.
        let ring = json!({"type": "updateRing", "planetId": "mars", "patch": {"color": format!("#00000{n}")}});
        let answer = caller.send("sol", ring.clone()).await;
        let mars = answer["changes"]["stars"]["mars"].as_object().unwrap();
        assert_eq!(mars.keys().collect::<Vec<_>>(), ["ring"]);
        assert_eq!(mars["ring"]["color"], format!("#00000{n}"));
        let answer = caller.send("sol", ring).await;
        assert_eq!(answer["changes"], json!({}));
    }
}

#[tokio::test]
async fn the_form_of_a_result_can_be_asked_for_over_mcp_and_rest() {
    let mut ways = Ways::start(&["--demo"]).await;
    let client = ways.client;
    for (n, caller) in ways.each() {
        let group = |form: &str| json!({"type": "addGroup", "id": format!("{form}-{n}"), "payload": {"name": "G", "children": [], "parentGroupId": null}});
        for (form, members) in [
            ("events", json!(["events", "revision", "time"])),
            ("changes", json!(["changes", "events", "revision", "time"])),
            ("state", json!(["events", "nextState", "revision", "time"])),
        ] {
            let arguments = json!({"universeId": "sol", "command": group(form), "result": form});
            let answer = caller.content(SEND, arguments).await;
            let names: Vec<_> = answer.as_object().unwrap().keys().collect();
            assert_eq!(json!(names), members);
            assert_eq!(answer["events"][0]["type"], "groupAdded");
            if form == "state" {
                let universe = client.universe("sol").await;
                assert_eq!(answer["nextState"], universe["state"]);
            }
        }
        let arguments = json!({"universeId": "sol", "command": tick(), "result": "all"});
        let error = caller.error(SEND, arguments).await;
        assert!(error["message"].as_str().unwrap().contains("changes"), "{error}");
    }
    let reply = client.post("/universes/sol/commands?result=changes", &add_star("x")).await;
    let answer = reply.json();
    assert_eq!(answer["changes"]["stars"]["x"]["name"], "x");
    assert!(answer["revision"].is_u64() && answer.get("nextState").is_none());
}

#[tokio::test]
async fn changes_that_are_too_many_are_counted_and_the_answer_says_how_to_get_them() {
    let mut ways = Ways::start(&[]).await;
    let id = ways.client.create("u", json!({})).await;
    let stars = (0..900).map(|n| {
        let name = format!("body-{n:03}");
        let star = json!({"id": name, "name": name, "mass": 1, "radius": 1, "color": "#FFFFFF", "children": [],
            "parentId": null, "orbitalDistance": 0, "orbitalSpeed": 0, "orbitalPhase": 0});
        (name, star)
    });
    let stars: serde_json::Map<_, _> = stars.collect();
    let roots: Vec<_> = stars.keys().cloned().collect();
    let replace =
        json!({"type": "replaceSnapshot", "snapshot": {"stars": stars, "rootIds": roots}});
    let empty = json!({"type": "replaceSnapshot", "snapshot": {"stars": {}, "rootIds": []}});
    for (_, caller) in ways.each() {
        let arguments = json!({"universeId": id, "command": replace});
        let result = caller.tool(SEND, arguments).await;
        let answer = &result["structuredContent"];
        assert!(answer.to_string().len() < 9 * 1024);
        let shown = answer["changes"]["stars"].as_object().unwrap().len();
        let omitted = answer["changes"]["omitted"]["stars"].as_u64().unwrap();
        assert_eq!(shown as u64 + omitted, 900);
        let hint = result["_meta"]["universe-server/hint"].as_str().unwrap();
        assert!(hint.contains("omitted") && hint.contains("select"), "{hint}");
        caller.send(&id, empty.clone()).await;
    }
}

#[tokio::test]
async fn parts_of_a_state_are_selected_by_family_id_subtree_and_member() {
    let mut ways = Ways::start(&["--demo"]).await;
    let whole = ways.client.universe("sol").await["state"].take();
    for (_, caller) in ways.each() {
        let result = caller.tool(GET, json!({"universeId": "sol"})).await;
        assert_eq!(result["structuredContent"], whole);
        let hint = result["_meta"]["universe-server/hint"].as_str().unwrap();
        assert!(hint.contains("select") && hint.contains("limit"), "{hint}");

        let select = json!({"ids": ["earth", "luna", "nibiru"], "members": ["name", "parentId", "children"]});
        let part = caller.content(GET, json!({"universeId": "sol", "select": select})).await;
        assert_eq!(
            part["stars"]["earth"],
            json!({"id": "earth", "name": "Earth", "parentId": "sun", "children": whole["stars"]["earth"]["children"]})
        );
        assert_eq!(part["missing"].as_array().unwrap().last().unwrap(), "nibiru");
        assert!(part["revision"].is_u64() && part["time"].is_number());

        let select = json!({"subtree": "saturn", "depth": 0});
        let part = caller.content(GET, json!({"universeId": "sol", "select": select})).await;
        assert_eq!(part["stars"], json!({"saturn": whole["stars"]["saturn"]}));
        let select = json!({"subtree": "saturn", "members": []});
        let part = caller.content(GET, json!({"universeId": "sol", "select": select})).await;
        let moons = whole["stars"]["saturn"]["children"].as_array().unwrap().len();
        assert_eq!(part["selected"], json!(moons + 1));

        let select = json!({"families": ["belts"]});
        let part = caller.content(GET, json!({"universeId": "sol", "select": select})).await;
        assert_eq!(part["belts"], whole["belts"]);
        assert!(part.get("stars").is_none(), "{part}");

        let select = json!({"ids": ["earth"], "members": ["nmae"]});
        let part = caller.content(GET, json!({"universeId": "sol", "select": select})).await;
        let warning = part["warnings"][0].as_str().unwrap();
        assert!(warning.contains("nmae") && warning.contains("did you mean name?"), "{warning}");
        let select = json!({"subtree": "erth"});
        let error = caller.error(GET, json!({"universeId": "sol", "select": select})).await;
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("universe sol") && message.contains("did you mean earth?"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn pages_of_a_state_make_up_the_whole() {
    let mut ways = Ways::start(&["--demo"]).await;
    let whole = ways.client.universe("sol").await["state"].take();
    let families =
        ["stars", "groups", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae"];
    for (_, caller) in ways.each() {
        let mut arguments = json!({"universeId": "sol", "limit": 10});
        let mut seen = json!({});
        for family in families {
            seen[family] = json!({});
        }
        loop {
            let page = caller.content(GET, arguments.clone()).await;
            let mut count = 0;
            for family in families {
                for (id, entity) in page[family].as_object().into_iter().flatten() {
                    seen[family][id] = entity.clone();
                    count += 1;
                }
            }
            assert!((1..=10).contains(&count), "{page}");
            if page["next"].is_null() {
                break;
            }
            arguments["cursor"] = page["next"].clone();
        }
        for family in families {
            assert_eq!(seen[family], whole[family], "{family}");
        }
        let wrong = json!({"universeId": "sol", "cursor": "10"});
        let error = caller.error(GET, wrong).await;
        assert!(error["message"].as_str().unwrap().contains("`next`"), "{error}");
    }
}
