//! The three tools: what they publish, take, answer and refuse.

use serde_json::{Value, json};
use universe_core::catalog;

use crate::harness::{Client, Era, Local, Mcp, add_star, tick};

/// A universe on which the example of every command is allowed, each on its own.
async fn prepare(client: Client) -> String {
    let id = client.create("examples", json!({})).await;
    let orbiting = |id: &str, parent: Value| {
        let mut star = add_star(id);
        star["payload"]["parentId"] = parent;
        star
    };
    let group = |id: &str, parent: Value| json!({"type": "addGroup", "id": id, "payload": {"name": id, "children": [], "parentGroupId": parent}});
    let example = |name: &str| catalog::command(name).unwrap().example();
    let mut disk = example("addProtoplanetaryDisk");
    disk["disk"]["id"] = json!("old");
    let mut fields = example("setSmallBodyFields");
    let mut field = fields["fields"]["kuiper"].clone();
    field["id"] = json!("main");
    fields["fields"]["main"] = field;
    let mut nebulae = example("setNebulae");
    let mut nebula = nebulae["nebulae"]["orion"].clone();
    nebula["id"] = json!("veil");
    nebulae["nebulae"]["veil"] = nebula;
    let mut ring = example("updateRing");
    ring["planetId"] = json!("saturn");
    let commands = [
        orbiting("sol", Value::Null),
        orbiting("earth", json!("sol")),
        orbiting("luna", json!("earth")),
        orbiting("mars", Value::Null),
        orbiting("saturn", json!("sol")),
        group("home", Value::Null),
        group("inner", json!("home")),
        disk,
        fields,
        nebulae,
        ring,
    ];
    for command in commands {
        client.command(&id, &command).await;
    }
    id
}

#[tokio::test]
async fn exactly_three_tools_are_published_the_same_way_in_both_eras() {
    let server = Local::start().await;
    let mut listings = Vec::new();
    for era in Era::BOTH {
        let mcp = Mcp::new(server.client, era).await;
        let tools = mcp.result("tools/list", json!({})).await["tools"].take();
        let names: Vec<_> =
            tools.as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(
            names,
            ["get_universe_state", "list_universe_commands", "send_universe_command"]
        );
        for tool in tools.as_array().unwrap() {
            for text in ["title", "description"] {
                assert!(!tool[text].as_str().unwrap().is_empty(), "{tool}");
            }
            assert_eq!(tool["inputSchema"]["type"], "object");
            assert_eq!(tool["outputSchema"]["type"], "object");
            assert_eq!(tool["inputSchema"]["properties"]["universeId"]["type"], "string");
            let sends = tool["name"] == "send_universe_command";
            let required =
                if sends { json!(["universeId", "command"]) } else { json!(["universeId"]) };
            assert_eq!(tool["inputSchema"]["required"], required);
            let annotations = &tool["annotations"];
            assert_eq!(annotations["readOnlyHint"], !sends, "{tool}");
            assert_eq!(annotations["destructiveHint"].as_bool().unwrap_or(false), sends, "{tool}");
            assert_eq!(annotations["openWorldHint"], false, "{tool}");
        }
        let command = &tools[2]["inputSchema"]["properties"]["command"];
        assert_eq!(command["type"], "object");
        assert_eq!(command["required"], json!(["type"]));
        assert_eq!(command["properties"]["type"]["type"], "string");
        for spec in catalog::commands() {
            assert!(command.to_string().contains(spec.kind.name()), "{:?}", spec.kind);
        }
        listings.push(tools);
    }
    assert_eq!(listings[0], listings[1]);
}

#[tokio::test]
async fn the_example_of_every_command_is_accepted_and_answered_twice_the_same() {
    let server = Local::start().await;
    let mut sent = 0;
    for (n, spec) in catalog::commands().enumerate() {
        let id = prepare(server.client).await;
        let mcp = Mcp::new(server.client, Era::BOTH[n % 2]).await;
        let arguments = json!({"universeId": id, "command": spec.example()});
        let result = mcp.tool("send_universe_command", arguments).await;
        assert_ne!(result["isError"], true, "{:?}: {result}", spec.kind);
        let content = result["content"].as_array().unwrap();
        assert_eq!((content.len(), &content[0]["type"]), (1, &json!("text")));
        let text: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        let events = text["events"].as_array().unwrap().len();
        assert_eq!(events, usize::from(spec.kind.name() != "tick"), "{:?}", spec.kind);
        assert_eq!(server.client.universe(&id).await["state"], text["nextState"]);
        sent += 1;
    }
    assert_eq!(sent, 25);
}

#[tokio::test]
async fn a_state_is_read_as_over_rest() {
    let server = Local::start().await;
    let id = prepare(server.client).await;
    for era in Era::BOTH {
        let mcp = Mcp::new(server.client, era).await;
        let result = mcp.tool("get_universe_state", json!({"universeId": id})).await;
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        assert_eq!(text, server.client.universe(&id).await["state"]);
        // What one dialect changes the other sees at once, and the reverse.
        mcp.command(&id, &tick()).await;
        let time = &server.client.universe(&id).await["state"]["time"];
        let answer = server.client.command(&id, &tick()).await;
        assert_eq!(answer["nextState"]["time"].as_f64(), time.as_f64().map(|time| time + 1.0));
        let state = mcp.content("get_universe_state", json!({"universeId": id})).await;
        assert_eq!(state, answer["nextState"]);
    }
}

#[tokio::test]
async fn the_listing_has_ten_categories_and_gives_each_by_any_of_its_names() {
    let server = Local::start().await;
    let id = server.client.create("u", json!({})).await;
    let mcp = Mcp::new(server.client, Era::Modern).await;
    let all = mcp.content("list_universe_commands", json!({"universeId": id})).await;
    let names: Vec<_> = all["categories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|category| category["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "Simulation",
            "Star CRUD",
            "Star hierarchy",
            "Group CRUD",
            "Group hierarchy",
            "Small body fields",
            "Protoplanetary disks",
            "Nebulae",
            "Rings",
            "Snapshot",
        ]
    );
    let empty =
        mcp.content("list_universe_commands", json!({"universeId": id, "category": ""})).await;
    assert_eq!(empty, all);
    for wanted in ["Star hierarchy", "STAR HIERARCHY", "star-hierarchy", " star-hierarchy "] {
        let arguments = json!({"universeId": id, "category": wanted});
        let one = mcp.content("list_universe_commands", arguments).await;
        let commands = one["categories"][0]["commands"].as_array().unwrap();
        let types: Vec<_> =
            commands.iter().map(|command| command["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["attachStar", "detachStar"]);
        assert!(commands.iter().all(|command| command["schema"]["type"] == "object"));
    }
    let arguments = json!({"universeId": id, "category": "Weather"});
    let told = mcp.refusal("list_universe_commands", arguments).await;
    assert!(told.contains("Weather") && told.contains("Star hierarchy"), "{told}");
}

/// JSON Schema takes `3.0` for an integer, and clients in languages with one kind of number send it.
#[tokio::test]
async fn a_whole_number_may_be_written_with_a_fraction_of_zero() {
    let server = Local::start().await;
    let id = server.client.create("u", json!({})).await;
    for era in Era::BOTH {
        let mcp = Mcp::new(server.client, era).await;
        mcp.content("get_universe_state", json!({"universeId": id, "revision": 0.0})).await;
        let asked = json!({"universeId": id, "command": tick(), "expectedRevision": 7.0});
        let refused = mcp.refusal("send_universe_command", asked).await;
        assert!(refused.contains("REVISION_CONFLICT"), "{refused}");
    }
}

#[tokio::test]
async fn refusals_name_the_universe_and_what_was_wrong() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let send = "send_universe_command";
    let rows = [
        (
            "get_universe_state",
            json!({"universeId": "u-42"}),
            vec!["UNIVERSE_NOT_FOUND", "u-42", "not found", &id],
        ),
        (
            "list_universe_commands",
            json!({"universeId": "u-42"}),
            vec!["UNIVERSE_NOT_FOUND", "u-42", &id],
        ),
        (
            send,
            json!({"universeId": "u-42", "command": tick()}),
            vec!["UNIVERSE_NOT_FOUND", "u-42", "not found", &id],
        ),
        ("get_universe_state", json!({"universeId": ""}), vec!["UNIVERSE_NOT_FOUND", "not found"]),
        (
            "get_universe_state",
            json!({"universeId": "a\u{0}b"}),
            vec!["UNIVERSE_NOT_FOUND", "control"],
        ),
        (
            send,
            json!({"universeId": id, "command": {"type": "removeStar", "id": "x-1"}}),
            vec!["STAR_NOT_FOUND", &id, "x-1", "starNotFound"],
        ),
        (
            send,
            json!({"universeId": id, "command": {"type": "explode"}}),
            vec!["explode", "addStar"],
        ),
        (send, json!({"universeId": id, "command": {"type": "tick", "dt": "5"}}), vec!["dt"]),
        (send, json!({"universeId": id, "command": {"type": "addStar"}}), vec!["id", "payload"]),
        (send, json!({"universeId": id, "command": {}}), vec!["type"]),
        (send, json!({"universeId": id}), vec!["command"]),
        (send, json!({"universeId": id, "command": "tick"}), vec!["/command"]),
        ("get_universe_state", json!({}), vec!["universeId"]),
        ("get_universe_state", json!({"universeId": 5}), vec!["/universeId", "string"]),
    ];
    for era in Era::BOTH {
        let mcp = Mcp::new(client, era).await;
        for (tool, arguments, told) in &rows {
            let result = mcp.tool(tool, arguments.clone()).await;
            assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
            let text = result["content"][0]["text"].as_str().unwrap();
            for expected in told {
                assert!(
                    text.contains(expected),
                    "{tool} {arguments} does not tell {expected}: {text}"
                );
            }
            assert!(!text.contains("panicked") && !text.contains("src/"), "{text}");
        }
    }
    assert_eq!(client.universe(&id).await["revision"], 0);
}
