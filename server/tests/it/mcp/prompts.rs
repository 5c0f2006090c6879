//! The prompts, in both eras; and the example that they give, sent as it is.

use serde_json::{Value, json};

use crate::harness::{Era, Local, Mcp};

async fn prompt(mcp: &Mcp, name: &str, arguments: Value) -> Vec<Value> {
    let params = json!({"name": name, "arguments": arguments});
    let mut result = mcp.result("prompts/get", params).await;
    let messages = result["messages"].as_array_mut().unwrap();
    assert!(messages.iter().all(|message| message["role"] == "user"));
    messages.iter_mut().map(|message| message["content"].take()).collect()
}

/// The commands in the fenced block of a text, one a line.
fn example(text: &str) -> Vec<Value> {
    let (_, rest) = text.split_once("```json\n").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    block.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn two_prompts_are_listed_with_their_arguments() {
    let server = Local::start().await;
    for era in Era::BOTH {
        let mcp = Mcp::new(server.client, era).await;
        let listed = mcp.result("prompts/list", json!({})).await;
        let listed: Vec<_> = listed["prompts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|prompt| {
                let arguments = prompt["arguments"].as_array().unwrap().iter();
                let arguments = arguments
                    .map(|argument| (argument["name"].clone(), argument["required"] == true));
                (prompt["name"].clone(), arguments.collect::<Vec<_>>())
            })
            .collect();
        let expected = [
            (json!("model_star_system"), vec![(json!("system"), true), (json!("universe"), false)]),
            (json!("explain_universe"), vec![(json!("universe"), true)]),
        ];
        assert_eq!(listed, expected);
    }
}

#[tokio::test]
async fn the_example_of_model_star_system_builds_what_it_says() {
    let server = Local::start().await;
    let client = server.client;
    for era in Era::BOTH {
        let mcp = Mcp::new(client, era).await;
        let content = prompt(&mcp, "model_star_system", json!({"system": "TRAPPIST-1"})).await;
        assert_eq!(content.len(), 1);
        let text = content[0]["text"].as_str().unwrap();
        assert!(text.contains("TRAPPIST-1") && text.contains("universe://"), "{text}");
        let commands = example(text);
        assert!(commands.len() > 5);
        // As a model sends them, and as a program does.
        let (by_mcp, by_rest) =
            (client.create("m", json!({})).await, client.create("r", json!({})).await);
        for command in &commands {
            mcp.command(&by_mcp, command).await;
            client.command(&by_rest, command).await;
        }
        let state = client.universe(&by_mcp).await["state"].clone();
        assert_eq!(state, client.universe(&by_rest).await["state"]);
        assert_eq!(state["stars"].as_object().unwrap().len(), 4);
        assert_eq!(state["rootIds"], json!(["aurelia"]));
        assert!(state["stars"]["aurelia-c"]["ring"].is_object());
        assert_eq!(state["rootGroupIds"], json!(["aurelia-system"]));

        let arguments = json!({"system": "another", "universe": by_mcp});
        let content = prompt(&mcp, "model_star_system", arguments).await;
        assert!(content[0]["text"].as_str().unwrap().contains(&by_mcp));
        let outline = &content[1]["resource"];
        assert_eq!(outline["uri"], format!("universe://{by_mcp}/tree"));
        assert!(outline["text"].as_str().unwrap().contains("[aurelia-c-1]"));
    }
}

#[tokio::test]
async fn explain_universe_puts_its_outline_before_the_model() {
    let server = Local::start().await;
    let client = server.client;
    let stars = (0..400).map(|n| {
        let star = json!({"id": format!("b{n}"), "name": "n", "mass": 1, "radius": 1, "color": "", "children": [],
            "parentId": null, "orbitalDistance": 0, "orbitalSpeed": 0, "orbitalPhase": 0});
        (format!("b{n}"), star)
    });
    let large = client.create("large", json!({"stars": Value::Object(stars.collect())})).await;
    let id = client.create("Home", json!({})).await;
    for era in Era::BOTH {
        let mcp = Mcp::new(client, era).await;
        let content = prompt(&mcp, "explain_universe", json!({ "universe": id })).await;
        assert!(content[0]["text"].as_str().unwrap().contains(&id));
        let uri = format!("universe://{id}/tree");
        assert_eq!(content[1]["resource"], mcp.read(&uri).await);
        let content = prompt(&mcp, "explain_universe", json!({ "universe": large })).await;
        let outline = content[1]["resource"]["text"].as_str().unwrap();
        let next = format!("… and 100 more: universe://{large}/tree?cursor=0.300\n");
        assert!(outline.ends_with(&next), "{outline}");
        assert_eq!(outline.matches("- n [").count(), 300);

        let get = |arguments| json!({"name": "explain_universe", "arguments": arguments});
        let error = mcp.error("prompts/get", get(json!({"universe": "u-42"}))).await;
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().unwrap().contains("u-42"), "{error}");
        let error = mcp.error("prompts/get", get(json!({}))).await;
        assert!(error["message"].as_str().unwrap().contains("universe"), "{error}");
        let long = "x".repeat(5_000);
        let error = mcp.error("prompts/get", get(json!({ "universe": long }))).await;
        assert_eq!(error["code"], -32602);
    }
}
