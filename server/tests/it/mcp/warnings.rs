//! Nothing wrong passes in silence: warnings, strictness, and arguments that do not fit.

use serde_json::{Value, json};

use crate::harness::{Ways, add_star, remove_star, tick};

const GET: &str = "get_universe_state";
const SEND: &str = "send_universe_command";

fn odd(id: &str) -> Value {
    let mut command = add_star(id);
    command["payload"]["eccentricty"] = json!(0.2);
    command["payload"]["mass"] = json!(-5);
    command
}

#[tokio::test]
async fn what_is_odd_is_taken_with_warnings_by_both_dialects() {
    let mut ways = Ways::start(&[]).await;
    let client = ways.client;
    let id = client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands");
    for (n, caller) in ways.each() {
        let answer = caller.send(&id, odd(&format!("mcp-{n}"))).await;
        let warnings = answer["warnings"].as_array().unwrap();
        let paths: Vec<_> = warnings.iter().map(|warning| &warning["path"]).collect();
        assert_eq!(paths, ["/payload/eccentricty", "/payload/mass"]);
        assert!(warnings[0]["message"].as_str().unwrap().contains("eccentricity"));
        for form in ["state", "events", "changes"] {
            let command = odd(&format!("rest-{n}-{form}"));
            let told = client.post(&format!("{path}?result={form}"), &command).await;
            assert_eq!(told.json()["warnings"], answer["warnings"]);
        }
        let answer = caller.send(&id, tick()).await;
        assert!(answer.get("warnings").is_none(), "{answer}");
    }
    let body = json!({"name": "odd", "state": {"stas": {}}});
    let created = client.post("/universes", &body).await;
    assert_eq!(created.status, 201);
    assert_eq!(created.json()["warnings"][0]["path"], "/stas");
}

#[tokio::test]
async fn a_strict_server_refuses_what_is_odd() {
    let mut ways = Ways::start(&["--strict"]).await;
    let client = ways.client;
    let id = client.create("u", json!({})).await;
    for (_, caller) in ways.each() {
        let arguments = json!({"universeId": id, "command": odd("x")});
        let error = caller.error(SEND, arguments).await;
        assert_eq!(error["code"], "INVALID_COMMAND");
        assert_eq!(error["data"]["findings"][1]["path"], "/command/payload/mass");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains(&id) && message.contains("did you mean eccentricity?"),
            "{message}"
        );
    }
    let reply = client.post(&format!("/universes/{id}/commands"), &odd("x")).await;
    assert_eq!(reply.status, 400);
    assert!(reply.error().contains("eccentricity"), "{reply:?}");
    let reply = client.put(&format!("/universes/{id}"), &json!({"state": {"stas": {}}})).await;
    assert_eq!(reply.status, 400);
    assert_eq!(client.universe(&id).await["revision"], 0);
}

#[tokio::test]
async fn members_of_universes_that_mean_nothing_are_reported_over_rest() {
    let odd = json!({"nmae": "v", "state": {}, "name": "u"});
    let told = "is not a known member of a universe; it was left out; did you mean name?";
    let ways = Ways::start(&[]).await;
    let made = ways.client.post("/universes", &odd).await;
    assert_eq!(made.status, 201);
    let made = made.json();
    let warnings = json!([{"path": "/nmae", "message": told}]);
    assert_eq!(made["warnings"], warnings);
    let path = format!("/universes/{}", made["id"].as_str().unwrap());
    let put = ways.client.put(&path, &json!({"nmae": "v"})).await.json();
    assert_eq!((&put["warnings"], &put["name"]), (&warnings, &json!("u")));
    // What was read can be sent back, warnings and all.
    let back = ways.client.put(&path, &put).await.json();
    assert!(back.get("warnings").is_none(), "{back}");
    let nested = json!({"command": tick()});
    let refused = ways.client.post(&format!("{path}/commands"), &nested).await;
    let told = "malformed command: /: holds the command once more in `command`: send the inner object itself";
    assert_eq!((refused.status, refused.error().as_str()), (400, told));

    let strict = Ways::start(&["--strict"]).await;
    let refused = strict.client.post("/universes", &odd).await;
    let told = "malformed universe: /nmae: is not a known member of a universe; did you mean name?";
    assert_eq!((refused.status, refused.error().as_str()), (400, told));
    assert_eq!(strict.client.get("/universes").await.json(), json!([]));
}

#[tokio::test]
async fn the_solar_system_is_made_without_warnings_by_a_strict_server_too() {
    for arguments in [&["--extra-tools"][..], &["--extra-tools", "--strict"]] {
        let mut ways = Ways::start(arguments).await;
        let client = ways.client;
        for (_, caller) in ways.each() {
            let asked = json!({"name": "s", "from": "sol"});
            let made = caller.content("create_universe", asked).await;
            assert!(made.get("warnings").is_none(), "{made}");
            let id = made["universeId"].as_str().unwrap();
            assert!(client.universe(id).await["state"]["stars"]["earth"].is_object());
        }
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_explained_and_name_the_universe() {
    let mut ways = Ways::start(&["--demo"]).await;
    let tick = json!({"type": "tick"});
    let rows = [
        (
            GET,
            json!({"universe_id": "sol"}),
            "universe sol: /universe_id: is not known; did you mean universeId?",
        ),
        (
            GET,
            json!({"universeId": "sol", "selct": {}}),
            "universe sol: /selct: is not known; did you mean select?",
        ),
        (
            GET,
            json!({"universeId": "sol", "select": {"memebrs": []}}),
            "universe sol: /select/memebrs: is not known; did you mean members?",
        ),
        // Something else is wrong, too: all of it is told, but for what a gateway adds.
        (
            GET,
            json!({"universeId": "sol", "weather": 1, "limit": 0, "sessionId": "s"}),
            "universe sol: /weather: is not known; there are cursor, limit, revision, select, universeId, whole; \
             /limit: 0 is less than the minimum of 1",
        ),
        (
            GET,
            json!({"universeId": "sol", "weather": 1}),
            "universe sol: /weather: is not known; there are cursor, limit, revision, select, universeId, whole",
        ),
        (
            GET,
            json!({"universeId": "sol", "select": {"families": ["stars", "belt"]}}),
            "universe sol: /select/families/1: \"belt\" is not one of \"stars\", \"groups\", \"belts\", \"smallBodyFields\", \
             \"protoplanetaryDisks\", \"nebulae\"; did you mean belts?",
        ),
        (
            SEND,
            json!({"universeId": "sol", "command": tick, "result": "event"}),
            "universe sol: /result: \"event\" is not one of \"changes\", \"events\", \"state\"; did you mean events?",
        ),
        (
            SEND,
            json!({"universeId": "sol", "command": {"type": "tik"}}),
            "universe sol: /command/type: \"tik\" is not a command; did you mean tick?",
        ),
        (
            SEND,
            json!({"universeId": "sol", "command": {"type": "removeStar"}}),
            "universe sol: /command/id: is missing; expected text: id of the body",
        ),
        (
            SEND,
            json!({"universeId": "sol", "command": json!({"type": "tik"}).to_string()}),
            "universe sol: /command/type: \"tik\" is not a command; did you mean tick?",
        ),
        (
            SEND,
            json!({"universeId": "sol", "command": "tick"}),
            "universe sol: /command: must be an object with a `type`, such as {\"dt\":0.5,\"type\":\"tick\"}",
        ),
        (
            SEND,
            json!({"universeId": "sol", "command": {"command": tick}}),
            "universe sol: /command: holds the command once more in `command`: send the inner object itself",
        ),
        (
            SEND,
            json!({"universeId": "sol", "command": {"tick": {"dt": 1}}}),
            "universe sol: /command: has its type as a name: send {\"type\":\"tick\", …} with the members beside it",
        ),
        (
            SEND,
            json!({"universeId": "sol", "type": "tick"}),
            "universe sol: /type: belongs into `command`, an object, together with the other members of the command",
        ),
        (SEND, json!({"universeId": "sol"}), "universe sol: /command: is missing"),
        (
            SEND,
            json!({"universeId": "sol", "command": {"type": "removeStar", "id": "earht"}}),
            "universe sol: body \"earht\" does not exist in this universe; name one in \"stars\"; did you mean earth?",
        ),
        (SEND, json!({"command": tick}), "/universeId: is missing"),
    ];
    for (_, caller) in ways.each() {
        for (tool, arguments, expected) in &rows {
            let error = caller.error(tool, arguments.clone()).await;
            assert_eq!(error["message"], *expected, "{arguments}");
        }
        let error = caller.error(GET, json!({"universeId": "soll"})).await;
        assert_eq!(error["message"], "universe not found: soll; did you mean sol?");
        assert_eq!(error["data"]["knownIds"][0], "sol");
    }
    let revision = ways.client.universe("sol").await["revision"].take();
    assert_eq!(revision, 0);
}

#[tokio::test]
async fn ids_that_nothing_has_are_answered_with_the_nearest_over_rest_too() {
    let ways = Ways::start(&["--demo"]).await;
    let rows = [
        (json!({"type": "attachStar", "childId": "moon", "parentId": "jupitr"}), Some("jupiter")),
        (json!({"type": "attachStar", "childId": "mooon", "parentId": "jupiter"}), Some("moon")),
        (json!({"type": "removeRing", "planetId": "satrun"}), Some("saturn")),
        (json!({"type": "removeRing", "planetId": "mars"}), None),
        (
            json!({"type": "moveToGroup", "childId": "sun", "childType": "system", "targetGroupId": "solar_system"}),
            Some("solar-system"),
        ),
        (
            json!({"type": "updateSmallBodyField", "id": "kupier-belt", "patch": {}}),
            Some("kuiper-belt"),
        ),
        (remove_star("entirely-else"), None),
    ];
    for (command, meant) in rows {
        for commands in [command.clone(), json!([tick(), command])] {
            let refused = ways.client.post("/universes/sol/commands", &commands).await;
            assert_eq!(refused.status, 422, "{refused:?}");
            let told = refused.error();
            let hint = told.split_once("; did you mean ").map(|(_, hint)| hint);
            assert_eq!(hint, meant.map(|id| format!("{id}?")).as_deref(), "{told}");
        }
    }
}

/// n8n-io/n8n#21500 and #22787: a gateway adds arguments. anthropics/claude-code#80666 and #93179: a client sends an
/// object as text. The model can correct neither.
#[tokio::test]
async fn what_clients_do_to_arguments_is_taken_with_warnings_unless_the_server_is_strict() {
    let rows = [
        (
            GET,
            json!({"universeId": "sol", "limit": 1, "toolCallId": "c", "sessionId": "s", "action": "sendMessage", "chatInput": "?"}),
            &["/toolCallId", "/sessionId", "/action", "/chatInput"][..],
            "/action: is not known; there are cursor, limit, revision, select, universeId, whole",
        ),
        (
            GET,
            json!({"universeId": "sol", "select": "{\"ids\":[\"earth\"]}"}),
            &["/select"],
            "/select: ",
        ),
        (
            SEND,
            json!({"universeId": "sol", "command": tick().to_string()}),
            &["/command"],
            "/command: is an object written as JSON text: send the object itself, without quotes",
        ),
    ];
    let mut lenient = Ways::start(&["--demo"]).await;
    for (_, caller) in lenient.each() {
        for (tool, arguments, paths, _) in &rows {
            let result = caller.tool(tool, arguments.clone()).await;
            assert_ne!(result["isError"], true, "{arguments}: {result}");
            // Each text is JSON (REQ-MCP-12), the first of them the result.
            let texts = result["content"].as_array().unwrap().iter();
            let texts = texts.map(|text| text["text"].as_str().unwrap());
            let texts: Vec<Value> = texts.map(|text| serde_json::from_str(text).unwrap()).collect();
            assert_eq!(texts[0], result["structuredContent"]);
            let warnings = texts[1]["warnings"].as_array().unwrap().iter();
            let told: Vec<_> = warnings.map(|warning| warning["path"].as_str().unwrap()).collect();
            assert_eq!(told, *paths, "{arguments}");
        }
        let listed = &caller.tools().await[0];
        assert_eq!(listed["inputSchema"]["additionalProperties"], false);
    }
    assert_eq!(lenient.client.universe("sol").await["revision"], 4);
    let mut strict = Ways::start(&["--demo", "--strict"]).await;
    for (_, caller) in strict.each() {
        for (tool, arguments, _, refused) in &rows {
            let error = caller.error(tool, arguments.clone()).await;
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(refused), "{arguments}: {message}");
        }
    }
    assert_eq!(strict.client.universe("sol").await["revision"], 0);
}
