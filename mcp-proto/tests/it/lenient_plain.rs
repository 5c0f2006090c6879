//! Numbers and booleans as text: read with a warning by a layer that a server must add, refused without it.

use mcp_proto::{CallToolResult, Server, Tool, layers};
use serde_json::{Value, json};

use crate::common::every_client;

fn server(plain: bool) -> Server {
    let schema = json!({
        "type": "object",
        "properties": {
            "limit": { "type": "integer" },
            "ratio": { "type": ["number", "null"] },
            "all": { "anyOf": [{ "type": "boolean" }, { "type": "null" }] },
            "text": { "type": "string" },
            "either": { "type": ["string", "integer"] },
            "any": {},
            "list": { "type": "array", "items": { "type": "integer" } },
        },
        "additionalProperties": false,
    });
    let echo = Tool::new("echo", "").with_input_schema(schema);
    let server = Server::builder("s", "1", ())
        .raw_tool(echo, async |(), given, _| CallToolResult::structured(&given))
        .build()
        .unwrap();
    if plain {
        server.layer(&layers::lenient_plain());
    } else {
        server.layer(&layers::lenient());
    }
    server
}

/// The paths of the warnings of a result.
fn warned(result: &Value) -> Vec<String> {
    let Some(text) = result["content"].get(1) else {
        return Vec::new();
    };
    let told: Value = serde_json::from_str(text["text"].as_str().unwrap()).unwrap();
    let warnings = told["warnings"].as_array().unwrap();
    warnings.iter().map(|warning| warning["path"].as_str().unwrap().to_owned()).collect()
}

/// What is sent, what the tool gets, and where the warnings are.
fn read() -> Vec<(Value, Value, Vec<&'static str>)> {
    vec![
        // 0xMassi/webclaw#58: "30" for 30.
        (json!({ "limit": "30" }), json!({ "limit": 30 }), vec!["/limit"]),
        (json!({ "limit": "-7" }), json!({ "limit": -7 }), vec!["/limit"]),
        (json!({ "ratio": "0.5" }), json!({ "ratio": 0.5 }), vec!["/ratio"]),
        (
            json!({ "all": "true", "ratio": "2" }),
            json!({ "all": true, "ratio": 2 }),
            vec!["/all", "/ratio"],
        ),
        (json!({ "all": "false" }), json!({ "all": false }), vec!["/all"]),
        (
            json!({ "list": "[1]", "limit": "1" }),
            json!({ "list": [1], "limit": 1 }),
            vec!["/list", "/limit"],
        ),
    ]
}

#[tokio::test]
async fn numbers_and_booleans_as_text_are_read_in_both_eras() {
    let (clients, served) = every_client(&server(true)).await;
    for (name, client) in &clients {
        for (given, taken, paths) in read() {
            let params = json!({ "name": "echo", "arguments": given });
            let result = client.request("tools/call", params).await.unwrap();
            assert_eq!(result["structuredContent"], taken, "{name}: {result}");
            let mut warned = warned(&result);
            warned.sort_by_key(|path| paths.iter().position(|one| one == path));
            assert_eq!(warned, paths, "{name}");
        }
        for kept in [
            json!({ "text": "30" }),
            json!({ "either": "30" }),
            json!({ "any": "true", "limit": 1 }),
        ] {
            let params = json!({ "name": "echo", "arguments": kept });
            let result = client.request("tools/call", params).await.unwrap();
            assert_eq!(result["structuredContent"], kept, "{name}");
            assert!(warned(&result).is_empty(), "{name}: {result}");
        }
        for refused in [
            json!({ "limit": "30.5" }),
            json!({ "limit": "007" }),
            json!({ "limit": "1 day" }),
            json!({ "limit": "" }),
            json!({ "limit": "true" }),
            json!({ "all": "1" }),
            json!({ "all": "True" }),
            json!({ "ratio": "NaN" }),
            json!({ "list": ["1"] }),
        ] {
            let params = json!({ "name": "echo", "arguments": refused });
            let result = client.request("tools/call", params).await.unwrap();
            assert_eq!(result["isError"], true, "{name}: {refused}: {result}");
        }
    }
    drop(clients);
    served.ended().await;
}

#[tokio::test]
async fn they_are_refused_without_the_layer() {
    let (clients, served) = every_client(&server(false)).await;
    for (name, client) in &clients {
        let params = json!({ "name": "echo", "arguments": { "limit": "30" } });
        let result = client.request("tools/call", params).await.unwrap();
        assert_eq!(result["isError"], true, "{name}: {result}");
    }
    drop(clients);
    served.ended().await;
}
