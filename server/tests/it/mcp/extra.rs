//! The extra tools: a model with tools alone can do what REST can do.

use serde_json::{Value, json};

use crate::harness::wire::MODERN;
use crate::harness::{Era, Ways, add_star, tick};

const EXTRA: [&str; 12] = [
    "get_universe_state",
    "list_universe_commands",
    "send_universe_command",
    "send_universe_commands",
    "find_entities",
    "list_universes",
    "create_universe",
    "rename_universe",
    "delete_universe",
    "undo_universe",
    "get_universe_history",
    "draw_universe",
];

#[tokio::test]
async fn they_are_offered_only_when_asked_for() {
    for (arguments, count) in [(vec!["--demo"], 3), (vec!["--extra-tools"], 12)] {
        let mut ways = Ways::start(&arguments).await;
        for (_, caller) in ways.each() {
            let tools = caller.tools().await;
            let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
            assert_eq!(json!(names), json!(EXTRA[..count]));
            // Six thousand tokens are some 24,600 bytes of this kind.
            let length = json!(tools).to_string().len();
            assert!(length < 24_600, "{length}");
        }
    }
}

/// What is wrong may be repeated without end; the answer is not.
#[tokio::test]
async fn an_answer_lists_fifty_findings_and_counts_the_others() {
    let mut ways = Ways::start(&["--demo", "--extra-tools"]).await;
    let wrong = vec![0; 5_000];
    let names = (0..5_000).map(|n| (format!("name{n}"), json!(0)));
    let mut strange: serde_json::Map<_, _> = names.collect();
    strange.insert("universeId".to_owned(), "sol".into());
    let calls = [
        ("get_universe_state", Value::Object(strange), "and 4997 more"),
        ("send_universe_commands", json!({"universeId": "sol", "commands": wrong}), "and 997 more"),
        (
            "send_universe_command",
            json!({"universeId": "sol", "commands": wrong}),
            "did you mean command",
        ),
    ];
    for (_, caller) in ways.each() {
        for (tool, arguments, part) in calls.clone() {
            let error = caller.error(tool, arguments).await;
            assert!(error["message"].as_str().unwrap().contains(part), "{error}");
            let findings = error["data"]["findings"].as_array().unwrap();
            assert!((1..=50).contains(&findings.len()), "{error}");
        }
    }
}

/// A session of a model that has tools alone: Mercury to Mars from nothing.
#[tokio::test]
async fn mercury_to_mars_are_built_from_nothing_with_tools_alone() {
    let mut ways = Ways::start(&["--extra-tools"]).await;
    for (n, caller) in ways.each() {
        let made = caller.content("create_universe", json!({"name": format!("Inner {n}")})).await;
        let id = made["universeId"].as_str().unwrap().to_owned();
        let listed = caller.content("list_universes", json!({})).await;
        assert_eq!(listed["universes"][0]["id"], json!(id));

        let planet = |name: &str, distance: f64, speed: f64| {
            json!({"type": "addStar", "id": name.to_lowercase(), "payload": {
            "name": name, "mass": 1, "radius": 1, "color": "#AABBCC", "parentId": "sun", "bodyType": "planet",
            "orbitalDistance": distance, "orbitalSpeed": speed}})
        };
        let commands = json!([
            add_star("sun"),
            planet("Mercury", 0.39, 4.7e-5),
            planet("Venus", 0.72, 1.9e-5),
            planet("Earth", 1.0, 1.1e-5),
            planet("Mars", 1.52, 6.1e-6),
        ]);
        let arguments = json!({"universeId": id, "commands": commands, "idempotencyKey": "build"});
        let built = caller.content("send_universe_commands", arguments.clone()).await;
        assert_eq!(built["revision"], 5);
        assert_eq!(built["changes"]["stars"].as_object().unwrap().len(), 5);
        let again = caller.content("send_universe_commands", arguments).await;
        assert_eq!(again, built);

        let found = caller
            .content("find_entities", json!({"universeId": id, "kind": "planet", "limit": 3}))
            .await;
        assert_eq!((&found["found"], found["entities"].as_array().unwrap().len()), (&json!(4), 3));
        let rest = json!({"universeId": id, "kind": "planet", "limit": 3, "cursor": found["next"]});
        let rest = caller.content("find_entities", rest).await;
        assert_eq!(
            rest["entities"][0],
            json!({"id": "venus", "name": "Venus", "kind": "planet", "parent": "sun"})
        );
        for asked in [
            json!({"name": "MAR"}),
            json!({"parent": "sun", "name": "mars"}),
            json!({"within": "mars"}),
        ] {
            let mut arguments = asked;
            arguments["universeId"] = json!(id);
            let found = caller.content("find_entities", arguments).await;
            assert_eq!((&found["found"], &found["entities"][0]["id"]), (&json!(1), &json!("mars")));
        }

        let bad =
            json!({"universeId": id, "commands": [tick(), {"type": "removeStar", "id": "pluto"}]});
        let error = caller.error("send_universe_commands", bad).await;
        assert!(error["message"].as_str().unwrap().contains("/commands/1"), "{error}");
        let bad = json!({"universeId": id, "commands": [tick(), {"type": "tik"}]});
        let error = caller.error("send_universe_commands", bad).await;
        assert_eq!(error["data"]["findings"][0]["path"], "/commands/1/type");

        let renamed = caller
            .content("rename_universe", json!({"universeId": id, "name": "Terrestrial"}))
            .await;
        assert_eq!((&renamed["name"], &renamed["revision"]), (&json!("Terrestrial"), &json!(6)));
        let page = caller
            .content("get_universe_history", json!({"universeId": id, "after": 0, "limit": 4}))
            .await;
        assert_eq!(page["entries"][1]["command"]["id"], "mercury");
        let rest = json!({"universeId": id, "after": page["next"]});
        let rest = caller.content("get_universe_history", rest).await;
        assert_eq!(rest["entries"].as_array().unwrap().len(), 2);
        assert_eq!(rest["entries"][1]["replaced"]["name"], "Terrestrial");
        assert!(rest.get("next").is_none(), "{rest}");

        // This client cannot be asked, so no user is.
        let gone = caller.content("delete_universe", json!({"universeId": id})).await;
        assert_eq!(gone["deleted"], json!(id));
        let error = caller.error("get_universe_history", json!({"universeId": id})).await;
        assert_eq!(error["code"], "UNIVERSE_NOT_FOUND");
    }
}

#[tokio::test]
async fn universes_are_made_from_sol_from_a_state_and_once_under_a_key() {
    let mut ways = Ways::start(&["--extra-tools"]).await;
    let client = ways.client;
    for (n, caller) in ways.each() {
        let make = async |caller: &mut crate::harness::ways::Caller, mut arguments: Value| {
            arguments["name"] = json!("made");
            let made = caller.content("create_universe", arguments).await;
            made["universeId"].as_str().unwrap().to_owned()
        };
        let sol = make(caller, json!({"from": "sol"})).await;
        assert!(client.universe(&sol).await["state"]["stars"]["earth"].is_object());
        let given = make(caller, json!({"state": {"time": 5}})).await;
        assert_eq!(client.universe(&given).await["state"]["time"], 5.0);
        let key = format!("key-{n}");
        let once = make(caller, json!({"idempotencyKey": key})).await;
        assert_eq!(make(caller, json!({"idempotencyKey": key})).await, once);
        for (wrong, code) in [
            (json!({"name": " "}), "INVALID_ARGUMENTS"),
            (json!({"name": "x", "from": "sol", "state": {}}), "INVALID_ARGUMENTS"),
            (json!({"name": "x", "state": {"time": "late"}}), "INVALID_STATE"),
            (json!({"name": "x", "idempotencyKey": key, "from": "sol"}), "IDEMPOTENCY_KEY_REUSED"),
        ] {
            assert_eq!(caller.error("create_universe", wrong).await["code"], code);
        }
    }
}

#[tokio::test]
async fn who_can_be_asked_is_asked_before_a_universe_is_deleted() {
    let ways = Ways::start(&["--extra-tools"]).await;
    let client = ways.client;
    let id = client.create("precious", json!({})).await;
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "delete_universe"),
    ];
    let ask = async |answer: Option<(&Value, &str, bool)>| {
        let params = json!({"name": "delete_universe", "arguments": {"universeId": id}});
        let mut request = Era::Modern.request(&json!(1), "tools/call", params);
        request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({"elicitation": {"form": {}}});
        if let Some((state, action, yes)) = answer {
            request["params"]["requestState"] = state.clone();
            request["params"]["inputResponses"] =
                json!({"delete": {"action": action, "content": {"delete": yes}}});
        }
        client.call("POST", "/mcp", &headers, &request).await.json()["result"].take()
    };
    for (action, yes, is_gone) in [("accept", false, false), ("accept", true, true)] {
        let question = ask(None).await;
        assert_eq!(question["resultType"], "input_required", "{question}");
        let message = question["inputRequests"]["delete"]["params"]["message"].as_str().unwrap();
        assert!(message.contains("precious") && message.contains(&id), "{message}");
        let done = ask(Some((&question["requestState"], action, yes))).await;
        assert_eq!(done["isError"] == true, !is_gone, "{done}");
        let status = client.get(&format!("/universes/{id}")).await.status;
        assert_eq!(status == 404, is_gone);
    }
}
