//! Answers that a client takes: a state that is too large is answered by an outline, a page at a time; and creating
//! something does not send back what was sent.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::mcp::Mcp;
use crate::harness::{Client, Era, Local, Ways, add_star, tick};

const GET: &str = "get_universe_state";
const SEND: &str = "send_universe_command";
const LIMIT: usize = 8 * 1024;

async fn generated(client: Client, seed: &str) -> String {
    let recipe = json!({ "seed": seed, "preset": "moonRich", "style": "crowded" });
    let reply = client.post("/universes", &json!({ "name": "G", "generate": recipe })).await;
    assert_eq!(reply.status, 201);
    reply.json()["id"].as_str().unwrap().to_owned()
}

/// The ids in an outline.
fn ids(outline: &str) -> Vec<String> {
    let lines = outline.lines().filter(|line| line.trim_start().starts_with("- "));
    let id = |line: &str| line.split_once('[')?.1.split_once(']').map(|(id, _)| id.to_owned());
    lines.filter_map(id).collect()
}

/// rollbar/rollbar-mcp-server#28, tim-smart/effect-mcp#10, Pimzino/spec-workflow-mcp#107: one read is more than a
/// client takes. kingpanther13/Hubitat-local-MCP-server#174: the error instead of it left nothing to go on with.
#[tokio::test]
async fn a_large_state_is_answered_by_an_outline() {
    let mut ways = Ways::start(&[]).await;
    let client = ways.client;
    let id = generated(client, "tea").await;
    let universe = client.universe(&id).await;
    let state = &universe["state"];
    assert!(state.to_string().len() > 96 << 10);
    for (_, caller) in ways.each() {
        let answer = caller.content(GET, json!({ "universeId": id })).await;
        assert!(answer.to_string().len() <= LIMIT, "{}", answer.to_string().len());
        let names: Vec<_> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        let known = ["counts", "next", "note", "outline", "time"];
        assert!(names.iter().all(|name| known.contains(name)), "{names:?}");
        assert_eq!(answer["time"], state["time"]);
        assert_eq!(answer["counts"]["stars"], state["stars"].as_object().unwrap().len());
        let note = answer["note"].as_str().unwrap();
        assert!(note.contains("`select`") && note.contains("`whole`"), "{note}");
        // Every system is there, and what is below it is counted.
        let roots: BTreeSet<_> =
            state["rootIds"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        let mut shown = BTreeSet::new();
        let mut page = answer;
        loop {
            let outline = page["outline"].as_str().unwrap();
            shown.extend(ids(outline));
            let Some(next) = page["next"].as_str() else { break };
            page = caller.content(GET, json!({ "universeId": id, "cursor": next })).await;
            assert!(page.to_string().len() <= LIMIT);
        }
        assert!(roots.iter().all(|root| shown.contains(*root)), "{shown:?}");
        let whole = caller.content(GET, json!({ "universeId": id, "whole": true })).await;
        assert_eq!(whole, *state);
        // magicuidesign/mcp#4: a limit made no difference.
        let some = caller.content(GET, json!({ "universeId": id, "limit": 5 })).await;
        assert_eq!(some["stars"].as_object().unwrap().len(), 5);
        assert!(some["next"].is_string() && some.to_string().len() < LIMIT);
        let both = json!({ "universeId": id, "whole": true, "limit": 5 });
        let error = caller.error(GET, both).await;
        assert!(error["message"].as_str().unwrap().contains("`whole`"), "{error}");
        let forged = json!({ "universeId": id, "cursor": "outline.x" });
        assert_eq!(caller.error(GET, forged).await["code"], "INVALID_ARGUMENTS");
    }
}

/// Up to the bound the answer is the state, as REQ-MCP-6 has it; the demo universe is.
#[tokio::test]
async fn a_state_up_to_the_bound_is_answered_whole() {
    let mut ways = Ways::start(&["--demo"]).await;
    let client = ways.client;
    let sol = client.universe("sol").await["state"].take();
    for (_, caller) in ways.each() {
        assert_eq!(caller.content(GET, json!({ "universeId": "sol" })).await, sol);
        let whole = json!({ "universeId": "sol", "whole": true });
        assert_eq!(caller.content(GET, whole).await, sol);
    }
}

/// oraios/serena#516: how much is answered can be set.
#[tokio::test]
async fn the_bound_can_be_lifted_and_lowered() {
    for (bound, is_whole) in [("10MiB", true), ("64KiB", false)] {
        let mut ways = Ways::start(&["--max-answer", bound]).await;
        let client = ways.client;
        let state = json!({ "stars": many(200), "rootIds": names(200) });
        assert!(
            (64 << 10..96 << 10).contains(&state.to_string().len()),
            "{}",
            state.to_string().len()
        );
        let id = client.create("u", state).await;
        let large = generated(client, "tea").await;
        for (n, caller) in ways.each() {
            let answer = caller.content(GET, json!({ "universeId": id })).await;
            assert_eq!(answer["stars"].is_object(), is_whole, "{bound}");
            assert_eq!(answer["outline"].is_string(), !is_whole, "{bound}");
            let answer = caller.content(GET, json!({ "universeId": large })).await;
            assert_eq!(answer["stars"].is_object(), is_whole, "{bound}, {n}");
        }
    }
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("body-{n:04}")).collect()
}

fn many(count: usize) -> Value {
    let body = |id: String| {
        let mut star = add_star(&id)["payload"].clone();
        star["id"] = json!(id);
        star["name"] = json!(format!("{id} {}", "\"Ω\" ".repeat(20)));
        star["children"] = json!([]);
        star["orbitalPhase"] = json!(0);
        (id, star)
    };
    Value::Object(names(count).into_iter().map(body).collect())
}

/// open-metadata/OpenMetadata#29732, erayendes/app-store-connect-mcp#71: what did not fit was cut or lost.
/// Stellar-TrustBridge/trustbridge-contract#427, deptyped/prisma-extension-pagination#35: pages skip and repeat when
/// something is changed between them.
#[tokio::test]
async fn pages_have_everything_once_while_others_write() {
    let mut ways = Ways::start(&[]).await;
    let client = ways.client;
    let state = json!({ "stars": many(900), "rootIds": names(900) });
    for (n, caller) in ways.each() {
        let id = client.create("u", state.clone()).await;
        let mut shown = Vec::new();
        let mut arguments = json!({ "universeId": id });
        loop {
            let page = caller.content(GET, arguments).await;
            assert!(page.to_string().len() <= LIMIT, "{}", page.to_string().len());
            shown.extend(ids(page["outline"].as_str().unwrap()));
            let Some(next) = page["next"].as_str() else { break };
            arguments = json!({ "universeId": id, "cursor": next });
            client.command(&id, &add_star(&format!("a-{n}-{}", shown.len()))).await;
        }
        assert_eq!(shown, names(900));
    }
}

/// pokutuna/mcp-chrome-tabs#15, garrytan/gbrain#3411: a tool has pages, and the resource of the same has none.
#[tokio::test]
async fn the_tree_of_a_large_universe_has_pages() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({ "stars": many(900), "rootIds": names(900) })).await;
    for era in Era::BOTH {
        let mcp = Mcp::new(client, era).await;
        let mut shown = Vec::new();
        let mut uri = format!("universe://{id}/tree");
        loop {
            let page = mcp.read(&uri).await;
            let text = page["text"].as_str().unwrap();
            assert!(text.len() <= 2 * LIMIT + 200, "{}", text.len());
            shown.extend(ids(text));
            let last = text.lines().last().unwrap();
            let Some((_, next)) = last.strip_prefix("… and ").and_then(|it| it.split_once(": "))
            else {
                break;
            };
            uri = next.to_owned();
        }
        assert_eq!(shown, names(900));
        let few = mcp.read(&format!("universe://{id}/tree?limit=3")).await;
        assert_eq!(ids(few["text"].as_str().unwrap()), names(3));
    }
}

/// An id may be as long as a command: no page is longer for it.
#[tokio::test]
async fn an_id_that_is_longer_than_a_page_is_cut_in_the_outline() {
    let mut ways = Ways::start(&[]).await;
    let client = ways.client;
    let id = client.create("u", json!({ "stars": many(300), "rootIds": names(300) })).await;
    client.command(&id, &add_star(&"\"x\\".repeat(20_000))).await;
    for (_, caller) in ways.each() {
        let mut arguments = json!({ "universeId": id });
        let mut pages = 0;
        loop {
            let page = caller.content(GET, arguments).await;
            assert!(page.to_string().len() <= LIMIT, "{}", page.to_string().len());
            pages += 1;
            let Some(next) = page["next"].as_str() else { break };
            arguments = json!({ "universeId": id, "cursor": next });
        }
        assert!(pages > 1);
    }
}

/// playcanvas/editor-mcp-server#73, rakeshgangwar/erpnext-mcp-server#4: creating something answered with all of it.
/// microsoft/azure-devops-mcp#36: and with all that it is in.
#[tokio::test]
async fn creating_answers_with_ids_and_with_what_was_not_sent() {
    let mut ways = Ways::start(&["--demo", "--extra-tools"]).await;
    for (n, caller) in ways.each() {
        let body = |number: usize| {
            let mut command = add_star(&format!("moon-{n}-{number}"));
            command["payload"]["parentId"] = json!("earth");
            for name in ["orbitRotX", "orbitRotY", "orbitRotZ", "semiMajorAxis", "orbitalDistance"]
            {
                command["payload"][name] = json!(number);
            }
            command
        };
        let answer = caller.send("sol", body(0)).await;
        let new = &answer["changes"]["stars"][format!("moon-{n}-0")];
        // The phase is the one thing that the server gave it.
        assert_eq!(*new, json!({ "orbitalPhase": 0 }));
        assert_eq!(answer["changes"]["stars"]["earth"], json!({}));
        let commands: Vec<_> = (1..21).map(body).collect();
        let sent = json!(commands).to_string().len();
        let arguments = json!({ "universeId": "sol", "commands": commands });
        let answer = caller.content("send_universe_commands", arguments).await;
        let length = answer.to_string().len();
        assert!(length < sent / 2, "{length} of {sent}: {answer}");
        assert_eq!(answer["events"].as_array().unwrap().len(), 20);
        // Who wants it whole asks for it; an update is answered as before.
        let arguments = json!({ "universeId": "sol", "command": body(21), "result": "changes" });
        let answer = caller.content(SEND, arguments).await;
        assert!(answer["changes"]["stars"]["earth"]["mass"].is_number());
        let update =
            json!({ "type": "updateStar", "id": "mars", "payload": { "name": format!("M{n}") } });
        let answer = caller.send("sol", update).await;
        assert!(answer["changes"]["stars"]["mars"]["mass"].is_number());
    }
}

/// xieyuschen/gopls-mcp#17: a search that finds nothing leaves an agent without a next step. toeverything/AFFiNE#15038:
/// and was an error.
#[tokio::test]
async fn a_search_that_finds_nothing_says_what_is_near() {
    let mut ways = Ways::start(&["--demo", "--extra-tools"]).await;
    for (_, caller) in ways.each() {
        for (arguments, told) in [
            (json!({ "name": "Jupitr" }), "did you mean Jupiter?"),
            (json!({ "kind": "moons" }), "the kinds here are "),
            (json!({ "name": "zzzz_nonexistent" }), "in its name or id"),
            (json!({ "kind": "star", "parent": "earth" }), "no entity fits all"),
        ] {
            let mut arguments = arguments;
            arguments["universeId"] = json!("sol");
            let answer = caller.content("find_entities", arguments).await;
            assert_eq!((&answer["found"], &answer["entities"]), (&json!(0), &json!([])));
            assert!(answer["note"].as_str().unwrap().contains(told), "{answer}");
        }
        let found = json!({ "universeId": "sol", "name": "jupiter" });
        assert!(caller.content("find_entities", found).await.get("note").is_none());
        let select = json!({ "universeId": "sol", "select": { "ids": ["jupitr"] } });
        let answer = caller.content(GET, select).await;
        assert_eq!(answer["missing"], json!(["jupitr"]));
        let told = answer["warnings"][0].as_str().unwrap();
        assert!(told.contains("did you mean jupiter?"), "{answer}");
        caller.send("sol", tick()).await;
    }
    let group = json!({ "id": "g", "name": "G", "children": [], "parentGroupId": null });
    let state = json!({ "groups": { "g": group }, "rootGroupIds": ["g"] });
    let id = ways.client.create("dust", state).await;
    for (_, caller) in ways.each() {
        let search = json!({ "universeId": id, "kind": "moon" });
        let answer = caller.content("find_entities", search).await;
        assert_eq!(answer["note"], "no body of this universe has a kind, its `bodyType`");
    }
}
